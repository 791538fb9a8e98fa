//! A `[[server]]` table with `protocol = "lichess"`, checked as it is read; and where its token comes from.

use std::{env, fmt, io, num::NonZeroU32, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_net::{
    http::Base,
    secret_file::{self, SecretFileError},
};
use zeitnot_rules::Color;
use zeitnot_wire::lichess::{GameFull, Speed, Token};

use super::{challenges, chat, clubs, correspondence, matchmaking, people, records};
use crate::{backoff::Backoff, secret};

/// Holds the token, so that it need not stand in a file.
const TOKEN_VARIABLE: &str = "LICHESS_BOT_TOKEN";

/// Where to play, with whose token, and how much.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The server.
    #[serde(default)]
    pub url: Base,
    /// A file with the token and nothing else in it, which nobody else can read.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// Which variable of the environment holds the token, where it is not the usual one.
    #[serde(default)]
    pub token_env: Option<String>,
    /// The token itself.
    #[serde(default, deserialize_with = "token")]
    pub token: Option<Token>,
    /// Games with clocks at once here; `[bot]` has the bound for all servers together.
    #[serde(default = "max_games")]
    pub max_games: NonZeroU32,
    /// Leave after so many games; without it, play on and on.
    #[serde(default)]
    pub games: Option<NonZeroU32>,
    /// What to claim when the opponent has left.
    #[serde(default)]
    pub claim: Claim,
    /// How often an opponent may take moves back, in each game.
    #[serde(default)]
    pub takebacks: u32,
    /// When to play tournament games with half the time, for more points.
    #[serde(default)]
    pub berserk: Berserk,
    /// Games without clocks.
    #[serde(default)]
    pub correspondence: correspondence::Config,
    /// Where games are written down; without it, nowhere.
    #[serde(default)]
    pub records: Option<records::Config>,
    /// What is said in games.
    #[serde(default)]
    pub chat: chat::Config,
    /// Which challenges are accepted.
    #[serde(default)]
    pub challenges: challenges::Config,
    /// Who is played.
    #[serde(default)]
    pub people: people::Config,
    /// Whom to challenge when nobody comes; without it, nobody.
    #[serde(default)]
    pub matchmaking: Option<matchmaking::Config>,
    /// Teams to be in.
    #[serde(default)]
    pub team: Vec<clubs::Team>,
    /// Arena tournaments to play in.
    #[serde(default)]
    pub tournament: Vec<clubs::Tournament>,
    /// How long to wait for what.
    #[serde(default)]
    pub patience: Patience,
}

impl Config {
    /// With the usual settings, for a token from elsewhere.
    pub fn new(url: Base, token: Option<Token>) -> Config {
        Config {
            url,
            token_file: None,
            token_env: None,
            token,
            max_games: max_games(),
            games: None,
            claim: Claim::default(),
            takebacks: 0,
            berserk: Berserk::default(),
            correspondence: correspondence::Config::default(),
            records: None,
            chat: chat::Config::default(),
            challenges: challenges::Config::default(),
            people: people::Config::default(),
            matchmaking: None,
            team: Vec::new(),
            tournament: Vec::new(),
            patience: Patience::default(),
        }
    }

    /// What holds in every game.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            claim: self.claim,
            takebacks: self.takebacks,
            berserk: self.berserk,
            correspondence: self.correspondence.clone(),
        }
    }

    /// The token: from the table's own file or variable; else from the environment, which goes before what
    /// stands in the table itself. So each of several accounts keeps its own.
    ///
    /// # Errors
    /// [`NoToken`] with why there is none.
    pub fn find_token(&self) -> Result<Token, NoToken> {
        self.find_token_in(|name| env::var(name).ok())
    }

    fn find_token_in(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Token, NoToken> {
        let read = |name: &str, text: String| {
            text.trim().parse().map_err(|_| NoToken::Odd { whence: name.to_owned() })
        };
        if let Some(name) = &self.token_env {
            let unset = || NoToken::Unset { name: name.clone() };
            return read(name, variable(name).ok_or_else(unset)?);
        }
        let Some(file) = &self.token_file else {
            if let Some(text) = variable(TOKEN_VARIABLE) {
                return read(TOKEN_VARIABLE, text);
            }
            if self.token.is_some() {
                tracing::warn!("the token stands in the configuration: do not share it, or use `token_file`");
            }
            return self.token.clone().ok_or(NoToken::Nowhere);
        };
        let whence = file.display().to_string();
        match secret_file::read(file) {
            Ok(text) => text.parse().map_err(|_| NoToken::Odd { whence }),
            Err(SecretFileError::NotPrivate) => Err(NoToken::Open { file: whence }),
            Err(SecretFileError::Io(source)) => Err(NoToken::Unread { file: whence, source }),
        }
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each field is what its name says
pub enum NoToken {
    /// Nobody gave one.
    #[error("no token: set {TOKEN_VARIABLE}, or `token_file` in its [[server]] table")]
    Nowhere,
    /// The variable of this account is not there.
    #[error("no token: {name} is not set, which `token_env` of its [[server]] table names")]
    Unset { name: String },
    /// What was given is none.
    #[error("{whence}: expected a token of letters, digits and underscores")]
    Odd { whence: String },
    /// There is no such file, or it is not ours.
    #[error("cannot read token_file {file}: {source}")]
    Unread { file: String, source: io::Error },
    /// Everybody on this machine can read it.
    #[error("others can read token_file {file}: chmod 600 {file}")]
    Open { file: String },
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "accept challenges at {}, at most {} games at once", self.url, self.max_games)?;
        if self.matchmaking.is_some() {
            f.write_str(", challenge bots when idle")?;
        }
        self.games.map_or(Ok(()), |games| write!(f, ", and leave after {games}"))
    }
}

impl Config {
    /// What would be played, a line each, for people.
    pub fn offers(&self) -> Vec<String> {
        let challenges::Config { human, bot, kept_for_humans, queue, .. } = &self.challenges;
        let mut lines = vec![format!("from humans: {human}"), format!("from bots: {bot}")];
        lines.push(format!(
            "at once: {} games, {kept_for_humans} of them for humans only; {queue} more may wait",
            self.max_games
        ));
        if [human, bot].iter().any(|terms| terms.accept && terms.speeds.contains(&Speed::Correspondence)) {
            let correspondence::Config { max_games, at_once, .. } = &self.correspondence;
            lines.push(format!("without a clock: {max_games} more games, {at_once} of them awake at once"));
        }
        lines.extend(self.matchmaking.as_ref().map(|matchmaking| format!("challenges bots: {matchmaking}")));
        lines.extend(self.tournament.iter().map(|tournament| format!("tournament: {tournament}")));
        lines.extend(self.team.iter().map(|team| format!("team: {}", team.id)));
        lines
    }
}

/// What to claim when the opponent has left, and the server allows it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Claim {
    /// The game.
    #[default]
    Victory,
    /// Half of it.
    Draw,
    /// Nothing: wait for the opponent.
    Nothing,
}

/// When to play a game of a tournament with half the time, for more points.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Berserk {
    /// Always with all the time there is.
    #[default]
    Never,
    /// Against those who are rated lower than we are.
    Weaker,
    /// In every tournament.
    Always,
}

impl Berserk {
    /// Does it apply to this game of ours? Only before our first move the server takes it.
    pub(super) fn applies(self, full: &GameFull, side: Color) -> bool {
        let players = full.players();
        let is_weaker = players[side].rating.zip(players[!side].rating).is_some_and(|(we, they)| they < we);
        full.tournament_id.is_some()
            && full.clock.is_some()
            && match self {
                Berserk::Never => false,
                Berserk::Weaker => is_weaker,
                Berserk::Always => true,
            }
    }
}

/// What holds in every game of an account.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub claim: Claim,
    pub takebacks: u32,
    pub berserk: Berserk,
    pub correspondence: correspondence::Config,
}

/// How long to wait for what.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Patience {
    /// To connect.
    #[serde(with = "humantime_serde")]
    pub connect: Duration,
    /// For the answer to a request.
    #[serde(with = "humantime_serde")]
    pub answer: Duration,
    /// For anything at all on a stream: some more than two of the empty lines that come every 7 s.
    #[serde(with = "humantime_serde")]
    pub silence: Duration,
    /// Before a stream that ended is opened again, at least.
    #[serde(with = "humantime_serde")]
    pub first_pause: Duration,
    /// And at most.
    #[serde(with = "humantime_serde")]
    pub longest_pause: Duration,
    /// A stream that lasted this long was a good one: the pauses begin small again.
    #[serde(with = "humantime_serde")]
    pub steady: Duration,
    /// After a 429, unless the server says how long.
    #[serde(with = "humantime_serde")]
    pub limited: Duration,
    /// For the opponent's first move, where the server does not say how long.
    #[serde(with = "humantime_serde")]
    pub first_move: Duration,
    /// For an opponent who has left, beyond what the server asks for.
    #[serde(with = "humantime_serde")]
    pub gone: Duration,
    /// Until the server is asked again whether it sees us.
    #[serde(with = "humantime_serde")]
    pub check: Duration,
}

impl Patience {
    /// For attempts to reach the server.
    pub(super) fn backoff(&self) -> Backoff {
        Backoff::new(self.first_pause, self.longest_pause, self.steady)
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            silence: Duration::from_secs(17),
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(30),
            steady: Duration::from_secs(10),
            limited: Duration::from_secs(60),
            first_move: Duration::from_secs(30),
            gone: Duration::ZERO,
            check: Duration::from_secs(600),
        }
    }
}

fn token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Token>, D::Error> {
    let text = secret::text(deserializer)?;
    let odd = |_| D::Error::custom("expected a token of letters, digits and underscores");
    text.parse().map(Some).map_err(odd)
}

fn max_games() -> NonZeroU32 {
    const { NonZeroU32::new(4).unwrap() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let config: Config = toml::from_str("token = 'lip_hush'").unwrap();
        assert!(!format!("{config:?} {config}").contains("hush"));
        for odd in ["token = 4711", "token = '4711 4711'"] {
            let error = toml::from_str::<Config>(odd).unwrap_err();
            assert!(!error.message().contains("4711"), "{error}");
        }
    }

    #[test]
    fn each_account_keeps_its_own_token() {
        let usual = |name: &str| (name == TOKEN_VARIABLE).then(|| "lip_usual".to_owned());
        let found = |text: &str| {
            let config: Config = toml::from_str(text).unwrap();
            config.find_token_in(usual).map(|token| token.expose().to_owned())
        };
        assert_eq!(found("").unwrap(), "lip_usual");
        assert_eq!(found("token = 'lip_table'").unwrap(), "lip_usual");
        assert!(matches!(found("token_env = 'OTHER'"), Err(NoToken::Unset { .. })));
        let other = |name: &str| (name == "OTHER").then(|| "lip_other\n".to_owned());
        let config: Config = toml::from_str("token_env = 'OTHER'").unwrap();
        assert_eq!(config.find_token_in(other).unwrap().expose(), "lip_other");
        assert!(matches!(found("token_file = '/nowhere'"), Err(NoToken::Unread { .. })));
        let table: Config = toml::from_str("token = 'lip_table'").unwrap();
        assert_eq!(table.find_token_in(|_| None).unwrap().expose(), "lip_table");
    }

    #[cfg(unix)]
    #[test]
    fn a_token_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "lip_hush\n").unwrap();
        let config =
            Config { token_file: Some(file.path().to_owned()), ..Config::new(Base::default(), None) };
        assert_eq!(config.find_token().unwrap().expose(), "lip_hush");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(config.find_token(), Err(NoToken::Open { .. })));
    }
}
