//! `zeitnot arena results`: the results of a tournament, from the database of an arena that runs or has ended.

use clap::builder::PossibleValuesParser;
use serde::Serialize;
use zeitnot_arena as arena;
use zeitnot_arena::{GamePages, TournamentResults};
use zeitnot_host::{
    database::{DatabaseLocation, Readers},
    live::view::Source,
};

use crate::cli::{
    CliError,
    config::{Config, ConfigArgs},
    network, print, usage,
};

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the tournament; without it, all are listed
    name: Option<String>,
    /// Standings as CSV
    #[arg(long, group = "format", requires = "name")]
    csv: bool,
    /// Standings and games as JSON
    #[arg(long, group = "format", requires = "name")]
    json: bool,
    /// Games as PGN
    #[arg(long, group = "format", requires = "name")]
    pgn: bool,
    /// Report file (TRF16) for arbiters' programs
    #[arg(long, group = "format", requires = "name")]
    trf: bool,
    /// Earlier tournament of this name, from 1; by default the latest
    #[arg(long, value_name = "N", requires = "name")]
    edition: Option<u32>,
    /// Games of a front without tournaments, as JSON
    #[arg(long, value_parser = PossibleValuesParser::new(Source::FRONTS.map(Source::as_str)), conflicts_with = "name")]
    front: Option<String>,
    /// Database to read: a file, or postgres://USER@HOST/DATABASE [default: that of the configuration, else
    /// games/zeitnot.db]
    #[arg(long, value_name = "FILE|URL")]
    database: Option<String>,
}

pub(super) fn run(args: &Args, source: &ConfigArgs) -> Result<(), CliError> {
    let location: DatabaseLocation = match &args.database {
        // Not by clap, whose error would repeat a password.
        Some(location) => location.parse().map_err(|why| usage(format!("--database: {why}")))?,
        None => {
            let config = Config::load_if_given(Some(&source.config), &source.overrides)?;
            let database = config.map(|config| config.arena).unwrap_or_default().database();
            database.ok_or_else(|| {
                usage("the arena keeps no database (arena.database = \"\"): there are no results")
            })?
        }
    };
    let args = args.clone();
    let text = network::run(move |_| async move {
        let database = Readers::new(location.into(), 1);
        let text = results(&args, &database).await;
        database.close().await;
        text
    })??;
    print(|out| write!(out, "{text}"))
}

async fn results(args: &Args, database: &Readers) -> Result<String, arena::ResultsError> {
    if let Some(front) = &args.front {
        return Ok(pretty(&arena::front_games(database, front).await?));
    }
    let Some(name) = &args.name else {
        let tournaments = arena::tournaments(database).await?;
        return Ok(tournaments.into_iter().map(|tournament| tournament + "\n").collect());
    };
    if args.pgn {
        let (mut pages, mut text) = (GamePages::open(database, name, args.edition).await?, String::new());
        while let Some(games) = pages.pgn().await? {
            text += &games;
        }
        return Ok(text);
    }
    let results = TournamentResults::read(database, name, args.edition).await?;
    Ok(match args {
        Args { csv: true, .. } => results.csv(),
        Args { json: true, .. } => {
            let mut file = results.json();
            let mut pages = GamePages::open(database, name, Some(file.edition)).await?;
            while let Some(games) = pages.rows().await? {
                file.pairings.extend(games);
            }
            pretty(&file)
        }
        Args { trf: true, .. } => results.trf()?,
        _ => format!("{results}\n"),
    })
}

fn pretty(json: &impl Serialize) -> String {
    // Such JSON can always be written.
    serde_json::to_string_pretty(json).unwrap_or_default() + "\n"
}
