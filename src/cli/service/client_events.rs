//! Events of the clients in the log, with the server that they concern: connections for those who watch over the
//! program, warnings and errors for the bot's page.

use std::fmt::{self, Write};

use tokio::sync::mpsc;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{
    Layer,
    filter::{FilterFn, LevelFilter},
    layer::Context,
    registry::LookupSpan,
};
use zeitnot_clients::{CONNECTED, LOST};

use super::Connections;

/// Events that may wait for the page. More are left out.
const QUEUE: usize = 256;
/// Longest text in characters.
const MAX_TEXT: usize = 300;
/// Field of the spans that names a server.
const SERVER: &str = "server";

/// Event of the log.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Logged {
    pub(in crate::cli) server: Option<String>,
    pub(in crate::cli) text: String,
    pub(in crate::cli) kind: LoggedKind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum LoggedKind {
    /// A warning or an error.
    Trouble,
    /// A connection is lost. The log may have told it, or have left it out as one of many.
    Lost,
    /// A connection is open.
    Connected,
}

/// Part of the log that keeps the state of the connections, and sends warnings and errors to the page. Nobody waits for
/// it.
#[derive(Debug, Default)]
pub(in crate::cli) struct ClientEvents {
    pub(in crate::cli) connections: Connections,
    page: Option<mpsc::Sender<Logged>>,
}

impl ClientEvents {
    /// Sends the events to the page, too; returns their receiver.
    pub(in crate::cli) fn for_page(&mut self) -> mpsc::Receiver<Logged> {
        let (tx, rx) = mpsc::channel(QUEUE);
        self.page = Some(tx);
        rx
    }

    /// Admits what the layer needs, whatever the level of the log is.
    pub(in crate::cli) fn filter() -> FilterFn {
        FilterFn::new(admits as fn(&Metadata<'_>) -> bool).with_max_level_hint(LevelFilter::DEBUG)
    }
}

fn admits(metadata: &Metadata<'_>) -> bool {
    let is_needed = match metadata.is_span() {
        true => *metadata.level() <= Level::INFO,
        false => *metadata.level() <= Level::WARN || matches!(metadata.target(), CONNECTED | LOST),
    };
    is_needed && metadata.target().starts_with("zeitnot")
}

/// Server that a span names.
struct SpanServer(String);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ClientEvents {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut server = NamedServer(None);
        attributes.record(&mut server);
        if let (Some(server), Some(span)) = (server.0, context.span(id)) {
            span.extensions_mut().insert(SpanServer(server));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let spans = context.event_scope(event).into_iter().flatten();
        let server = spans
            .filter_map(|span| span.extensions().get::<SpanServer>().map(|server| server.0.clone()))
            .next();
        let target = event.metadata().target();
        let level = *event.metadata().level();
        if let Some(server) = &server {
            match target {
                CONNECTED => self.connections.opened(server),
                LOST => self.connections.lost(server),
                _ => {}
            }
        }
        let Some(page) = &self.page else { return };
        let mut text = Text::default();
        event.record(&mut text);
        let kind = match target {
            CONNECTED => LoggedKind::Connected,
            LOST if level > Level::WARN => LoggedKind::Lost,
            _ => LoggedKind::Trouble,
        };
        let _ = page.try_send(Logged { server, text: text.line(), kind });
    }
}

struct NamedServer(Option<String>);

impl Visit for NamedServer {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == SERVER {
            self.0 = Some(format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == SERVER {
            self.0 = Some(value.to_owned());
        }
    }
}

/// Message of an event, and its fields behind it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

impl Text {
    fn line(self) -> String {
        let text = self.message + &self.fields;
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_TEXT).collect()
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn warnings_name_their_server_and_the_rest_is_left_out() {
        let mut layer = ClientEvents::default();
        let mut logged = layer.for_page();
        let connections = layer.connections.clone();
        let log = tracing_subscriber::registry().with(layer.with_filter(ClientEvents::filter()));
        tracing::subscriber::with_default(log, || {
            tracing::info!("listening");
            tracing::warn!(target: "hyper", "nothing of ours");
            let _client = tracing::info_span!("lichess", server = %"https://lichess.org/").entered();
            let _game = tracing::info_span!("game", id = 7).entered();
            tracing::warn!(left = 3, "connection\nlost");
            tracing::debug!(target: CONNECTED, "connected");
            assert!(connections.any());
            tracing::warn!(target: LOST, "timed out; reconnecting in 1.0 s");
            assert!(!connections.any());
            drop((_game, _client));
            tracing::error!("{}", "x".repeat(2 * MAX_TEXT));
        });
        let mut next = || logged.try_recv().ok();
        let server = Some("https://lichess.org/".to_owned());
        let lost = Logged {
            server: server.clone(),
            text: "connection lost left=3".into(),
            kind: LoggedKind::Trouble,
        };
        assert_eq!(next(), Some(lost));
        let connected =
            Logged { server: server.clone(), text: "connected".into(), kind: LoggedKind::Connected };
        assert_eq!(next(), Some(connected));
        let text = "timed out; reconnecting in 1.0 s".into();
        assert_eq!(next(), Some(Logged { server, text, kind: LoggedKind::Trouble }));
        assert!(next().is_some_and(|long| long.server.is_none() && long.text.len() == MAX_TEXT));
        assert_eq!(next(), None);
    }
}
