//! One game of IMCS: its board, its clocks, its end. It owns the connections of both players.

use std::time::Duration;

use time::OffsetDateTime;
use tokio::{
    join, select,
    sync::oneshot,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use zeitnot_rules::{ByColor, Color, Game, Outcome, minichess::Imcs};
use zeitnot_wire::{
    Message,
    imcs::{Answer, FromServer, Verdict, dashed, letter},
};

use super::{
    connection::{Connection, lines, reply},
    desk::{Desk, Report},
    guest::STOPPING,
};

/// White's first move costs nothing, but must not take longer.
const FIRST_MOVE: Duration = Duration::from_secs(60);
/// How long connections may take to get here from their guests' tasks.
const ARRIVAL: Duration = Duration::from_secs(5);
/// What is said where nothing more can be.
const FATAL: &str = "fatal IO error: exiting";

/// What a game needs to begin.
#[derive(Debug)]
pub(super) struct Setup {
    pub(super) game: u64,
    pub(super) names: ByColor<String>,
    pub(super) clocks: ByColor<Duration>,
    /// Where the connections will come from.
    pub(super) seats: ByColor<oneshot::Receiver<Connection>>,
    /// Who had offered the game.
    pub(super) offered: Color,
    /// How long a line is waited for when the clock has run out.
    pub(super) late: Duration,
}

/// How a game ended.
enum End {
    Verdict(Verdict),
    /// A side vanished while it was not to move: there is no result.
    Vanished,
    /// It vanished before the game began.
    Absent(Color),
    Stopped,
}

impl End {
    fn won(winner: Color, how: &str) -> End {
        End::Verdict(Verdict { winner: Some(winner), how: how.to_owned() })
    }
}

/// Plays one game, reports it, and closes both connections.
pub(super) async fn run(setup: Setup, desk: Desk, stop: CancellationToken) {
    let Setup { game, names, clocks, seats: ByColor([white, black]), offered, late } = setup;
    let began = OffsetDateTime::now_utc();
    let arrived = timeout(ARRIVAL, async { join!(white, black) }).await;
    let report = Report { game, names, began, verdict: None, moves: Vec::new() };
    let Ok((Ok(white), Ok(black))) = arrived else { return desk.finished(report).await };
    let mut referee = Referee {
        players: ByColor([white, black]),
        left: clocks,
        late,
        position: Imcs::start(),
        moves: Vec::new(),
        first: Some(Instant::now() + FIRST_MOVE),
    };
    let end = select! {
        end = referee.run(offered) => end,
        () = stop.cancelled() => End::Stopped,
    };
    let verdict = match &end {
        End::Verdict(verdict) => Some(verdict.clone()),
        End::Vanished | End::Absent(_) | End::Stopped => None,
    };
    // The ratings count before anybody hears of the result.
    desk.finished(Report { verdict, moves: std::mem::take(&mut referee.moves), ..report }).await;
    referee.close(end).await;
}

struct Referee {
    players: ByColor<Connection>,
    left: ByColor<Duration>,
    late: Duration,
    position: Imcs,
    /// As they were told.
    moves: Vec<String>,
    /// White's first move must be there by then; `None` when it was played.
    first: Option<Instant>,
}

/// What came of a request for a move.
enum Played {
    Move,
    /// Nothing; the request comes again, behind a complaint.
    Again(FromServer),
    End(End),
}

impl Referee {
    async fn run(&mut self, offered: Color) -> End {
        for side in Color::BOTH {
            let (yours, theirs) = (self.left[side], self.left[!side]);
            // Who is gone is noticed below.
            let _ = self.players[side].say(&lines([FromServer::Starts { color: side, yours, theirs }])).await;
        }
        if self.players[offered].is_gone() {
            return End::Absent(offered);
        }
        loop {
            let side = self.position.side();
            let moved = self.moves.last().map(|mv| FromServer::Moved(mv.clone()));
            if self.ask(side, moved).await.is_err() {
                return End::Vanished;
            }
            loop {
                match self.turn(side).await {
                    Played::Move => break,
                    Played::End(end) => return end,
                    Played::Again(complaint) => {
                        if self.ask(side, Some(complaint)).await.is_err() {
                            return End::won(!side, "on opponent disconnect");
                        }
                    }
                }
            }
            if let Some(end) = self.ended(side).await {
                return end;
            }
        }
    }

    /// Is it over after this side's move? Then the other one hears of the move here.
    async fn ended(&mut self, side: Color) -> Option<End> {
        let verdict = match self.position.outcome() {
            Outcome::Ongoing => return None,
            Outcome::Draw(_) => Verdict { winner: None, how: String::new() },
            Outcome::Win(winner, _) => Verdict { winner: Some(winner), how: String::new() },
        };
        let moved = self.moves.last().map(|mv| FromServer::Moved(mv.clone()));
        let _ = self.players[!side].say(&lines(moved)).await;
        Some(End::Verdict(verdict))
    }

    /// The board and the prompt, behind what is to be said before.
    async fn ask(&mut self, side: Color, before: Option<FromServer>) -> Result<(), zeitnot_net::NetError> {
        let prompt = FromServer::Prompt { yours: self.left[side], theirs: self.left[!side] };
        let text = lines(before) + &board(&self.position) + &lines([prompt]);
        self.players[side].say(&text).await
    }

    /// Waits for the line that answers a prompt.
    async fn turn(&mut self, side: Color) -> Played {
        let (since, left) = (Instant::now(), self.left[side]);
        let until = self.first.unwrap_or(since + left + self.late);
        let Ok(heard) = timeout_at(until, self.players[side].hear()).await else {
            return Played::End(End::won(!side, "on opponent time"));
        };
        let Some(incoming) = heard else {
            return Played::End(End::won(!side, "on opponent disconnect"));
        };
        if self.first.is_none() {
            let used = Instant::from_std(incoming.read_at).saturating_duration_since(since);
            self.left[side] = left.saturating_sub(used);
            if self.left[side].is_zero() {
                return Played::End(End::won(!side, "on opponent time"));
            }
        }
        let line = incoming.line.unwrap_or_default();
        match Answer::parse(&line) {
            Ok(Answer::Resign) => Played::End(End::won(!side, "on opponent resignation")),
            Ok(Answer::Move(text)) => self.play(&text),
            Err(_) => Played::Again(complaint("invalid", &line)),
        }
    }

    fn play(&mut self, text: &str) -> Played {
        match self.position.read(text) {
            Ok(mv) => {
                self.moves.push(dashed(&self.position.write(mv)));
                self.position.play(mv);
                self.first = None;
                Played::Move
            }
            Err(_) => Played::Again(complaint("illegal", text)),
        }
    }

    /// Tells both how it ended, and hangs up.
    async fn close(self, end: End) {
        let fatal = || FromServer::Fatal(FATAL.to_owned());
        let words = match end {
            End::Verdict(verdict) => {
                let numbered = reply(verdict.code(), verdict.to_string());
                lines([FromServer::Over(verdict)]) + &numbered
            }
            End::Vanished => lines([fatal()]),
            End::Absent(side) => {
                let failed = format!("{} send move request failed: connection closed\r\n", letter(side));
                failed + &lines([fatal()])
            }
            End::Stopped => reply(503, STOPPING),
        };
        let ByColor([white, black]) = self.players;
        let part = async |mut player: Connection| {
            let _ = player.say(&words).await;
            player.close().await;
        };
        join!(part(white), part(black));
    }
}

/// The text of a line that was no move, or none that is possible.
fn complaint(what: &str, line: &str) -> FromServer {
    let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(80).collect();
    FromServer::Complaint(format!("{what} move {shown}"))
}

/// A board between empty lines. Its own lines end in `\n` only, as those of the first server of this kind do.
fn board(position: &Imcs) -> String {
    let printed = position.print();
    let mut fields = printed.split(' ');
    let [ranks, side, number] = [(); 3].map(|()| fields.next().unwrap_or_default());
    format!("\r\n{number} {side}\n{}\n\r\n", ranks.replace('/', "\n"))
}
