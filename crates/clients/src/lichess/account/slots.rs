//! Game slots of an account: running games, and accepted challenges that are about to become games.
//!
//! Slots are counted by id, as events may come twice. Suspended games are counted elsewhere. No I/O and no clock.

use std::{
    collections::BTreeMap,
    mem,
    time::{Duration, Instant},
};

use zeitnot_seat::{Opponent, Reservation};
use zeitnot_wire::lichess::{ChallengeId, GameEvent, GameId, TournamentId, UserId};

use crate::lichess::challenges::capacity::{RunningGames, SlotKind};

/// An accepted challenge becomes a game in this time after the reply, or never.
pub(crate) const ACCEPTANCE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct RunningGame {
    pub(crate) slot: SlotKind,
    pub(crate) opponent: Option<UserId>,
    pub(crate) tournament: Option<TournamentId>,
    begun: Instant,
    /// Its seat; without one the game waits, as it began unasked.
    pub(crate) seat: Option<Reservation>,
    /// The slot is to be given up, and its task knows.
    is_wanted: bool,
}

#[derive(Debug)]
struct AcceptedChallenge {
    /// The reply to our acceptance, which may wait for long before it is sent; `None`: it has not come.
    since: Option<Instant>,
    slot: SlotKind,
    opponent: Option<UserId>,
    /// Correspondence games need none before there is something to do.
    seat: Option<Reservation>,
}

#[derive(Debug, Default)]
pub(crate) struct GameSlots {
    games: BTreeMap<GameId, RunningGame>,
    accepted: BTreeMap<ChallengeId, AcceptedChallenge>,
}

impl GameSlots {
    pub(crate) fn running(&self) -> RunningGames {
        let games = self.games.values().map(|game| game.slot);
        games.chain(self.accepted.values().map(|accepted| accepted.slot)).collect()
    }

    /// Counts the games with a player, accepted challenges included.
    pub(crate) fn games_with(&self, player: &UserId) -> usize {
        let games = self.games.values().map(|game| &game.opponent);
        let all = games.chain(self.accepted.values().map(|accepted| &accepted.opponent));
        all.filter(|opponent| opponent.as_ref() == Some(player)).count()
    }

    pub(crate) fn active_correspondence(&self) -> usize {
        self.games.values().filter(|game| game.slot == SlotKind::Correspondence).count()
    }

    /// Returns the correspondence games that are to be suspended as soon as there is nothing to do in them, each once.
    pub(crate) fn request_slots(&mut self) -> Vec<GameId> {
        let correspondence = |(_, game): &(&GameId, &mut RunningGame)| game.slot == SlotKind::Correspondence;
        let asked = self.games.iter_mut().filter(correspondence);
        asked.filter_map(|(id, game)| (!mem::replace(&mut game.is_wanted, true)).then_some(*id)).collect()
    }

    /// Returns the game that has waited for a seat for longest.
    pub(crate) fn next_without_seat(&self) -> Option<GameId> {
        let waiting = self.games.iter().filter(|(_, game)| game.seat.is_none());
        waiting.min_by_key(|(id, game)| (game.begun, **id)).map(|(id, _)| *id)
    }

    pub(crate) fn game(&self, id: GameId) -> Option<&RunningGame> {
        self.games.get(&id)
    }

    pub(crate) fn give_seat(&mut self, id: GameId, seat: Reservation) {
        if let Some(game) = self.games.get_mut(&id) {
            game.seat = Some(seat);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.games.is_empty() && self.accepted.is_empty()
    }

    pub(crate) fn contains(&self, id: ChallengeId) -> bool {
        self.accepted.contains_key(&id) || self.is_running(id.into())
    }

    pub(crate) fn is_running(&self, id: GameId) -> bool {
        self.games.contains_key(&id)
    }

    pub(crate) fn running_tasks(&self) -> usize {
        self.games.len()
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.len()
    }

    /// Keeps a slot for the game of a challenge that is being accepted.
    pub(crate) fn accept(
        &mut self,
        id: ChallengeId,
        slot: SlotKind,
        opponent: Option<UserId>,
        seat: Option<Reservation>,
    ) {
        self.accepted.insert(id, AcceptedChallenge { since: None, slot, opponent, seat });
    }

    /// The challenge is accepted, as far as we know: its game begins soon, or never.
    pub(crate) fn expect(&mut self, id: ChallengeId, now: Instant) {
        if let Some(accepted) = self.accepted.get_mut(&id) {
            accepted.since = Some(now);
        }
    }

    /// Waits no longer for the replies to acceptances than for their games.
    pub(crate) fn expect_all(&mut self, now: Instant) {
        for accepted in self.accepted.values_mut() {
            accepted.since.get_or_insert(now);
        }
    }

    /// Frees the slot of an accepted challenge that becomes no game.
    pub(crate) fn release(&mut self, id: ChallengeId) {
        self.accepted.remove(&id);
    }

    /// Takes the slot of a game with a clock.
    pub(crate) fn begin(&mut self, event: &GameEvent, is_ours: bool, now: Instant) {
        let accepted = self.accepted.remove(&event.game_id.into());
        let opponent = &event.opponent;
        let is_bot = is_ours || opponent.ai.is_some() || opponent.username.starts_with("BOT ");
        let slot = accepted.as_ref().map_or(SlotKind::with_clock(is_bot), |accepted| accepted.slot);
        let (known, seat) = accepted.map_or((None, None), |accepted| (accepted.opponent, accepted.seat));
        let opponent = opponent.id.clone().or(known);
        let tournament = event.tournament_id;
        let game = RunningGame { slot, opponent, tournament, begun: now, seat, is_wanted: false };
        self.games.insert(event.game_id, game);
    }

    pub(crate) fn resume(&mut self, id: GameId, slot: SlotKind, opponent: Option<UserId>, now: Instant) {
        let game = RunningGame { slot, opponent, tournament: None, begun: now, seat: None, is_wanted: false };
        self.games.insert(id, game);
    }

    /// Moves the game of a bot to a slot of that kind.
    pub(crate) fn set_opponent(&mut self, id: GameId, opponent: Opponent) {
        if let Some(game) = self.games.get_mut(&id)
            && opponent == Opponent::Bot
            && game.slot != SlotKind::Correspondence
        {
            game.slot = SlotKind::Bot;
        }
    }

    pub(crate) fn is_accepted(&self, id: GameId) -> bool {
        self.accepted.contains_key(&id.into())
    }

    /// Frees the slot of a game, and returns it.
    pub(crate) fn end(&mut self, id: GameId) -> Option<RunningGame> {
        self.games.remove(&id)
    }

    pub(crate) fn plays_in(&self, id: TournamentId) -> bool {
        self.games.values().any(|game| game.tournament == Some(id))
    }

    /// Frees the slots of accepted challenges that have not become games so long after the reply. Returns their number.
    pub(crate) fn expire(&mut self, age: Duration, now: Instant) -> usize {
        let before = self.accepted.len();
        self.accepted.retain(|_, accepted| accepted.since.is_none_or(|since| now < since + age));
        before - self.accepted.len()
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.accepted.values().filter_map(|accepted| Some(accepted.since? + ACCEPTANCE_TIMEOUT)).min()
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_wire::{Message, lichess::Event};

    use super::*;

    const HUMAN: RunningGames = RunningGames { humans: 1, bots: 0, correspondence: 0 };
    const BOT: RunningGames = RunningGames { humans: 0, bots: 1, correspondence: 0 };

    fn game(more: &str) -> GameEvent {
        let line = format!(r#"{{"type":"gameStart","game":{{"gameId":"abcdefgh","color":"white"{more}}}}}"#);
        match Event::parse(&line).unwrap() {
            Event::GameStart { game } => *game,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_challenge_becomes_a_game_and_is_counted_once() {
        let mut slots = GameSlots::default();
        let now = Instant::now();
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        slots.accept(id, SlotKind::Bot, None, None);
        slots.accept(id, SlotKind::Bot, None, None);
        slots.expect(id, now);
        assert_eq!(slots.running(), BOT);
        assert!(slots.is_accepted(id.into()));
        slots.begin(&game(""), false, Instant::now());
        assert!(!slots.is_accepted(id.into()) && slots.contains(id));
        assert_eq!(slots.running(), BOT);
        assert!(slots.expire(ACCEPTANCE_TIMEOUT, now + ACCEPTANCE_TIMEOUT) == 0 && slots.due().is_none());
        slots.end(id.into());
        assert!(slots.is_empty());
    }

    #[test]
    fn a_challenge_that_never_becomes_a_game_frees_its_slot() {
        let mut slots = GameSlots::default();
        let now = Instant::now();
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        slots.accept(id, SlotKind::Human, None, None);
        assert!(
            slots.expire(ACCEPTANCE_TIMEOUT, now + 20 * ACCEPTANCE_TIMEOUT) == 0 && slots.due().is_none()
        );
        slots.expect(id, now);
        assert_eq!(slots.due(), Some(now + ACCEPTANCE_TIMEOUT));
        assert!(slots.expire(ACCEPTANCE_TIMEOUT, now + ACCEPTANCE_TIMEOUT / 2) == 0);
        assert_eq!(slots.expire(ACCEPTANCE_TIMEOUT, now + ACCEPTANCE_TIMEOUT), 1);
        assert!(slots.is_empty());
    }

    #[test]
    fn a_game_that_was_found_takes_the_slot_of_its_opponent() {
        for (more, from_us, running) in [
            ("", false, HUMAN),
            ("", true, BOT),
            (r#","opponent":{"id":"x","username":"BOT x"}"#, false, BOT),
            (r#","opponent":{"ai":3}"#, false, BOT),
        ] {
            let mut slots = GameSlots::default();
            slots.begin(&game(more), from_us, Instant::now());
            assert_eq!(slots.running(), running, "{more}");
        }
        let mut slots = GameSlots::default();
        slots.begin(&game(""), false, Instant::now());
        for (opponent, running) in [(Opponent::Human, HUMAN), (Opponent::Bot, BOT), (Opponent::Human, BOT)] {
            slots.set_opponent("abcdefgh".parse().unwrap(), opponent);
            assert_eq!(slots.running(), running);
        }
        let mut slots = GameSlots::default();
        slots.begin(&game(r#","tournamentId":"ABCDEFGH""#), false, Instant::now());
        let tournament = "ABCDEFGH".parse().unwrap();
        assert!(slots.plays_in(tournament));
        assert_eq!(slots.end("abcdefgh".parse().unwrap()).unwrap().tournament, Some(tournament));
    }

    #[test]
    fn games_with_one_opponent_are_counted() {
        let mut slots = GameSlots::default();
        let now = Instant::now();
        let (x, id): (UserId, ChallengeId) = ("X".parse().unwrap(), "abcdefgh".parse().unwrap());
        slots.accept(id, SlotKind::Bot, Some(x.clone()), None);
        assert_eq!(slots.games_with(&x), 1);
        // The same game, whose event does not name the opponent.
        slots.begin(&game(""), false, Instant::now());
        let opponent = slots.game(id.into()).unwrap().opponent.clone();
        slots.resume("ABCDEFGH".parse().unwrap(), SlotKind::Correspondence, opponent, now);
        assert_eq!((slots.games_with(&x), slots.games_with(&"y".parse().unwrap())), (2, 0));
        slots.end(id.into());
        slots.begin(&game(r#","opponent":{"id":"x","username":"X"}"#), false, now);
        assert_eq!(slots.games_with(&x), 2);
    }

    #[test]
    fn correspondence_games_have_slots_of_their_own() {
        let mut slots = GameSlots::default();
        let now = Instant::now();
        slots.accept("qwertzui".parse().unwrap(), SlotKind::Correspondence, None, None);
        let id = "ABCDEFGH".parse().unwrap();
        slots.resume(id, SlotKind::Correspondence, None, now);
        slots.begin(&game(""), false, now);
        assert_eq!(slots.running(), RunningGames { correspondence: 2, ..HUMAN });
        assert_eq!(slots.active_correspondence(), 1);
        assert_eq!((slots.request_slots(), slots.request_slots()), (vec![id], vec![]));
    }
}
