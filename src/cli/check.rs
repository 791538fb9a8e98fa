//! `zeitnot check`: validates a configuration and shows what it would do.

use zeitnot_arena as arena;
use zeitnot_engine::syzygy::Tablebases;

use super::{
    CliError,
    config::{Config, ConfigArgs, DOCUMENTED},
    engines::Engines,
    play, print,
};

/// Validate a configuration, and show what it would do
///
/// Connects to no server and writes no file. External engines are started, and play a quick move.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot check                            the configuration in config.toml
  zeitnot check --config class.toml        another one
  zeitnot check --default > config.toml    write one, with every key explained

Exit code: 0 if it is valid, 1 if the engine for all games cannot play, 2 if it is invalid.")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print the documented default configuration instead
    #[arg(long, conflicts_with_all = ["config", "set"])]
    default: bool,
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    if args.default {
        return print(|out| out.write_all(DOCUMENTED.as_bytes()));
    }
    let config = Config::load(&args.config).map_err(CliError::Checked)?;
    let has_arena = config.arena != arena::Config::default();
    if has_arena {
        config.arena.check()?;
    }
    let sources = play::sources(&config)?;
    let endgames = Tablebases::open(&config.engine.syzygy)?;
    let opened = Engines::open(&config)?;
    print(|out| {
        let Config { engine, engines, bot, online_moves: _, cache, log, servers, arena } = &config;
        writeln!(out, "{} is valid.", args.config.config.display())?;
        writeln!(out, "engine: {}, hash {} MiB, threads {}", engine.kind, engine.hash_mib, engine.threads)?;
        if let Some(endgames) = &endgames {
            writeln!(out, "engine.syzygy: endgame tables of {endgames}")?;
        }
        for (name, engine) in engines {
            writeln!(out, "engines.{name}: {engine}")?;
        }
        for (name, engine) in &opened.ready {
            writeln!(out, "engines.{name}: started as {}", engine.name())?;
        }
        for warning in &opened.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        for (at, rule) in bot.choose.iter().enumerate() {
            let what = if rule.matches_all() { "all games" } else { "matching games" };
            writeln!(out, "bot.choose[{at}]: {} plays {what}", rule.engine)?;
        }
        let (games, overhead) = (bot.max_games, bot.move_overhead);
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
        if servers.is_empty() {
            writeln!(out, "server: none; `zeitnot play` needs a [[server]] table")?;
        }
        for (scheme, address) in [("tcp", arena.tcp), ("ws", arena.websocket)] {
            if let Some(address) = address {
                writeln!(out, "arena: listen on {scheme}://{address}")?;
            }
        }
        for tournament in &arena.tournament {
            writeln!(out, "arena: tournament {} at {}", tournament.name, tournament.time)?;
        }
        if !has_arena {
            writeln!(out, "arena: none; `zeitnot arena` needs an [arena] table")?;
        }
        Ok(())
    })
}
