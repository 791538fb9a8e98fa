//! `zeitnot check`: reads a configuration and says all that is wrong with it, or what it would do.

use std::{io::Write, path::PathBuf};

use zeitnot_arena as arena;
use zeitnot_engine::syzygy::Tablebases;

use super::{
    CliError,
    config::{Config, DOCUMENTED},
    engines::Engines,
    play, print,
};

/// Say what is wrong with a configuration, or what it would do
///
/// Nothing is connected to and nothing is written: it is safe to run at any time. Engines of others are started, and
/// play a quick move.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot check                            the configuration in config.toml
  zeitnot check --config class.toml        another one
  zeitnot check --default > config.toml    make one, with every key explained

Exit code: 0 if it is sound, 1 if the engine that is to play everything cannot, 2 if it is not sound.")]
pub struct Args {
    /// The configuration
    #[arg(long, short, value_name = "FILE", default_value = "config.toml")]
    pub config: PathBuf,
    /// Print the documented default configuration instead
    #[arg(long, conflicts_with = "config")]
    pub default: bool,
}

/// Runs the command.
///
/// # Errors
/// [`CliError::Checked`] with all mistakes.
pub fn run(args: &Args) -> Result<(), CliError> {
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
    let tried = Engines::open(&config)?;
    print(|out| {
        let Config { engine, engines, bot, online_moves: _, cache, log, servers, arena } = &config;
        writeln!(out, "{} is sound.", args.config.display())?;
        writeln!(
            out,
            "engine: {}, {} MiB for its table, search threads: {}",
            engine.kind, engine.hash_mib, engine.threads
        )?;
        if let Some(endgames) = &endgames {
            writeln!(out, "engine.syzygy: endgame tables of {endgames}")?;
        }
        for (name, engine) in engines {
            writeln!(out, "engines.{name}: {engine}")?;
        }
        for (name, engine) in &tried.ready {
            writeln!(out, "engines.{name}: was tried, and plays as {}", engine.name())?;
        }
        for warning in &tried.warnings {
            writeln!(out, "warning: {warning}")?;
        }
        for (at, rule) in bot.choose.iter().enumerate() {
            let what = if rule.matches_all() { "whatever comes" } else { "what fits" };
            writeln!(out, "bot.choose[{at}]: {} plays {what}", rule.engine)?;
        }
        let (games, overhead) = (bot.max_games, bot.move_overhead);
        writeln!(
            out,
            "bot: games at once: {games}, {overhead:?} a move kept in hand until the lag is measured"
        )?;
        writeln!(out, "moves from: {sources}")?;
        writeln!(out, "cache: {cache}")?;
        writeln!(out, "log: {log}")?;
        for (at, server) in servers.iter().enumerate() {
            writeln!(out, "server[{at}]: {server}")?;
        }
        if servers.is_empty() {
            writeln!(out, "server: none, so `zeitnot play` has nowhere to play")?;
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
            writeln!(out, "arena: none, so `zeitnot arena` has nothing to run")?;
        }
        Ok(())
    })
}
