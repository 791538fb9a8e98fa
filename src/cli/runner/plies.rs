//! The number of plies played. The referee does not tell it, so each call leaves a note for the next one.
//!
//! The note is the position as text, which includes the move number. If it is lost or damaged, the count is estimated.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use zeitnot_rules::{
    Color, Game,
    minichess::{Kind, MiniChess, ROWS, Rules},
};

/// Maximum size of a note in bytes.
const MAX_NOTE: u64 = 256;
/// Maximum number of plies between two calls: our move and its answer.
const BETWEEN_CALLS: u16 = 2;

pub(super) fn note_beside(state: &Path) -> PathBuf {
    let mut path = state.as_os_str().to_owned();
    path.push(".zeitnot");
    path.into()
}

/// Returns the number of plies played before this position.
///
/// A position near the start of the game takes precedence over the note: games that are aborted are more common than
/// games that return to the start.
pub(super) fn count(note: &Path, position: &MiniChess) -> u16 {
    let since_start = distance(&MiniChess::start(Rules::Nthu2023), position, 1);
    let since_note =
        || read(note).and_then(|last| Some(last.plies() + distance(&last, position, BETWEEN_CALLS)?));
    since_start.or_else(since_note).unwrap_or_else(|| estimate(position))
}

/// Leaves a note for the next call.
pub(super) fn leave(note: &Path, position: &MiniChess) {
    if let Err(error) = fs::write(note, position.print() + "\n") {
        // Only the count of plies is lost.
        eprintln!("warning: {}: {error}; the end of the game will be estimated", note.display());
    }
}

fn read(note: &Path) -> Option<MiniChess> {
    let mut text = String::new();
    File::open(note).ok()?.take(MAX_NOTE).read_to_string(&mut text).ok()?;
    MiniChess::parse(Rules::Nthu2023, &text).ok()
}

/// Returns the number of plies from one position to another, up to `max`.
fn distance(from: &MiniChess, to: &MiniChess, max: u16) -> Option<u16> {
    let is_there = |at: &MiniChess| (at.board(), at.side_to_move()) == (to.board(), to.side_to_move());
    let mut reached = vec![from.clone()];
    for plies in 0..max {
        if reached.iter().any(is_there) {
            return Some(plies);
        }
        reached = reached.iter().flat_map(after_each_move).collect();
    }
    reached.iter().any(is_there).then_some(max)
}

fn after_each_move(position: &MiniChess) -> impl Iterator<Item = MiniChess> + '_ {
    position.moves().into_iter().map(|mv| position.after(mv))
}

/// Estimates the plies played: pawn steps, pieces that have left their squares, and captured pieces.
fn estimate(position: &MiniChess) -> u16 {
    let start = MiniChess::start(Rules::Nthu2023);
    let board = position.board();
    let stands_at_home = |square, side, kind| start.board().piece_at(square) == Some((side, kind));
    let moved = board.pieces().map(|(square, side, kind)| match (kind, side) {
        (Kind::Pawn, Color::White) => square.row().saturating_sub(1),
        (Kind::Pawn, Color::Black) => (ROWS - 2).saturating_sub(square.row()),
        _ => usize::from(!stands_at_home(square, side, kind)),
    });
    let missing = start.board().pieces().count().saturating_sub(board.pieces().count());
    let plies = (moved.sum::<usize>() + missing) as u16;
    plies + (plies + position.side_to_move() as u16) % 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(moves: &[&str]) -> MiniChess {
        moves.iter().fold(MiniChess::start(Rules::Nthu2023), |mut position, mv| {
            position.play(position.read(mv).unwrap());
            position
        })
    }

    /// As a `state` shows it.
    fn shown(position: &MiniChess) -> MiniChess {
        position.at_ply(position.side_to_move() as u16)
    }

    const GAME: [&str; 8] = ["b1a3", "d6e4", "a3b1", "e4c3", "b2c3", "b5b4", "c3b4", "a5b4"];

    #[test]
    fn counts_for_either_side_and_for_both_in_one_place() {
        let folder = tempfile::tempdir().unwrap();
        for (begin, step) in [(0, 2), (1, 2), (0, 1)] {
            let note = folder.path().join(format!("{begin}{step}"));
            for plies in (begin..=GAME.len()).step_by(step) {
                let position = shown(&after(&GAME[..plies]));
                assert_eq!(count(&note, &position), plies as u16, "from {begin} by {step}");
                leave(&note, &position.at_ply(plies as u16));
                assert_eq!(count(&note, &position), plies as u16, "asked again");
            }
            assert_eq!(count(&note, &shown(&after(&GAME[..begin]))), begin as u16, "a new game");
        }
    }

    #[test]
    fn a_note_of_another_game_or_a_damaged_one_costs_the_count_only() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let position = shown(&after(&GAME[..6]));
        // A pawn each has gone a step, one knight is gone, and one pawn stands two steps ahead at the side.
        let estimated = estimate(&position);
        assert_eq!((estimated % 2, count(&note, &position)), (0, estimated));
        for damage in ["", "k", "kqbnr/ppppp/...../...../PPPPP/RNBQK W 30000", "\u{fffd}\0\n\n"] {
            fs::write(&note, damage).unwrap();
            assert_eq!(count(&note, &position), estimated, "{damage}");
        }
        leave(&note, &after(&["a2a3", "a5a4"]).at_ply(40));
        assert_eq!(count(&note, &position), estimated, "no two plies from there");
        fs::write(&note, vec![b' '; 1 << 20]).unwrap();
        assert_eq!(count(&note, &position), estimated);
        assert_eq!(estimate(&shown(&after(&GAME[..1]))) % 2, 1);
    }
}
