//! Accounts, challenges and games as rows of the state file.

use std::{fmt::Display, path::Path, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{ChallengeId, ChatLine, GameId, Status, UserId};

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

#[derive(Debug, Default)]
pub(super) struct Restored {
    pub(super) accounts: Vec<Account>,
    challenges: Vec<Pending>,
    games: Vec<(GameId, SavedGame)>,
}

impl Restored {
    /// Parses the rows of the file at `path`. An unreadable row is an error: going on without it would overwrite it.
    pub(super) fn parse(rows: Rows, path: &Path) -> Result<Restored, ArenaError> {
        let mut restored = Restored::default();
        for (key, text) in rows {
            restored.take(&key, &text).map_err(|why| {
                let why = format!("its row {key} cannot be read: {why}");
                ArenaError::State { path: path.to_owned(), why }
            })?;
        }
        restored.games.sort_by_key(|(_, game)| game.created);
        Ok(restored)
    }

    fn take(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key.split_once('/') {
            Some((ACCOUNT, _)) => self.accounts.push(parse(text)?),
            Some((CHALLENGE, _)) => self.challenges.push(parse(text)?),
            Some((GAME, id)) => self.games.push((id.parse().map_err(|_| "a bad id")?, parse(text)?)),
            _ => return Err("unknown kind".into()),
        }
        Ok(())
    }

    pub(super) fn challenges(&mut self, lifetime: Duration, now: Instant) -> DirtyMap<ChallengeId, Pending> {
        let mut map = DirtyMap::default();
        for mut pending in std::mem::take(&mut self.challenges) {
            let id = pending.challenge.id;
            if pending.terms.begin().is_err() {
                tracing::warn!("Lichess: the saved challenge {id} cannot be played any more");
                continue;
            }
            pending.expires = Pending::expiry(&pending.terms, lifetime, now);
            map.insert(id, pending);
        }
        map
    }

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

pub(super) fn changes(
    accounts: &mut DirtyMap<UserId, Account>,
    challenges: &mut DirtyMap<ChallengeId, Pending>,
    games: &mut DirtyMap<GameId, Game>,
    now: Instant,
    has_state: bool,
) -> Vec<Change> {
    if !has_state {
        accounts.mark_clean();
        challenges.mark_clean();
        games.mark_clean();
        return Vec::new();
    }
    let accounts = accounts.take_dirty().map(|(id, account)| row(ACCOUNT, id, account));
    let challenges = challenges.take_dirty().map(|(id, pending)| row(CHALLENGE, id, pending));
    // Games of class tournaments end with this server.
    let games = games.take_dirty().filter(|(_, game)| game.is_none_or(|game| game.class.is_none()));
    let games = games.map(|(id, game)| row(GAME, id, game.map(|game| save(game, now)).as_ref()));
    accounts.chain(challenges).chain(games).collect()
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedGame {
    terms: Terms,
    players: [Player; 2],
    /// Milliseconds since 1970, as is `last_move`.
    created: u64,
    last_move: u64,
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

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn save(game: &Game, now: Instant) -> SavedGame {
    SavedGame {
        terms: game.terms.clone(),
        players: game.players.0.clone(),
        created: millis(game.created),
        last_move: millis(game.last_move),
        moves: game.board().moves().iter().map(ToString::to_string).collect(),
        left: game.referee.plies.iter().map(|ply| ply.left.map(millis)).collect(),
        clocks: Color::BOTH.map(|color| game.referee.clock.left(color, now)),
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
    (game.created, game.last_move) =
        (Duration::from_millis(saved.created), Duration::from_millis(saved.last_move));
    if let [Some(white), Some(black)] = saved.clocks {
        game.referee.clock.set(ByColor([white, black]));
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
