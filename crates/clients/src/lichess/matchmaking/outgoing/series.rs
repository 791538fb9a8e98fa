//! Series of games against one opponent, by one order of the owner: when a game is over, the next challenge is sent.

use std::time::{Duration, Instant};

use tracing::{info, warn};
use zeitnot_wire::lichess::{ColorWish, GameId, NewChallenge, UserId};

use super::{OpenChallenge, OutgoingChallenges};
use crate::lichess::{
    HttpError,
    account::interface::Effect,
    matchmaking::{not_now::NotNow, proposal::Proposal},
};

/// Time between two games: the opponent, too, has to notice that the last one is over.
pub(super) const PAUSE: Duration = Duration::from_secs(5);
/// Time before a challenge that the server did not take is sent again …
pub(super) const RETRY: Duration = Duration::from_secs(60);
/// … unless that has happened so often in a row.
pub(super) const MAX_FAILURES: u32 = 3;

#[derive(Debug)]
pub(super) struct Series {
    opponent: UserId,
    /// Next challenge.
    challenge: NewChallenge,
    games: u32,
    over: u32,
    /// Game that was agreed on last, until it is over.
    game: Option<GameId>,
    not_before: Instant,
    /// Challenges in a row that the server did not take.
    failures: u32,
}

impl Series {
    /// Creates a series whose first challenge is sent now. The colors alternate, so it needs one to begin with.
    pub(super) fn new(
        opponent: UserId,
        challenge: &mut NewChallenge,
        games: u32,
        random: &mut fastrand::Rng,
        now: Instant,
    ) -> Series {
        if challenge.color == ColorWish::Random {
            challenge.color = if random.bool() { ColorWish::White } else { ColorWish::Black };
        }
        let challenge = challenge.clone();
        Series { opponent, challenge, games, over: 0, game: None, not_before: now, failures: 0 }
    }

    /// Returns when the next challenge is due, if it waits for a time.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        Some(self.not_before).filter(|due| self.game.is_none() && *due > now)
    }
}

impl OutgoingChallenges {
    /// Fails if a series does not allow this order: there is one at a time, and its opponent has no other challenges.
    pub(super) fn check_series(&self, opponent: &UserId, games: u32) -> Result<(), NotNow> {
        let in_the_way = self.series.as_ref().filter(|series| games > 1 || series.opponent == *opponent);
        in_the_way.map_or(Ok(()), |series| Err(NotNow::Series(series.opponent.clone())))
    }

    /// Returns the series' game that was agreed on and is not over.
    pub(crate) fn series_game(&self) -> Option<GameId> {
        self.series.as_ref()?.game
    }

    /// Returns whether the next challenge of the series is to be sent as soon as there is a slot.
    pub(crate) fn series_is_due(&self, now: Instant) -> bool {
        let is_due = |series: &Series| series.game.is_none() && series.not_before <= now;
        self.open.is_none() && !self.awaits_reply && self.series.as_ref().is_some_and(is_due)
    }

    /// Sends the next challenge of the series, unless a limit is reached.
    pub(crate) fn continue_series(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let limited = self.check_limits(now).err();
        let Some(series) = &mut self.series else { return };
        let opponent = series.opponent.clone();
        match limited {
            Some(limit) => {
                warn!("the series against {opponent} has to wait: {limit}");
                series.not_before = now + limit.wait().unwrap_or(RETRY);
            }
            None if !self.players.allows(&opponent) => self.end_series("the player is blocked"),
            None => {
                let challenge = series.challenge.clone();
                self.propose(Proposal { opponent, challenge }, true, now, effects);
            }
        }
    }

    /// Notes that a challenge has become a game.
    pub(super) fn series_accepted(&mut self, open: &OpenChallenge, game: GameId) {
        if let Some(series) = self.series_of(open) {
            (series.game, series.failures) = (Some(game), 0);
        }
    }

    /// Notes that a game is over.
    pub(crate) fn series_game_over(&mut self, game: GameId, now: Instant) {
        let Some(series) = self.series.as_mut().filter(|series| series.game == Some(game)) else { return };
        series.over += 1;
        let Series { opponent, over, games, .. } = series;
        if over >= games {
            info!("the series of {games} games against {opponent} is over");
            self.series = None;
            return;
        }
        info!("series against {opponent}: {over} of {games} games are over");
        (series.game, series.not_before) = (None, now + PAUSE);
        series.challenge.color = match series.challenge.color {
            ColorWish::White => ColorWish::Black,
            _ => ColorWish::White,
        };
    }

    /// Notes that a challenge was withdrawn, as its slot was needed.
    pub(super) fn series_withdrawn(&mut self, open: &OpenChallenge, now: Instant) {
        if let Some(series) = self.series_of(open) {
            series.not_before = now + PAUSE;
        }
    }

    /// Notes that the server did not take a challenge.
    pub(super) fn series_refused(&mut self, open: &OpenChallenge, error: &HttpError, now: Instant) {
        let Some(series) = self.series_of(open) else { return };
        series.failures += 1;
        let is_temporary = matches!(error, HttpError::Limited { .. }) || error.is_inconclusive();
        if is_temporary && series.failures < MAX_FAILURES {
            series.not_before = now + RETRY;
        } else {
            self.end_series(&error.to_string());
        }
    }

    /// Notes that a challenge became no game.
    pub(super) fn series_ended(&mut self, open: &OpenChallenge, why: &str) {
        if self.series_of(open).is_some() {
            self.end_series(why);
        }
    }

    pub(super) fn end_series_against(&mut self, player: &UserId, why: &str) {
        if self.series.as_ref().is_some_and(|series| series.opponent == *player) {
            self.end_series(why);
        }
    }

    /// Ends the series early, if there is one.
    pub(crate) fn end_series(&mut self, why: &str) {
        if let Some(Series { opponent, over, games, .. }) = self.series.take() {
            warn!("the series against {opponent} ends after {over} of {games} games: {why}");
        }
    }

    fn series_of(&mut self, open: &OpenChallenge) -> Option<&mut Series> {
        self.series.as_mut().filter(|series| open.is_ordered && series.opponent == open.opponent)
    }
}
