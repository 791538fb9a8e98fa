//! The scripted Lichess server, and what a test expects of its client.

use std::{
    net::TcpListener,
    ops::{Deref, DerefMut},
    time::Duration,
};

use tokio::time::timeout;
pub use zeitnot_measure::scripted_lichess::{Feed, Post};
use zeitnot_testing::soon;

/// Span in which nothing may be asked; in paused time where possible.
pub const QUIET: Duration = Duration::from_millis(400);
/// Between the empty lines of a stream.
const KEEP_ALIVE: Duration = Duration::from_millis(150);

pub struct Server {
    pub url: String,
    inner: zeitnot_measure::scripted_lichess::Server,
    /// The event stream that was opened last.
    pub feed: Option<Feed>,
}

impl Deref for Server {
    type Target = zeitnot_measure::scripted_lichess::Server;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl Server {
    pub async fn start() -> Server {
        Server::with(KEEP_ALIVE).await
    }

    /// Starts a server whose streams hear an empty line this often.
    pub async fn with(keep_alive: Duration) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inner = zeitnot_measure::scripted_lichess::Server::start(listener, keep_alive).unwrap();
        Server { url: format!("http://{}/", inner.address), inner, feed: None }
    }

    /// Waits until the client opens its event stream.
    pub async fn online(&mut self) {
        self.feed = soon("the event stream is opened", self.inner.events.recv()).await;
    }

    /// Sends an event.
    pub fn tell(&self, event: &str) {
        self.feed.as_ref().expect("an event stream").line(event);
    }

    pub async fn game(&mut self) -> Feed {
        soon("a game's stream is opened", self.games.recv()).await.unwrap()
    }

    pub async fn post(&mut self) -> Post {
        soon("something is posted", self.posts.recv()).await.unwrap()
    }

    /// Expects a request for this path.
    pub async fn hear(&mut self, path: &str) -> Post {
        let post = self.post().await;
        assert_eq!(post.path, path, "{}", post.body);
        post
    }

    /// Expects a request with this body.
    pub async fn hear_form(&mut self, path: &str, body: &str) -> Post {
        let post = self.hear(path).await;
        assert_eq!(post.body, body, "{path}");
        post
    }

    /// The move of the next request, which is one.
    pub async fn hear_move(&mut self) -> (String, Post) {
        let post = self.post().await;
        let (_, mv) = post.path.split_once("/move/").unwrap_or_else(|| panic!("{post:?}"));
        (mv.to_owned(), post)
    }

    /// Hears a move and grants it.
    pub async fn take_move(&mut self) -> String {
        let (mv, post) = self.hear_move().await;
        post.ok();
        mv
    }

    pub async fn hears_nothing(&mut self) {
        if let Ok(post) = timeout(QUIET, self.posts.recv()).await {
            panic!("heard {post:?}");
        }
    }
}
