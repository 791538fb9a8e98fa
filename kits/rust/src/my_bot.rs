//! Your bot. Only this file is yours to change; README.md explains the others.
//!
//! Try it: `cargo run --release test`, then `cargo run --release local`, then `cargo run --release client NAME`.

use shakmaty::{Chess, Move, Position, Role};

use crate::{
    guard::random,
    worker::{Clock, OtherGame},
};

/// Chooses a move in a game of chess.
///
/// `board`: the position, see <https://docs.rs/shakmaty/latest/shakmaty/trait.Position.html>.
/// `clock`: seconds. `clock.own` and `clock.opponent` are left for the game, `clock.increment` is added after each move. After
/// `clock.limit` a random move is played instead of yours.
pub fn choose_move(board: &Chess, _clock: &Clock) -> Move {
    let moves = board.legal_moves();
    // Chance decides between equal moves: the first one of the best counts, and the search begins anywhere.
    let start = random(moves.len());
    let order = moves[start..].iter().chain(&moves[..start]);
    *order
        .rev()
        .max_by_key(|m| -best_reply(&after(board, **m)))
        .expect("there is a legal move")
}

/// The value of the position for the side to move after its best move.
fn best_reply(board: &Chess) -> i32 {
    if board.is_checkmate() {
        return -1000;
    }
    let replies = board.legal_moves();
    let values = replies.iter().map(|m| {
        let next = after(board, *m);
        if next.is_checkmate() {
            1000
        } else {
            -material(&next)
        }
    });
    values.max().unwrap_or(0) // without a move it is stalemate
}

/// The pieces of the side to move, less those of the other side.
fn material(board: &Chess) -> i32 {
    let (own, others) = (board.us(), board.them());
    let count = |side, role| (board.board().by_role(role) & side).count() as i32;
    [
        (Role::Pawn, 1),
        (Role::Knight, 3),
        (Role::Bishop, 3),
        (Role::Rook, 5),
        (Role::Queen, 9),
    ]
    .iter()
    .map(|(role, value)| value * (count(own, *role) - count(others, *role)))
    .sum()
}

fn after(board: &Chess, m: Move) -> Chess {
    let mut next = board.clone();
    next.play_unchecked(m);
    next
}

/// Chooses a move in any other game of the arena, such as atomic chess: one of `game.moves`.
pub fn choose_in_other_game(game: &OtherGame, _clock: &Clock) -> String {
    game.moves[random(game.moves.len())].clone()
}
