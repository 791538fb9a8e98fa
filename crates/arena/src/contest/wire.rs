//! Messages of the arena in the words of the contest protocol.

use zeitnot_rules::ByColor;
use zeitnot_wire::contest::{FromServer, State, long_algebraic, result_text};

use crate::message::{GameView, Notice};

pub(super) fn from_server(notice: Notice) -> (Option<FromServer>, FromServer) {
    let info = match &notice {
        Notice::GameOver { result, cause, is_player: true, .. } => {
            Some(FromServer::Info { text: format!("Game over: {} {cause}", result_text(*result)) })
        }
        _ => None,
    };
    let message = match notice {
        Notice::Info(text) => FromServer::Info { text },
        Notice::GamePaired { game, names, time_control } => {
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
    (info, message)
}

fn state(GameView { game, info, left, fen, .. }: GameView) -> State {
    State { game: game.to_string(), names: info.names(), left, fen }
}
