//! View of a table: the state that each player sees.

use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use zeitnot_host::{
    hosted_game::HostedGame,
    live::{
        game_view::{self, Ended, millis},
        view::{Clocks, Game},
    },
};
use zeitnot_rules::Color;

use super::Table;
use crate::play::view::{Can, LegalMove, TableState};

impl Table {
    fn clocks(&self, now: Instant) -> Option<Clocks> {
        let clock = &self.hosted.referee.clock;
        let left = |color| clock.left(color, now).map(millis);
        Some(Clocks {
            white_ms: left(Color::White)?,
            black_ms: left(Color::Black)?,
            running: clock.running(),
        })
    }

    fn game(&self, now: Instant) -> Game {
        let HostedGame { info, referee, .. } = &self.hosted;
        let plies = referee.plies.iter().enumerate();
        let plies = plies.map(|(number, made)| (&**made, self.thoughts.get(&number)));
        let reason = referee.ending.map(|ending| ending.cause.to_string());
        let ended = referee.ending.zip(reason.as_deref()).map(|(ending, reason)| Ended {
            result: ending.result_text(),
            reason,
            termination: Some(ending.cause.termination()),
            result_at_board: None,
            note: None,
        });
        game_view::game(info, plies, self.clocks(now), ended)
    }

    /// Prints the state for one side.
    pub(super) fn print(&self, you: Color, now: Instant) -> Utf8Bytes {
        serde_json::to_string(&self.state(you, now)).unwrap_or_default().into()
    }

    fn state(&self, you: Color, now: Instant) -> TableState {
        let side = |is: &dyn Fn(Color) -> bool| Color::BOTH.into_iter().find(|color| is(*color));
        let legal = match self.can_move(you) {
            true => self.hosted.referee.board.game().legal_moves(),
            false => Vec::new(),
        };
        TableState {
            game: self.game(now),
            you,
            legal: legal.into_iter().map(|(uci, san)| LegalMove { uci: uci.to_string(), san }).collect(),
            draw_offer: side(&|color| self.hosted.referee.offers_draw(color)),
            takeback_offer: side(&|color| self.hosted.referee.asks_takeback(color)),
            rematch_offer: side(&|color| self.seats[color].wants_rematch),
            opponent_here: self.seats[!you].is_there(),
            can: Can {
                takeback: self.can_take_back(you),
                draw: self.can_offer_draw(you),
                rematch: self.is_over() && !self.seats[you].wants_rematch,
            },
        }
    }
}
