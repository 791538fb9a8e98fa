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
use dutch::pair;
pub(crate) use system::Swiss;
use weights::Round;
