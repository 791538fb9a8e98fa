//! One game of IMCS: drives the referee and owns the connections of both players.

use std::time::Duration;

use futures_util::future::join_all;
use time::OffsetDateTime;
use tokio::{
    join, select,
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::view::Source,
    timer::until,
};
use zeitnot_net::NetError;
use zeitnot_referee::{Allowance, Cause, Ending, Expiry, Referee, RefereeRules, Untimed};
use zeitnot_rules::{
    ByColor, Color, DynGame, GameResult, TimeControl,
    minichess::{MiniChess, Rules},
};
use zeitnot_wire::{
    Message,
    imcs::{Answer, FromServer, Verdict, dashed, letter},
};

use super::connection::{Connection, Heard, STOPPING, lines, reply};

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
    /// Time in which a player whose connection broke down can come back.
    pub(super) reconnect: Duration,
    pub(super) returning: mpsc::Receiver<Return>,
    pub(super) host: Host,
}

/// Player who comes back on another connection.
#[derive(Debug)]
pub(super) struct Return {
    pub(super) name: String,
    pub(super) connection: oneshot::Receiver<Connection>,
}

enum End {
    Verdict(Verdict),
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
#[derive(Default)]
pub(super) struct Closing {
    players: Vec<Connection>,
    words: String,
}

pub(super) async fn run(setup: Setup, stop: CancellationToken) -> (Report, Closing) {
    let Setup { game, names, clocks, seats, offered, late, reconnect, returning, host } = setup;
    let ByColor([white, black]) = seats;
    let began = OffsetDateTime::now_utc();
    let mut report = Report { game, names, began, verdict: None, moves: Vec::new() };
    let arrived = timeout(ARRIVAL, async { join!(white, black) }).await;
    let Ok((Ok(white), Ok(black))) = arrived else {
        return (report, Closing::default());
    };
    let players =
        ByColor([white, black].map(|connection| Player { connection: Some(connection), lost_until: None }));
    let referee = referee(clocks, late);
    let same = clocks[Color::White] == clocks[Color::Black];
    let time_control = TimeControl { initial: clocks[Color::White], increment: Duration::ZERO };
    let info = GameInfo {
        time_control: same.then_some(time_control),
        began,
        ..GameInfo::new(Source::Imcs, &referee.board, ByColor(report.names.0.each_ref()))
    };
    let mut hosted = HostedGame::new(info, referee, host);
    hosted.begin(Instant::now());
    let mut game =
        Game { players, names: report.names.clone(), reconnect, returning, hosted, has_moved: false };
    let end = select! {
        end = game.run(offered) => end,
        () = stop.cancelled() => End::Stopped,
    };
    game.hosted.referee.end(None, end.cause(), Instant::now());
    game.hosted.settle().await;
    report.verdict = game.hosted.referee.ending.filter(|ending| ending.result.is_some()).map(verdict);
    // A result that has come before a stop is told.
    let words = report.verdict.clone().map_or(end, End::Verdict).words();
    let players = game.players.0.into_iter().filter_map(|player| player.connection).collect();
    let moves = game.hosted.referee.plies.iter().map(|ply| dashed(&ply.mv)).collect();
    (Report { moves, ..report }, Closing { players, words })
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
    /// Returns why a game without a verdict has ended.
    fn cause(&self) -> Cause {
        match self {
            End::Stopped => Cause::Shutdown,
            End::Absent(_) | End::Verdict(_) => Cause::Absent,
        }
    }

    /// Last lines to both players.
    fn words(&self) -> String {
        let fatal = || lines([FromServer::Fatal(FATAL.to_owned())]);
        match self {
            End::Verdict(verdict) => {
                lines([FromServer::Over(verdict.clone())]) + &reply(verdict.code(), verdict.to_string())
            }
            End::Absent(color) => {
                format!("{} send move request failed: connection closed\r\n", letter(*color)) + &fatal()
            }
            End::Stopped => reply(503, STOPPING),
        }
    }
}

struct Player {
    /// `None` while it is lost.
    connection: Option<Connection>,
    /// When a player whose connection broke down must be back.
    lost_until: Option<Instant>,
}

impl Player {
    async fn say(&mut self, text: &str) -> Result<(), NetError> {
        match &mut self.connection {
            Some(connection) => connection.say(text).await,
            None => Ok(()),
        }
    }

    /// Reads the next line; without a connection there is none. Cancel safe.
    async fn hear(&mut self) -> Heard {
        match &mut self.connection {
            Some(connection) => connection.hear().await,
            None => std::future::pending().await,
        }
    }
}

struct Game {
    players: ByColor<Player>,
    names: ByColor<String>,
    reconnect: Duration,
    returning: mpsc::Receiver<Return>,
    hosted: HostedGame<DynGame>,
    /// The last move is not reported yet.
    has_moved: bool,
}

fn referee(clocks: ByColor<Duration>, late: Duration) -> Referee<DynGame> {
    let clock = |initial| Allowance::Game(TimeControl { initial, increment: Duration::ZERO });
    let untimed = Some(Untimed { plies: 1, limit: FIRST_MOVE, expiry: Expiry::Loss });
    let rules = RefereeRules { untimed, transit: late, ..RefereeRules::default() };
    let start = MiniChess::start(Rules::Imcs).into();
    Referee::new(start, ByColor(clocks.0.map(clock)), rules, Instant::now())
}

impl Game {
    async fn run(&mut self, offered: Color) -> End {
        for color in Color::BOTH {
            // A client that is gone is noticed below.
            let _ = self.greet(color).await;
        }
        if self.players[offered].connection.as_mut().is_some_and(Connection::is_gone) {
            return End::Absent(offered);
        }
        loop {
            let color = self.hosted.referee.turn();
            if self.ask(color, self.last_move()).await.is_err() {
                self.lost(color);
            }
            self.hosted.referee.await_move(Instant::now());
            self.show_last_move();
            self.turn(color).await;
            if let Some(ending) = self.hosted.referee.ending {
                self.show_last_move();
                if let Cause::Rules(_) = ending.cause {
                    let moved = lines(self.last_move());
                    let _ = self.players[!color].say(&moved).await;
                }
                return End::Verdict(verdict(ending));
            }
        }
    }

    /// Reports the last move, once, with the clock that runs by then.
    fn show_last_move(&mut self) {
        if std::mem::take(&mut self.has_moved) {
            self.hosted.moved(Instant::now());
        }
    }

    async fn greet(&mut self, color: Color) -> Result<(), NetError> {
        let (yours, theirs) = self.clocks(color);
        self.players[color].say(&lines([FromServer::Starts { color, yours, theirs }])).await
    }

    fn clocks(&self, color: Color) -> (Duration, Duration) {
        let now = Instant::now();
        let left = |color| self.hosted.referee.clock.left(color, now).unwrap_or_default();
        (left(color), left(!color))
    }

    fn last_move(&self) -> Option<FromServer> {
        self.hosted.referee.plies.last().map(|ply| FromServer::Moved(dashed(&ply.mv)))
    }

    /// Sends the board and the prompt, after another message.
    async fn ask(&mut self, color: Color, before: Option<FromServer>) -> Result<(), NetError> {
        let (yours, theirs) = self.clocks(color);
        let board = board(&self.hosted.referee.board.now());
        let text = lines(before) + &board + &lines([FromServer::Prompt { yours, theirs }]);
        self.players[color].say(&text).await
    }

    /// A connection broke down: its player has a while to come back, on the clock.
    fn lost(&mut self, color: Color) {
        tracing::info!("IMCS: {} has lost the connection", self.names[color]);
        let until = Instant::now() + self.reconnect;
        self.players[color] = Player { connection: None, lost_until: Some(until) };
    }

    /// Takes a player's new connection, and shows the board if it is the player's turn.
    async fn welcome(&mut self, Return { name, connection }: Return) {
        let Ok(Ok(connection)) = timeout(ARRIVAL, connection).await else { return };
        let theirs = |color: &Color| self.names[*color] == name;
        let lost = |color: &Color| theirs(color) && self.players[*color].lost_until.is_some();
        let color = Color::BOTH.into_iter().find(lost).or(Color::BOTH.into_iter().find(theirs));
        let Some(color) = color else { return };
        self.players[color] = Player { connection: Some(connection), lost_until: None };
        let mut greeted = self.greet(color).await;
        if greeted.is_ok() && color == self.hosted.referee.turn() {
            greeted = self.ask(color, self.last_move()).await;
        }
        if greeted.is_err() {
            self.lost(color);
        }
    }

    /// Waits until a side has moved, or the game is over.
    async fn turn(&mut self, color: Color) {
        loop {
            match self.answer(color).await {
                Turn::Done => return,
                Turn::Waits => {}
                Turn::Again(complaint) => {
                    if self.ask(color, Some(complaint)).await.is_err() {
                        self.lost(color);
                    }
                }
            }
        }
    }

    /// Waits for the answer to a prompt. A player who was away and has not come back has lost, also one who was away
    /// before the prompt: to reset the connection must not be better than to lose.
    async fn answer(&mut self, color: Color) -> Turn {
        if self.hosted.referee.ending.is_some() {
            return Turn::Done;
        }
        let lost_until = self.players[color].lost_until;
        let heard = select! {
            biased;
            Some(back) = self.returning.recv() => {
                self.welcome(back).await;
                return Turn::Waits;
            }
            heard = self.players[color].hear() => heard,
            () = until(self.hosted.referee.timeout()) => {
                self.hosted.referee.time_out(Instant::now());
                return Turn::Done;
            }
            () = until(lost_until) => Heard::Closed,
        };
        let incoming = match heard {
            Heard::Line(incoming) => incoming,
            Heard::Lost => {
                self.lost(color);
                return Turn::Waits;
            }
            Heard::Closed => {
                self.hosted.referee.lose(color, Cause::Disconnect, Instant::now());
                return Turn::Done;
            }
        };
        let at = Instant::from_std(incoming.read_at);
        if self.hosted.referee.check_time(at) {
            return Turn::Done;
        }
        let line = incoming.line.unwrap_or_default();
        match Answer::parse(&line) {
            Ok(Answer::Resign) => self.hosted.referee.lose(color, Cause::Resignation, at),
            Ok(Answer::Move(text)) => match self.hosted.referee.play(color, &text, at, None) {
                Ok(_) => self.has_moved = true,
                Err(_) => return Turn::Again(complaint("illegal", &text)),
            },
            Err(_) => return Turn::Again(complaint("invalid", &line)),
        }
        Turn::Done
    }
}

/// Outcome of a prompt.
enum Turn {
    /// A move, or the end of the game.
    Done,
    /// Nothing yet.
    Waits,
    /// Something wrong: the prompt is to come again.
    Again(FromServer),
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
