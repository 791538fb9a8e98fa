//! Mate-distance pruning: whoever has a mate in hand need not look at longer ones.
//!
//! Source: Chess Programming Wiki, "Mate Distance Pruning".

use crate::{Score, search::Window};

/// The window cut to what can still be reached at this ply; `Err` with the score if nothing is left.
pub fn narrow(window: Window, ply: u16) -> Result<Window, Score> {
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
