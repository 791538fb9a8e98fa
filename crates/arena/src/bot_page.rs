//! Page of a bot: the web server of an arena, with the games that the bot plays on other servers.

use std::net::SocketAddr;

use tokio_util::sync::CancellationToken;
use zeitnot_host::live::{BotFeed, Feed};

use crate::{
    error::ArenaError,
    web::{BotControl, Config, Web},
};

/// Page of a bot with its port bound, ready to serve.
#[derive(Debug)]
pub struct BotPage {
    web: Web,
    feed: Feed,
}

impl BotPage {
    /// Binds the port. Whoever has the token of the page controls the bot by `control`.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub fn bind(config: Config, control: BotControl) -> Result<BotPage, ArenaError> {
        config.check().map_err(ArenaError::Config)?;
        let (web, feed) = Web::bind(config)?;
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

    /// Serves until `stop`, on a thread of its own, on which `collect` runs, too: it tells the page what happens.
    pub async fn run<F>(self, collect: impl FnOnce(BotFeed) -> F + Send + 'static, stop: CancellationToken)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let feed = BotFeed::new(self.feed);
        self.web.run_beside(collect(feed), stop).await;
    }
}
