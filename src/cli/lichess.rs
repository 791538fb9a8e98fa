//! `zeitnot lichess`: what is done by hand with an account on Lichess: look at it, make it a bot, tournaments.

use std::{
    fs,
    io::{self, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::Subcommand;

use zeitnot_clients::lichess::{
    Config, HttpError, Password, TokenError, TokenInfo, Tournament, check_token, join, leave, upgrade,
};
use zeitnot_wire::lichess::{Scope, TeamId, Token, TournamentId};

use super::{CliError, config, network, print};

/// Look at an account on Lichess before it plays, make it a bot, enter tournaments
///
/// The token comes from `token_file` or `token_env` of the `[[server]]` table in the configuration that speaks
/// "lichess", or from the environment's LICHESS_BOT_TOKEN, or from `token` there. Without a configuration the
/// server is lichess.org.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot lichess check                    whose token is it, and may it play?
  zeitnot lichess upgrade                  make the account a bot, for ever; asks first
  zeitnot lichess join abcd1234            enter an arena tournament
  zeitnot lichess leave abcd1234           leave it

Exit code: 0 if the account can play, 1 if not, 2 if the configuration is wrong.")]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub what: What,
    /// The configuration
    #[arg(long, short, value_name = "FILE", default_value = DEFAULT, global = true)]
    pub config: PathBuf,
    /// Which of its accounts, counted from 1 [default: the first; `check` looks at all]
    #[arg(long, short, value_name = "NUMBER", global = true)]
    pub account: Option<NonZeroUsize>,
}

const DEFAULT: &str = "config.toml";

/// What can be done with an account.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Show the account, its title and the token's scopes, and what would be accepted
    Check,
    /// Make the account a bot: for ever, and only if it has never played
    Upgrade {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Enter an arena tournament; `zeitnot play` with a [[server.tournament]] does it by itself, and asks to be
    /// paired again each minute
    Join {
        /// The last part of its address
        #[arg(value_name = "ID")]
        id: TournamentId,
        /// For which team, if teams play
        #[arg(long)]
        team: Option<TeamId>,
        /// If it has one; others on this machine may see it here, the configuration is the better place
        #[arg(long)]
        password: Option<String>,
    },
    /// Leave an arena tournament
    Leave {
        /// The last part of its address
        #[arg(value_name = "ID")]
        id: TournamentId,
    },
}

/// Why an account cannot be looked at, or cannot play.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// There is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The server did not answer as it should.
    #[error("{server}: {source}{}", advice(source))]
    Server {
        /// Which.
        server: String,
        /// What it says.
        source: HttpError,
    },
    /// It is an account that people play with.
    #[error("{0} is no bot account: zeitnot lichess upgrade")]
    NoBot(String),
    /// The token is for other things.
    #[error("the token may not play: make one with the scope {}", Scope::BotPlay)]
    NoScope,
}

/// What to look at where nobody answered.
fn advice(error: &HttpError) -> &'static str {
    match error {
        HttpError::Network(_) => " (is the server there, and its address right?)",
        _ => "",
    }
}

impl AccountError {
    /// Is it something in the configuration that is to be mended?
    pub(super) fn is_configuration(&self) -> bool {
        matches!(self, AccountError::Token(_))
    }
}

/// Runs the command.
///
/// # Errors
/// [`CliError::Account`], or a wrong configuration.
pub fn run(args: &Args) -> Result<(), CliError> {
    let configs = configured(&args.config)?;
    let all = configs.len();
    if let (What::Check, None) = (&args.what, args.account) {
        return configs
            .iter()
            .try_for_each(|config| check(config, &ask(config, &find(config)?, check_token)?));
    }
    let at = args.account.map_or(0, |number| number.get() - 1);
    let none = || CliError::Usage(format!("--account {}: the configuration has {all}", at + 1));
    let config = configs.into_iter().nth(at).ok_or_else(none)?;
    let token = find(&config)?;
    match &args.what {
        What::Check => check(&config, &ask(&config, &token, check_token)?),
        What::Upgrade { yes } => make_bot(&config, &token, &ask(&config, &token, check_token)?, *yes),
        What::Join { id, team, password } => {
            let tournament = entered(&config, *id, team.as_ref(), password.as_ref());
            ask(&config, &token, |config, token| join(config, token, tournament))?;
            print(|out| writeln!(out, "In tournament {id}."))
        }
        What::Leave { id } => {
            ask(&config, &token, |config, token| leave(config, token, *id))?;
            print(|out| writeln!(out, "Out of tournament {id}."))
        }
    }
}

fn find(config: &Config) -> Result<Token, AccountError> {
    Ok(config.find_token()?)
}

/// The tournament as the configuration has it, and as the arguments will.
fn entered(
    config: &Config,
    id: TournamentId,
    team: Option<&TeamId>,
    password: Option<&String>,
) -> Tournament {
    let configured = config.tournament.iter().find(|tournament| tournament.id == id);
    let mut tournament = configured.cloned().unwrap_or_else(|| Tournament::new(id));
    tournament.team = team.cloned().or(tournament.team);
    tournament.password = password.cloned().map(Password::from).or(tournament.password);
    tournament
}

/// The servers that speak "lichess", at least one. Who has no configuration yet may still look.
fn configured(path: &Path) -> Result<Vec<Config>, CliError> {
    let usual = || vec![Config::default()];
    if path == Path::new(DEFAULT) && !path.exists() {
        return Ok(usual());
    }
    // All that is wrong with it is told here, with its place.
    config::Config::load(path)?;
    let text = fs::read_to_string(path)
        .map_err(|source| CliError::Io { doing: "cannot read the configuration again", source })?;
    let tables = toml::from_str::<Tables>(&text).unwrap_or_default();
    let is_lichess =
        |table: &toml::Table| table.get("protocol").and_then(toml::Value::as_str) == Some("lichess");
    let read = |mut table: toml::Table| {
        table.remove("protocol");
        table.try_into().map_err(|error: toml::de::Error| CliError::Usage(error.message().to_owned()))
    };
    let configs: Vec<Config> =
        tables.server.into_iter().filter(is_lichess).map(read).collect::<Result<_, _>>()?;
    Ok(if configs.is_empty() { usual() } else { configs })
}

/// A configuration, of which only the servers are looked at.
#[derive(Default, serde::Deserialize)]
struct Tables {
    #[serde(default)]
    server: Vec<toml::Table>,
}

/// Asks the server, and waits for its answer.
fn ask<T, F>(config: &Config, token: &Token, what: impl FnOnce(Config, Token) -> F) -> Result<T, CliError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, HttpError>> + Send + 'static,
{
    let asked = what(config.clone(), token.clone());
    let answer = network::run(move |_| asked)?;
    Ok(answer.map_err(|source| AccountError::Server { server: config.url.to_string(), source })?)
}

fn check(config: &Config, TokenInfo { user, scopes }: &TokenInfo) -> Result<(), CliError> {
    print(|out| {
        let title = user.title.as_ref().map_or("none", |title| title.as_str());
        writeln!(out, "account: {} at {}, title: {title}", user.id, config.url)?;
        let named: Vec<_> = scopes.0.iter().map(Scope::as_str).collect();
        writeln!(
            out,
            "token: it may {}",
            if named.is_empty() { "nothing".into() } else { named.join(", ") }
        )?;
        if config.token.is_some() {
            writeln!(out, "token: it stands in the configuration: do not share that, or use `token_file`")?;
        }
        config.describe().iter().try_for_each(|offer| writeln!(out, "{offer}"))
    })?;
    if !scopes.0.contains(&Scope::BotPlay) {
        return Err(AccountError::NoScope.into());
    }
    if !user.is_bot() {
        return Err(AccountError::NoBot(user.id.to_string()).into());
    }
    Ok(())
}

fn make_bot(config: &Config, token: &Token, info: &TokenInfo, yes: bool) -> Result<(), CliError> {
    let id = &info.user.id;
    if info.user.is_bot() {
        return print(|out| writeln!(out, "{id} is a bot already."));
    }
    if !yes && !agrees(id.as_str())? {
        return print(|out| writeln!(out, "Nothing was changed."));
    }
    ask(config, token, upgrade)?;
    print(|out| writeln!(out, "{id} is a bot now."))
}

/// What cannot be undone is asked for by name.
fn agrees(id: &str) -> Result<bool, CliError> {
    print(|out| {
        write!(
            out,
            "This makes {id} a bot for ever: nobody can play by hand with it again. Its name, to go on: "
        )
    })?;
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .map_err(|source| CliError::Io { doing: "cannot read your answer", source })?;
    Ok(answer.trim().eq_ignore_ascii_case(id))
}
