//! A game between two players of this process: the referee of the arena, and no sockets.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use zeitnot_rules::{ByColor, Color, Game};
use zeitnot_wire::contest::FromServer;

use super::{
    GameTag, Name,
    client::{Client, Outbox},
    clock::Allowance,
    delay::Delay,
    game::{Finished, GameActor, GameStub, House, Opinion, Order, Setup},
};

/// A game to be played.
#[derive(Clone, Debug)]
pub struct Duel<G> {
    /// Where it begins.
    pub start: G,
    /// What each side has to think with.
    pub allowances: ByColor<Allowance>,
    /// How the referee is.
    pub house: House,
}

/// A game that both players are at, and that has not begun.
#[derive(Debug)]
pub struct Referee<G: Game>(GameActor<G>);

/// Where one of the two sits.
#[derive(Debug)]
pub struct Chair {
    side: Color,
    ear: Outbox,
    game: GameStub,
}

/// What a player hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is to move; the clocks show this.
    YourMove(ByColor<Duration>),
    /// This was played, by either side.
    Moved(String),
    /// There is nothing more to play.
    Over,
}

impl<G: Game> Duel<G> {
    /// The referee, and a chair for each side.
    pub fn set_up(self) -> (Referee<G>, ByColor<Chair>) {
        // The token is the chair's only: a player of this process cannot be disconnected by others.
        let [(white, white_ear), (black, black_ear)] =
            Color::BOTH.map(|_| Client::channel(CancellationToken::new(), Delay::default()));
        let (game, actor) = GameActor::channel(Setup {
            tag: GameTag::random(),
            names: ByColor(Color::BOTH.map(Name::of)),
            clients: ByColor([white, black]),
            allowances: self.allowances,
            start: self.start,
            house: self.house,
        });
        let chair = |side, ear| Chair { side, ear, game: game.clone() };
        (Referee(actor), ByColor([chair(Color::White, white_ear), chair(Color::Black, black_ear)]))
    }
}

impl<G: Game> Referee<G> {
    /// Starts the clock of the side to move; ends with the game, or at `stop`.
    pub async fn run(self, stop: CancellationToken) -> Finished {
        self.0.run(stop).await
    }
}

impl Chair {
    /// Which side sits here.
    pub fn side(&self) -> Color {
        self.side
    }

    /// Waits for news. To be dropped at will: nothing is lost.
    pub async fn hear(&mut self) -> Heard {
        loop {
            match self.ear.next().await {
                Some(FromServer::YourMove(state)) => return Heard::YourMove(state.left),
                Some(FromServer::PlayerMoved { mv, .. }) => return Heard::Moved(mv),
                Some(FromServer::GameOver { .. } | FromServer::GameAborted { .. }) | None => {
                    return Heard::Over;
                }
                Some(_) => {}
            }
        }
    }

    /// A move, which was known at that moment.
    pub async fn play(&self, text: String, read_at: Instant, opinion: Option<Opinion>) {
        self.game.tell(Order::Move { side: self.side, text, read_at, opinion }).await;
    }

    /// Gives up.
    pub async fn resign(&self) {
        self.game.tell(Order::Resign(self.side)).await;
    }

    /// Cannot play on: the other side has won.
    pub async fn leave(&self) {
        self.game.tell(Order::Gone(self.side)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjudication, Cause, Ending, game::Resigned};
    use zeitnot_rules::{GameResult, Reason, chess::Chess};
    use zeitnot_wire::uci::UciScore;

    fn duel(house: House) -> Duel<Chess> {
        let allowances = ByColor::both(Allowance::Game("10+0".parse().unwrap()));
        Duel { start: Chess::start(), allowances, house }
    }

    /// Plays these moves, each with a score, when asked.
    async fn sit(mut chair: Chair, moves: &[&str], score: i32) {
        let mut moves = moves.iter();
        loop {
            match chair.hear().await {
                Heard::YourMove(_) => {
                    let Some(mv) = moves.next() else { return chair.leave().await };
                    let opinion = Opinion { score: UciScore::Cp(score), depth: 1 };
                    chair.play((*mv).to_owned(), Instant::now(), Some(opinion)).await;
                }
                Heard::Moved(_) => {}
                Heard::Over => return,
            }
        }
    }

    async fn play(house: House, white: (&[&str], i32), black: (&[&str], i32)) -> Finished {
        let (referee, ByColor([first, second])) = duel(house).set_up();
        let (finished, ..) = tokio::join!(
            referee.run(CancellationToken::new()),
            sit(first, white.0, white.1),
            sit(second, black.0, black.1)
        );
        finished
    }

    #[tokio::test(start_paused = true)]
    async fn a_game_to_its_mate() {
        let finished = play(House::default(), (&["f2f3", "g2g4"], 0), (&["e7e5", "d8h4"], 0)).await;
        let won =
            Ending { result: Some(GameResult::Won(Color::Black)), cause: Cause::Rules(Reason::Checkmate) };
        assert_eq!(finished.ending, won);
        let texts: Vec<_> = finished.plies.iter().map(|ply| ply.text.as_str()).collect();
        assert_eq!(texts, ["f3", "e5", "g4", "Qh4#"]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_has_lost_and_in_a_strict_house_so_has_who_plays_what_is_no_move() {
        let strict = House { is_strict: true, ..House::default() };
        for (house, moves, cause) in [
            (strict, &["e2e5", "e2e4"][..], Cause::IllegalMove),
            (House::default(), &["e2e5"], Cause::Disconnect),
        ] {
            let finished = play(house, (moves, 0), (&[], 0)).await;
            let lost = Ending { result: Some(GameResult::Won(Color::Black)), cause };
            assert_eq!(finished.ending, lost);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn opinions_end_a_game() {
        let resigned = Some(Resigned { moves: 2, behind: 300 });
        let adjudication = Adjudication { resigned, ..Adjudication::default() };
        let house = House { adjudication, ..House::default() };
        let (white, black) = (["e2e4", "g1f3", "f1c4"], ["e7e5", "b8c6", "g8f6"]);
        let finished = play(house, (&white, -310), (&black, 400)).await;
        let won = Ending { result: Some(GameResult::Won(Color::Black)), cause: Cause::Adjudicated };
        assert_eq!((finished.ending, finished.plies.len()), (won, 4));
    }
}
