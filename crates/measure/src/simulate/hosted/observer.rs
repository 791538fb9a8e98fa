//! Observer of a game: what its players and the database know of it, kept apart from it, to check the laws against.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::Instant;
use zeitnot_host::{
    database::{GameEnd, GameRow, MAX_WAIT},
    hosted_game::HostedGame,
    pgn,
};
use zeitnot_measure::results_check::{NONE, StoredGame, ToldResults, stored_once};
use zeitnot_referee::{Allowance, Ending, PlayedMove};
use zeitnot_rules::{ByColor, Color, DynGame, GameResult, MoveText};

use super::{
    super::run::{Checked, Run},
    front::Setup,
    laws::{CLOCK_OF_OWNER, MOVE_ONCE, ONE_END, RESTORED, TIME_GOES_ON, TOLD_IS_WRITTEN, USED_IS_PASSED},
};

/// Move with its times, as a row of the database has it.
type StoredMove = (String, Option<u128>, Option<u128>);

#[derive(Debug)]
pub(super) struct Observer {
    allowances: ByColor<Allowance>,
    /// As the rules make it of the moves that the players were told.
    board: DynGame,
    /// Requests that were played.
    played: BTreeSet<u64>,
    /// Moves that the database wrote last; `None` before that.
    acknowledged: Option<Vec<StoredMove>>,
    /// Time on both clocks when the last turn began.
    left: ByColor<Duration>,
    turn_began: Option<Instant>,
    /// Time on both clocks at the last check, with what was gained since.
    most: ByColor<Duration>,
    /// The end, when the referee had it first.
    ending: Option<(Ending, Instant)>,
    told: ToldResults,
    ends_told: usize,
    ends_shown: usize,
    /// Attempts to write that failed since the end.
    failures: usize,
}

impl Observer {
    pub(super) fn new(setup: &Setup, board: DynGame) -> Observer {
        Observer {
            allowances: setup.allowances,
            board,
            played: BTreeSet::new(),
            acknowledged: None,
            left: setup.initial(),
            turn_began: None,
            most: setup.initial(),
            ending: None,
            told: ToldResults::default(),
            ends_told: 0,
            ends_shown: 0,
            failures: 0,
        }
    }

    pub(super) fn has_told(&self) -> bool {
        self.ends_told > 0
    }

    fn increment(&self, color: Color) -> Duration {
        match self.allowances[color] {
            Allowance::Game(time_control) => time_control.increment,
            Allowance::Move(_) | Allowance::Unlimited => Duration::ZERO,
        }
    }

    /// The players hear of a move, which this request has made, read at this instant.
    pub(super) fn played(
        &mut self,
        request: u64,
        (mover, mv): (Color, &MoveText),
        read_at: Instant,
        run: &mut Run,
    ) -> Checked {
        let is_fitting = mover == self.board.side_to_move() && self.board.play(mv).is_ok();
        let is_new = self.played.insert(request);
        run.check(&MOVE_ONCE, is_fitting && is_new, || {
            format!("request {request} of {mover:?} plays {mv} in {}", self.board.now())
        })?;
        if let Some(began) = self.turn_began.take() {
            let used = read_at.saturating_duration_since(began);
            let left = self.left[mover].saturating_sub(used);
            self.left[mover] = left.saturating_add(self.increment(mover));
            // What passed since the move was read is given back.
            self.most[mover] = self.most[mover].max(self.left[mover]);
        }
        Ok(())
    }

    pub(super) fn taken_back(&mut self, kept: usize, now: Instant) {
        self.stop(now);
        self.board.truncate(kept);
        // Requests have no numbers on Lichess: a move that arrives again may be meant for the position that is back.
        self.played.clear();
    }

    fn stop(&mut self, at: Instant) {
        if let Some(began) = self.turn_began.take() {
            let turn = self.board.side_to_move();
            self.left[turn] = self.left[turn].saturating_sub(at.saturating_duration_since(began));
        }
    }

    /// Checks what the game is like after a step, whose request, if any, was read at this instant.
    pub(super) fn check(
        &mut self,
        game: &HostedGame<DynGame>,
        read_at: Instant,
        now: Instant,
        run: &mut Run,
    ) -> Checked {
        let referee = &game.referee;
        run.check(&MOVE_ONCE, self.board.now() == referee.board.now(), || {
            format!("the game stands at {}, and its moves lead to {}", referee.board.now(), self.board.now())
        })?;
        let running = referee.clock.running();
        let turn = self.board.side_to_move();
        let is_owner = running.is_none_or(|color| color == turn && referee.ending.is_none());
        run.check(&CLOCK_OF_OWNER, is_owner, || format!("the clock of {running:?} runs on {turn:?}'s turn"))?;
        if let Some(ending) = referee.ending {
            let first = self.ending.is_none();
            let (known, _) = *self.ending.get_or_insert((ending, now));
            run.check(&ONE_END, known == ending, || format!("{known:?} has become {ending:?}"))?;
            if first && self.turn_began.is_some() {
                // By the flag when the request was read, or by the request when it was made.
                let most = self.left[turn].saturating_sub(self.used(read_at));
                self.stop(now);
                let left = referee.clock.left(turn, now).unwrap_or(Duration::MAX);
                if self.allowances[turn] != Allowance::Unlimited && left <= most {
                    self.left[turn] = self.left[turn].max(left);
                    self.most[turn] = self.most[turn].max(left);
                }
            }
        } else if running.is_some() && self.turn_began.is_none() {
            self.turn_began = Some(now);
        }
        Color::BOTH.into_iter().try_for_each(|color| self.check_clock(game, color, now, run))
    }

    fn used(&self, now: Instant) -> Duration {
        self.turn_began.map_or(Duration::ZERO, |began| now.saturating_duration_since(began))
    }

    fn check_clock(
        &mut self,
        game: &HostedGame<DynGame>,
        color: Color,
        now: Instant,
        run: &mut Run,
    ) -> Checked {
        let Some(left) = game.referee.clock.left(color, now) else { return Ok(()) };
        let most = std::mem::replace(&mut self.most[color], left);
        run.check(&TIME_GOES_ON, left <= most, || format!("{color:?} has {left:?}, and had {most:?}"))?;
        let used = if color == self.board.side_to_move() { self.used(now) } else { Duration::ZERO };
        let expected = self.left[color].saturating_sub(used);
        run.check(&USED_IS_PASSED, left == expected, || {
            format!("{color:?} has {left:?} left, and by the time that passed {expected:?}")
        })
    }

    /// The database has written what the game had handed over.
    pub(super) fn written(&mut self, plies: &[impl AsRef<PlayedMove>]) {
        let millis = |time: Option<Duration>| time.map(|time| time.as_millis());
        let moves = plies.iter().map(|ply| {
            let PlayedMove { mv, left, spent, .. } = ply.as_ref();
            (mv.to_string(), millis(*left), millis(*spent))
        });
        self.acknowledged = Some(moves.collect());
    }

    /// The database could not write.
    pub(super) fn failed(&mut self) {
        self.failures += usize::from(self.ending.is_some());
    }

    /// The page shows an end. `row` is what the database has.
    pub(super) fn shown(&mut self, row: Option<&GameRow>, run: &mut Run) -> Checked {
        self.ends_shown += 1;
        self.check_written("shown", row, run)
    }

    /// Checks that an end which becomes known is written, or cannot be.
    fn check_written(&self, how: &str, row: Option<&GameRow>, run: &mut Run) -> Checked {
        let is_overdue = self.ending.is_some_and(|(_, since)| since.elapsed() >= MAX_WAIT);
        let is_excused = is_overdue || self.failures > 0;
        run.check(&TOLD_IS_WRITTEN, row.and_then(end).is_some() || is_excused, || {
            format!("{:?} is {how}, and the database has {row:?}", self.ending)
        })
    }

    /// The players hear of the end. `row` is what the database has.
    pub(super) fn ended(&mut self, told: Ending, row: Option<&GameRow>, run: &mut Run) -> Checked {
        self.ends_told += 1;
        self.check_written("told", row, run)?;
        let id = row.map_or("unwritten", |row| &*row.header.id);
        let twice = self.told.tell(id, text(told.result));
        run.check(&ONE_END, self.ends_told == 1 && self.ends_shown <= 1 && twice.is_ok(), || {
            format!("the end is told {} times and shown {} times", self.ends_told, self.ends_shown)
        })?;
        match row.filter(|row| end(row).is_some()) {
            Some(row) => self.agrees(row, run),
            None => Ok(()),
        }
    }

    /// Checks the row of a game that is over, and the PGN printed from it.
    fn agrees(&self, row: &GameRow, run: &mut Run) -> Checked {
        let result = row.end.as_ref().map_or(NONE, |end| end.result_text());
        let stored =
            StoredGame { id: row.header.id.to_string(), result: result.to_owned(), ..StoredGame::default() };
        let stored = [stored];
        let checked = stored_once(&stored).and_then(|()| self.told.are_stored(&stored));
        run.check_ok(&ONE_END, checked)?;
        let pgn = pgn::print_or_explain(None, row);
        let moves = self.board.moves().len();
        let tags = [format!("[Result \"{result}\"]"), format!("[PlyCount \"{moves}\"]")];
        run.check(&ONE_END, tags.iter().all(|tag| pgn.contains(tag)), || {
            format!("{tags:?} are not in the PGN:\n{pgn}")
        })
    }

    /// After a kill: `row` is what the database has. Returns whether the game goes on.
    pub(super) fn killed(&mut self, row: Option<&GameRow>, run: &mut Run) -> Checked<bool> {
        let Some(row) = row else {
            let is_lost = self.acknowledged.is_some();
            run.check(&RESTORED, !is_lost, || "the database has lost the game".to_owned())?;
            return Ok(false);
        };
        let millis = |time: Option<Duration>| time.map(|time| time.as_millis());
        let stored: Vec<StoredMove> = row
            .moves
            .iter()
            .map(|(mv, (left, spent))| (mv.to_owned(), millis(left), millis(spent)))
            .collect();
        let acknowledged = self.acknowledged.clone().unwrap_or_default();
        run.check(&RESTORED, stored == acknowledged, || {
            format!("the database has {stored:?}, and has acknowledged {acknowledged:?}")
        })?;
        let Some(end) = end(row) else { return Ok(true) };
        let result = self.ending.and_then(|(ending, _)| ending.result);
        run.check(&ONE_END, end.result_text() == text(result), || format!("{end:?}, and was {result:?}"))?;
        Ok(false)
    }

    /// The game goes on after a kill, on this board.
    pub(super) fn restored(&mut self, game: &HostedGame<DynGame>, now: Instant, run: &mut Run) -> Checked {
        self.board = self.board.again();
        for (mv, ..) in self.acknowledged.iter().flatten() {
            let is_legal = self.board.read(mv).and_then(|mv| self.board.play(&mv)).is_ok();
            run.check(&RESTORED, is_legal, || format!("{mv} is not legal in {}", self.board.now()))?;
        }
        let (is, was) = (game.referee.board.now(), self.board.now());
        run.check(&RESTORED, is == was, || format!("{is} is restored in place of {was}"))?;
        // What a row does not tell: the turn that was cut off begins anew.
        let left = |color| game.referee.clock.left(color, now).unwrap_or(Duration::MAX);
        self.left = ByColor(Color::BOTH.map(left));
        (self.most, self.turn_began, self.ending, self.failures) = (self.left, None, None, 0);
        Ok(())
    }
}

/// Returns the end that the game came to: one that was broken off at the start of its arena may go on.
fn end(row: &GameRow) -> Option<&GameEnd> {
    row.end.as_ref().filter(|end| end.termination != "unterminated")
}

fn text(result: Option<GameResult>) -> &'static str {
    result.map_or(NONE, GameResult::as_str)
}
