//! Warnings and errors of the log, for the bot's page, with the server that they concern.

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

/// Events that may wait for the page. More are left out.
const QUEUE: usize = 256;
/// Longest text in characters.
const MAX_TEXT: usize = 300;
/// Field of the spans that names a server.
const SERVER: &str = "server";

/// Event of the log.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Logged {
    pub(super) server: Option<String>,
    pub(super) text: String,
    pub(super) kind: LoggedKind,
}

/// Kind of an event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum LoggedKind {
    /// A warning or an error.
    Trouble,
    /// A connection is lost. The log may have told it, or have left it out as one of many.
    Lost,
    /// A connection is open.
    Connected,
}

/// Part of the log that sends warnings and errors to the page. Nobody waits for it.
#[derive(Debug)]
pub(in crate::cli) struct ErrorLayer(mpsc::Sender<Logged>);

impl ErrorLayer {
    /// Creates the layer and the receiver of its events.
    pub(in crate::cli) fn channel() -> (ErrorLayer, mpsc::Receiver<Logged>) {
        let (tx, rx) = mpsc::channel(QUEUE);
        (ErrorLayer(tx), rx)
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

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ErrorLayer {
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
        let mut text = Text::default();
        event.record(&mut text);
        let kind = match event.metadata().target() {
            CONNECTED => LoggedKind::Connected,
            LOST => LoggedKind::Lost,
            _ => LoggedKind::Trouble,
        };
        let _ = self.0.try_send(Logged { server, text: text.line(), kind });
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
        let (layer, mut logged) = ErrorLayer::channel();
        let log = tracing_subscriber::registry().with(layer.with_filter(ErrorLayer::filter()));
        tracing::subscriber::with_default(log, || {
            tracing::info!("listening");
            tracing::warn!(target: "hyper", "nothing of ours");
            let _client = tracing::info_span!("lichess", server = %"https://lichess.org/").entered();
            let _game = tracing::info_span!("game", id = 7).entered();
            tracing::warn!(left = 3, "connection\nlost");
            tracing::debug!(target: CONNECTED, "connected");
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
        assert_eq!(next(), Some(Logged { server, text: "connected".into(), kind: LoggedKind::Connected }));
        assert!(next().is_some_and(|long| long.server.is_none() && long.text.len() == MAX_TEXT));
        assert_eq!(next(), None);
    }
}
