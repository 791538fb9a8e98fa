//! Mate distance pruning: lines that cannot lead to a shorter mate than the known one are cut.
//!
//! Source: Chess Programming Wiki, "Mate Distance Pruning".

use crate::{Score, search::Window};

/// Narrows the window to the scores that can be reached at this ply; `Err` holds the score if none is left.
pub(crate) fn narrow(window: Window, ply: u16) -> Result<Window, Score> {
    let alpha = window.alpha.max(Score::mated_in(ply));
    let beta = window.beta.min(Score::mate_in(ply + 1));
    if alpha >= beta { Err(alpha) } else { Ok(Window { alpha, beta }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mate_in_two_plies_ends_the_search_for_one_in_four() {
        let window = Window { alpha: Score::mate_in(3), beta: Score::INFINITE };
        assert!(narrow(window, 1).is_ok());
        assert_eq!(narrow(window, 2).err(), Some(Score::mate_in(3)));
    }
}
