//! Swiss system by the Dutch rules (FIDE handbook C.04.3).

mod baku;
mod bracket;
mod color;
mod contender;
mod dutch;
mod matching;
mod system;
mod weights;
mod wide;

#[cfg(test)]
mod tests;

pub(crate) use baku::Acceleration;
use dutch::color_between;
pub(crate) use dutch::{RoundPairing, pair};
pub(super) use system::Swiss;
pub(crate) use weights::Round;
