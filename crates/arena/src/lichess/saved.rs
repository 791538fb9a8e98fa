//! Accounts, challenges and games as rows of the state file.

use std::{fmt::Display, path::Path, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{Challenge, ChallengeId, ChatLine, GameId, Status, UserId};

use super::{
    accounts::Account,
    challenges::Pending,
    dirty_map::DirtyMap,
    game::{End, Game, GameTimeouts, Player},
    storage::{Change, Rows},
    terms::Terms,
};
use crate::error::ArenaError;

const ACCOUNT: &str = "account";
const CHALLENGE: &str = "challenge";
const GAME: &str = "game";

/// The rows of a state file.
#[derive(Debug, Default)]
pub(super) struct Restored {
    pub(super) accounts: Vec<Account>,
    challenges: Vec<(ChallengeId, SavedChallenge)>,
    games: Vec<(GameId, SavedGame)>,
}

#[derive(Debug, thiserror::Error)]
#[error("its row {key} cannot be read: {why}")]
struct BadRow {
    key: String,
    why: String,
}

impl Restored {
    /// Parses the rows of the file at `path`.
    ///
    /// # Errors
    /// [`ArenaError::State`] for an unreadable row: going on without it would overwrite it.
    pub(super) fn parse(rows: Rows, path: &Path) -> Result<Restored, ArenaError> {
        let mut restored = Restored::default();
        for (key, text) in rows {
            restored
                .take(&key, &text)
                .map_err(|error| ArenaError::State { path: path.to_owned(), why: error.to_string() })?;
        }
        restored.games.sort_by_key(|(_, game)| game.created);
        Ok(restored)
    }

    fn take(&mut self, key: &str, text: &str) -> Result<(), BadRow> {
        let bad = |why: String| BadRow { key: key.to_owned(), why };
        let bad_id = |_| bad("a bad id".into());
        match key.split_once('/') {
            Some((ACCOUNT, _)) => self.accounts.push(parse(text).map_err(bad)?),
            Some((CHALLENGE, id)) => {
                self.challenges.push((id.parse().map_err(bad_id)?, parse(text).map_err(bad)?));
            }
            Some((GAME, id)) => self.games.push((id.parse().map_err(bad_id)?, parse(text).map_err(bad)?)),
            _ => return Err(bad("unknown kind".into())),
        }
        Ok(())
    }

    /// The challenges. The connections that kept some alive are gone.
    pub(super) fn challenges(&mut self, lifetime: Duration, now: Instant) -> DirtyMap<ChallengeId, Pending> {
        let mut map = DirtyMap::default();
        for (id, SavedChallenge { challenge, from, to, terms }) in std::mem::take(&mut self.challenges) {
            match terms.begin() {
                Ok(board) => {
                    let expires = Pending::expiry(&terms, lifetime, now);
                    map.insert(id, Pending { challenge, from, to, terms, board, expires, waiting: None });
                }
                Err(_) => tracing::warn!("Lichess: the saved challenge {id} cannot be played any more"),
            }
        }
        map
    }

    /// The games, running or over.
    pub(super) fn games(&mut self, timeouts: GameTimeouts, now: Instant) -> DirtyMap<GameId, Game> {
        let mut map = DirtyMap::default();
        for (id, saved) in std::mem::take(&mut self.games) {
            match restore(id, saved, timeouts, now) {
                Some(game) => map.insert(id, game),
                None => tracing::error!(
                    "Lichess: the saved game {id} cannot be replayed; its row is left as it is"
                ),
            }
        }
        map.mark_clean();
        map
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // The text can hold tokens: errors name only the place.
    serde_json::from_str(text).map_err(|error| format!("line {}, column {}", error.line(), error.column()))
}

fn row(kind: &str, key: impl Display, value: Option<&impl Serialize>) -> Change {
    (format!("{kind}/{key}"), value.and_then(|value| serde_json::to_string(value).ok()))
}

/// The rows that changed since the last call.
pub(super) fn changes(
    accounts: &mut DirtyMap<UserId, Account>,
    challenges: &mut DirtyMap<ChallengeId, Pending>,
    games: &mut DirtyMap<GameId, Game>,
    now: Instant,
) -> Vec<Change> {
    let accounts = accounts.take_dirty().map(|(id, account)| row(ACCOUNT, id, account));
    let challenges =
        challenges.take_dirty().map(|(id, pending)| row(CHALLENGE, id, pending.map(save_challenge).as_ref()));
    // Games of class tournaments end with this server.
    let games = games.take_dirty().filter(|(_, game)| game.is_none_or(|game| game.class.is_none()));
    let games = games.map(|(id, game)| row(GAME, id, game.map(|game| save(game, now)).as_ref()));
    accounts.chain(challenges).chain(games).collect()
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedChallenge {
    challenge: Challenge,
    from: UserId,
    to: UserId,
    terms: Terms,
}

fn save_challenge(pending: &Pending) -> SavedChallenge {
    let Pending { challenge, from, to, terms, .. } = pending;
    SavedChallenge { challenge: challenge.clone(), from: from.clone(), to: to.clone(), terms: terms.clone() }
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedGame {
    terms: Terms,
    players: [Player; 2],
    /// Milliseconds since 1970, as is `last_move`.
    created: i64,
    last_move: i64,
    moves: Vec<String>,
    /// The mover's clock after each move, in milliseconds.
    left: Vec<Option<u64>>,
    clocks: [Option<Duration>; 2],
    draw_offers: [bool; 2],
    takeback_offers: [bool; 2],
    chat: Vec<ChatLine>,
    status: Option<Status>,
    winner: Option<Color>,
    rating_diffs: Option<[i32; 2]>,
}

fn unix_millis(at: OffsetDateTime) -> i64 {
    i64::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or_default()
}

fn from_unix_millis(millis: i64) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).ok()
}

fn save(game: &Game, now: Instant) -> SavedGame {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    SavedGame {
        terms: game.terms.clone(),
        players: game.players.0.clone(),
        created: unix_millis(game.created),
        last_move: unix_millis(game.last_move),
        moves: game.board().moves().iter().map(ToString::to_string).collect(),
        left: game.referee.plies().iter().map(|ply| ply.left.map(millis)).collect(),
        clocks: Color::BOTH.map(|color| game.referee.clock().left(color, now)),
        draw_offers: Color::BOTH.map(|color| game.referee.offers_draw(color)),
        takeback_offers: Color::BOTH.map(|color| game.referee.asks_takeback(color)),
        chat: game.chat.clone(),
        status: game.end.as_ref().map(|end| end.status.clone()),
        winner: game.winner(),
        rating_diffs: game.rating_diffs.map(|diffs| diffs.0),
    }
}

/// The game as it stood. Its clocks wait for the players.
fn restore(id: GameId, saved: SavedGame, timeouts: GameTimeouts, now: Instant) -> Option<Game> {
    let board = saved.terms.begin().ok()?;
    let mut game = Game::new(id, saved.terms, board, ByColor(saved.players), timeouts, now);
    for (ply, text) in saved.moves.iter().enumerate() {
        let left = saved.left.get(ply).copied().flatten().map(Duration::from_millis);
        game.referee.replay(text, left).ok()?;
    }
    game.created = from_unix_millis(saved.created).unwrap_or(game.created);
    game.last_move = from_unix_millis(saved.last_move).unwrap_or(game.last_move);
    if let [Some(white), Some(black)] = saved.clocks {
        game.referee.clock_mut().set(ByColor([white, black]));
    }
    for color in Color::BOTH {
        if saved.draw_offers[color as usize] {
            game.referee.draw(color, true, now);
        }
        if saved.takeback_offers[color as usize] {
            game.referee.takeback(color, true, now);
        }
    }
    (game.rating_diffs, game.chat) = (saved.rating_diffs.map(ByColor), saved.chat);
    game.end = saved.status.map(|status| End { status, winner: saved.winner });
    if !game.is_over() {
        game.await_players(now);
    }
    Some(game)
}
