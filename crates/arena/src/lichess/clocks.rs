//! Which clocks games can have: those of Lichess, or any.

use serde::Deserialize;

use zeitnot_wire::lichess::{Speed, TimeControl};

use super::answer::Answer;

/// Which clocks may be asked for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clocks {
    /// As on Lichess: some clocks below a minute, whole minutes up to three hours, no UltraBullet for bots.
    #[default]
    Lichess,
    /// Any, also in fractions of a second: for matches of programs.
    Any,
}

impl Clocks {
    /// May games have such clocks?
    pub(super) fn check(self, time: &TimeControl) -> Result<(), Answer> {
        match time {
            TimeControl::Clock(clock) if self == Clocks::Any && !clock.initial.is_zero() => Ok(()),
            TimeControl::Clock(clock) => {
                let (limit, increment) = (clock.initial.as_secs_f64(), clock.increment.as_secs_f64());
                let is_whole = limit.fract() == 0.0 && increment.fract() == 0.0;
                let is_short = matches!(clock.initial.as_secs(), 0 | 15 | 30 | 45 | 90);
                if !is_whole || !is_short && (limit % 60.0 != 0.0 || limit > 10_800.0) {
                    Err(Answer::field("clock.limit", "Invalid clock limit"))
                } else if increment > 60.0 || limit + increment == 0.0 {
                    Err(Answer::field("clock.increment", "Invalid clock increment"))
                } else {
                    Ok(())
                }
            }
            TimeControl::Correspondence { days: 1 | 2 | 3 | 5 | 7 | 10 | 14 } | TimeControl::Unlimited => {
                Ok(())
            }
            TimeControl::Correspondence { .. } | TimeControl::Other(_) => {
                Err(Answer::field("days", "Invalid number of days"))
            }
        }
    }

    /// And may programs play with them?
    pub(super) fn check_for_bots(self, time: &TimeControl) -> Result<(), Answer> {
        match self {
            Clocks::Lichess if time.speed() == Speed::UltraBullet => {
                Err(Answer::bad("Game incompatible with a BOT account"))
            }
            Clocks::Lichess | Clocks::Any => Ok(()),
        }
    }
}
