//! Others who are asked for moves over HTTP: tablebases, evaluations in the cloud, and the opening explorer.
//!
//! A [`Question`] is asked only where there is plenty of time for the answer, and is over after the service's
//! limit whatever the network does. A service that answers badly is left alone for a while. What comes back are
//! moves as text, the best first: whether they are legal is for who asked to say.

use std::{env, fmt, pin::Pin, sync::Arc, time::Duration};

use zeitnot_net::{
    http::BaseUrl,
    secret_file::{self, SecretFileError},
};
use zeitnot_rules::{Color, GameKind};
use zeitnot_seat::Eval;
use zeitnot_wire::lichess::Token;

mod cloud;
mod config;
mod explorer;
mod service;
mod tablebase;

pub use config::{Cloud, Database, Explorer, Popularity, Tablebase};
use service::Service;

/// Holds a token for the explorer, so that it need not stand in a file.
const TOKEN_VARIABLE: &str = "LICHESS_EXPLORER_TOKEN";

/// Who is asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// How endgames end.
    Tablebase,
    /// What other people's engines found.
    Cloud,
    /// What people have played.
    Explorer,
}

impl Source {
    /// The name of its table in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Source::Tablebase => "tablebase",
            Source::Cloud => "cloud",
            Source::Explorer => "explorer",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A position, and how much time there is.
#[derive(Clone, Debug)]
pub struct Question {
    /// The game.
    pub game: GameKind,
    /// The position.
    pub fen: String,
    /// Whose move it is.
    pub side: Color,
    /// Men on the board.
    pub men: usize,
    /// Plies that were played before.
    pub plies: usize,
    /// What is left on the clock of the side to move; `None`: there is no clock.
    pub left: Option<Duration>,
    /// What the move may take.
    pub time: Duration,
}

impl Question {
    /// One of the six fields of a FEN.
    fn field(&self, at: usize) -> &str {
        self.fen.split(' ').nth(at).unwrap_or_default()
    }
}

/// A move, and what it is worth to who plays it, if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// In coordinates.
    pub mv: String,
    /// `None`: somebody played it, and that is all.
    pub eval: Option<Eval>,
}

/// The moves of an answer, the best first; none if there was no answer.
pub type Suggestions = Pin<Box<dyn Future<Output = Vec<Suggestion>> + Send>>;

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum OnlineError {
    /// The explorer is for those who have an account.
    #[error(
        "bot.explorer: no token: any token of a Lichess account will do; set {TOKEN_VARIABLE}, or `token_file`"
    )]
    NoToken,
    /// What was given is none.
    #[error("bot.explorer: expected a token of letters, digits and underscores in {0}")]
    OddToken(String),
    /// The file with it.
    #[error("bot.explorer: token_file {file}: {why}")]
    TokenFile {
        /// Which.
        file: String,
        /// What is wrong with it.
        why: SecretFileError,
    },
    /// A token would go over the network in the clear.
    #[error("bot.explorer: the token would be sent unencrypted to {0}: use https://")]
    Unencrypted(BaseUrl),
    /// The explorer of one player needs one.
    #[error("bot.explorer: database = \"player\" needs `player`, a name on Lichess")]
    NoPlayer,
    /// There is nothing to encrypt with.
    #[error("bot.{0}: {1}")]
    NoClient(Source, String),
}

/// All that can be asked. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct Online {
    services: Arc<Vec<Service>>,
}

impl Online {
    /// Those that are enabled.
    ///
    /// # Errors
    /// [`OnlineError`]: what the user has to mend.
    pub fn new(tablebase: &Tablebase, cloud: &Cloud, explorer: &Explorer) -> Result<Online, OnlineError> {
        let mut services = Vec::new();
        if tablebase.enabled {
            services.push(Service::new(service::Kind::Tablebase(tablebase.clone()), None)?);
        }
        if cloud.enabled {
            services.push(Service::new(service::Kind::Cloud(cloud.clone()), None)?);
        }
        if explorer.enabled {
            if explorer.database == Database::Player && explorer.player.is_empty() {
                return Err(OnlineError::NoPlayer);
            }
            let token = find_token(explorer)?;
            services.push(Service::new(service::Kind::Explorer(explorer.clone()), Some(token))?);
        }
        Ok(Online { services: Arc::new(services) })
    }

    /// Is there anybody to ask?
    pub fn is_on(&self) -> bool {
        !self.services.is_empty()
    }

    /// Who can be asked.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        self.services.iter().map(Service::source)
    }

    /// Asks, unless that makes no sense or there is too little time for it. What is returned does the asking:
    /// dropped, nobody waits for the answer any more.
    pub fn ask(&self, source: Source, question: &Question) -> Option<Suggestions> {
        let at = self.services.iter().position(|service| service.source() == source)?;
        let request = self.services.get(at)?.request(question)?;
        let (services, question) = (self.services.clone(), question.clone());
        Some(Box::pin(async move {
            let Some(service) = services.get(at) else { return Vec::new() };
            service.ask(&request, &question).await
        }))
    }
}

fn find_token(explorer: &Explorer) -> Result<Token, OnlineError> {
    if !explorer.url.is_private() {
        return Err(OnlineError::Unencrypted(explorer.url.clone()));
    }
    let odd = |whence: String| move |_| OnlineError::OddToken(whence);
    if let Ok(text) = env::var(TOKEN_VARIABLE) {
        return text.trim().parse().map_err(odd(TOKEN_VARIABLE.to_owned()));
    }
    if explorer.token_file.as_os_str().is_empty() {
        return Err(OnlineError::NoToken);
    }
    let file = explorer.token_file.display().to_string();
    let text = secret_file::read(&explorer.token_file)
        .map_err(|why| OnlineError::TokenFile { file: file.clone(), why })?;
    text.parse().map_err(odd(file))
}
