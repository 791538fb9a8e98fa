//! MiniChess through files, as the NTHU course of 2023 played it: each program is started anew for each move.

use std::{fmt, io, process::Command, time::Duration};

use tokio::{task::spawn_blocking, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_external::files::{Files, Turn, TurnTime};
use zeitnot_referee::{Allowance, Board, Cause, Ending, Referee, RefereeRules, ServedGame};
use zeitnot_rules::{
    ByColor, Color, Game as _, MoveText, Reason,
    minichess::{MiniChess, Rules},
};

/// A program that does not end on SIGTERM is killed this much later. The course's referee would wait for ever.
const GRACE: Duration = Duration::from_secs(2);

/// Game of two programs.
pub struct FileGame<'g> {
    /// Shell phrases that start the programs.
    programs: ByColor<&'g str>,
    files: &'g Files,
    time: Duration,
    referee: Referee<ServedGame<MiniChess>>,
}

/// Attempt of a program to move.
#[derive(Debug)]
pub struct Step {
    /// Counted from 1.
    pub number: usize,
    /// `None` if the program wrote no legal move.
    pub mv: Option<MoveText>,
    /// Complete groups of numbers that it wrote.
    pub groups: usize,
    /// Time it took.
    pub took: Duration,
}

impl fmt::Display for Step {
    /// As in the course's record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { number, mv, groups, took } = self;
        let Some(mv) = mv.map(|mv| mv.to_string().to_ascii_uppercase()) else {
            return write!(f, "{number} step: Invalid Action");
        };
        let (from, to) = mv.split_at(2);
        write!(f, "{number} step: {from} → {to}  (Depth: {groups}, {:.2} s)", took.as_secs_f64())
    }
}

impl<'g> FileGame<'g> {
    /// Begins a game in which material decides after a number of plies.
    pub fn new(programs: ByColor<&'g str>, files: &'g Files, time: Duration, plies: u16) -> Self {
        let mut left = plies;
        let play = move |position: &mut MiniChess, mv| {
            left = left.saturating_sub(1);
            position.play(mv);
            *position = position.before_the_end(left);
        };
        let board = ServedGame::new(MiniChess::start(Rules::Nthu2023), play);
        let rules = RefereeRules { illegal_move_loses: true, ..RefereeRules::default() };
        let referee = Referee::new(board, ByColor::both(Allowance::Unlimited), rules, Instant::now());
        FileGame { programs, files, time, referee }
    }

    /// Has the next program move. Dropped before its end, it kills the program.
    ///
    /// # Errors
    /// [`io::Error`] if the program cannot be started or the files cannot be used.
    pub async fn step(&mut self) -> io::Result<Step> {
        let color = self.referee.turn();
        let Turn { action, took } = self.ask(color).await?;
        let text = action.last.map_or(MoveText::NONE, |mv| self.referee.board.position.write(mv));
        let mv = self.referee.play(color, text.as_str(), Instant::now(), None).ok();
        let number = self.referee.board.ply_count() + usize::from(mv.is_none());
        Ok(Step { number, mv, groups: action.groups, took })
    }

    async fn ask(&self, color: Color) -> io::Result<Turn> {
        // As `timeout` does in the course's referee: the phrase is a command with its arguments.
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &format!("exec {} \"$1\" \"$2\"", self.programs[color]), "sh"])
            .stdout(io::stderr());
        let (files, position) = (self.files.clone(), self.referee.board.position.clone());
        let time = TurnTime { limit: self.time, grace: GRACE };
        let stop = CancellationToken::new();
        let _stops_when_dropped = stop.clone().drop_guard();
        spawn_blocking(move || files.ask(command, &position, time, || stop.is_cancelled())).await?
    }

    /// Returns how the game ended; `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.referee.ending
    }
}

/// Word for the end of a game whose last step is this one.
pub fn reason(ending: Ending, last: &Step) -> &'static str {
    match ending.cause {
        Cause::IllegalMove if last.groups == 0 => "no-action",
        Cause::IllegalMove => "illegal-action",
        Cause::Rules(Reason::KingEnPrise) => "king-en-prise",
        Cause::Rules(Reason::MoveLimit | Reason::Material(_)) => "material",
        Cause::Rules(Reason::NoMoves) => "no-moves",
        _ => "rules",
    }
}
