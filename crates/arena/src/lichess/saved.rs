//! Accounts, challenges and games as rows of the database.

use std::{fmt::Display, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::Instant;
use zeitnot_host::{
    database::{Change, DatabaseError, LichessKind, LichessRow},
    hosted_game::Host,
    panic_guard,
};
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{ChallengeId, GameId, Status, UserId};

use super::{
    accounts::{Account, unix_now},
    challenges::Pending,
    dirty_map::DirtyMap,
    game::{Game, GameSetup, GameTimeouts, Hosted, Owner, Player, ending},
    terms::Terms,
};

#[derive(Debug, Default)]
pub(super) struct Restored {
    pub(super) accounts: Vec<Account>,
    challenges: Vec<Pending>,
    games: Vec<(GameId, SavedGame)>,
}

impl Restored {
    /// Parses rows. An unreadable account is an error: going on without it would overwrite
    /// it. An unreadable game or challenge is left out, and its row stays.
    pub(super) fn parse(rows: Vec<LichessRow>) -> Result<Restored, DatabaseError> {
        let mut restored = Restored::default();
        for row in rows {
            match restored.take(&row) {
                Err(why) if row.kind == LichessKind::Account => {
                    return Err(DatabaseError::Damaged(format!("its row {row:?} cannot be read: {why}")));
                }
                Err(why) => {
                    tracing::error!("Lichess: the saved {row:?} is left out: it cannot be read ({why})");
                }
                Ok(()) => {}
            }
        }
        restored.games.sort_by_key(|(_, game)| game.created);
        Ok(restored)
    }

    fn take(&mut self, row: &LichessRow) -> Result<(), String> {
        let text = row.value.as_deref().unwrap_or_default();
        match row.kind {
            LichessKind::Account => self.accounts.push(parse(text)?),
            // Earlier versions had challenges and games without a clock: their rows are left as they are.
            LichessKind::Challenge => {
                let pending: Pending = parse(text)?;
                self.challenges.extend(Some(pending).filter(|pending| pending.terms.has_clock()));
            }
            LichessKind::Game => {
                let (id, game): (_, SavedGame) = (row.id.parse().map_err(|_| "a bad id")?, parse(text)?);
                self.games.extend(Some((id, game)).filter(|(_, game)| game.terms.has_clock()));
            }
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
            pending.expires = Some(now + lifetime);
            map.insert(id, pending);
        }
        map
    }

    pub(super) fn games(
        &mut self,
        timeouts: GameTimeouts,
        host: &Host,
        now: Instant,
    ) -> DirtyMap<GameId, Game> {
        let mut map = DirtyMap::default();
        for (id, saved) in std::mem::take(&mut self.games) {
            // A panic costs this game only.
            let restored = panic_guard::contain(|| restore(id, saved, (timeouts, host), now));
            match restored.ok().flatten() {
                Some(game) => map.insert(id, game),
                None => tracing::error!(
                    "Lichess: the saved game {id} is left out: it cannot be replayed; its row is left as it is"
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

fn saved(kind: LichessKind, id: impl Display, value: Option<&impl Serialize>) -> Change {
    let value = value.and_then(|value| serde_json::to_string(value).ok());
    Change::Lichess(LichessRow { kind, id: id.to_string(), value })
}

pub(super) fn changes(
    accounts: &mut DirtyMap<UserId, Account>,
    challenges: &mut DirtyMap<ChallengeId, Pending>,
    games: &mut DirtyMap<GameId, Game>,
    now: Instant,
) -> Vec<Change> {
    let accounts = accounts.take_dirty().map(|(id, account)| saved(LichessKind::Account, id, account));
    let challenges = challenges.take_dirty().map(|(id, pending)| saved(LichessKind::Challenge, id, pending));
    let games = games.take_dirty().filter_map(|(id, game)| {
        let state = match game {
            // Games of class tournaments end with this server.
            Some(game) => Some(save(game, game.hosted()?, now)),
            None => None,
        };
        Some(saved(LichessKind::Game, id, state.as_ref()))
    });
    accounts.chain(challenges).chain(games).collect()
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedGame {
    terms: Terms,
    players: [Player; 2],
    /// Milliseconds since 1970.
    created: u64,
    moves: Vec<String>,
    /// The mover's clock after each move, in milliseconds.
    left: Vec<Option<u64>>,
    /// Time that each move took, in milliseconds; earlier versions did not save it.
    #[serde(default)]
    spent: Vec<Option<u64>>,
    clocks: [Option<Duration>; 2],
    draw_offers: [bool; 2],
    takeback_offers: [bool; 2],
    status: Option<Status>,
    winner: Option<Color>,
    rating_diffs: Option<[i32; 2]>,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn save(game: &Game, hosted: &Hosted, now: Instant) -> SavedGame {
    let referee = &hosted.game.referee;
    SavedGame {
        terms: game.terms.clone(),
        players: game.players.0.clone(),
        created: millis(game.created),
        moves: referee.board.moves().iter().map(ToString::to_string).collect(),
        left: referee.plies.iter().map(|ply| ply.left.map(millis)).collect(),
        spent: referee.plies.iter().map(|ply| ply.spent.map(millis)).collect(),
        clocks: Color::BOTH.map(|color| referee.clock.left(color, now)),
        draw_offers: Color::BOTH.map(|color| referee.offers_draw(color)),
        takeback_offers: Color::BOTH.map(|color| referee.asks_takeback(color)),
        status: game.is_over().then(|| game.status()),
        winner: game.winner(),
        rating_diffs: game.rating_diffs.map(|diffs| diffs.0),
    }
}

/// A time since 1970. A later one than now would be no date for a calendar.
fn date(millis: u64) -> Duration {
    Duration::from_millis(millis).min(unix_now())
}

/// The game as it stood. Its clocks wait for the players.
fn restore(
    id: GameId,
    saved: SavedGame,
    (timeouts, host): (GameTimeouts, &Host),
    now: Instant,
) -> Option<Game> {
    let board = saved.terms.begin().ok()?;
    let created = date(saved.created);
    let setup = GameSetup { id, terms: saved.terms, players: ByColor(saved.players), created };
    let mut hosted = Hosted::new(&setup, board, timeouts, host.clone(), now);
    let referee = &mut hosted.game.referee;
    for (ply, text) in saved.moves.iter().enumerate() {
        let [left, spent] = [&saved.left, &saved.spent]
            .map(|times| times.get(ply).copied().flatten().map(Duration::from_millis));
        referee.replay(text, left, spent).ok()?;
    }
    if let [Some(white), Some(black)] = saved.clocks {
        referee.clock.set(ByColor([white, black]));
    }
    for color in Color::BOTH {
        if saved.draw_offers[color as usize] {
            referee.draw(color, true, now);
        }
        if saved.takeback_offers[color as usize] {
            referee.takeback(color, true, now);
        }
    }
    match saved.status {
        Some(status) => {
            referee.ending = Some(ending(referee.board.kind(), &status, saved.winner));
        }
        None => hosted.await_players(now),
    }
    let mut game = Game::new(setup, Owner::Hosted(hosted.into()), now);
    game.rating_diffs = saved.rating_diffs.map(ByColor);
    Some(game)
}

#[cfg(test)]
mod tests {
    use zeitnot_host::database::MAX_WAIT;
    use zeitnot_referee::Cause;
    use zeitnot_rules::DynGame;
    use zeitnot_wire::lichess::{Source, VariantKey};

    use super::{
        super::{accounts::Accounts, config::Config, server::LichessServer},
        *,
    };

    fn game(increment: Duration) -> Game {
        let ((setup, board), now) = (setup("abcdefgh", increment), Instant::now());
        let hosted = Hosted::new(&setup, board, TIMEOUTS, Host::default(), now);
        Game::new(setup, Owner::Hosted(hosted.into()), now)
    }

    fn setup(id: &str, increment: Duration) -> (GameSetup, DynGame) {
        let clock =
            zeitnot_rules::TimeControl { initial: Duration::from_secs(60), increment: Duration::ZERO };
        let mut terms = Terms {
            variant: VariantKey::Standard,
            rated: false,
            time: clock,
            fen: None,
            source: Source::Friend,
        };
        let player = |name: &str| Player {
            id: name.parse().unwrap(),
            name: name.to_owned(),
            title: None,
            rating: None,
            provisional: false,
            is_guest: false,
        };
        let board = terms.begin().unwrap();
        terms.time.increment = increment;
        let players = ByColor(["alice", "bob"].map(player));
        let created = unix_now();
        (GameSetup { id: id.parse().unwrap(), terms, players, created }, board)
    }

    const TIMEOUTS: GameTimeouts = GameTimeouts {
        first_move: Duration::from_secs(30),
        gone_after: Duration::from_secs(10),
        claim_after: Duration::from_secs(30),
    };

    /// Time-outs that make a game panic, as no instant is so late. A configuration cannot have them.
    const ENDLESS: GameTimeouts =
        GameTimeouts { first_move: Duration::MAX, gone_after: Duration::MAX, ..TIMEOUTS };

    #[test]
    fn a_game_that_cannot_be_restored_is_left_out() {
        let now = Instant::now();
        let saved = |increment| {
            let game = game(increment);
            serde_json::to_string(&save(&game, game.hosted().unwrap(), now)).unwrap()
        };
        let row = |kind, id: &str, value: String| LichessRow { kind, id: id.to_owned(), value: Some(value) };
        let mut without_clock: serde_json::Value = serde_json::from_str(&saved(Duration::ZERO)).unwrap();
        without_clock["terms"]["time"] =
            serde_json::json!([{ "type": "correspondence", "daysPerTurn": 3 }, null]);
        let rows = vec![
            row(LichessKind::Game, "eeeeeeee", without_clock.to_string()),
            row(LichessKind::Game, "aaaaaaaa", saved(Duration::from_secs(2))),
            row(LichessKind::Game, "bbbbbbbb", saved(Duration::from_secs(i64::MAX as u64))),
            row(LichessKind::Game, "cccccccc", "{".to_owned()),
            row(LichessKind::Game, "x", saved(Duration::ZERO)),
            row(LichessKind::Challenge, "dddddddd", "[]".to_owned()),
        ];
        let mut restored = Restored::parse(rows).unwrap();
        let games = restored.games(TIMEOUTS, &Host::default(), now);
        assert_eq!(games.keys().map(ToString::to_string).collect::<Vec<_>>(), ["aaaaaaaa"]);
        let rows = vec![row(LichessKind::Game, "aaaaaaaa", saved(Duration::ZERO))];
        let mut restored = Restored::parse(rows).unwrap();
        assert!(restored.games(ENDLESS, &Host::default(), now).values().next().is_none(), "it panics");
        let account = vec![row(LichessKind::Account, "alice", "{\"token\": secret".to_owned())];
        let error = Restored::parse(account).unwrap_err().to_string();
        assert!(error.contains("account/alice") && !error.contains("secret"), "{error}");
    }

    /// A server with these games.
    fn server(games: [(&str, GameTimeouts); 2], now: Instant) -> LichessServer {
        let config: Config = toml::from_str("listen = '127.0.0.1:0'").unwrap();
        let mut server = LichessServer::new(config, Accounts::default(), None, Host::default());
        for (id, timeouts) in games {
            server.games.timeouts = timeouts;
            let (setup, board) = setup(id, Duration::ZERO);
            server.games.begin(setup, board, &server.accounts, now);
        }
        server
    }

    #[test]
    fn a_panic_ends_its_game_only() {
        let mut game = game(Duration::ZERO);
        assert_eq!(game.contain(Instant::now(), |_| 1), Some(1));
        assert_eq!(game.contain(Instant::now(), |_| -> u8 { panic!("a bug") }), None);
        assert_eq!(game.status(), Status::Aborted);
        game.tick(Instant::now());

        // So it is if the referee has the end already.
        let (mut game, now) = (self::game(Duration::ZERO), Instant::now());
        let _ = game.contain(now, |game| -> u8 {
            game.hosted_mut().unwrap().game.referee.end(None, Cause::Aborted, now);
            panic!("a bug")
        });
        assert!(game.is_over() && !game.is_told(), "it is not on the disk yet");

        let now = Instant::now();
        let mut server = server([("aaaaaaaa", TIMEOUTS), ("bbbbbbbb", ENDLESS)], now);
        let id = "bbbbbbbb".parse().unwrap();
        server.sweep(now);
        // Its players hear of it when it is on the disk.
        assert!(server.changes(now).1[0].0 == id && !server.games.map[&id].is_told());
        let mut told = server.games.wait_for_end(id).unwrap();
        assert_eq!(server.games.running().count(), 2);
        assert!(told.try_recv().is_err());
        server.tell_ends(vec![id], now);
        assert!(told.try_recv().is_ok() && server.games.map[&id].is_told());
        assert!(server.games.wait_for_end(id).is_none());
        assert_eq!(server.games.running().count(), 1);
    }

    #[test]
    fn an_end_is_told_in_time_if_the_disk_hangs_or_writing_it_panics() {
        let now = Instant::now();
        let mut server = server([("aaaaaaaa", ENDLESS), ("bbbbbbbb", ENDLESS)], now);
        let [first, second] = ["aaaaaaaa", "bbbbbbbb"].map(|id| id.parse().unwrap());
        // The sum of these times is more than a duration can be.
        let hosted = server.games.map.get_mut(&first).unwrap().hosted_mut().unwrap();
        for mv in ["e2e4", "e7e5"] {
            hosted.game.referee.replay(mv, None, Some(Duration::MAX)).unwrap();
        }
        server.sweep(now);
        let (_, ended) = server.changes(now);
        assert_eq!(ended.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [second]);
        let mut told = [first, second].map(|id| server.games.wait_for_end(id).unwrap());
        server.sweep(now + MAX_WAIT / 2);
        assert!(told.iter_mut().all(|told| told.try_recv().is_err()));
        server.sweep(now + MAX_WAIT);
        assert!(told.iter_mut().all(|told| told.try_recv().is_ok()));
        assert_eq!(server.games.running().count(), 0);
    }
}
