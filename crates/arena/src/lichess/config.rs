//! The `[arena.lichess]` table: accounts, waiting times and rate limits.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use zeitnot_net::{Contradictions, secret_file};
use zeitnot_pairing::Name;
use zeitnot_settings::{HumanTime, JsonSchema, schemars, settings};
use zeitnot_wire::lichess::{Scope, Title, Token, UserId};

use crate::duration::seconds;

pub(super) const INITIAL_RATING: i32 = 1500;
/// Upper bound of both parts of any clock, also in a saved state: what a class tournament can have.
pub(super) const MAX_CLOCK: Duration = Duration::from_secs(7 * 24 * 3600);

/// Time controls that challenges may have.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClockPolicy {
    /// As on Lichess: some below a minute, whole minutes up to three hours, no UltraBullet for bots.
    #[default]
    Lichess,
    /// Any within the bounds, also in fractions of a second: for matches of engines.
    Any,
}

/// The `[arena.lichess]` table.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address to listen on for HTTP; port 0 takes any free port.
    #[schemars(example = &"127.0.0.1:9663")]
    pub listen: SocketAddr,
    /// Token that may create accounts: POST /api/zeitnot/account with name=… (and title=…, token=…).
    #[serde(default)]
    #[schemars(with = "String", example = &"change_me")]
    pub admin_token: Option<Token>,
    /// Interval of empty lines on event streams.
    #[serde(default = "seconds::<6>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub event_keep_alive: Duration,
    /// Interval of empty lines on game streams.
    #[serde(default = "seconds::<7>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub game_keep_alive: Duration,
    /// Time after which a challenge ends that its challenger does not keep alive.
    #[serde(default = "seconds::<20>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub challenge_life: Duration,
    /// Time for each player's first move, after which the game is aborted.
    #[serde(default = "seconds::<30>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub first_move: Duration,
    /// Time without an open stream of the game after which a player counts as gone.
    #[serde(default = "seconds::<10>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub gone_after: Duration,
    /// Further time until the opponent can claim the game.
    #[serde(default = "seconds::<30>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "1day"))]
    pub claim_after: Duration,
    /// Allowed clocks: "lichess", those of Lichess, or "any", such as 2+0.02.
    #[serde(default)]
    pub clocks: ClockPolicy,
    /// Maximum initial time of a clock, even with `clocks = "any"`.
    #[serde(default = "seconds::<10_800>", with = "HumanTime")]
    #[schemars(extend("x-min" = "1ms", "x-max" = "7days"))]
    pub max_clock_limit: Duration,
    /// Maximum increment of a clock, even with `clocks = "any"`.
    #[serde(default = "seconds::<180>", with = "HumanTime")]
    #[schemars(extend("x-max" = "7days"))]
    pub max_clock_increment: Duration,
    /// One table for each account.
    #[serde(default)]
    pub account: Vec<AccountConfig>,
    /// Limits for one account. A challenge to a person counts as five.
    #[serde(default)]
    pub limits: Limits,
}

/// One account.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountConfig {
    /// Name, as its owner writes it.
    #[schemars(example = &"Zeitnot")]
    pub name: String,
    /// Token of the account. Without one, the account cannot be used.
    #[serde(default)]
    #[schemars(with = "String", example = &"lip_change_me")]
    pub token: Option<Token>,
    /// Private file that contains only the token (chmod 600).
    #[serde(default)]
    #[schemars(example = &"zeitnot.token")]
    pub token_file: Option<PathBuf>,
    /// "BOT", or "" for an account that can still be upgraded.
    #[serde(default = "title")]
    pub title: String,
    /// Initial rating for each kind of game.
    #[serde(default = "rating")]
    pub rating: i32,
    /// Initial number of games for each kind: lichess-bot does not challenge players without games.
    #[serde(default = "games")]
    pub games: u32,
    /// Name of the [[arena.tournament]] in which the account plays while it is connected.
    #[serde(default)]
    #[schemars(example = &"class")]
    pub class: Option<Name>,
    /// Scopes of the token.
    #[serde(default = "scopes")]
    #[schemars(with = "Vec<String>")]
    pub scopes: Vec<Scope>,
}

fn title() -> String {
    Title::Bot.as_str().to_owned()
}

fn rating() -> i32 {
    INITIAL_RATING
}

fn games() -> u32 {
    1
}

fn scopes() -> Vec<Scope> {
    vec![Scope::BotPlay]
}

impl AccountConfig {
    /// Returns an account with the default settings, without a token.
    pub(super) fn new(name: String) -> AccountConfig {
        AccountConfig {
            name,
            token: None,
            token_file: None,
            title: title(),
            rating: rating(),
            games: games(),
            class: None,
            scopes: scopes(),
        }
    }

    /// Returns the token, from its file if there is one; errors show nothing of its content.
    fn find_token(&self) -> Result<Option<Token>, String> {
        let Some(path) = &self.token_file else { return Ok(self.token.clone()) };
        let why = |why: String| format!("lichess: token_file {}: {why}", path.display());
        let text = secret_file::read(path).map_err(|error| why(error.to_string()))?;
        text.parse().map(Some).map_err(|_| why("there is no token in it".into()))
    }
}

settings! {
    /// Limits for one account.
    #[derive(Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Openings of the event stream in ten minutes.
        #[schemars(range(min = 1))]
        event_streams: u32 = 30,
        /// Requests for the account's own profile in five minutes.
        #[schemars(range(min = 1))]
        accounts: u32 = 30,
        /// Challenges in a minute.
        #[schemars(range(min = 1))]
        challenges: u32 = 25,
        /// Challenges in a day.
        #[schemars(range(min = 1))]
        challenges_a_day: u32 = 200,
        /// Moves in a minute.
        #[schemars(range(min = 1))]
        moves: u32 = 1000,
        /// Games against bots in a day.
        #[schemars(range(min = 1))]
        bot_games_a_day: u32 = 100,
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

    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        let Limits { challenges, challenges_a_day, .. } = self.limits;
        let a_day = ("challenges_a_day", challenges_a_day);
        found.within("limits", |found| found.at_most(("challenges", challenges), a_day));
        for (at, account) in self.account.iter().enumerate() {
            if account.class.is_some() && !account.scopes.contains(&Scope::BotPlay) {
                let what = format!("lacks \"{}\", without which it cannot play in its class", Scope::BotPlay);
                found.add(&[&format!("account[{at}].scopes"), &format!("account[{at}].class")], what);
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
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
