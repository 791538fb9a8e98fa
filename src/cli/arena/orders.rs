//! `zeitnot arena create` and the other orders of the organiser, over the web API of an arena that runs.

use std::{io, path::PathBuf};

use reqwest::Method;
use serde_json::{Map, Value, json};
use zeitnot_wire::printable;

use super::settings::Settings;
use crate::cli::{
    CliError,
    config::{Config, ConfigArgs},
    network,
    page_api::{MAX_SHOWN, Request, Served, Target},
    password, print,
};

/// Access to a tournament.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Access {
    /// Anyone can join
    #[arg(long, group = "access")]
    open: bool,
    /// File with the password for joining, which only you can read; -: standard input
    #[arg(long, group = "access", value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Only these players can join, each with a key, which `zeitnot arena player-keys` shows
    #[arg(long, group = "access", value_name = "NAME", value_delimiter = ',')]
    keys: Option<Vec<String>>,
}

impl Access {
    /// Returns the access that is asked for.
    fn asked(&self) -> Result<Option<Value>, CliError> {
        Ok(match self {
            Access { password_file: Some(file), .. } => Some(json!({"password": password::read(file)?})),
            Access { keys: Some(names), .. } => Some(json!({"keys": names})),
            Access { open: true, .. } => Some(json!("open")),
            _ => None,
        })
    }
}

/// Name of a tournament.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Tournament {
    /// Tournament
    name: String,
}

/// Tournament and its settings.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Wanted {
    /// Name that players write after JOIN
    name: String,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    access: Access,
}

impl Wanted {
    /// Returns the settings that are given.
    fn fields(&self) -> Result<Map<String, Value>, CliError> {
        let access = self.access.asked()?.map(|access| ("access".to_owned(), access));
        Ok(self.settings.fields().chain(access).collect())
    }
}

/// Players of a tournament.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Players {
    /// Tournament
    name: String,
    /// Players
    #[arg(required = true)]
    players: Vec<String>,
}

/// Player of a tournament.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Player {
    /// Tournament
    name: String,
    /// Player
    player: String,
    /// Reason to show
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Two players of a tournament.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Pair {
    /// Tournament
    name: String,
    /// Player of White
    white: String,
    /// Player of Black
    black: String,
}

/// Game and its result.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Correction {
    /// Id of the game, as in its link and in the tag GameId
    game: String,
    /// New result; *: the game does not count, and is played again if possible
    #[arg(value_parser = ["1-0", "0-1", "1/2-1/2", "*"])]
    result: String,
    /// Reason to show
    #[arg(long, value_name = "TEXT")]
    note: String,
}

/// Whether late ones may join.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Late {
    /// Tournament
    name: String,
    /// Whether they may
    #[arg(value_parser = ["on", "off"])]
    allowed: String,
}

/// Nothing but the arena.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct All {}

/// Order and the arena that gets it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct To<T: clap::Args> {
    #[command(flatten)]
    what: T,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub(super) enum Order {
    /// List the tournaments of a running arena
    Tournaments(To<All>),
    /// Create a tournament on a running arena
    ///
    /// Players can join at once. Play begins by `zeitnot arena start`, unless --start says otherwise.
    #[command(after_help = "\
Examples:
  zeitnot arena create class --time 60+0.5
  zeitnot arena create cup --time 3+0.05 --pairing swiss --rounds 5 --password-file cup.password
  zeitnot arena create final --time 60+1 --pairing knockout --players 8 --start full")]
    Create(Box<To<Wanted>>),
    /// Change settings of a created tournament before its first pairing
    #[command(after_help = "\
Examples:
  zeitnot arena edit class --time 30+0.5
  zeitnot arena edit class --keys alice,bob     keys instead of a password")]
    Edit(Box<To<Wanted>>),
    /// Delete a created tournament before its first pairing
    ///
    /// Players who have joined are notified and disconnected.
    Delete(To<Tournament>),
    /// Generate keys for players of a tournament that requires them, and show them once
    ///
    /// A new key replaces a player's old one. Prints the line with which each player joins.
    PlayerKeys(To<Players>),
    /// Begin a tournament with the players present
    Start(To<Tournament>),
    /// Pause a tournament: running games finish, and no players are paired
    Pause(To<Tournament>),
    /// Resume a paused tournament
    Resume(To<Tournament>),
    /// Allow or forbid joining after the beginning
    Late(To<Late>),
    /// Remove a player for good: the player loses the running game and forfeits the rest
    Remove(To<Player>),
    /// Forfeit a player's current or next game
    Forfeit(To<Player>),
    /// Pair two players by hand: they meet next, with these colours
    PairPlayers(To<Pair>),
    /// Correct the result of a finished game
    #[command(after_help = "\
Examples:
  zeitnot arena correct d779c3aae51c11f186c902fc00000001 1/2-1/2 --note 'agreed on a draw'
  zeitnot arena correct d779c3aae51c11f186c902fc00000001 '*' --note 'the cable was out'")]
    Correct(To<Correction>),
}

impl Order {
    fn target(&self) -> &Target {
        match self {
            Order::Tournaments(to) => &to.target,
            Order::Create(to) | Order::Edit(to) => &to.target,
            Order::PlayerKeys(to) => &to.target,
            Order::Delete(to) | Order::Start(to) | Order::Pause(to) | Order::Resume(to) => &to.target,
            Order::Late(to) => &to.target,
            Order::Remove(to) | Order::Forfeit(to) => &to.target,
            Order::PairPlayers(to) => &to.target,
            Order::Correct(to) => &to.target,
        }
    }

    fn request(&self) -> Result<Request, CliError> {
        let of = |name: &str, what: &str, body: Value| Request {
            method: Method::POST,
            path: ["tournaments", name, what].map(str::to_owned).into(),
            body,
        };
        let about = |Player { name, player, note }: &Player, what: &str| Request {
            method: Method::POST,
            path: ["tournaments", name, "players", player, what].map(str::to_owned).into(),
            body: json!({"note": note}),
        };
        let all = || vec!["tournaments".to_owned()];
        Ok(match self {
            Order::Tournaments(_) => Request { method: Method::GET, path: all(), body: Value::Null },
            Order::Create(to) => {
                let mut fields = to.what.fields()?;
                fields.insert("name".to_owned(), json!(to.what.name));
                Request { method: Method::POST, path: all(), body: fields.into() }
            }
            Order::Edit(to) => {
                let path = [all(), vec![to.what.name.clone()]].concat();
                Request { method: Method::PATCH, path, body: to.what.fields()?.into() }
            }
            Order::Delete(To { what, .. }) => {
                let path = [all(), vec![what.name.clone()]].concat();
                Request { method: Method::DELETE, path, body: Value::Null }
            }
            Order::PlayerKeys(To { what, .. }) => of(&what.name, "keys", json!({"names": what.players})),
            Order::Start(To { what, .. }) => of(&what.name, "start", Value::Null),
            Order::Pause(To { what, .. }) => of(&what.name, "pause", Value::Null),
            Order::Resume(To { what, .. }) => of(&what.name, "resume", Value::Null),
            Order::Late(To { what, .. }) => of(&what.name, "late", json!({"allowed": what.allowed == "on"})),
            Order::Remove(To { what, .. }) => about(what, "remove"),
            Order::Forfeit(To { what, .. }) => about(what, "forfeit"),
            Order::PairPlayers(To { what: Pair { name, white, black }, .. }) => {
                of(name, "pairings", json!({"white": white, "black": black}))
            }
            Order::Correct(To { what: Correction { game, result, note }, .. }) => Request {
                method: Method::PATCH,
                path: vec!["games".to_owned(), game.clone()],
                body: json!({"result": result, "note": note}),
            },
        })
    }

    /// Prints what the order has led to.
    fn describe(&self, out: &mut dyn io::Write, answer: &Value) -> io::Result<()> {
        let text = |value: &Value| printable(value.as_str().unwrap_or_default(), MAX_SHOWN);
        let rows = |list: &str| answer[list].as_array().cloned().unwrap_or_default();
        // With a comma behind it; chess needs no word.
        let game = |it: &Value| match text(&it["kind"]).as_str() {
            _ if it["chess960"] == true => "chess960, ".to_owned(),
            "chess" => String::new(),
            kind => format!("{kind}, "),
        };
        match self {
            Order::Tournaments(_) => {
                for it in rows("tournaments") {
                    let players = it["players"].as_array().map_or(0, Vec::len);
                    let [name, state, pairing] = ["name", "state", "pairing"].map(|field| text(&it[field]));
                    let time = text(&it["time_control"]);
                    let edition = it["edition"].as_u64().filter(|edition| *edition > 1);
                    let edition = edition.map_or(String::new(), |edition| format!(", edition {edition}"));
                    let game = game(&it);
                    writeln!(out, "{name}{edition}: {state}, {game}{pairing}, {time}, players: {players}")?;
                }
            }
            Order::Create(_) | Order::Edit(_) => {
                let [name, pairing, time] =
                    ["name", "pairing", "time_control"].map(|field| text(&answer[field]));
                writeln!(out, "{name}: {}{pairing}, {time}; to join:", game(answer))?;
                for join in rows("joins") {
                    writeln!(out, "  {}  {}", text(&join["protocol"]), text(&join["line"]))?;
                }
            }
            Order::PlayerKeys(_) => {
                for key in rows("keys") {
                    writeln!(out, "{}", text(&key["line"]))?;
                }
            }
            Order::Delete(To { what, .. }) => writeln!(out, "{} is deleted", what.name)?,
            Order::Start(To { what, .. }) => writeln!(out, "{} has begun", what.name)?,
            Order::Pause(To { what, .. }) => {
                writeln!(out, "{} is paused: running games finish, and no players are paired", what.name)?;
            }
            Order::Resume(To { what, .. }) => writeln!(out, "{} continues", what.name)?,
            Order::Late(To { what: Late { name, allowed }, .. }) if allowed == "on" => {
                writeln!(out, "{name} admits players after its beginning")?;
            }
            Order::Late(To { what, .. }) => {
                writeln!(out, "{} admits no players after its beginning", what.name)?;
            }
            Order::Remove(To { what, .. }) => writeln!(out, "{} is out of {}", what.player, what.name)?,
            Order::Forfeit(To { what, .. }) => writeln!(out, "{} has lost the game", what.player)?,
            Order::PairPlayers(To { what: Pair { white, black, .. }, .. }) => {
                writeln!(out, "{white} and {black} meet next")?;
            }
            Order::Correct(To { what, .. }) => writeln!(out, "the game counts {}", what.result)?,
        }
        Ok(())
    }
}

/// Gives an order, and prints what it has led to.
pub(super) fn run(order: &Order, source: &ConfigArgs) -> Result<(), CliError> {
    let config = Config::load_if_given(Some(&source.config), &source.overrides)?;
    let web = config.and_then(|config| config.arena.web).unwrap_or_default();
    let api = order.target().api(Served::Arena, web)?;
    let request = order.request()?;
    let answer = network::run(move |_| async move { api.ask(request).await })??;
    print(|out| order.describe(out, &answer))
}
