//! Accounts, challenges and games as they stand in the file of the state, and how they come back from there.

use std::time::Duration;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;
use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{Challenge, ChallengeId, ChatLine, GameId, Status, TimeControl, UserId};

use super::{
    challenges::{Pending, line},
    game::{End, Game, Patience, Player, Terms},
    kept::Kept,
    people::{Account, People},
    state::{Change, Rows},
};
use crate::ArenaError;

const ACCOUNT: &str = "account";
const CHALLENGE: &str = "challenge";
const GAME: &str = "game";

/// What a restart brings back.
#[derive(Debug, Default)]
pub(super) struct Restored {
    accounts: Vec<Account>,
    challenges: Vec<(ChallengeId, SavedChallenge)>,
    games: Vec<(GameId, SavedGame)>,
}

/// Why a row cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("its row {key} cannot be read: {why}")]
struct BadRow {
    key: String,
    why: String,
}

impl Restored {
    /// Sorts the rows of the file.
    ///
    /// # Errors
    /// [`ArenaError::State`] for a row that nobody understands: to go on without it would overwrite it.
    pub(super) fn read(rows: Rows, path: &std::path::Path) -> Result<Restored, ArenaError> {
        let mut restored = Restored::default();
        for (key, text) in rows {
            restored
                .take(&key, &text)
                .map_err(|error| ArenaError::State { path: path.to_owned(), why: error.to_string() })?;
        }
        // Games come back in the order in which they were made.
        restored.games.sort_by_key(|(_, game)| game.created);
        Ok(restored)
    }

    fn take(&mut self, key: &str, text: &str) -> Result<(), BadRow> {
        let bad = |why: String| BadRow { key: key.to_owned(), why };
        match key.split_once('/') {
            Some((ACCOUNT, _)) => self.accounts.push(parse(text).map_err(bad)?),
            Some((CHALLENGE, id)) => {
                let id = id.parse().map_err(|_| bad("a bad name".into()))?;
                self.challenges.push((id, parse(text).map_err(bad)?));
            }
            Some((GAME, id)) => {
                let id = id.parse().map_err(|_| bad("a bad name".into()))?;
                self.games.push((id, parse(text).map_err(bad)?));
            }
            _ => return Err(bad("nobody knows what it is".into())),
        }
        Ok(())
    }

    /// The accounts go to those of the configuration.
    pub(super) fn accounts(&mut self, people: &mut People) {
        std::mem::take(&mut self.accounts).into_iter().for_each(|account| people.restore(account));
    }

    /// The challenges: whoever kept one alive is no longer connected.
    pub(super) fn challenges(&mut self, life: Duration, now: Instant) -> Kept<ChallengeId, Pending> {
        let mut kept = Kept::default();
        for (id, saved) in std::mem::take(&mut self.challenges) {
            let SavedChallenge { challenge, from, to, terms } = saved;
            match line(&terms) {
                Ok(line) => {
                    let dies = terms.time.clock().is_some().then(|| now + life);
                    kept.insert(id, Pending { challenge, from, to, terms, line, dies, kept: None });
                }
                Err(_) => tracing::warn!("the challenge {id} of the state cannot be played any more"),
            }
        }
        kept
    }

    /// The games; those that are over as well, as they can still be asked for.
    pub(super) fn games(&mut self, patience: Patience, now: Instant) -> Kept<GameId, Game> {
        let mut kept = Kept::default();
        for (id, saved) in std::mem::take(&mut self.games) {
            match Game::restored(id, saved, patience, now) {
                Some(game) => kept.insert(id, game),
                None => tracing::error!("the game {id} of the state cannot be read, and is left as it is"),
            }
        }
        kept.forget_changes();
        kept
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The text can hold tokens: the place of the error is enough.
    serde_json::from_str(text).map_err(|error| format!("line {}, column {}", error.line(), error.column()))
}

fn row(kind: &str, key: impl std::fmt::Display, value: Option<&impl Serialize>) -> Change {
    (format!("{kind}/{key}"), value.and_then(|value| serde_json::to_string(value).ok()))
}

/// All that was changed since the last call.
pub(super) fn changes(
    people: &mut Kept<UserId, super::people::Person>,
    pending: &mut Kept<ChallengeId, Pending>,
    games: &mut Kept<GameId, Game>,
    now: Instant,
) -> Vec<Change> {
    let people = people.take_changes().map(|(id, p)| row(ACCOUNT, id, p.map(|p| p.account()).as_ref()));
    let pending = pending.take_changes().map(|(id, p)| row(CHALLENGE, id, p.map(Pending::saved).as_ref()));
    // A game that is refereed elsewhere ends with this server.
    let games = games.take_changes().filter(|(_, game)| game.is_none_or(|game| game.host.is_none()));
    let games = games.map(|(id, game)| row(GAME, id, game.map(|g| g.saved(now)).as_ref()));
    people.chain(pending).chain(games).collect()
}

/// Times as they are: what is told of them knows whole seconds only.
pub(super) mod exact {
    use serde::{Deserializer, Serializer};

    use super::{Deserialize, Duration, Serialize, TimeControl};
    use zeitnot_rules::TimeControl as Clocks;

    pub fn serialize<S: Serializer>(time: &TimeControl, to: S) -> Result<S::Ok, S::Error> {
        (time, time.clock().map(|clock| [clock.initial, clock.increment])).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<TimeControl, D::Error> {
        let (time, clock) = <(TimeControl, Option<[Duration; 2]>)>::deserialize(from)?;
        Ok(clock.map_or(time, |[initial, increment]| TimeControl::Clock(Clocks { initial, increment })))
    }
}

/// An open challenge in the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedChallenge {
    challenge: Challenge,
    from: UserId,
    to: UserId,
    terms: Terms,
}

impl Pending {
    fn saved(&self) -> SavedChallenge {
        let Pending { challenge, from, to, terms, .. } = self;
        SavedChallenge {
            challenge: challenge.clone(),
            from: from.clone(),
            to: to.clone(),
            terms: terms.clone(),
        }
    }
}

/// A game in the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedGame {
    terms: Terms,
    players: [Player; 2],
    /// Milliseconds since 1970.
    created: i64,
    moved: i64,
    moves: Vec<String>,
    /// What the mover's clock showed after each of them, in milliseconds.
    left: Vec<Option<u64>>,
    clocks: Option<[Duration; 2]>,
    draws: [bool; 2],
    takebacks: [bool; 2],
    chat: Vec<ChatLine>,
    status: Option<Status>,
    winner: Option<Color>,
    rematch: Option<GameId>,
    diffs: Option<[i32; 2]>,
    hurried: bool,
}

/// As a file has it.
fn since_1970(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
}

fn at(since_1970: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(since_1970) * 1_000_000).ok()
}

impl Game {
    fn saved(&self, now: Instant) -> SavedGame {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        SavedGame {
            terms: self.terms.clone(),
            players: self.players.0.clone(),
            created: since_1970(self.created),
            moved: since_1970(self.moved),
            moves: self.line.moves().iter().map(ToString::to_string).collect(),
            left: self.plies.iter().map(|ply| ply.left.map(millis)).collect(),
            clocks: self.clock.as_ref().map(|clock| Color::BOTH.map(|side| clock.left(side, now))),
            draws: self.draws.0,
            takebacks: self.takebacks.0,
            chat: self.chat.clone(),
            status: self.end.as_ref().map(|end| end.status.clone()),
            winner: self.end.as_ref().and_then(|end| end.winner),
            rematch: self.rematch,
            diffs: self.diffs.as_ref().map(|diffs| diffs.0),
            hurried: self.hurried,
        }
    }

    /// The game as it stood. Its clocks stand until the players are back, see [`Game::welcome`].
    fn restored(id: GameId, saved: SavedGame, patience: Patience, now: Instant) -> Option<Game> {
        let line = line(&saved.terms).ok()?;
        let mut game = Game::new(id, saved.terms, line, ByColor(saved.players), patience, now);
        for (ply, text) in saved.moves.iter().enumerate() {
            let left = saved.left.get(ply).copied().flatten().map(Duration::from_millis);
            game.replay(text, left)?;
        }
        game.created = at(saved.created).unwrap_or(game.created);
        game.moved = at(saved.moved).unwrap_or(game.moved);
        if let (Some(clock), Some(left)) = (&mut game.clock, saved.clocks) {
            clock.set(ByColor(left));
        }
        (game.draws, game.takebacks) = (ByColor(saved.draws), ByColor(saved.takebacks));
        (game.rematch, game.diffs) = (saved.rematch, saved.diffs.map(ByColor));
        (game.chat, game.hurried) = (saved.chat, saved.hurried);
        game.end = saved.status.map(|status| End { status, winner: saved.winner });
        if game.end.is_none() {
            game.await_players(now);
        }
        Some(game)
    }

    /// After a restart the clocks of the players stand still until they are back, but not for ever. Where a
    /// move may take days, nobody needs to be waited for.
    fn await_players(&mut self, now: Instant) {
        match self.terms.time {
            TimeControl::Clock(_) => self.returning = Some(now + self.patience.first_move),
            _ => self.go_on(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_wire::lichess::{Source, VariantKey};

    #[test]
    fn fractions_of_a_second_are_kept() {
        for time in ["0.5+0.05", "180+2"] {
            let time = TimeControl::Clock(time.parse().unwrap());
            let (variant, source) = (VariantKey::Standard, Source::Friend);
            let terms =
                Terms { variant, rated: true, time: time.clone(), fen: None, source, rules: Vec::new() };
            let text = serde_json::to_string(&terms).unwrap();
            assert_eq!(parse::<Terms>(&text).unwrap().time, time);
        }
    }
}
