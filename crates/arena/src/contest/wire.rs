//! Messages of the arena in the words of the contest protocol.

use zeitnot_rules::ByColor;
use zeitnot_wire::contest::{FromServer, State, long_algebraic, result_text};

use crate::message::{GameView, Notice};

/// Returns the message for a notice, after one that is sent before it, if there is one. `with_moves`: the receiver has asked
/// for the legal moves.
pub(super) fn from_server(notice: Notice, with_moves: bool) -> (Option<FromServer>, FromServer) {
    let before = match &notice {
        Notice::GameOver { result, cause, is_player: true, .. } => {
            Some(FromServer::Info { text: format!("Game over: {} {cause}", result_text(*result)) })
        }
        Notice::GameStarted(view) if with_moves => {
            let kind = view.info.kind.variant_name(view.info.is_chess960());
            Some(FromServer::Variant { game: view.game.to_string(), kind: kind.to_owned() })
        }
        Notice::YourMove(view) if with_moves => legal_moves(view),
        _ => None,
    };
    let message = match notice {
        Notice::Info(text) => FromServer::Info { text },
        Notice::GamePaired { game, names, time_control, .. } => {
            let names = ByColor(names.0.each_ref().map(ToString::to_string));
            FromServer::GamePaired { game: game.to_string(), names, time_control }
        }
        Notice::GameStarted(view) => FromServer::GameStarted(state(view)),
        Notice::YourMove(view) => FromServer::YourMove(state(view)),
        Notice::ClockUpdate(view) => FromServer::ClockUpdate(state(view)),
        Notice::GameState(view) => FromServer::GameState(state(view)),
        Notice::PlayerMoved { mover, made, view } => FromServer::PlayerMoved {
            mover: view.info.players[mover].name.clone(),
            mv: long_algebraic(&made.mv),
            state: state(view),
        },
        Notice::GameOver { game, result, cause, .. } => {
            FromServer::GameOver { game: game.to_string(), result, reason: cause.to_string() }
        }
        Notice::GameAborted { reason } => FromServer::GameAborted { reason },
        Notice::Said { sender, text } => FromServer::Said { sender: sender.to_string(), text },
    };
    (before, message)
}

fn state(GameView { game, info, left, fen, .. }: GameView) -> State {
    State { game: game.to_string(), names: info.names(), left, fen }
}

/// Returns the legal moves, which the position alone decides.
fn legal_moves(GameView { game, info, fen, .. }: &GameView) -> Option<FromServer> {
    // Our own text of a position can be read.
    let moves = info.position(fen).ok()?.legal_moves().into_iter().map(|(mv, _)| mv).collect();
    Some(FromServer::LegalMoves { game: game.to_string(), moves })
}
