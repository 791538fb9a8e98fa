//! Games against "the computer": one of the accounts here plays for it, without its name being told.

use hyper::StatusCode;
use tokio::time::Instant;

use zeitnot_rules::ByColor;
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{AiChallenge, AiGame, GameId, NewChallenge, Source, Status, UserId, Variant};

use super::{
    answer::{Answer, Outcome},
    challenges::{drawn, terms},
    desk::DeskActor,
    game::Player,
    limit::Ration,
};

impl DeskActor {
    /// The game begins at once: the computer does not decline.
    pub(super) fn play_computer(&mut self, who: &UserId, form: AiChallenge, at: Instant) -> Outcome {
        if !(1..=8).contains(&form.level) {
            return Err(Answer::field("level", "Must be between 1 and 8"));
        }
        let AiChallenge { level, time, color, variant, fen } = form;
        let form = NewChallenge { color, variant, fen, ..NewChallenge::new(time) };
        let (mut terms, line) = terms(&form, self.config.clocks)?;
        terms.source = Source::Ai;
        let is_bot = self.people.find(who).is_some_and(|person| person.user.is_bot());
        if is_bot {
            self.config.clocks.check_for_bots(&terms.time)?;
        }
        let computer = self.config.ai.clone().filter(|id| id != who && self.is_online(id));
        let computer =
            computer.ok_or_else(|| Answer::bad("Nobody plays for the computer on this server at present"))?;
        self.check_room()?;
        if is_bot {
            let slowly = |_| Answer::too_many("Too many requests. Try again later.");
            self.rations.take(who, Ration::ComputerGame, 1, at).map_err(slowly)?;
        }
        let us = self.player(who, &terms)?;
        let them = Player { ai_level: Some(level), rating: None, ..self.player(&computer, &terms)? };
        let side = drawn(&form.color);
        let players = match side {
            Color::White => ByColor([us, them]),
            Color::Black => ByColor([them, us]),
        };
        let id = GameId::from(self.free_id());
        let made = AiGame {
            id,
            full_id: super::messages::full_id(id, side),
            variant: Variant::from(terms.variant.clone()),
            fen: Some(line.now()),
            status: Status::Started,
        };
        self.start_as(id, terms, line, players, at);
        Ok(Answer { status: StatusCode::CREATED, ..Answer::json(&made) })
    }
}
