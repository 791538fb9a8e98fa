//! One game of IMCS: drives the referee and owns the connections of both players.

use std::time::Duration;

use futures_util::future::join_all;
use time::OffsetDateTime;
use tokio::{
    join, select,
    sync::oneshot,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use zeitnot_net::NetError;
use zeitnot_rules::{
    ByColor, Color, DynGame, GameResult, TimeControl,
    minichess::{MiniChess, Rules},
};
use zeitnot_wire::{
    Message,
    imcs::{Answer, FromServer, Verdict, dashed, letter},
};

use super::connection::{Connection, STOPPING, lines, reply};
use crate::{
    referee::{Allowance, Cause, Ending, Expiry, Referee, RefereeRules, Untimed},
    timer::until,
};

/// White's first move costs nothing, but must not take longer.
const FIRST_MOVE: Duration = Duration::from_secs(60);
/// Time that connections may take to get here from their guests' tasks.
const ARRIVAL: Duration = Duration::from_secs(5);
const FATAL: &str = "fatal IO error: exiting";

#[derive(Debug)]
pub(super) struct Setup {
    pub(super) game: u64,
    pub(super) names: ByColor<String>,
    pub(super) clocks: ByColor<Duration>,
    /// Sources of the players' connections.
    pub(super) seats: ByColor<oneshot::Receiver<Connection>>,
    /// The side that had offered the game.
    pub(super) offered: Color,
    /// Time for which a line is awaited when the clock has run out.
    pub(super) late: Duration,
}

enum End {
    Verdict(Verdict),
    /// A side vanished while it was not to move: there is no result.
    Vanished,
    /// A side vanished before the game began.
    Absent(Color),
    Stopped,
}

#[derive(Debug)]
pub(super) struct Report {
    pub(super) game: u64,
    pub(super) names: ByColor<String>,
    pub(super) began: OffsetDateTime,
    /// `None` if it was aborted.
    pub(super) verdict: Option<Verdict>,
    pub(super) moves: Vec<String>,
}

/// Connections of a finished game, and the words to close them with.
pub(super) struct Closing {
    players: Vec<Connection>,
    words: String,
}

pub(super) async fn run(setup: Setup, stop: CancellationToken) -> (Report, Closing) {
    let Setup { game, names, clocks, seats: ByColor([white, black]), offered, late } = setup;
    let began = OffsetDateTime::now_utc();
    let mut report = Report { game, names, began, verdict: None, moves: Vec::new() };
    let arrived = timeout(ARRIVAL, async { join!(white, black) }).await;
    let Ok((Ok(white), Ok(black))) = arrived else {
        return (report, Closing { players: Vec::new(), words: String::new() });
    };
    let mut game = Game::new(ByColor([white, black]), clocks, late);
    let end = select! {
        end = game.run(offered) => end,
        () = stop.cancelled() => End::Stopped,
    };
    let words = end.words();
    if let End::Verdict(verdict) = end {
        report.verdict = Some(verdict);
    }
    (Report { moves: game.moves, ..report }, Closing { players: game.players.0.into(), words })
}

impl Closing {
    pub(super) async fn close(self) {
        let words = &self.words;
        let closing = self.players.into_iter().map(async |mut player| {
            let _ = player.say(words).await;
            player.close().await;
        });
        join_all(closing).await;
    }
}

impl End {
    /// Last lines to both players.
    fn words(&self) -> String {
        let fatal = || lines([FromServer::Fatal(FATAL.to_owned())]);
        match self {
            End::Verdict(verdict) => {
                lines([FromServer::Over(verdict.clone())]) + &reply(verdict.code(), verdict.to_string())
            }
            End::Vanished => fatal(),
            End::Absent(color) => {
                format!("{} send move request failed: connection closed\r\n", letter(*color)) + &fatal()
            }
            End::Stopped => reply(503, STOPPING),
        }
    }
}

struct Game {
    players: ByColor<Connection>,
    referee: Referee<DynGame>,
    moves: Vec<String>,
}

impl Game {
    fn new(players: ByColor<Connection>, clocks: ByColor<Duration>, late: Duration) -> Game {
        let clock = |initial| Allowance::Game(TimeControl { initial, increment: Duration::ZERO });
        let untimed = Some(Untimed { plies: 1, limit: FIRST_MOVE, expiry: Expiry::Loss });
        let rules = RefereeRules { untimed, transit: late, ..RefereeRules::default() };
        let referee = Referee::new(
            MiniChess::start(Rules::Imcs).into(),
            ByColor(clocks.0.map(clock)),
            rules,
            Instant::now(),
        );
        Game { players, referee, moves: Vec::new() }
    }

    async fn run(&mut self, offered: Color) -> End {
        for color in Color::BOTH {
            let (yours, theirs) = self.clocks(color);
            let starts = FromServer::Starts { color, yours, theirs };
            // A client that is gone is noticed below.
            let _ = self.players[color].say(&lines([starts])).await;
        }
        if self.players[offered].is_gone() {
            return End::Absent(offered);
        }
        loop {
            let color = self.referee.turn();
            if self.ask(color, self.last_move()).await.is_err() {
                return End::Vanished;
            }
            self.referee.await_move(Instant::now());
            self.turn(color).await;
            if let Some(ending) = self.referee.ending {
                if let Cause::Rules(_) = ending.cause {
                    let moved = lines(self.last_move());
                    let _ = self.players[!color].say(&moved).await;
                }
                return End::Verdict(verdict(ending));
            }
        }
    }

    fn clocks(&self, color: Color) -> (Duration, Duration) {
        let now = Instant::now();
        let left = |color| self.referee.clock.left(color, now).unwrap_or_default();
        (left(color), left(!color))
    }

    fn last_move(&self) -> Option<FromServer> {
        self.moves.last().map(|mv| FromServer::Moved(mv.clone()))
    }

    /// Sends the board and the prompt, after another message.
    async fn ask(&mut self, color: Color, before: Option<FromServer>) -> Result<(), NetError> {
        let (yours, theirs) = self.clocks(color);
        let board = board(&self.referee.board.now());
        let text = lines(before) + &board + &lines([FromServer::Prompt { yours, theirs }]);
        self.players[color].say(&text).await
    }

    /// Waits until a side has moved, or the game is over.
    async fn turn(&mut self, color: Color) {
        while let Some(complaint) = self.answer(color).await {
            if self.ask(color, Some(complaint)).await.is_err() {
                self.referee.lose(color, Cause::Disconnect, Instant::now());
            }
        }
    }

    /// Waits for the answer to a prompt; returns what is wrong with it, where it is to come again.
    async fn answer(&mut self, color: Color) -> Option<FromServer> {
        if self.referee.ending.is_some() {
            return None;
        }
        let heard = select! {
            biased;
            heard = self.players[color].hear() => heard,
            () = until(self.referee.timeout()) => {
                self.referee.time_out(Instant::now());
                return None;
            }
        };
        let Some(incoming) = heard else {
            self.referee.lose(color, Cause::Disconnect, Instant::now());
            return None;
        };
        let at = Instant::from_std(incoming.read_at);
        if self.referee.check_time(at) {
            return None;
        }
        let line = incoming.line.unwrap_or_default();
        match Answer::parse(&line) {
            Ok(Answer::Resign) => self.referee.lose(color, Cause::Resignation, at),
            Ok(Answer::Move(text)) => match self.referee.play(color, &text, at, None) {
                Ok(mv) => self.moves.push(dashed(&mv)),
                Err(_) => return Some(complaint("illegal", &text)),
            },
            Err(_) => return Some(complaint("invalid", &line)),
        }
        None
    }
}

fn verdict(Ending { result, cause }: Ending) -> Verdict {
    let winner = match result {
        Some(GameResult::Won(winner)) => Some(winner),
        Some(GameResult::Draw) | None => None,
    };
    let how = match cause {
        Cause::OutOfTime | Cause::NoMove => "on opponent time",
        Cause::Disconnect => "on opponent disconnect",
        Cause::Resignation => "on opponent resignation",
        _ => "",
    };
    Verdict { winner, how: how.to_owned() }
}

fn complaint(what: &str, line: &str) -> FromServer {
    let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(80).collect();
    FromServer::Complaint(format!("{what} move {shown}"))
}

/// A board between empty lines. Its own lines end in `\n` only, as those of the first server of this kind do.
fn board(position: &str) -> String {
    let mut fields = position.split(' ');
    let [ranks, side, number] = [(); 3].map(|()| fields.next().unwrap_or_default());
    format!("\r\n{number} {side}\n{}\n\r\n", ranks.replace('/', "\n"))
}
