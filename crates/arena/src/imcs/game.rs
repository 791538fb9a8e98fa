//! One game of IMCS: the referee's rules, and the words of the protocol for what players ask for and are told.

use std::time::Duration;

use tokio::{select, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{game_info::GameInfo, hosted_game::Host, jobs::Handle, live::view::Source, tag::GameTag};
use zeitnot_referee::{Allowance, Cause, Expiry, Referee, RefereeRules, Untimed};
use zeitnot_rules::{
    ByColor, Color, DynGame, GameResult, TimeControl,
    minichess::{MiniChess, Rules},
};
use zeitnot_wire::{
    Message,
    imcs::{Answer, FromServer, Verdict, dashed, letter},
};

use super::connection::{Connection, Heard, STOPPING, lines, reply};
use crate::{
    client::{Client, Outbox},
    message::{GameView, Notice},
    online_game::OnlineGame,
};

/// White's first move costs nothing, but must not take longer.
const FIRST_MOVE: Duration = Duration::from_secs(60);
const FATAL: &str = "fatal IO error: exiting";

pub(super) type ImcsGame = OnlineGame<DynGame>;

/// Begins a game, unless a player is absent: that side has left before the game began. A line is still awaited for the
/// time `late` after the clock has run out.
pub(super) fn start(
    names: &ByColor<String>,
    clocks: ByColor<Duration>,
    late: Duration,
    absent: Option<Color>,
    clients: ByColor<Client>,
    host: Host,
) -> ImcsGame {
    let time_control = |initial| TimeControl { initial, increment: Duration::ZERO };
    let untimed = Some(Untimed { plies: 1, limit: FIRST_MOVE, expiry: Expiry::Loss });
    let rules = RefereeRules { untimed, transit: late, ..RefereeRules::default() };
    let board = DynGame::from(MiniChess::start(Rules::Imcs));
    let same = clocks[Color::White] == clocks[Color::Black];
    let info = GameInfo {
        time_control: same.then_some(time_control(clocks[Color::White])),
        ..GameInfo::new(Source::Imcs, &board, ByColor(names.0.each_ref()))
    };
    let allowances = ByColor(clocks.0.map(|clock| Allowance::Game(time_control(clock))));
    let mut referee = Referee::new(board, allowances, rules, Instant::now());
    if absent.is_some() {
        referee.end(None, Cause::Absent, Instant::now());
    }
    let game = OnlineGame::start(GameTag::random(), info, referee, clients.clone(), u32::MAX, host);
    if let Some(absent) = absent {
        let text = format!("{} send move request failed: connection closed\r\n", letter(absent));
        clients.0.iter().for_each(|client| client.info(text.clone()));
    }
    game
}

/// A player's way to a game, and back.
#[derive(Debug)]
pub(super) struct PlayerLink {
    color: Color,
    game: Handle<ImcsGame>,
    notices: Outbox,
    /// Cancelled when another connection takes the place of this one.
    closed: CancellationToken,
    /// Time in which the player can come back after the connection broke down.
    reconnect: Duration,
}

impl PlayerLink {
    /// Creates a link, and its end for the game.
    pub(super) fn new(color: Color, game: Handle<ImcsGame>, reconnect: Duration) -> (PlayerLink, Client) {
        let closed = CancellationToken::new();
        let (client, notices) = Client::channel(closed.clone());
        (PlayerLink { color, game, notices, closed, reconnect }, client)
    }

    /// Comes back to a game on another connection; `None` if it is over.
    pub(super) async fn rejoin(
        game: Handle<ImcsGame>,
        name: String,
        reconnect: Duration,
    ) -> Option<PlayerLink> {
        let (link, client) = PlayerLink::new(Color::White, game, reconnect);
        let color = link.game.call(move |game| game.rejoin(&name, client)).await??;
        Some(PlayerLink { color, ..link })
    }

    /// Plays to the end, which closes the connection.
    pub(super) async fn play(mut self, mut connection: Connection, stop: CancellationToken) {
        // Nothing is read before the prompt.
        let mut is_asked = false;
        let mut complaint = String::new();
        loop {
            let heard = select! {
                biased;
                notice = self.notices.next() => {
                    // Another connection may have taken the place of this one.
                    let Some(notice) = notice else { return };
                    is_asked |= matches!(notice, Notice::YourMove(_));
                    let is_over = matches!(notice, Notice::GameOver { .. } | Notice::GameAborted { .. });
                    let text = self.print(notice, &mut complaint, &stop);
                    if is_over {
                        let _ = connection.say(&text).await;
                        return connection.close().await;
                    } else if connection.say(&text).await.is_err() {
                        return self.disconnect().await;
                    }
                    continue;
                }
                heard = connection.hear(), if is_asked => heard,
            };
            is_asked = false;
            match heard {
                Heard::Line(incoming) => {
                    let at = Instant::from_std(incoming.read_at);
                    complaint = self.answer(&incoming.line.unwrap_or_default(), at).await;
                }
                Heard::Closed => self.request(ImcsGame::leave).await,
                Heard::Lost => return self.disconnect().await,
            }
        }
    }

    /// Has the game do something, unless another connection has taken the place of this one.
    async fn request(&self, step: impl FnOnce(&mut ImcsGame, Color) + Send + 'static) {
        let color = self.color;
        let closed = self.closed.clone();
        let step = move |game: &mut ImcsGame| {
            if !closed.is_cancelled() {
                step(game, color);
            }
        };
        self.game.send(step).await;
    }

    async fn disconnect(self) {
        let back_by = Instant::now() + self.reconnect;
        self.request(move |game, color| game.disconnect(color, back_by)).await;
    }

    /// Passes an answer on, and returns the complaint for the case that it is not a legal move. Text that is not a move
    /// is passed on, too: it may have come after the flag had fallen.
    async fn answer(&self, line: &str, at: Instant) -> String {
        let (mv, complaint) = match Answer::parse(line) {
            Ok(Answer::Resign) => {
                self.request(move |game, color| game.resign(color, at)).await;
                return String::new();
            }
            Ok(Answer::Move(mv)) => (mv.clone(), complaint("illegal", &mv)),
            Err(_) => (String::new(), complaint("invalid", line)),
        };
        self.request(move |game, color| game.play(color, &mv, at)).await;
        complaint
    }

    /// Prints a notice in the words of IMCS. The line itself decides how its complaint about an illegal move reads.
    fn print(&self, notice: Notice, complaint: &mut String, stop: &CancellationToken) -> String {
        match notice {
            Notice::GameStarted(GameView { left, .. }) => {
                let color = self.color;
                lines([FromServer::Starts { color, yours: left[color], theirs: left[!color] }])
            }
            Notice::PlayerMoved { mover, made, .. } if mover != self.color => {
                lines([FromServer::Moved(dashed(&made.mv))])
            }
            Notice::YourMove(GameView { fen, left, .. }) => {
                let (yours, theirs) = (left[self.color], left[!self.color]);
                board(&fen) + &lines([FromServer::Prompt { yours, theirs }])
            }
            Notice::Info(text) if complaint.is_empty() => text,
            Notice::Info(_) => std::mem::take(complaint),
            Notice::GameOver { result, cause, .. } => {
                let verdict = verdict(result, cause);
                lines([FromServer::Over(verdict.clone())]) + &reply(verdict.code(), verdict.to_string())
            }
            Notice::GameAborted { .. } if stop.is_cancelled() => reply(503, STOPPING),
            Notice::GameAborted { .. } => lines([FromServer::Fatal(FATAL.to_owned())]),
            _ => String::new(),
        }
    }
}

pub(super) fn verdict(result: GameResult, cause: Cause) -> Verdict {
    let winner = match result {
        GameResult::Won(winner) => Some(winner),
        GameResult::Draw => None,
    };
    let how = match cause {
        Cause::OutOfTime | Cause::NoMove => "on opponent time",
        Cause::Disconnect => "on opponent disconnect",
        Cause::Resignation => "on opponent resignation",
        _ => "",
    };
    Verdict { winner, how: how.to_owned() }
}

fn complaint(what: &str, line: &str) -> String {
    let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(80).collect();
    lines([FromServer::Complaint(format!("{what} move {shown}"))])
}

/// A board between empty lines. Its own lines end in `\n` only, as those of the first server of this kind do.
fn board(position: &str) -> String {
    let mut fields = position.split(' ');
    let [ranks, side, number] = [(); 3].map(|()| fields.next().unwrap_or_default());
    format!("\r\n{number} {side}\n{}\n\r\n", ranks.replace('/', "\n"))
}
