//! `zeitnot check`: validates a configuration and shows what it would do.

use std::io::Write;

use zeitnot_arena as arena;
use zeitnot_engine::Kind;

use super::{
    CliError,
    config::{Audience, Config, ConfigFileArgs, sample_for, schema_file},
    preflight::{self, Prepared},
    print, table,
};

/// Validate a configuration, and show what it would do
///
/// Connects to no server and writes no file. External engines are started, and play a quick move.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot check                            the configuration in config.toml
  zeitnot check class.toml                 another one
  zeitnot check --default > config.toml    write one, with every key explained
  zeitnot check --schema > config.schema.json
                                           write its schema beside it, for editors
  zeitnot check --default lichess          the keys for an account on Lichess only

Exit code: 0 if it is valid, 1 if the engine for all games cannot play, 2 if it is invalid.")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFileArgs,
    /// Print the default configuration with every key explained, or only the keys that one user needs
    #[arg(long, value_name = "FOR", num_args = 0..=1, default_missing_value = "all",
        conflicts_with_all = ["config", "file", "set"])]
    default: Option<Audience>,
    /// Print the JSON schema of the configuration, for editors
    #[arg(long, conflicts_with_all = ["config", "file", "set", "default"])]
    schema: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let document = match (args.default, args.schema) {
        (Some(audience), _) => Some(sample_for(audience)),
        (None, true) => Some(schema_file()),
        (None, false) => None,
    };
    if let Some(document) = document {
        return print(|out| out.write_all(document.as_bytes()));
    }
    let source = args.config.source();
    let every = |error| match error {
        CliError::Config(errors) => CliError::Checked(errors),
        other => other,
    };
    let config = Config::load(&source).map_err(CliError::Checked)?;
    let file = source.config.display().to_string();
    let has_arena = config.arena != arena::Config::default();
    if has_arena {
        preflight::check_arena(&config).map_err(every)?;
    }
    let Prepared { endgames, sources, engines: opened, warnings, .. } =
        Prepared::open(&config).map_err(every)?;
    print(|terminal| {
        let mut text = Vec::new();
        let out = &mut text;
        let Config { engine, engines, bot, cache, log, servers, arena, web, metrics, .. } = &config;
        writeln!(out, "{file} is valid.")?;
        let strength = engine.elo.map(|elo| format!(", strength {elo} Elo")).unwrap_or_default();
        let zeitnot_engine::Config { kind, hash_mib, threads, .. } = engine;
        writeln!(out, "engine: {kind}, hash {hash_mib} MiB, threads {threads}{strength}")?;
        if engine.kind == Kind::Search && engine.elo.is_none() {
            writeln!(out, "engine.eval_file: {}", engine.eval_file)?;
        }
        if let Some(endgames) = &endgames {
            writeln!(out, "engine.syzygy: endgame tables of {endgames}")?;
        }
        for (name, engine) in engines {
            writeln!(out, "engines.{name}: {engine}")?;
        }
        for (name, engine) in &opened.ready {
            writeln!(out, "engines.{name}: started as {}", engine.name())?;
        }
        for warning in &warnings {
            writeln!(out, "warning: {warning}")?;
        }
        for (at, rule) in bot.choose.iter().enumerate() {
            let what = if rule.matches_all() { "all games" } else { "matching games" };
            writeln!(out, "bot.choose[{at}]: {} plays {what}", rule.engine)?;
        }
        let games = bot.max_games;
        let overhead = bot.move_overhead;
        writeln!(
            out,
            "bot: at most {games} games at once, move overhead {overhead:?} until the lag is measured"
        )?;
        writeln!(out, "sources of moves: {sources}")?;
        writeln!(out, "cache: {cache}")?;
        writeln!(out, "log: {log}")?;
        for (at, server) in servers.iter().enumerate() {
            writeln!(out, "server[{at}]: {server}")?;
        }
        if let Some(web) = web {
            writeln!(out, "web: the bot's page at {}", web.url(web.listen))?;
        }
        if let Some(metrics) = metrics {
            writeln!(out, "metrics: http://{}/metrics", metrics.listen)?;
        }
        if servers.is_empty() {
            writeln!(out, "server: none; `zeitnot play` needs a [[server]] table")?;
        }
        for port in arena.listening() {
            writeln!(out, "arena: listen on {port}")?;
        }
        if has_arena {
            let database = arena.database().map_or("none".to_owned(), |location| location.to_string());
            writeln!(out, "arena: database {database}")?;
        }
        for tournament in &arena.tournament {
            writeln!(out, "arena: tournament {tournament}")?;
        }
        if !has_arena {
            writeln!(out, "arena: none; `zeitnot arena` needs an [arena] table")?;
        }
        let text = String::from_utf8_lossy(&text);
        let width = table::width();
        text.lines().try_for_each(|line| writeln!(terminal, "{}", table::fold(line, width, 4)))
    })
}
