//! Another game of the same two with colours changed. A person asks for it; the other one sees a challenge that
//! already has the next game's id.

use tokio::time::Instant;

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{ColorWish, GameId, GameRule, NewChallenge, UserId, VariantKey};

use super::{
    answer::{Answer, Outcome},
    challenges::{Offer, gone, terms},
    desk::DeskActor,
};

impl DeskActor {
    /// Offers a rematch, or agrees to the one that the opponent offers.
    pub(super) fn rematch(&mut self, who: &UserId, id: GameId, at: Instant) -> Outcome {
        let offered = self.pending.values().find(|pending| pending.challenge.rematch_of == Some(id));
        match offered.map(|pending| (pending.challenge.id, pending.to == *who)) {
            Some((next, true)) => return self.accept(who, next, None, at),
            Some((_, false)) => return Ok(Answer::done()),
            None => {}
        }
        let game = self.games.get(&id).ok_or_else(gone)?;
        let side = game.side_of(who).ok_or_else(gone)?;
        let is_ours = self.people.find(who).is_some_and(|person| !person.user.is_bot());
        if !is_ours {
            return Err(Answer::bad("This API endpoint is not for Bot accounts."));
        } else if game.end.is_none() || game.rematch.is_some() || game.is_ruled(&GameRule::NoRematch) {
            return Err(Answer::bad("There can be no rematch of this game"));
        } else if game.players.0.iter().any(|player| player.ai_level.is_some()) {
            return Err(Answer::bad("The computer is challenged anew"));
        }
        let whom = game.players[!side].id.clone();
        let next = !side;
        let is_second = self.games.values().any(|before| before.rematch == Some(id));
        let form = NewChallenge {
            rated: game.terms.rated,
            variant: game.terms.variant.clone(),
            // One of the 960 is played twice, so that each has both sides of it.
            fen: game
                .terms
                .fen
                .clone()
                .filter(|_| !(is_second && game.terms.variant == VariantKey::Chess960)),
            rules: game.terms.rules.clone(),
            ..NewChallenge::new(game.terms.time.clone())
        };
        if self.society.blocks(&whom, who) {
            return Err(gone());
        }
        let (terms, line) = terms(&form, self.config.clocks)?;
        let wish = if next == Color::White { ColorWish::White } else { ColorWish::Black };
        let next_id = self.free_id();
        let mut challenge = self.describe(next_id, [Some(who), Some(&whom)], &terms, (wish, Some(next)));
        challenge.rematch_of = Some(id);
        Ok(self.post([who, &whom], Offer { challenge, terms, line }, false, at))
    }
}
