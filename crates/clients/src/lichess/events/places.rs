//! The places of an account: games that are played, and accepted challenges that are about to become games.
//!
//! Counted by their ids, whatever is told twice; and apart by kind, as far as that is known. Correspondence games that
//! sleep are counted elsewhere.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use zeitnot_seat::Opponent;
use zeitnot_wire::lichess::{ChallengeId, GameEvent, GameId, TournamentId};

use super::super::{
    challenges::{Place, Running},
    game::News,
};

/// An accepted challenge becomes a game in this time, or never.
const BECOMES_GAME: Duration = Duration::from_secs(30);

/// A game that is played.
#[derive(Debug)]
struct Seated {
    place: Place,
    tournament: Option<TournamentId>,
    /// To tell its task that the account's events say that it is over.
    finished: mpsc::Sender<String>,
    /// To tell it that others wait for its place.
    wanted: CancellationToken,
}

/// See the module's comment.
#[derive(Debug, Default)]
pub(super) struct Places {
    games: HashMap<GameId, Seated>,
    /// Since when, and which place it will take.
    accepted: HashMap<ChallengeId, (Instant, Place)>,
}

impl Places {
    /// All that are taken.
    pub fn running(&self) -> Running {
        let games = self.games.values().map(|game| game.place);
        games.chain(self.accepted.values().map(|(_, place)| *place)).collect()
    }

    /// Correspondence games that are awake.
    pub fn awake(&self) -> usize {
        self.games.values().filter(|game| game.place == Place::Correspondence).count()
    }

    /// Correspondence games are asked to sleep as soon as there is nothing to do in them.
    pub fn lull(&self) {
        let awake = self.games.values().filter(|game| game.place == Place::Correspondence);
        awake.for_each(|game| game.wanted.cancel());
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

    pub fn accept(&mut self, id: ChallengeId, place: Place, now: Instant) {
        self.accepted.insert(id, (now, place));
    }

    /// It is no game, and will be none.
    pub fn vanish(&mut self, id: ChallengeId) {
        self.accepted.remove(&id);
    }

    /// It is a game with a clock. Returns what its task is to listen to.
    pub fn begin(&mut self, event: &GameEvent, is_from_us: bool) -> News {
        let accepted = self.accepted.remove(&event.game_id.into());
        let opponent = &event.opponent;
        let looks_like_bot = opponent.ai.is_some() || opponent.username.starts_with("BOT ");
        let place = accepted.map_or(Place::clocked(is_from_us || looks_like_bot), |(_, place)| place);
        self.seat(event.game_id, place, event.tournament_id)
    }

    /// It is a correspondence game, which sleeps no more.
    pub fn wake(&mut self, id: GameId) -> News {
        self.seat(id, Place::Correspondence, None)
    }

    fn seat(&mut self, id: GameId, place: Place, tournament: Option<TournamentId>) -> News {
        let ((finished, hears), wanted) = (mpsc::channel(1), CancellationToken::new());
        self.games.insert(id, Seated { place, tournament, finished, wanted: wanted.clone() });
        News { finished: hears, wanted, met: None }
    }

    /// The game says who plays against us: a bot is one, whatever it looked like before.
    pub fn met(&mut self, id: GameId, opponent: Opponent) {
        if let Some(game) = self.games.get_mut(&id)
            && opponent == Opponent::Bot
            && game.place != Place::Correspondence
        {
            game.place = Place::Bot;
        }
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
    use zeitnot_wire::Message;

    const HUMAN: Running = Running { humans: 1, bots: 0, correspondence: 0 };
    const BOT: Running = Running { humans: 0, bots: 1, correspondence: 0 };

    fn game(more: &str) -> GameEvent {
        let line = format!(r#"{{"type":"gameStart","game":{{"gameId":"abcdefgh","color":"white"{more}}}}}"#);
        match zeitnot_wire::lichess::Event::parse(&line).unwrap() {
            zeitnot_wire::lichess::Event::GameStart { game } => *game,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_challenge_becomes_a_game_and_is_counted_once() {
        let (mut places, now) = (Places::default(), Instant::now());
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        places.accept(id, Place::Bot, now);
        places.accept(id, Place::Bot, now);
        assert_eq!(places.running(), BOT);
        assert!(places.was_accepted(id.into()));
        places.begin(&game(""), false);
        assert!(!places.was_accepted(id.into()) && places.knows(id));
        assert_eq!(places.running(), BOT);
        assert!(places.forget(now + BECOMES_GAME).is_empty() && places.due().is_none());
        places.end(id.into());
        assert!(places.is_empty());
    }

    #[test]
    fn what_never_begins_holds_no_place() {
        let (mut places, now) = (Places::default(), Instant::now());
        let id: ChallengeId = "abcdefgh".parse().unwrap();
        places.accept(id, Place::Human, now);
        assert_eq!(places.due(), Some(now + BECOMES_GAME));
        assert!(places.forget(now + BECOMES_GAME / 2).is_empty());
        assert_eq!(places.forget(now + BECOMES_GAME), [id]);
        assert!(places.is_empty());
    }

    #[test]
    fn who_plays_in_a_game_that_was_found() {
        for (more, from_us, running) in [
            ("", false, HUMAN),
            ("", true, BOT),
            (r#","opponent":{"id":"x","username":"BOT x"}"#, false, BOT),
            (r#","opponent":{"ai":3}"#, false, BOT),
        ] {
            let mut places = Places::default();
            places.begin(&game(more), from_us);
            assert_eq!(places.running(), running, "{more}");
        }
        let mut places = Places::default();
        places.begin(&game(""), false);
        for (opponent, running) in [(Opponent::Human, HUMAN), (Opponent::Bot, BOT), (Opponent::Human, BOT)] {
            places.met("abcdefgh".parse().unwrap(), opponent);
            assert_eq!(places.running(), running);
        }
        let mut places = Places::default();
        places.begin(&game(r#","tournamentId":"ABCDEFGH""#), false);
        let tournament = "ABCDEFGH".parse().unwrap();
        assert!(places.plays_in(tournament));
        assert_eq!(places.end("abcdefgh".parse().unwrap()), Some(tournament));
    }

    #[test]
    fn correspondence_games_have_places_of_their_own() {
        let (mut places, now) = (Places::default(), Instant::now());
        places.accept("qwertzui".parse().unwrap(), Place::Correspondence, now);
        let news = places.wake("ABCDEFGH".parse().unwrap());
        let clocked = places.begin(&game(""), false);
        assert_eq!(places.running(), Running { correspondence: 2, ..HUMAN });
        assert_eq!(places.awake(), 1);
        places.lull();
        assert!(news.wanted.is_cancelled() && !clocked.wanted.is_cancelled());
    }
}
