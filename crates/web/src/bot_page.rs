//! Page of a bot: the web server of an arena, with the games that the bot plays on other servers.

use std::{future::ready, net::SocketAddr, sync::Arc};

use tokio_util::sync::CancellationToken;
use utoipa_axum::router::OpenApiRouter;
use zeitnot_host::live::{BotFeed, Feed};
use zeitnot_rules::DynGame;

use crate::{
    error::ServerError,
    page::{BotControl, Config, Web},
    play::{Finding, RunningClock, Searcher, Strength},
};

/// Page of a bot with its port bound, ready to serve.
#[derive(Debug)]
pub struct BotPage {
    web: Web,
    feed: Feed,
}

impl BotPage {
    /// Binds the port. The token of the page gives control of the bot, by `control`.
    ///
    /// # Errors
    /// [`ServerError`], which says what to change.
    pub fn bind(config: Config, control: BotControl) -> Result<BotPage, ServerError> {
        let (web, feed) = Web::bind(config, Arc::new(NoSearcher))?;
        Ok(BotPage { web: web.of_bot(control), feed })
    }

    /// Bound address.
    pub fn address(&self) -> SocketAddr {
        self.web.port.address
    }

    /// URL of the page, as people open it.
    pub fn url(&self) -> String {
        self.web.url()
    }

    /// Token of the page, if it was drawn at this start. It must not reach a log.
    pub fn new_token(&self) -> Option<&str> {
        self.web.new_token()
    }

    /// Serves until `stop`, on threads that begin with `on_start`, which sets their priority. `collect` runs there, too: it
    /// tells the page what happens.
    pub async fn run<F>(
        self,
        collect: impl FnOnce(BotFeed) -> F + Send + 'static,
        on_start: fn(),
        stop: CancellationToken,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let feed = BotFeed::new(self.feed);
        self.web.run_beside(OpenApiRouter::new(), collect(feed), on_start, stop).await;
    }
}

/// Finds nothing: the page of a bot has no tables, as searches for visitors would take time from the bot's games.
#[derive(Debug)]
struct NoSearcher;

impl Searcher for NoSearcher {
    fn find(&self, _: &DynGame, _: Strength, _: Option<RunningClock>, _: CancellationToken) -> Finding {
        Box::pin(ready(None))
    }
}
