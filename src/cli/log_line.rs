//! Lines of the log on a terminal, short enough for 80 columns: `12:30:05  INFO zeitnot: game 1 begins`.

use std::fmt::{self, Write as _};

use console::Style;
use time::{OffsetDateTime, macros::format_description};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields,
        format::{DefaultFields, Writer},
    },
    registry::LookupSpan,
};

use super::table::fold;

/// Columns before the spans and the message.
const HEAD: usize = "12:30:05  INFO ".len();

/// Field of a span that names the tournament of a player, after the player.
const TOURNAMENT: &str = "tournament";

/// Format of events: the time of day (UTC), the level, the last field of each span, and the message. What is longer than
/// the terminal, which has so many columns now, goes on below the message.
pub(super) struct ShortLine(pub(super) fn() -> usize);

/// Format of a span's fields: the last value alone, without the scheme of a URL. It is what tells one span from others:
/// the player, the game, the server. A tournament follows its player: `alice in class`.
pub(super) struct LastValue;

impl<S: Subscriber + for<'a> LookupSpan<'a>> FormatEvent<S, LastValue> for ShortLine {
    fn format_event(
        &self,
        context: &FmtContext<'_, S, LastValue>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let has_colours = line.has_ansi_escapes();
        let style = |style: Style| style.force_styling(has_colours);
        let time = OffsetDateTime::now_utc().format(format_description!("[hour]:[minute]:[second]"));
        let level = *event.metadata().level();
        write!(line, "{} ", style(Style::new().dim()).apply_to(time.unwrap_or_default()))?;
        write!(line, "{} ", style(colour(level)).apply_to(format_args!("{level:>5}")))?;
        let mut text = " ".repeat(HEAD);
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(fields) = span.extensions().get::<FormattedFields<LastValue>>() {
                write!(text, "{fields}: ")?;
            }
        }
        let names = text[HEAD..].trim_end().to_owned();
        DefaultFields::new().format_fields(Writer::new(&mut text), event)?;
        let folded = fold(&text, (self.0)(), HEAD);
        let rest = folded.trim_start();
        match rest.strip_prefix(&names).filter(|_| !names.is_empty()) {
            Some(message) => {
                writeln!(line, "{}{message}", style(Style::new().bold()).apply_to(names))
            }
            None => writeln!(line, "{rest}"),
        }
    }
}

fn colour(level: Level) -> Style {
    match level {
        Level::ERROR => Style::new().red(),
        Level::WARN => Style::new().yellow(),
        Level::INFO => Style::new().green(),
        Level::DEBUG => Style::new().blue(),
        Level::TRACE => Style::new().magenta(),
    }
}

impl<'w> FormatFields<'w> for LastValue {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut last = Last(String::new());
        fields.record(&mut last);
        writer.write_str(last.0.split_once("://").map_or(last.0.as_str(), |(_, address)| address))
    }
}

struct Last(String);

impl Visit for Last {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == TOURNAMENT {
            let _ = write!(self.0, " in {value:?}");
        } else {
            self.0 = format!("{value:?}");
        }
    }

    fn record_str(&mut self, _field: &Field, value: &str) {
        value.clone_into(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{self, Write},
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(ansi: bool, width: fn() -> usize) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(ansi)
            .fmt_fields(LastValue)
            .event_format(ShortLine(width))
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(log, || {
            tracing::info!("listening");
            let server = "tcp://127.0.0.1:8000";
            let player =
                tracing::info_span!("contest", server, player = %"alice", tournament = %"class").entered();
            tracing::warn!(left = 3, "connection lost");
            let _game = tracing::info_span!("game", url = %"https://lichess.org/abcd").entered();
            tracing::error!("gone");
            drop(player);
        });
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_has_the_time_of_day_and_names_instead_of_spans() {
        let text = logged(false, || usize::MAX);
        let lines: Vec<_> = text.lines().map(|line| line.split_at(8)).collect();
        assert!(
            lines.iter().all(|(time, _)| time.split(':').all(|part| part.parse::<u8>().is_ok())),
            "{text}"
        );
        let rest: Vec<_> = lines.iter().map(|(_, rest)| *rest).collect();
        let expected = [
            "  INFO listening",
            "  WARN alice in class: connection lost left=3",
            " ERROR alice in class: lichess.org/abcd: gone",
        ];
        assert_eq!(rest, expected);
    }

    #[test]
    fn long_lines_go_on_below_the_message() {
        let text = logged(false, || 46);
        assert!(text.contains("  WARN alice in class: connection lost\n               left=3\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 46), "{text}");
    }

    #[test]
    fn colours_are_those_of_the_levels() {
        let text = logged(true, || 80);
        assert!(text.contains("\u{1b}[32m INFO\u{1b}[0m listening\n"), "{text:?}");
    }
}
