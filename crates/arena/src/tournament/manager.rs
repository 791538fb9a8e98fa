//! Owner of the arena's tournaments: opens them, runs their tasks, and collects their outcomes.

use std::sync::Arc;

use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    config::TournamentConfig,
    environment::{Environment, OpenTournament},
    registry::{TournamentRegistry, Tournaments},
    standings::TournamentSummary,
};
use crate::error::ArenaError;

/// Owner of the tournaments.
#[derive(Debug)]
pub(crate) struct TournamentManager {
    environment: Environment,
    /// For the fronts.
    published: watch::Sender<Arc<Tournaments>>,
    /// Open, and not running yet.
    open: Vec<OpenTournament>,
}

impl TournamentManager {
    /// Creates the owner of no tournaments yet.
    pub(crate) fn new(environment: Environment) -> TournamentManager {
        TournamentManager { environment, published: watch::Sender::default(), open: Vec::new() }
    }

    /// Returns the access of the fronts.
    pub(crate) fn registry(&self) -> TournamentRegistry {
        TournamentRegistry::new(self.published.subscribe())
    }

    /// Opens a tournament of the configuration.
    pub(crate) async fn open(&mut self, config: TournamentConfig) -> Result<(), ArenaError> {
        let name = config.name.clone();
        let open = self.environment.open(config).await?;
        self.published
            .send_modify(|tournaments| drop(Arc::make_mut(tournaments).insert(name, open.handle.clone())));
        self.open.push(open);
        Ok(())
    }

    /// Runs the tournaments until all have ended; at `stop` they do. Returns their outcomes in the order in which they
    /// were opened.
    pub(crate) async fn run(self, stop: CancellationToken) -> Vec<TournamentSummary> {
        let mut running = JoinSet::new();
        for (place, OpenTournament { actor, file, .. }) in self.open.into_iter().enumerate() {
            let run = actor.run(file, stop.clone());
            running.spawn(async move { (place, run.await) });
        }
        let mut summaries = running.join_all().await;
        summaries.sort_by_key(|(place, _)| *place);
        summaries.into_iter().map(|(_, summary)| summary).collect()
    }
}
