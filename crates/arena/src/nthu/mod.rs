//! MiniChess through files, as the NTHU course of 2023 played it: each program is started anew for each move.

mod files;

use std::{fmt, io, time::Duration};

use tokio::time::Instant;
use zeitnot_rules::{
    ByColor, Game as _, MoveText, Reason,
    minichess::{MiniChess, Rules},
};

use zeitnot_referee::{Allowance, Board, Cause, Ending, Referee, RefereeRules, ServedGame};

pub use files::Files;
use files::Turn;

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
        let (color, position) = (self.referee.turn(), &self.referee.board.position);
        let Turn { action, took } = self.files.ask(self.programs[color], position, self.time).await?;
        let text = action.last.map_or(MoveText::NONE, |mv| position.write(mv));
        let mv = self.referee.play(color, text.as_str(), Instant::now(), None).ok();
        let number = self.referee.board.ply_count() + usize::from(mv.is_none());
        Ok(Step { number, mv, groups: action.groups, took })
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
