//! The `[arena.lichess]` table: who has an account, what is waited for, and what is rationed.

use std::{collections::BTreeSet, fs, net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::Deserialize;

use zeitnot_rules::TimeControl;
use zeitnot_wire::lichess::{Scope, Title, Token, TournamentId, UserId, VariantKey};

use super::clocks::Clocks;
use super::people::FIRST_RATING;
use crate::Name;

/// No wait is longer: beyond it nobody is there to wait.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Files with a token in them hold nothing else.
const LONGEST_FILE: u64 = 4096;

/// The `[arena.lichess]` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen for HTTP.
    pub listen: SocketAddr,
    /// Who may make accounts while the server runs; nobody without it.
    #[serde(default)]
    pub admin_token: Option<Token>,
    /// Keeps accounts, challenges and running games over a restart; without it they end with the server.
    #[serde(default)]
    pub state: Option<PathBuf>,
    /// How often an event stream says that it lives.
    #[serde(default = "seconds::<6>", with = "humantime_serde")]
    pub event_keep_alive: Duration,
    /// How often a game's stream does.
    #[serde(default = "seconds::<7>", with = "humantime_serde")]
    pub game_keep_alive: Duration,
    /// How long a challenge with clocks stands that nobody keeps alive.
    #[serde(default = "seconds::<20>", with = "humantime_serde")]
    pub challenge_life: Duration,
    /// How long each may take for the first move.
    #[serde(default = "seconds::<30>", with = "humantime_serde")]
    pub first_move: Duration,
    /// Who has no stream of the game open for this long is gone.
    #[serde(default = "seconds::<10>", with = "humantime_serde")]
    pub gone_after: Duration,
    /// How long the other one must wait then before the game can be claimed.
    #[serde(default = "seconds::<30>", with = "humantime_serde")]
    pub claim_after: Duration,
    /// The account that plays for the computer in games against it; without it there are none.
    #[serde(default)]
    pub ai: Option<UserId>,
    /// The teams that can be joined.
    #[serde(default)]
    pub team: Vec<TeamConfig>,
    /// Which clocks may be asked for.
    #[serde(default)]
    pub clocks: Clocks,
    /// The accounts at the start.
    #[serde(default)]
    pub account: Vec<AccountConfig>,
    /// Tournaments that players join by themselves.
    #[serde(default)]
    pub tournament: Vec<TournamentConfig>,
    /// What is rationed.
    #[serde(default)]
    pub limits: Limits,
    /// What goes wrong on purpose.
    #[serde(default)]
    pub faults: Faults,
}

fn seconds<const N: u64>() -> Duration {
    Duration::from_secs(N)
}

/// One `[[arena.lichess.account]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountConfig {
    /// As its owner writes it.
    pub name: String,
    /// What its programs show. Without one nobody can log in, and challenges stand unanswered.
    #[serde(default)]
    pub token: Option<Token>,
    /// A file with nothing else in it.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// `BOT`; with an empty one it is a person's until it is upgraded.
    #[serde(default = "bot")]
    pub title: String,
    /// Its rating in each kind of game.
    #[serde(default = "first_rating")]
    pub rating: i32,
    /// From so many games in each kind: lichess-bot challenges nobody who has played none.
    #[serde(default = "some_games")]
    pub games: u32,
    /// The tournament of the class that it plays in when it is there.
    #[serde(default)]
    pub class: Option<Name>,
    /// What its token may do.
    #[serde(default = "scopes")]
    pub scopes: Vec<Scope>,
}

/// One `[[arena.lichess.team]]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamConfig {
    /// As it stands in addresses: small letters, digits and `-`.
    pub id: String,
    /// As people read it; without one as the `id`.
    #[serde(default)]
    pub name: Option<String>,
    /// What members must know.
    #[serde(default)]
    pub password: Option<String>,
}

fn bot() -> String {
    Title::Bot.as_str().to_owned()
}

fn first_rating() -> i32 {
    FIRST_RATING
}

fn some_games() -> u32 {
    1
}

fn scopes() -> Vec<Scope> {
    vec![Scope::BotPlay]
}

impl AccountConfig {
    /// With a name only.
    pub(super) fn new(name: String) -> AccountConfig {
        AccountConfig {
            name,
            token: None,
            token_file: None,
            title: bot(),
            rating: first_rating(),
            games: some_games(),
            class: None,
            scopes: scopes(),
        }
    }

    /// Reads the token from its file; the error holds nothing of what stands there.
    fn load(&mut self) -> Result<(), String> {
        let Some(path) = &self.token_file else { return Ok(()) };
        let why = |why: String| format!("lichess: token_file {}: {why}", path.display());
        let length = fs::metadata(path).map_err(|error| why(error.to_string()))?.len();
        if length > LONGEST_FILE {
            return Err(why("it is too long to hold a token".into()));
        }
        let text = fs::read_to_string(path).map_err(|error| why(error.to_string()))?;
        self.token = Some(text.trim().parse().map_err(|_| why("there is no token in it".into()))?);
        Ok(())
    }
}

/// One `[[arena.lichess.tournament]]`: whoever is free is paired, until the time is over.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TournamentConfig {
    /// As people call it.
    pub name: String,
    /// As programs do: 8 letters and digits; made up without it.
    #[serde(default)]
    pub id: Option<TournamentId>,
    /// Seconds for each player and game, and seconds added after each move.
    pub time: TimeControl,
    /// How long after the arena's start it begins.
    #[serde(default, with = "humantime_serde")]
    pub starts_in: Duration,
    /// How long it lasts.
    #[serde(with = "humantime_serde")]
    pub lasts: Duration,
    /// What chess.
    #[serde(default = "standard")]
    pub variant: VariantKey,
    /// Is it about ratings?
    #[serde(default)]
    pub rated: bool,
    /// Who joins must know it.
    #[serde(default)]
    pub password: Option<String>,
    /// The team that is among itself there.
    #[serde(default)]
    pub team: Option<String>,
    /// May players give up half of their time for a point more?
    #[serde(default)]
    pub berserk: bool,
    /// May programs take part?
    #[serde(default = "yes")]
    pub bots_allowed: bool,
}

fn standard() -> VariantKey {
    VariantKey::Standard
}

fn yes() -> bool {
    true
}

impl TournamentConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        let clock = self.time.initial + self.time.increment;
        if self.lasts.is_zero() || self.lasts > LONGEST || self.starts_in > LONGEST {
            Err(format!("lichess: tournament '{}' is to last above zero, and a day at most", self.name))
        } else if clock.is_zero() || clock > LONGEST {
            Err(format!("lichess: tournament '{}' needs a time", self.name))
        } else if self.variant == VariantKey::FromPosition || self.variant.begin(None).is_err() {
            Err(format!("lichess: tournament '{}': such games cannot be played here", self.name))
        } else {
            Ok(())
        }
    }

    /// Reads what is asked for while the server runs.
    pub(super) fn read(json: &str) -> Result<TournamentConfig, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }
}

/// The `[arena.lichess.limits]` table: how much one account may ask for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Openings of the event stream in ten minutes.
    pub event_streams: u32,
    /// Looks at one's own account in five minutes.
    pub accounts: u32,
    /// Challenges in a minute; one to a person counts as five.
    pub challenges: u32,
    /// Challenges in a day, counted in the same way.
    pub challenges_a_day: u32,
    /// Moves in a minute.
    pub moves: u32,
    /// Games against bots in a day.
    pub bot_games_a_day: u32,
    /// Games of a bot against the computer in a day.
    pub computer_games_a_day: u32,
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
            computer_games_a_day: 50,
        }
    }
}

/// The `[arena.lichess.faults]` table: a bad server, for the tests of those who must live with one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Every so-manieth move is refused with 502, unplayed.
    pub refused_moves: Option<NonZeroU32>,
    /// Every so-manieth move is played, and answered with 504.
    pub lost_answers: Option<NonZeroU32>,
    /// Every so-manieth move is refused with 429, unplayed.
    pub limited_moves: Option<NonZeroU32>,
    /// Every so-manieth request of any kind is answered with 429.
    pub too_many: Option<NonZeroU32>,
    /// Every so-manieth request of any kind is answered with 503.
    pub failed: Option<NonZeroU32>,
    /// Each answer waits this long.
    #[serde(with = "humantime_serde")]
    pub delay: Duration,
    /// The streams of a game end after each of its moves.
    pub close_streams: bool,
    /// Before each line of a stream comes one that nobody can read.
    pub garbage: bool,
    /// Every so-manieth line of a stream is cut in the middle, and the stream ends there.
    pub half_lines: Option<NonZeroU32>,
    /// Streams of these kinds say nothing after their first lines, and do not end either.
    pub silence: Silence,
    /// The silence begins so long after the stream was opened, or these faults were asked for.
    #[serde(with = "humantime_serde")]
    pub silence_after: Duration,
    /// And it lasts so long; then comes what was held back. Zero is for ever.
    #[serde(with = "humantime_serde")]
    pub silence_for: Duration,
    /// The tokens of these accounts are not taken.
    pub revoked: Vec<UserId>,
    /// The administrator may change all this while the server runs. For tests only.
    pub on_demand: bool,
}

/// Which streams fall silent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Silence {
    /// None.
    #[default]
    None,
    /// The event streams.
    Events,
    /// The streams of games.
    Games,
    /// All.
    Both,
}

impl Faults {
    fn check(&self) -> Result<(), String> {
        let waits =
            [("delay", self.delay), ("silence_after", self.silence_after), ("silence_for", self.silence_for)];
        match waits.iter().find(|(_, wait)| *wait > LONGEST) {
            Some((key, _)) => Err(format!("lichess: faults.{key} is longer than a day")),
            None => Ok(()),
        }
    }

    /// Reads what is asked for while the server runs.
    pub(super) fn read(json: &str) -> Result<Faults, String> {
        let faults: Faults = serde_json::from_str(json).map_err(|error| error.to_string())?;
        faults.check()?;
        Ok(faults)
    }
}

impl Config {
    pub(crate) fn check(&self) -> Result<(), String> {
        let waits = [
            ("event_keep_alive", self.event_keep_alive),
            ("game_keep_alive", self.game_keep_alive),
            ("challenge_life", self.challenge_life),
            ("first_move", self.first_move),
            ("gone_after", self.gone_after),
            ("claim_after", self.claim_after),
        ];
        if let Some((key, _)) = waits.iter().find(|(_, wait)| wait.is_zero() || *wait > LONGEST) {
            return Err(format!("lichess: {key} is to be above zero, and a day at most"));
        }
        self.faults.check()?;
        self.tournament.iter().try_for_each(TournamentConfig::check)?;
        if self.faults.on_demand && self.admin_token.is_none() {
            return Err("lichess: faults.on_demand is for the administrator: set admin_token".into());
        }
        let mut names = BTreeSet::new();
        for account in &self.account {
            let id: UserId = account.name.parse().map_err(|error| format!("lichess: {error}"))?;
            if !names.insert(id) {
                return Err(format!("lichess: two accounts have the name '{}'", account.name));
            }
        }
        let mut teams = BTreeSet::new();
        for TeamConfig { id, .. } in &self.team {
            let is_clean = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if !(1..=50).contains(&id.len()) || !id.bytes().all(is_clean) {
                return Err(format!("lichess: a team's id is small letters, digits and '-', not '{id}'"));
            } else if !teams.insert(id) {
                return Err(format!("lichess: two teams have the id '{id}'"));
            }
        }
        let mut ids = BTreeSet::new();
        for TournamentConfig { name, id, team, .. } in &self.tournament {
            if let Some(team) = team.as_ref().filter(|team| !teams.contains(team)) {
                return Err(format!("lichess: tournament '{name}': there is no team '{team}'"));
            } else if id.is_some_and(|id| !ids.insert(id)) {
                return Err(format!("lichess: tournament '{name}' has the id of another"));
            }
        }
        let mut tokens: BTreeSet<&Token> = self.admin_token.iter().collect();
        if !self.account.iter().filter_map(|account| account.token.as_ref()).all(|token| tokens.insert(token))
        {
            return Err("lichess: two accounts have the same token".into());
        }
        Ok(())
    }

    /// Reads the tokens that stand in files of their own.
    pub(super) fn load_tokens(&mut self) -> Result<(), String> {
        self.account.iter_mut().try_for_each(AccountConfig::load)
    }
}
