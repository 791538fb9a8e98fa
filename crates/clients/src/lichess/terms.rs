//! Description of a game for people.

use zeitnot_wire::lichess::{TimeControl, VariantKey};

use super::challenges::filter::Mode;

/// Describes a game for people.
pub(crate) fn terms(variant: &VariantKey, time: &TimeControl, is_rated: bool) -> String {
    format!("{variant} {time}, {}", Mode::from(is_rated).as_str())
}
