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
use crate::{
    database::{self, Database, GameHeader, GameRecorder},
    live::{Feed, Header, LiveGame, person, view::Source},
    tag::GameTag,
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
    /// Time in which a player whose connection broke down can come back.
    pub(super) reconnect: Duration,
    pub(super) returning: mpsc::Receiver<Return>,
    pub(super) live: Feed,
    pub(super) database: Option<Database>,
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
    let Setup { game, names, clocks, seats, offered, late, reconnect, returning, live, database } = setup;
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
    let header = header(&report, clocks, &referee);
    let recorder = GameRecorder::begin(database, stored(&header, &report.names));
    let live = live.begin(header, &referee, Instant::now());
    let mut game = Game {
        players,
        names: report.names.clone(),
        reconnect,
        returning,
        referee,
        moves: Vec::new(),
        recorder,
        live,
    };
    let end = select! {
        end = game.run(offered) => end,
        () = stop.cancelled() => End::Stopped,
    };
    game.record_end(&end).await;
    let words = end.words();
    if let End::Verdict(verdict) = end {
        report.verdict = Some(verdict);
    }
    let players = game.players.0.into_iter().filter_map(|player| player.connection).collect();
    (Report { moves: game.moves, ..report }, Closing { players, words })
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
    referee: Referee<DynGame>,
    moves: Vec<String>,
    recorder: GameRecorder,
    live: LiveGame,
}

/// Facts about a game for its spectators.
fn header(report: &Report, clocks: ByColor<Duration>, referee: &Referee<DynGame>) -> Header {
    let same = clocks[Color::White] == clocks[Color::Black];
    Header {
        id: GameTag::random().to_string(),
        source: Source::Imcs,
        kind: referee.board.kind(),
        tournament: None,
        number: None,
        players: ByColor(Color::BOTH.map(|color| person(&report.names[color]))),
        time_control: same
            .then_some(TimeControl { initial: clocks[Color::White], increment: Duration::ZERO }),
        start_fen: referee.board.root(),
        repeats: None,
        started: report.began,
    }
}

/// The same for the database.
fn stored(header: &Header, names: &ByColor<String>) -> GameHeader {
    GameHeader {
        id: header.id.as_str().into(),
        source: database::Source::Imcs,
        kind: header.kind,
        tournament: None,
        round: None,
        opening: None,
        names: names.clone(),
        time_control: header.time_control.map(|time_control| time_control.to_string()),
        start: None,
        repeats: None,
        began: header.started,
    }
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
            let color = self.referee.turn();
            if self.ask(color, self.last_move()).await.is_err() {
                self.lost(color);
            }
            self.referee.await_move(Instant::now());
            self.show_last_move();
            self.turn(color).await;
            if let Some(ending) = self.referee.ending {
                self.show_last_move();
                if let Cause::Rules(_) = ending.cause {
                    let moved = lines(self.last_move());
                    let _ = self.players[!color].say(&moved).await;
                }
                return End::Verdict(verdict(ending));
            }
        }
    }

    /// Shows spectators the last move, once, and writes it down.
    fn show_last_move(&mut self) {
        let played = self.referee.board.moves();
        if let Some(mv) = played.last().filter(|_| played.len() > self.recorder.plies()) {
            self.live.moved(mv, &self.referee, Instant::now());
            let times = self.referee.plies.last().map(|ply| (ply.left, ply.spent));
            self.recorder.moved(mv.as_str(), times.unwrap_or_default());
        }
    }

    /// Writes the end down, and then shows it to spectators.
    async fn record_end(&mut self, end: &End) {
        let ending = self.referee.ending;
        let (result, cause) = match (end, ending) {
            (End::Verdict(_), Some(Ending { result, cause })) => (result, cause),
            (End::Stopped, _) => (None, Cause::Shutdown),
            _ => (None, Cause::Disconnect),
        };
        let reason = match (end, cause) {
            (End::Absent(_), _) => "A player has left".to_owned(),
            _ => cause.to_string(),
        };
        let left = self.referee.clock.left(self.referee.turn(), Instant::now());
        self.recorder.end(result, reason.clone(), cause.termination(), left).await;
        self.live.ended(result, reason, cause.termination(), &self.referee, Instant::now());
    }

    async fn greet(&mut self, color: Color) -> Result<(), NetError> {
        let (yours, theirs) = self.clocks(color);
        self.players[color].say(&lines([FromServer::Starts { color, yours, theirs }])).await
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
        if greeted.is_ok() && color == self.referee.turn() {
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
        if self.referee.ending.is_some() {
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
            () = until(self.referee.timeout()) => {
                self.referee.time_out(Instant::now());
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
                self.referee.lose(color, Cause::Disconnect, Instant::now());
                return Turn::Done;
            }
        };
        let at = Instant::from_std(incoming.read_at);
        if self.referee.check_time(at) {
            return Turn::Done;
        }
        let line = incoming.line.unwrap_or_default();
        match Answer::parse(&line) {
            Ok(Answer::Resign) => self.referee.lose(color, Cause::Resignation, at),
            Ok(Answer::Move(text)) => match self.referee.play(color, &text, at, None) {
                Ok(mv) => self.moves.push(dashed(&mv)),
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
