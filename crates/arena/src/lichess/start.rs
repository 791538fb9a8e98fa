//! A game is made of an agreement: may these two play it, and what it begins with.

use hyper::StatusCode;
use tokio::time::Instant;

use zeitnot_rules::{ByColor, DynGame};
use zeitnot_wire::lichess::{GameId, UserId};

use super::{
    answer::Answer,
    challenges::gone,
    desk::DeskActor,
    game::{Game, Player, Terms},
    limit::Ration,
    messages::perf,
};

/// Games at once, those included that are over and can still be asked for.
const MOST_GAMES: usize = 20_000;

impl DeskActor {
    /// Has either of two bots played enough for today? It is `us` who asks.
    pub(super) fn check_cap(&mut self, us: &UserId, them: &UserId, at: Instant) -> Result<(), Answer> {
        if !self.are_bots(us, them) {
            return Ok(());
        }
        for (who, status) in [(us, StatusCode::TOO_MANY_REQUESTS), (them, StatusCode::BAD_REQUEST)] {
            if let Some(wait) = self.rations.wait(who, Ration::BotGame, at) {
                return Err(Answer::capped(status, who, self.config.limits.bot_games_a_day, wait));
            }
        }
        Ok(())
    }

    fn are_bots(&self, us: &UserId, them: &UserId) -> bool {
        [us, them].iter().all(|id| self.people.find(id).is_some_and(|person| person.user.is_bot()))
    }

    /// Is there room for one more game, and may `us` and `them` have it?
    pub(super) fn check_start(&mut self, us: &UserId, them: &UserId, at: Instant) -> Result<(), Answer> {
        self.check_room()?;
        self.check_cap(us, them, at)
    }

    pub(super) fn check_room(&self) -> Result<(), Answer> {
        match self.games.len() < MOST_GAMES {
            true => Ok(()),
            false => Err(Answer::too_many("Too many games are being played")),
        }
    }

    /// The game begins, with White's player first.
    pub(super) fn start(
        &mut self,
        id: GameId,
        terms: Terms,
        line: DynGame,
        [white, black]: [&UserId; 2],
        at: Instant,
    ) -> Result<(), Answer> {
        let players = ByColor([self.player(white, &terms)?, self.player(black, &terms)?]);
        self.start_as(id, terms, line, players, at);
        Ok(())
    }

    pub(super) fn start_as(
        &mut self,
        id: GameId,
        terms: Terms,
        line: DynGame,
        players: ByColor<Player>,
        at: Instant,
    ) {
        let [white, black] = &players.0;
        let is_counted = players.0.iter().all(|player| player.ai_level.is_none());
        if is_counted && self.are_bots(&white.id, &black.id) {
            for bot in [&white.id, &black.id] {
                // It was looked at just now.
                let _ = self.rations.take(bot, Ration::BotGame, 1, at);
            }
        }
        let game = Game::new(id, terms, line, players, self.patience(), at);
        self.begin(game, at);
    }

    pub(super) fn player(&self, id: &UserId, terms: &Terms) -> Result<Player, Answer> {
        let person = self.people.find(id).ok_or_else(gone)?;
        let perf = person.perf(&perf(&terms.variant, &terms.time));
        Ok(Player {
            id: id.clone(),
            name: person.user.username.clone(),
            title: person.user.title.clone(),
            rating: perf.rating,
            provisional: perf.prov,
            ai_level: None,
            is_guest: false,
        })
    }
}
