//! The places of an account: games that run, and accepted challenges that are about to become games.
//!
//! Counted by their ids, whatever is told twice; and apart for humans and bots, as far as that is known.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::super::challenges::Running;
use crate::wire::lichess::{ChallengeId, GameEvent, GameId, Speed, TournamentId};

/// An accepted challenge becomes a game in this time, or never.
const BECOMES_GAME: Duration = Duration::from_secs(30);

/// A game that runs.
#[derive(Debug)]
struct Seated {
    is_bot: bool,
    has_clock: bool,
    tournament: Option<TournamentId>,
    /// To tell its task that the account's events say that it is over.
    finished: mpsc::Sender<String>,
}

/// See the module's comment.
#[derive(Debug, Default)]
pub(super) struct Places {
    games: HashMap<GameId, Seated>,
    /// Since when, and from a bot or not.
    accepted: HashMap<ChallengeId, (Instant, bool)>,
}

impl Places {
    /// All that are taken.
    pub fn running(&self) -> Running {
        let kinds = self.games.values().map(|game| game.is_bot);
        let kinds = kinds.chain(self.accepted.values().map(|(_, is_bot)| *is_bot));
        kinds.fold(Running::default(), |running, is_bot| match is_bot {
            true => Running { bots: running.bots + 1, ..running },
            false => Running { humans: running.humans + 1, ..running },
        })
    }

    /// Those that keep us from being idle: days for a move do not.
    pub fn clocked(&self) -> usize {
        self.games.values().filter(|game| game.has_clock).count() + self.accepted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.games.is_empty() && self.accepted.is_empty()
    }

    pub fn has_games(&self) -> bool {
        !self.games.is_empty()
    }

    /// Is this one accepted, or a game already?
    pub fn knows(&self, id: ChallengeId) -> bool {
        self.accepted.contains_key(&id) || self.games.contains_key(&id.into())
    }

    pub fn accept(&mut self, id: ChallengeId, is_bot: bool, now: Instant) {
        self.accepted.insert(id, (now, is_bot));
    }

    /// It is no game, and will be none.
    pub fn vanish(&mut self, id: ChallengeId) {
        self.accepted.remove(&id);
    }

    /// It is a game. Returns where its task hears that it is over.
    pub fn begin(&mut self, event: &GameEvent, is_from_us: bool) -> mpsc::Receiver<String> {
        let accepted = self.accepted.remove(&event.game_id.into());
        let (finished, hears) = mpsc::channel(1);
        let opponent = &event.opponent;
        let looks_like_bot = opponent.ai.is_some() || opponent.username.starts_with("BOT ");
        let seated = Seated {
            is_bot: accepted.map_or(is_from_us || looks_like_bot, |(_, is_bot)| is_bot),
            has_clock: event.speed != Some(Speed::Correspondence),
            tournament: event.tournament_id,
            finished,
        };
        self.games.insert(event.game_id, seated);
        hears
    }

    pub fn was_accepted(&self, id: GameId) -> bool {
        self.accepted.contains_key(&id.into())
    }

    /// The account's events say that it is over.
    pub fn finish(&self, id: GameId, how: String) {
        if let Some(game) = self.games.get(&id) {
            // It need not be told twice.
            let _ = game.finished.try_send(how);
        }
    }

    /// Its task has ended. Of which tournament was it?
    pub fn end(&mut self, id: GameId) -> Option<TournamentId> {
        self.games.remove(&id)?.tournament
    }

    /// Do we play a game of this tournament?
    pub fn plays_in(&self, id: TournamentId) -> bool {
        self.games.values().any(|game| game.tournament == Some(id))
    }

    /// Frees the places of accepted challenges that have not become games, and says which.
    pub fn forget(&mut self, now: Instant) -> Vec<ChallengeId> {
        let is_late = |since: Instant| now.saturating_duration_since(since) >= BECOMES_GAME;
        let late: Vec<_> =
            self.accepted.iter().filter(|(_, (since, _))| is_late(*since)).map(|(id, _)| *id).collect();
        self.accepted.retain(|_, (since, _)| !is_late(*since));
        late
    }

    /// When there will be something to [`Places::forget`].
    pub fn due(&self) -> Option<Instant> {
        self.accepted.values().map(|(since, _)| *since + BECOMES_GAME).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Message;

    fn game(more: &str) -> GameEvent {
        let line = format!(r#"{{"type":"gameStart","game":{{"gameId":"abcdefgh","color":"white"{more}}}}}"#);
        match crate::wire::lichess::Event::parse(&line).unwrap() {
            crate::wire::lichess::Event::GameStart { game } => *game,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_challenge_becomes_a_game_and_is_counted_once() {
        let (mut places, now) = (Places::default(), Instant::now());
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        places.accept(id, true, now);
        places.accept(id, true, now);
        assert_eq!(places.running(), Running { humans: 0, bots: 1 });
        assert!(places.was_accepted(id.into()));
        places.begin(&game(""), false);
        assert!(!places.was_accepted(id.into()) && places.knows(id));
        assert_eq!(places.running(), Running { humans: 0, bots: 1 });
        assert!(places.forget(now + BECOMES_GAME).is_empty() && places.due().is_none());
        places.end(id.into());
        assert!(places.is_empty());
    }

    #[test]
    fn what_never_begins_holds_no_place() {
        let (mut places, now) = (Places::default(), Instant::now());
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        places.accept(id, false, now);
        assert_eq!(places.due(), Some(now + BECOMES_GAME));
        assert!(places.forget(now + BECOMES_GAME / 2).is_empty());
        assert_eq!(places.forget(now + BECOMES_GAME), [id]);
        assert!(places.is_empty());
    }

    #[test]
    fn who_plays_in_a_game_that_was_found() {
        for (more, from_us, running) in [
            ("", false, Running { humans: 1, bots: 0 }),
            ("", true, Running { humans: 0, bots: 1 }),
            (r#","opponent":{"id":"x","username":"BOT x"}"#, false, Running { humans: 0, bots: 1 }),
            (r#","opponent":{"ai":3}"#, false, Running { humans: 0, bots: 1 }),
        ] {
            let mut places = Places::default();
            places.begin(&game(more), from_us);
            assert_eq!(places.running(), running, "{more}");
        }
        let mut places = Places::default();
        places.begin(&game(r#","speed":"correspondence","tournamentId":"ABCDEFGH""#), false);
        assert_eq!((places.clocked(), places.running().all()), (0, 1));
        let tournament = "ABCDEFGH".parse().unwrap();
        assert!(places.plays_in(tournament));
        assert_eq!(places.end("abcdefgh".parse().unwrap()), Some(tournament));
    }
}
