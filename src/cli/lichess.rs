//! `zeitnot lichess`: manual tasks for an account on Lichess: check it, make it a bot, enter tournaments, challenge players.

use std::{
    io,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
};

use clap::Subcommand;
use reqwest::Method;
use serde_json::json;

use zeitnot_clients::lichess::{
    Config, HttpError, Lichess, NEW_ACCOUNT, NEW_TOKEN, TokenError, TokenInfo, Tournament, check_token, join,
    leave, upgrade,
};
use zeitnot_net::secret::Secret;
use zeitnot_rules::TimeControl;
use zeitnot_wire::{
    lichess::{Scope, TeamId, Token, TournamentId, User},
    printable,
};

use super::{
    CliError,
    config::{self, ConfigArgs},
    io_error, network,
    page_api::{MAX_SHOWN, Request, Served, Target},
    password, print, usage,
};

/// Check an account on Lichess, make it a bot, enter tournaments, challenge players
///
/// The token is that of the `[[server]]` table with protocol "lichess": from `token_file` or `token_env`, from the
/// environment's LICHESS_BOT_TOKEN, or from `token`. Without a configuration the server is lichess.org.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot lichess check                    show the account, and whether it can play
  zeitnot lichess upgrade                  make the account a bot, permanently; asks first
  zeitnot lichess join abcd1234            enter an arena tournament
  zeitnot lichess leave abcd1234           leave it
  zeitnot lichess challenge maia1 --games 4   let the running bot play four games against maia1

Exit code: 0 if the account can play, 1 if not, 2 if the configuration is invalid.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    config: ConfigArgs,
    /// Number of the account, from 1 [default: the first; `check` shows all]
    #[arg(long, short, value_name = "NUMBER", global = true)]
    account: Option<NonZeroUsize>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the account, its title and the token's scopes, and what would be accepted
    Check,
    /// Make the account a bot, permanently; only if it has never played
    Upgrade {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Enter an arena tournament; with a [[server.tournament]] `zeitnot play` does so by itself, and stays paired
    Join {
        /// Last part of its address
        #[arg(value_name = "ID")]
        id: TournamentId,
        /// Team, in a team battle
        #[arg(long)]
        team: Option<TeamId>,
        /// File with the password, which only you can read; -: standard input
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Leave an arena tournament
    Leave {
        /// Last part of its address
        #[arg(value_name = "ID")]
        id: TournamentId,
    },
    /// Let the bot that runs challenge a player, to one game or a series
    ///
    /// `zeitnot play` sends the challenges; it needs a table [web]. In a series the colors alternate, and each game is
    /// proposed when the last one is over; a decline ends it.
    Challenge(Challenge),
}

#[derive(Debug, clap::Args)]
struct Challenge {
    /// Player
    name: String,
    /// Games, one after another
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN)]
    games: NonZeroU32,
    /// Seconds and increment of each side
    #[arg(long, value_name = "TIME", default_value = "180+2")]
    time: TimeControl,
    /// The games are rated
    #[arg(long)]
    rated: bool,
    /// Variant
    #[arg(long, value_name = "NAME", default_value = "standard")]
    variant: String,
    /// Side of the bot, in a series that of its first game
    #[arg(long, value_name = "COLOR", default_value = "random", value_parser = ["white", "black", "random"])]
    color: String,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum AccountError {
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("{server}: {source}{}", advice(source))]
    Server { server: String, source: HttpError },
    #[error("{0} is not a bot account: run zeitnot lichess upgrade")]
    NoBot(String),
    #[error("{0} is not a bot account, and cannot become one as it has played games: {advice}", advice = NEW_ACCOUNT)]
    HasPlayed(String),
    #[error("the token may not play: create one with the scope {}", Scope::BotPlay)]
    NoScope,
}

fn advice(error: &HttpError) -> String {
    match error {
        HttpError::Network(_) => " (is the server running, and its address right?)".to_owned(),
        HttpError::Unauthorized => format!("; {NEW_TOKEN}"),
        _ => String::new(),
    }
}

/// Fails where the account cannot become a bot.
fn check_has_not_played(user: &User) -> Result<(), AccountError> {
    match user.is_unable_to_be_bot() {
        true => Err(AccountError::HasPlayed(user.id.to_string())),
        false => Ok(()),
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    if let Action::Challenge(challenge) = &args.action {
        return order(challenge, args);
    }
    let configs = configured(&args.config)?;
    let ask_account = |config, token: &Token| ask(config, token, check_token);
    if let (Action::Check, None) = (&args.action, args.account) {
        return configs
            .iter()
            .try_for_each(|config| check(config, &ask_account(config, &find_token(config)?)?));
    }
    let number = args.account.map_or(1, NonZeroUsize::get);
    let none =
        || CliError::Usage(format!("--account {number}: the configuration has only {}", configs.len()));
    let config = configs.get(number - 1).ok_or_else(none)?;
    let token = find_token(config)?;
    match &args.action {
        Action::Challenge(_) => Ok(()),
        Action::Check => check(config, &ask_account(config, &token)?),
        Action::Upgrade { yes } => make_bot(config, &token, &ask_account(config, &token)?, *yes),
        Action::Join { id, team, password_file } => {
            let password = password_file.as_deref().map(password::read).transpose()?;
            let tournament = entered(config, *id, team.as_ref(), password);
            ask(config, &token, |config, token| join(config, token, tournament))?;
            print(|out| writeln!(out, "Entered tournament {id}."))
        }
        Action::Leave { id } => {
            ask(config, &token, |config, token| leave(config, token, *id))?;
            print(|out| writeln!(out, "Left tournament {id}."))
        }
    }
}

fn find_token(config: &Config) -> Result<Token, AccountError> {
    Ok(config.find_token()?)
}

/// Orders a challenge from the bot that runs, by its page.
fn order(challenge: &Challenge, args: &Args) -> Result<(), CliError> {
    if args.account.is_some() {
        return Err(usage("challenge takes no --account: the first account of the bot that runs sends it"));
    }
    let config = config::Config::load_if_given(Some(&args.config.config), &args.config.overrides)?;
    let web = config.and_then(|config| config.web);
    let api = challenge.target.api(Served::Bot, web.unwrap_or_default())?;
    let Challenge { name, games, time, rated, variant, color, .. } = challenge;
    let body = json!({
        "opponent": name, "games": games, "time_control": time, "rated": rated, "variant": variant, "color": color,
    });
    let path = ["bot", "challenge"].map(str::to_owned).into();
    let request = Request { method: Method::POST, path, body };
    let answer = network::run(move |_| async move { api.ask(request).await })??;
    print(|out| writeln!(out, "{}", printable(answer["message"].as_str().unwrap_or_default(), MAX_SHOWN)))
}

/// A tournament as configured, overridden by the arguments.
fn entered(config: &Config, id: TournamentId, team: Option<&TeamId>, password: Option<String>) -> Tournament {
    let configured = config.tournament.iter().find(|tournament| tournament.id == id);
    let mut tournament = configured.cloned().unwrap_or_else(|| Tournament::new(id));
    tournament.team = team.cloned().or(tournament.team);
    tournament.password = password.map(Secret::of).or(tournament.password);
    tournament
}

/// Returns the configured accounts; one with defaults if there is no configuration.
fn configured(source: &ConfigArgs) -> Result<Vec<Config>, CliError> {
    let Some(config) = config::Config::load_if_given(Some(&source.config), &source.overrides)? else {
        return Ok(vec![Config::default()]);
    };
    let accounts = config.servers.iter().filter_map(|server| server.config_of::<Lichess>());
    let accounts: Vec<Config> = accounts.collect();
    if accounts.is_empty() {
        let file = source.config.display();
        let table = "protocol = \"lichess\"";
        return Err(CliError::Usage(format!(
            "{file}: no account on Lichess: add a table [[server]] with {table} and token_file = \"lichess.token\""
        )));
    }
    Ok(accounts)
}

/// Sends a request, and waits for the answer.
fn ask<T, F>(config: &Config, token: &Token, request: impl FnOnce(Config, Token) -> F) -> Result<T, CliError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, HttpError>> + Send + 'static,
{
    let request = request(config.clone(), token.clone());
    let answer = network::run(move |_| request)?;
    Ok(answer.map_err(|source| AccountError::Server { server: config.url.to_string(), source })?)
}

fn check(config: &Config, TokenInfo { user, scopes }: &TokenInfo) -> Result<(), CliError> {
    print(|out| {
        let title = user.title.as_ref().map_or("none", |title| title.as_str());
        writeln!(out, "account: {} at {}, title: {title}", user.id, config.url)?;
        let named: Vec<_> = scopes.0.iter().map(Scope::as_str).collect();
        let named = if named.is_empty() { "none".into() } else { named.join(", ") };
        writeln!(out, "token: scopes {named}")?;
        if config.token.is_some() {
            writeln!(out, "token: it is in the configuration: do not share that, or use `token_file`")?;
        }
        config.describe().iter().try_for_each(|offer| writeln!(out, "{offer}"))
    })?;
    if !scopes.0.contains(&Scope::BotPlay) {
        return Err(AccountError::NoScope.into());
    }
    check_has_not_played(user)?;
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
    check_has_not_played(&info.user)?;
    if !yes && !confirms(id.as_str())? {
        return print(|out| writeln!(out, "Nothing was changed."));
    }
    ask(config, token, upgrade)?;
    print(|out| writeln!(out, "{id} is a bot now."))
}

/// Asks for the name of the account, as the step cannot be undone.
fn confirms(id: &str) -> Result<bool, CliError> {
    print(|out| {
        write!(
            out,
            "This makes {id} a bot permanently: nobody can play by hand with it again. Type its name to go on: "
        )
    })?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(io_error("cannot read your answer"))?;
    Ok(answer.trim().eq_ignore_ascii_case(id))
}
