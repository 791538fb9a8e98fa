//! Events on their way from the server to the program, with the faults of the stream.

use std::time::Duration;

use zeitnot_clients::lichess::simulation::Input;
use zeitnot_wire::lichess::{Event, GameId};

use super::{
    super::run::Checked,
    stream::State,
    world::{World, WorldEvent},
};

/// Longest delay between two attempts to open it, by default.
const MAX_DELAY: Duration = Duration::from_secs(30);

impl World<'_> {
    /// Sends an event over the stream: it may be lost, late, or told twice.
    pub(super) fn tell_event(&mut self, event: Option<Event>) {
        let Some(event) = event.filter(|_| self.stream.is_seen() && self.program.is_some()) else { return };
        let mut delay = self.run.millis(10..800);
        if self.has_fault(self.plan.event_faults) {
            match self.run.rng.u8(..3) {
                0 => return self.run.note(format_args!("an event is lost")),
                1 => delay += self.run.secs(1..20),
                _ => {
                    let again = delay + self.run.millis(0..5000);
                    self.after(again, WorldEvent::Event(self.stream.number, Box::new(event.clone())));
                }
            }
        }
        self.after(delay, WorldEvent::Event(self.stream.number, Box::new(event)));
    }

    pub(super) fn event_arrives(&mut self, stream: u32, event: Event) -> Checked {
        if stream != self.stream.number || !self.stream.is_seen() || self.program.is_none() {
            return Ok(());
        }
        self.tell(Input::Event(event))
    }

    /// The connection breaks, or the server forgets it.
    pub(super) fn stream_breaks(&mut self) {
        if !self.stream.is_seen() {
            return;
        }
        self.stream.disturbed = self.run.now;
        let is_half_open = self.plan.outage(self.run.now).is_none() && self.run.rng.u8(..3) == 0;
        self.run.note(format_args!("the event stream breaks, unnoticed: {is_half_open}"));
        if is_half_open {
            self.stream.state = State::HalfOpen;
        } else {
            // At once, or after the time for silence.
            let noticed = if self.run.rng.bool() { Duration::from_secs(17) } else { Duration::ZERO };
            self.reopen_stream(noticed);
        }
    }

    /// Closes the stream, and opens another one after a delay.
    pub(super) fn reopen_stream(&mut self, delay: Duration) {
        self.stream.state = State::Closed;
        self.stream.disturbed = self.run.now;
        self.stream.number += 1;
        self.after(delay + Duration::from_millis(100), WorldEvent::StreamOpens(self.stream.number));
    }

    pub(super) fn stream_opens(&mut self, number: u32) -> Checked {
        if number != self.stream.number || self.program.is_none() {
            return Ok(());
        }
        let is_refused = self.plan.outage(self.run.now).is_some() || self.is_revoked();
        if is_refused || self.has_fault(self.plan.request_faults) {
            self.stream.failures += 1;
            let delay = Duration::from_millis(100 << self.stream.failures.min(9)).min(MAX_DELAY);
            let jitter = self.run.millis(0..1000);
            self.after(delay + jitter, WorldEvent::StreamOpens(number));
            return Ok(());
        }
        self.stream.failures = 0;
        self.stream.state = State::Open;
        self.stream.disturbed = self.run.now;
        self.tell(Input::StreamOpened)?;
        let games: Vec<_> = self.server.running().map(|(id, _)| id).collect();
        for id in games {
            let event = self.server.game_event(id);
            self.tell_event(event);
        }
        let open = self.server.challenges.iter().filter(|(_, challenge)| !challenge.is_ours);
        let open: Vec<_> = open.map(|(id, _)| *id).collect();
        for id in open {
            let event = self.server.challenge_event(id);
            self.tell_event(event);
        }
        Ok(())
    }

    /// Notes what the account knows after an event.
    pub(super) fn note_told(&mut self, event: &Event) {
        if let Event::ChallengeCanceled { challenge } | Event::ChallengeDeclined { challenge } = event
            && let Some(program) = &mut self.program
        {
            program.agreed.remove(&challenge.id);
        }
        match event {
            Event::GameStart { game } => self.know_game(game.game_id),
            Event::ChallengeCanceled { challenge } => self.requests.withdrawn(challenge.id),
            Event::Challenge { challenge, .. } => {
                self.requests.opened(challenge.id);
                if let Some(open) = self.server.challenges.get_mut(&challenge.id) {
                    open.known.get_or_insert(self.run.now);
                }
            }
            _ => {}
        }
    }

    /// Notes that the account knows of a game.
    pub(super) fn know_game(&mut self, id: GameId) {
        if let Some(game) = self.server.games.get_mut(&id) {
            game.known.get_or_insert(self.run.now);
        }
    }
}
