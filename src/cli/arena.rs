//! `zeitnot arena`: the tournament server, from its ports to the final table.

use std::{collections::HashMap, io::Write, path::PathBuf};

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tracing::{info, warn};

use zeitnot_arena as arena;
use zeitnot_arena::{Arena, Event, News, Summary};
use zeitnot_clients::Shutdown;
use zeitnot_rules::Color;

use super::{CliError, config::Config, live::Live, log, network, print, signals};

/// Run the tournaments of the configuration
///
/// Players join over TCP and WebSocket. Ends when all tournaments have, or when it is stopped; with a table
/// [arena.imcs] or [arena.lichess], which let others play as they like, when it is stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot arena                         with the configuration in config.toml
  zeitnot arena --config class.toml     with another one

Ctrl-C or SIGTERM breaks the running games off, writes them down, and shows the table.
Exit code: 0 at the end, 1 if a port or a folder cannot be used, 2 if the configuration is wrong.")]
pub struct Args {
    /// The configuration; `zeitnot check --default` prints one
    #[arg(long, short, value_name = "FILE", default_value = "config.toml")]
    pub config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// [`CliError`]: a wrong configuration, or an arena that cannot start.
pub fn run(args: &Args) -> Result<(), CliError> {
    let config = Config::load(&args.config)?;
    let _log = log::start(&config.log, Live::new().lines());
    let summary = network::run(|_| serve(config.arena))?;
    report(&summary?)
}

async fn serve(config: arena::Config) -> Result<Summary, CliError> {
    let arena = Arena::bind(config).await?;
    let shutdown = Shutdown::default();
    let signals = signals::watch(shutdown.clone(), "stopping: running games are broken off and written down")
        .map_err(|source| CliError::Io { doing: "cannot listen for signals", source })?;
    tokio::spawn(signals);
    for (scheme, address, what) in [
        ("tcp", arena.tcp(), ""),
        ("ws", arena.websocket(), ""),
        ("tcp", arena.imcs(), " for MiniChess (IMCS)"),
        ("http", arena.lichess(), " for bots that speak the Lichess API"),
    ] {
        if let Some(address) = address {
            info!("listening on {scheme}://{address}{what}");
        }
    }
    for address in arena.tables() {
        info!("a table for TUC-Chess at udp://{address}");
    }
    let stays = arena.imcs().is_some() || arena.lichess().is_some();
    tokio::spawn(tell(arena.news(), stays));
    Ok(arena.run(shutdown.soon).await)
}

/// Logs what happens, until the arena is gone. One that stays when its tournaments are over shows their tables then,
/// and not only when it is stopped.
async fn tell(mut news: Receiver<News>, stays: bool) {
    let mut tables = HashMap::new();
    loop {
        match news.recv().await {
            Ok(News { tournament, event: Event::Standings(standings) }) => {
                tables.insert(tournament, standings);
            }
            Ok(News { tournament, event }) => {
                if let Some(line) = line(&event) {
                    info!("{tournament}: {line}");
                }
                if stays
                    && matches!(event, Event::Over)
                    && let Some(standings) = tables.remove(&tournament)
                {
                    info!("{tournament}, final standings:\n\n{standings}");
                }
            }
            Err(RecvError::Lagged(missed)) => warn!("{missed} news were too many to tell"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// What happened, for people; `None` for what the final report tells better.
pub(super) fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Joined(player) => format!("{player} joined"),
        Event::Left(player) => format!("{player} left"),
        Event::Withdrawn(player) => format!("{player} stayed away for too long and forfeits the rest"),
        Event::GameStarted { game, names } => {
            format!("game {game}: {} – {}", names[Color::White], names[Color::Black])
        }
        Event::GameEnded { names, result, reason, plies } => {
            let result = result.map_or_else(|| "broken off:".to_owned(), |result| result.to_string());
            format!("{} – {}: {result} {reason} ({plies} plies)", names[Color::White], names[Color::Black])
        }
        Event::Over => "everybody has met everybody".to_owned(),
        Event::Standings(_) => return None,
    })
}

/// The final tables, and where the games are.
///
/// # Errors
/// [`CliError::Io`] if they cannot be written.
pub(super) fn report(summary: &Summary) -> Result<(), CliError> {
    print(|out| {
        for tournament in &summary.tournaments {
            let end = if tournament.complete { "final standings" } else { "standings so far" };
            if tournament.standings.rows().is_empty() {
                writeln!(out, "\n{}: nobody came", tournament.name)?;
                continue;
            }
            writeln!(out, "\n{}, {end}:\n\n{}", tournament.name, tournament.standings)?;
            if let Some(pgn) = &tournament.pgn {
                writeln!(out, "games: {}", pgn.display())?;
            }
        }
        Ok(())
    })
}
