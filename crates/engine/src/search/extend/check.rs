//! Check extension: a node in check is searched one ply deeper.
//!
//! Source: Chess Programming Wiki, "Check Extensions".

use super::may_grow;

pub(crate) fn plies(in_check: bool, ply: u16, iteration: i32) -> i32 {
    i32::from(in_check && may_grow(ply, iteration))
}
