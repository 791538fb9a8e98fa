//! Opening of a tournament: its openings, its file of games, its history, and who may join.

use std::path::PathBuf;

use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use zeitnot_pairing::Name;

use super::{
    actor::TournamentActor,
    admission::Admission,
    config::TournamentConfig,
    engines::Engines,
    refusals::Refusals,
    reports::Reports,
    settings::{Access, Settings},
    starts::Starts,
};
use crate::{error::ArenaError, keys::Keys, news::NewsSender};
use zeitnot_host::{
    database::{Database, GameRow, Opened, SettingsText, TournamentId},
    jobs::Handle,
    live::{Feed, view::JoinLine},
    store::{GameFile, Store, StoreActor},
};
use zeitnot_net::{Contradiction, Contradictions, secret::Secret};
use zeitnot_web::guesses::Guesses;

/// Parts of an arena that all its tournaments share.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Folder for PGN files.
    pub(crate) games: PathBuf,
    pub(crate) database: Option<Database>,
    pub(crate) news: NewsSender,
    pub(crate) live: Feed,
    /// Limit of names of one address in a tournament.
    pub(crate) per_address: usize,
    /// Limit of players connected at once besides accounts, with its key.
    pub(crate) max_players_at_once: (&'static str, usize),
    /// URLs of the ports on which players join by a line.
    pub(crate) ports: Vec<String>,
    pub(crate) accounts: Accounts,
    pub(crate) engines: Engines,
}

/// Accounts of another front that play in tournaments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounts {
    /// URL of the front.
    pub(crate) url: String,
    /// Tournaments, each with the name of an account.
    pub(crate) entries: Vec<(Name, Name)>,
}

impl Accounts {
    /// Returns the names of those that play in a tournament.
    pub(super) fn of(&self, tournament: &Name) -> impl Iterator<Item = &Name> {
        self.entries.iter().filter(move |(entered, _)| entered == tournament).map(|(_, name)| name)
    }
}

/// Tournament that is ready to run.
#[derive(Debug)]
pub(super) struct OpenTournament {
    pub(super) handle: Handle<TournamentActor>,
    pub(super) actor: TournamentActor,
    pub(super) file: StoreActor,
    /// Its id in the database.
    pub(super) stored: Option<TournamentId>,
}

impl Environment {
    /// Opens a tournament, which goes on if it is not a new one and one of the database that was not complete. Access
    /// has one that the organiser has created.
    pub(super) async fn open(
        &self,
        config: &TournamentConfig,
        access: Option<&Access>,
        is_new: bool,
    ) -> Result<OpenTournament, ArenaError> {
        let opened = config.clone();
        let starts = blocking(move || Starts::open(&opened)).await?;
        let proofs = match access {
            Some(access) => access.proofs(),
            None => {
                let accounts = self.accounts.of(&config.name).chain(&config.engines).cloned().collect();
                (config.password.clone(), config.open_keys(&accounts)?)
            }
        };
        let (admission, joins) = self.admission(config, proofs);
        let (folder, name) = (self.games.clone(), config.name.clone());
        let create = move || Ok(GameFile::create(&folder, name.as_str(), "pgn", OffsetDateTime::now_utc())?);
        let file = blocking(create).await?;
        let mut opened = None;
        if let Some(database) = &self.database {
            let created = access.filter(|_| is_new).map(|access| Settings::to_stored(config, access));
            let history = take_up(database, config, created.map(SettingsText)).await?;
            opened = Some((database.clone(), history));
        }
        let tournament = opened.as_ref().map(|(_, opened)| &opened.history.tournament);
        let (stored, edition) = (tournament.map(|it| it.id), tournament.map_or(1, |it| it.edition));
        let has_games = opened.as_ref().is_some_and(|(_, opened)| !opened.history.games.is_empty());
        if edition > 1 && access.is_none() && !has_games {
            let (name, last) = (&config.name, edition - 1);
            tracing::info!(
                "{name}: edition {last} is kept, and edition {edition} begins; remove its [[arena.tournament]] table to \
                 begin none"
            );
        }
        let mut refused = Vec::new();
        if let Some((_, opened)) = &mut opened {
            refused = std::mem::take(&mut opened.refusals);
        }
        let (store, file) = match &self.database {
            Some(database) => Store::of_database(database, Some(config.name.clone()), file),
            None => Store::channel(file),
        };
        let database = self.database.clone().zip(stored);
        let refusals = Refusals::of_tournament(config.name.to_string(), self.live.clone(), database, refused);
        let reports = Reports::new(self.news.clone(), self.live.clone(), refusals, edition, joins);
        let (config, per_address) = (config.clone(), self.per_address);
        let (handle, actor) =
            TournamentActor::channel(config, admission, per_address, starts, store, reports, opened);
        Ok(OpenTournament { handle, actor, file, stored })
    }

    /// Returns why play would never begin.
    pub(super) fn obstacle(&self, config: &TournamentConfig) -> Option<String> {
        let mut found = Contradictions::default();
        let accounts = self.accounts.of(&config.name).count();
        config.contradictions(self.max_players_at_once, accounts, &mut found);
        let found = found.into_found().into_iter().next().map(|Contradiction { what, .. }| what);
        found.or_else(|| self.engines.obstacle(config))
    }

    /// Returns whether there is a way to join a tournament.
    pub(super) fn can_be_joined(&self, tournament: &Name) -> bool {
        !self.ports.is_empty() || self.accounts.of(tournament).next().is_some()
    }

    /// Returns what decides who may join a tournament, and the ways to do so.
    pub(super) fn admission(
        &self,
        config: &TournamentConfig,
        (password, keys): (Option<Secret>, Option<Keys>),
    ) -> (Admission, Vec<JoinLine>) {
        let reserved = self.accounts.of(&config.name).chain(&config.engines).cloned().collect();
        let admission = Admission { password, keys, reserved, guesses: Guesses::default() };
        let joins = self.joins(&config.name, &admission);
        (admission, joins)
    }

    /// Returns the ways to join a tournament.
    fn joins(&self, tournament: &Name, admission: &Admission) -> Vec<JoinLine> {
        let proof = admission.proof();
        let line = |port: &String| JoinLine {
            protocol: port.clone(),
            line: format!("JOIN {tournament} NAME{}{proof}", if proof.is_empty() { "" } else { " " }),
        };
        let accounts: Vec<_> = self.accounts.of(tournament).map(Name::as_str).collect();
        let entered = (!accounts.is_empty()).then(|| JoinLine {
            protocol: self.accounts.url.clone(),
            line: format!("Lichess Bot API, as {}", accounts.join(", ")),
        });
        self.ports.iter().map(line).chain(entered).collect()
    }
}

/// Runs a job that waits for the disk on a thread for that.
async fn blocking<T: Send + 'static>(
    job: impl FnOnce() -> Result<T, ArenaError> + Send + 'static,
) -> Result<T, ArenaError> {
    // It fails only if the job panics, or the runtime is gone.
    let failed = |error| ArenaError::Config(format!("a task has failed, please report it: {error}"));
    spawn_blocking(job).await.map_err(failed).flatten()
}

/// Takes up a tournament of the database, or begins it.
async fn take_up(
    database: &Database,
    config: &TournamentConfig,
    created: Option<SettingsText>,
) -> Result<Opened, ArenaError> {
    let (name, opened) = (&config.name, database.open_tournament(config.opening(created)).await?);
    let games = &opened.history.games;
    if !games.is_empty() {
        let has_result = |game: &&GameRow| game.end.as_ref().is_some_and(|end| end.result.is_some());
        let over = games.iter().filter(has_result).count();
        tracing::info!("{name} goes on: games over: {over}, broken off: {}", games.len() - over);
    }
    Ok(opened)
}
