//! Messages of a game's streams: the whole game, and its state.

use tokio::time::Instant;
use zeitnot_rules::{Color, MoveText};
use zeitnot_wire::lichess::{Expiration, GameFull, GameState, Player as WirePlayer, Status};

use super::{Game, Player};

impl Game {
    pub(in crate::lichess) fn full(&self, now: Instant) -> GameFull {
        let [white, black] = self.players.0.clone().map(WirePlayer::from);
        GameFull {
            id: self.id,
            variant: self.terms.variant.clone().into(),
            clock: Some(self.terms.time),
            days_per_turn: None,
            speed: Some(self.terms.speed()),
            perf: Some(self.terms.perf_name()),
            rated: self.terms.rated,
            created_at: Some(self.created),
            white,
            black,
            initial_fen: self.terms.fen.clone().unwrap_or_else(|| "startpos".into()),
            tournament_id: None,
            state: self.state(now),
        }
    }

    /// Returns status and winner as the players know them.
    pub(in crate::lichess) fn known_end(&self) -> (Status, Option<Color>) {
        match self.is_untold() {
            true => (Status::Started, None),
            false => (self.status(), self.winner()),
        }
    }

    pub(in crate::lichess) fn state(&self, now: Instant) -> GameState {
        let clock = &self.hosted.referee.clock;
        let has_deadline = !self.has_begun() && !self.is_over() && self.class.is_none();
        let deadline = self.hosted.referee.timeout().filter(|_| has_deadline);
        let expiration = deadline.map(|at| Expiration {
            idle: now.saturating_duration_since(self.hosted.referee.asked),
            left: at.saturating_duration_since(now),
        });
        let (status, winner) = self.known_end();
        let [wdraw, bdraw] = Color::BOTH.map(|color| self.hosted.referee.offers_draw(color));
        let [wtakeback, btakeback] = Color::BOTH.map(|color| self.hosted.referee.asks_takeback(color));
        GameState {
            moves: self.board().moves().iter().map(MoveText::as_str).collect::<Vec<_>>().join(" "),
            wtime: clock.left(Color::White, now),
            btime: clock.left(Color::Black, now),
            winc: clock.increment(Color::White),
            binc: clock.increment(Color::Black),
            status,
            winner,
            wdraw,
            bdraw,
            wtakeback,
            btakeback,
            expiration,
        }
    }
}

impl From<Player> for WirePlayer {
    fn from(player: Player) -> WirePlayer {
        let Player { id, name, title, rating, provisional, .. } = player;
        WirePlayer { id: Some(id), name, title, rating, provisional, ai_level: None }
    }
}
