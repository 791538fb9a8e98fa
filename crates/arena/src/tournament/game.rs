//! One game of a tournament: its referee, its players and its watchers.
//!
//! Nothing here waits: messages go into the clients' bounded queues, and time is passed in.

use std::time::Duration;

use tokio::time::Instant;
use zeitnot_pairing::Name;
use zeitnot_referee::{Allowance, Cause, Ending, Referee, RefereeRules, Refusal};
#[cfg(test)]
use zeitnot_rules::GameResult;
use zeitnot_rules::{ByColor, Color, DynGame, TimeControl, chess::Chess};
use zeitnot_wire::printable;

use crate::{
    client::Client,
    message::{GameView, Notice},
};
use zeitnot_host::{
    game_info::{GameInfo, TournamentGameInfo},
    hosted_game::{Host, HostedGame},
    live::view::Source,
    panic_guard,
    tag::GameTag,
};

/// Interval at which both players hear of the clocks.
const CLOCK_UPDATE: Duration = Duration::from_secs(5);

/// Time that a move read before the flag fell may take through our queues.
const TRANSIT: Duration = Duration::from_millis(100);

/// Illegal moves in a row that are logged.
const NOTED_ILLEGAL: u32 = 10;

#[derive(Debug)]
pub(super) struct TournamentGame {
    tag: GameTag,
    pub(super) names: ByColor<Name>,
    clients: ByColor<Client>,
    watchers: Vec<Client>,
    pub(super) hosted: HostedGame<DynGame>,
    next_update: Instant,
    /// Illegal moves of the present turn, and how many of them cost the connection.
    illegal: u32,
    max_illegal_moves: u32,
}

/// Game that begins.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) tag: GameTag,
    pub(super) tournament: TournamentGameInfo,
    pub(super) names: ByColor<Name>,
    pub(super) clients: ByColor<Client>,
    pub(super) time_control: TimeControl,
    pub(super) max_illegal_moves: u32,
}

impl TournamentGame {
    /// Begins a game: White is asked for a move.
    pub(super) fn start(setup: Setup, position: Chess, host: Host) -> Self {
        let Setup { tag, tournament, names, clients, time_control, max_illegal_moves } = setup;
        let now = Instant::now();
        let board = DynGame::from(position);
        let info = GameInfo {
            id: tag.to_string().into(),
            tournament: Some(tournament),
            time_control: Some(time_control),
            ..GameInfo::new(Source::Contest, &board, ByColor(names.0.each_ref()))
        };
        let rules = RefereeRules { transit: TRANSIT, ..RefereeRules::default() };
        let referee = Referee::new(board, ByColor::both(Allowance::Game(time_control)), rules, now);
        let mut game = TournamentGame {
            tag,
            names,
            clients,
            watchers: Vec::new(),
            hosted: HostedGame::new(info, referee, host),
            next_update: now + CLOCK_UPDATE,
            illegal: 0,
            max_illegal_moves,
        };
        game.tell_players(&Notice::GameStarted(game.view(now)));
        game.ask_for_move(now);
        game.hosted.begin(now);
        game
    }

    /// Returns when [`TournamentGame::tick`] has something to do; `None` if the game is over.
    pub(super) fn due(&self) -> Option<Instant> {
        let due =
            self.hosted.referee.timeout().map_or(self.next_update, |timeout| timeout.min(self.next_update));
        (!self.is_over()).then_some(due)
    }

    /// Ends the game at a flag, or tells the players of the clocks.
    pub(super) fn tick(&mut self, now: Instant) {
        if !self.is_over() {
            self.contain_panic(|game| game.try_tick(now));
        }
    }

    fn try_tick(&mut self, now: Instant) {
        if self.hosted.referee.timeout().is_some_and(|timeout| now >= timeout) {
            self.hosted.referee.time_out(now);
        } else if now >= self.next_update {
            self.next_update = now + CLOCK_UPDATE;
            // A player who thinks need not read: the next one tells as much.
            let update = Notice::ClockUpdate(self.view(now));
            self.clients
                .0
                .iter()
                .chain(&self.watchers)
                .for_each(|client| client.tell_optional(update.clone()));
        }
    }

    /// Plays a move whose bytes were read at this instant. A panic on the way aborts this game and no other.
    pub(super) fn play(&mut self, color: Color, text: &str, read_at: Instant) {
        self.contain_panic(|game| game.try_play(color, text, read_at));
    }

    fn contain_panic(&mut self, step: impl FnOnce(&mut Self)) {
        // A referee that panicked is only asked how the game ended.
        if let Err(panic) = panic_guard::contain(|| step(self)) {
            tracing::error!(game = %self.tag, "the game broke down; it will be paired again: {panic}");
            self.hosted.referee.end(None, Cause::InternalError, Instant::now());
        }
    }

    fn try_play(&mut self, color: Color, text: &str, read_at: Instant) {
        if self.is_thrown_out(color) {
            return;
        }
        let now = Instant::now();
        match self.hosted.referee.play(color, text, read_at, None) {
            Ok(mv) => {
                self.illegal = 0;
                self.tell_all(&Notice::PlayerMoved { mover: color, mv, view: self.view(now) });
                if !self.is_over() {
                    self.ask_for_move(now);
                }
                self.hosted.moved(now);
            }
            Err(Refusal::NotYourTurn) => self.clients[color].info("It is not your turn"),
            Err(Refusal::Illegal) => {
                self.illegal += 1;
                let (illegal, max) = (self.illegal, self.max_illegal_moves);
                if illegal >= max {
                    let plural = if max == 1 { "" } else { "s in a row" };
                    return self.clients[color]
                        .throw_out(format!("You have sent {max} illegal move{plural}"));
                }
                if illegal == NOTED_ILLEGAL {
                    tracing::info!(game = %self.tag, "{} has sent {illegal} illegal moves in a row", self.names[color]);
                }
                self.clients[color].info(format!("Move {} is not legal", printable(text, 20)));
                self.clients[color].tell(Notice::YourMove(self.view(now)));
            }
            Err(Refusal::TooLate | Refusal::Over) => {}
        }
    }

    /// Returns whether a player's illegal moves have cost the connection, which is about to close.
    fn is_thrown_out(&self, color: Color) -> bool {
        self.illegal >= self.max_illegal_moves && self.hosted.referee.turn() == color
    }

    /// A player's connection is gone, and with it the game.
    pub(super) fn leave(&mut self, color: Color) {
        let cause = if self.is_thrown_out(color) { Cause::IllegalMove } else { Cause::Disconnect };
        self.lose(color, cause);
    }

    pub(super) fn lose(&mut self, color: Color, cause: Cause) {
        self.hosted.referee.lose(color, cause, Instant::now());
    }

    #[cfg(test)]
    pub(super) fn end(&mut self, result: GameResult) {
        self.hosted.referee.end(Some(result), Cause::Agreement, Instant::now());
    }

    pub(super) fn shut_down(&mut self) {
        self.hosted.referee.end(None, Cause::Shutdown, Instant::now());
    }

    pub(super) fn is_over(&self) -> bool {
        self.hosted.referee.ending.is_some()
    }

    /// Returns how it ended; `None` while it goes on.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.hosted.referee.ending
    }

    pub(super) fn watch(&mut self, client: Client) {
        client.tell(Notice::GameState(self.view(Instant::now())));
        if !self.watchers.iter().any(|watcher| watcher.is(&client)) {
            self.watchers.push(client);
        }
    }

    pub(super) fn unwatch(&mut self, client: &Client) {
        self.watchers.retain(|watcher| !watcher.is(client));
    }

    /// Tells everybody how the game ended.
    pub(super) fn finish(&mut self) {
        if let Some(Ending { result, cause }) = self.ending() {
            let game = self.tag;
            let over = |is_player| match result {
                Some(result) => Notice::GameOver { game, result, cause, is_player },
                None => Notice::GameAborted { reason: cause.to_string() },
            };
            self.clients.0.iter().for_each(|client| client.tell(over(true)));
            self.watchers.iter().for_each(|client| client.tell(over(false)));
            self.hosted.tell_end(Instant::now());
        }
    }

    fn ask_for_move(&mut self, now: Instant) {
        self.hosted.referee.await_move(now);
        self.clients[self.hosted.referee.turn()].tell(Notice::YourMove(self.view(now)));
    }

    fn view(&self, now: Instant) -> GameView {
        let left = |color| self.hosted.referee.clock.left(color, now).unwrap_or_default();
        GameView {
            game: self.tag,
            names: self.names.clone(),
            left: ByColor(Color::BOTH.map(left)),
            fen: self.hosted.referee.board.now(),
        }
    }

    fn tell_players(&self, notice: &Notice) {
        self.clients.0.iter().for_each(|client| client.tell(notice.clone()));
    }

    fn tell_all(&mut self, notice: &Notice) {
        self.tell_players(notice);
        self.watchers.retain(Client::is_open);
        self.watchers.iter().for_each(|watcher| watcher.tell(notice.clone()));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;
    use tokio_util::sync::CancellationToken;
    use zeitnot_rules::GameResult;

    use super::*;
    use crate::client::Outbox;
    use zeitnot_host::live::view::Numbering;

    const SECOND: Duration = Duration::from_secs(1);

    /// Game with both players' messages.
    struct Table {
        game: TournamentGame,
        white: Outbox,
        black: Outbox,
    }

    impl Table {
        fn new(time_control: &str) -> Self {
            let [(alice, white), (bob, black)] = [(); 2].map(|()| Client::channel(CancellationToken::new()));
            let names = ByColor(["alice", "bob"].map(|name| Name::try_from(name).unwrap()));
            let clients = ByColor([alice, bob]);
            let tournament = TournamentGameInfo {
                name: "class".to_owned(),
                stored: None,
                numbering: Numbering::Games,
                number: 1,
                opening: 0,
                repeats: None,
            };
            let setup = Setup {
                tag: GameTag::random(),
                tournament,
                names,
                clients,
                time_control: time_control.parse().unwrap(),
                max_illegal_moves: 100,
            };
            let game = TournamentGame::start(setup, Chess::start(), Host::default());
            Table { game, white, black }
        }

        /// Lets time pass until the game is over.
        async fn run(&mut self) {
            while !self.game.is_over() {
                advance(self.game.due().unwrap() - Instant::now()).await;
                self.game.tick(Instant::now());
            }
        }
    }

    /// Names of the messages, in order.
    fn kinds(outbox: &mut Outbox) -> Vec<String> {
        let kind = |notice: Notice| format!("{notice:?}").split(['(', ' ']).next().unwrap().to_owned();
        outbox.drain().into_iter().map(kind).collect()
    }

    #[test(start_paused = true)]
    async fn clock_updates_come_every_five_seconds_and_the_flag_ends_the_game() {
        let (mut table, began) = (Table::new("12+1"), Instant::now());
        table.run().await;
        assert_eq!(began.elapsed(), 12 * SECOND + TRANSIT);
        let lost = Ending { result: Some(GameResult::Won(Color::Black)), cause: Cause::OutOfTime };
        assert_eq!((table.game.ending(), table.game.due()), (Some(lost), None));
        table.game.finish();
        let notices = table.white.drain();
        let Notice::ClockUpdate(view) = &notices[3] else { panic!("{notices:?}") };
        assert_eq!(view.left, ByColor([2 * SECOND, 12 * SECOND]));
        assert!(matches!(notices[4], Notice::GameOver { is_player: true, .. }));
        let expected = ["GameStarted", "ClockUpdate", "ClockUpdate", "GameOver"];
        assert_eq!(kinds(&mut table.black), expected);
    }

    #[test(start_paused = true)]
    async fn an_illegal_move_is_asked_for_again_and_the_clock_runs_on() {
        let mut table = Table::new("10+0");
        advance(2 * SECOND).await;
        table.game.play(Color::White, "e2-e5", Instant::now());
        table.game.play(Color::Black, "e7-e5", Instant::now());
        let notices = table.white.drain();
        assert!(matches!(&notices[2], Notice::Info(text) if text == "Move e2-e5 is not legal"));
        let Notice::YourMove(view) = &notices[3] else { panic!("{notices:?}") };
        assert_eq!(view.left[Color::White], 8 * SECOND);
        assert!(matches!(&table.black.drain()[1], Notice::Info(text) if text == "It is not your turn"));
        assert!(!table.game.is_over());
    }

    #[test(start_paused = true)]
    async fn a_panic_aborts_its_game_without_a_result() {
        let mut table = Table::new("10+0");
        table.game.contain_panic(|_| panic!("a bug in the rules"));
        let ending = Ending { result: None, cause: Cause::InternalError };
        assert_eq!(table.game.ending(), Some(ending));
        table.game.finish();
        assert!(kinds(&mut table.white).contains(&"GameAborted".to_owned()));
    }

    #[test(start_paused = true)]
    async fn watchers_see_the_game_from_where_they_came() {
        let mut table = Table::new("10+0");
        let (watcher, mut seen) = Client::channel(CancellationToken::new());
        table.game.watch(watcher.clone());
        table.game.watch(watcher.clone());
        table.game.play(Color::White, "e4", Instant::now());
        assert_eq!(kinds(&mut seen), ["GameState", "GameState", "PlayerMoved"]);
        table.game.unwatch(&watcher);
        table.game.play(Color::Black, "e5", Instant::now());
        assert!(seen.drain().is_empty());
        table.game.watch(watcher);
        table.game.shut_down();
        assert_eq!(table.game.ending().unwrap().cause, Cause::Shutdown);
        table.game.finish();
        assert_eq!(table.game.hosted.referee.plies.len(), 2);
        assert_eq!(kinds(&mut seen), ["GameState", "GameAborted"]);
    }
}
