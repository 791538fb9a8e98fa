//! Messages of a game's streams: the whole game, and its state.

use std::sync::Arc;

use tokio::time::Instant;
use zeitnot_host::game_info::GameInfo;
use zeitnot_referee::{Clock, Ending, PlayedMove};
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{Expiration, GameFull, GameState, Player as WirePlayer, Status};

use super::{Game, Owner, Player};

/// Facts that messages about a game are printed from.
pub(in crate::lichess) struct Facts<'g> {
    pub(in crate::lichess) info: &'g GameInfo,
    pub(in crate::lichess) plies: &'g [Arc<PlayedMove>],
    pub(in crate::lichess) clock: &'g Clock,
    pub(in crate::lichess) turn: Option<Color>,
    pub(in crate::lichess) ending: Option<Ending>,
}

impl Game {
    pub(in crate::lichess) fn facts(&self) -> Facts<'_> {
        match &self.owner {
            Owner::Hosted(hosted) => {
                let (info, referee) = (&hosted.game.info, &hosted.game.referee);
                let (turn, ending) = (Some(referee.turn()), referee.ending);
                Facts { info, plies: &referee.plies, clock: &referee.clock, turn, ending }
            }
            Owner::Class(class) => {
                let (turn, ending) = (class.turn, class.ending);
                Facts { info: &class.info, plies: &class.plies, clock: &class.clock, turn, ending }
            }
        }
    }

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
        let Facts { plies, clock, .. } = self.facts();
        let referee = self.hosted().map(|hosted| &hosted.game.referee);
        let expiration = referee.filter(|_| !self.has_begun()).and_then(|referee| {
            let left = referee.timeout()?.saturating_duration_since(now);
            Some(Expiration { idle: now.saturating_duration_since(referee.asked), left })
        });
        let (status, winner) = self.known_end();
        let [wdraw, bdraw] = Color::BOTH.map(|color| referee.is_some_and(|it| it.offers_draw(color)));
        let [wtakeback, btakeback] =
            Color::BOTH.map(|color| referee.is_some_and(|it| it.asks_takeback(color)));
        GameState {
            moves: plies.iter().map(|made| made.mv.as_str()).collect::<Vec<_>>().join(" "),
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
