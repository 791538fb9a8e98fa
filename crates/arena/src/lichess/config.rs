//! The `[arena.lichess]` table: accounts, waiting times and rate limits.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, time::Duration};

use serde::Deserialize;
use zeitnot_net::secret_file;
use zeitnot_pairing::Name;
use zeitnot_wire::lichess::{Scope, Title, Token, UserId};

use crate::duration::seconds;

pub(super) const INITIAL_RATING: i32 = 1500;
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Upper bound of both parts of any clock, also in a saved state: what a class tournament can have.
pub(super) const MAX_CLOCK: Duration = Duration::from_secs(7 * 24 * 3600);

/// The time controls that may be asked for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockPolicy {
    /// As on Lichess: some below a minute, whole minutes up to three hours, no UltraBullet for bots.
    #[default]
    Lichess,
    /// Any within the bounds, also in fractions of a second: for matches of engines.
    Any,
}

/// The `[arena.lichess]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen for HTTP.
    pub listen: SocketAddr,
    /// The token that makes accounts while the server runs.
    #[serde(default)]
    pub admin_token: Option<Token>,
    /// Interval of keep-alive lines on event streams.
    #[serde(default = "seconds::<6>", with = "humantime_serde")]
    pub event_keep_alive: Duration,
    /// Interval of keep-alive lines on game streams.
    #[serde(default = "seconds::<7>", with = "humantime_serde")]
    pub game_keep_alive: Duration,
    /// Lifetime of a challenge that is not kept alive.
    #[serde(default = "seconds::<20>", with = "humantime_serde")]
    pub challenge_life: Duration,
    /// Time for each player's first move.
    #[serde(default = "seconds::<30>", with = "humantime_serde")]
    pub first_move: Duration,
    /// Time without a game stream after which a player is gone.
    #[serde(default = "seconds::<10>", with = "humantime_serde")]
    pub gone_after: Duration,
    /// Time from then until the opponent can claim the game.
    #[serde(default = "seconds::<30>", with = "humantime_serde")]
    pub claim_after: Duration,
    /// Allowed time controls.
    #[serde(default)]
    pub clocks: ClockPolicy,
    /// Longest initial time of a clock.
    #[serde(default = "seconds::<10_800>", with = "humantime_serde")]
    pub max_clock_limit: Duration,
    /// Longest increment of a clock.
    #[serde(default = "seconds::<180>", with = "humantime_serde")]
    pub max_clock_increment: Duration,
    /// Accounts at the start.
    #[serde(default)]
    pub account: Vec<AccountConfig>,
    /// Rate limits.
    #[serde(default)]
    pub limits: Limits,
}

/// One `[[arena.lichess.account]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccountConfig {
    /// As its owner writes it.
    pub name: String,
    /// Token of its clients; without one nobody can log in.
    pub token: Option<Token>,
    /// File that holds the token and nothing else.
    pub token_file: Option<PathBuf>,
    /// `BOT`, or empty for a person's account.
    pub title: String,
    /// Initial rating for each kind of game.
    pub rating: i32,
    /// Initial number of games for each kind: lichess-bot challenges nobody who has played none.
    pub games: u32,
    /// Class tournament that it plays in while it is online.
    pub class: Option<Name>,
    /// Scopes of its token.
    pub scopes: Vec<Scope>,
}

impl Default for AccountConfig {
    fn default() -> AccountConfig {
        AccountConfig {
            name: String::new(),
            token: None,
            token_file: None,
            title: Title::Bot.as_str().to_owned(),
            rating: INITIAL_RATING,
            games: 1,
            class: None,
            scopes: vec![Scope::BotPlay],
        }
    }
}

impl AccountConfig {
    /// Returns the token, from its file if there is one; errors show nothing of its content.
    fn find_token(&self) -> Result<Option<Token>, String> {
        let Some(path) = &self.token_file else { return Ok(self.token.clone()) };
        let why = |why: String| format!("lichess: token_file {}: {why}", path.display());
        let text = secret_file::read(path).map_err(|error| why(error.to_string()))?;
        text.parse().map(Some).map_err(|_| why("there is no token in it".into()))
    }
}

/// The `[arena.lichess.limits]` table: rate limits of one account.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Openings of the event stream in ten minutes.
    pub event_streams: u32,
    /// Requests for its own profile in five minutes.
    pub accounts: u32,
    /// Challenges in a minute; one to a person counts as five.
    pub challenges: u32,
    /// Challenges in a day, counted in the same way.
    pub challenges_a_day: u32,
    /// Moves in a minute.
    pub moves: u32,
    /// Games against bots in a day.
    pub bot_games_a_day: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            event_streams: 30,
            accounts: 30,
            challenges: 25,
            challenges_a_day: 200,
            moves: 1000,
            bot_games_a_day: 100,
        }
    }
}

impl Config {
    /// Returns the names of accounts that play in class tournaments, each after the tournament.
    pub(crate) fn class_accounts(&self) -> impl Iterator<Item = (Name, Name)> {
        let entered = |account: &AccountConfig| {
            Some((account.class.clone()?, Name::try_from(account.name.as_str()).ok()?))
        };
        self.account.iter().filter_map(entered)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let waits = [
            ("event_keep_alive", self.event_keep_alive),
            ("game_keep_alive", self.game_keep_alive),
            ("challenge_life", self.challenge_life),
            ("first_move", self.first_move),
            ("gone_after", self.gone_after),
            ("claim_after", self.claim_after),
        ];
        if let Some((key, _)) = waits.iter().find(|(_, wait)| wait.is_zero() || *wait > MAX_WAIT) {
            return Err(format!("lichess: {key} must be above zero, and a day at most"));
        }
        let clocks =
            [("max_clock_limit", self.max_clock_limit), ("max_clock_increment", self.max_clock_increment)];
        if let Some((key, _)) = clocks.iter().find(|(_, time)| *time > MAX_CLOCK) {
            return Err(format!("lichess: {key} must be a week at most"));
        }
        let names: Result<Vec<UserId>, _> = self.account.iter().map(|account| account.name.parse()).collect();
        let names = names.map_err(|error| format!("lichess: {error}"))?;
        if let Some(at) = repeated(&names) {
            return Err(format!("lichess: two accounts have the name '{}'", self.account[at].name));
        }
        let tokens = self.account.iter().filter_map(|account| account.token.as_ref());
        match repeated(tokens.chain(&self.admin_token)) {
            Some(_) => Err("lichess: two accounts have the same token".into()),
            None => Ok(()),
        }
    }

    /// Reads the tokens that stand in files.
    pub(crate) fn load_tokens(&mut self) -> Result<(), String> {
        self.account.iter_mut().try_for_each(|account| {
            account.token = account.find_token()?;
            Ok(())
        })
    }
}

/// Returns the place of an item that is there before, too.
fn repeated<T: Ord>(items: impl IntoIterator<Item = T>) -> Option<usize> {
    let mut seen = BTreeSet::new();
    items.into_iter().position(|item| !seen.insert(item))
}
