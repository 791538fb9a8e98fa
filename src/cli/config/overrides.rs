//! Keys of the configuration on the command line: `--set server[0].player=second`.

use std::{borrow::Cow, ops::Range, path::PathBuf};

use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use super::error::plain;

/// File that commands read by default.
pub(super) const DEFAULT_FILE: &str = "config.toml";

/// The configuration that a command reads.
#[derive(Clone, Debug, clap::Args)]
pub struct ConfigArgs {
    /// Configuration file; `zeitnot check --default` prints one
    #[arg(long, short, value_name = "FILE", default_value = DEFAULT_FILE, global = true)]
    pub config: PathBuf,
    /// Keys that take precedence over those of the file.
    #[command(flatten)]
    pub overrides: Overrides,
}

/// The same, with the file also as an argument without `--config`: for commands that have no other.
#[derive(Clone, Debug, clap::Args)]
pub struct ConfigFileArgs {
    /// Configuration file, as with --config
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,
    #[command(flatten)]
    options: ConfigArgs,
}

impl ConfigFileArgs {
    /// Returns the configuration to read.
    pub fn source(&self) -> ConfigArgs {
        let mut source = self.options.clone();
        source.config = self.file.clone().unwrap_or(source.config);
        source
    }
}

/// Keys that take precedence over those of the file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Overrides {
    /// Set a key of the configuration, as in `engine.hash_mib=256` or `server[0].player=second`
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Our name in all `[[server]]` tables that have a key for it.
    #[arg(skip)]
    pub player: Option<String>,
}

/// Option of [`Overrides::set`].
pub(super) const SET: &str = "--set";
/// Option of [`Overrides::player`].
pub(super) const PLAYER: &str = "--player";

/// A key that an option of the command line sets.
#[derive(Debug)]
pub(super) struct Override {
    pub option: &'static str,
    /// Path of the key, as written.
    key: String,
    /// Where the value begins in its document.
    value_at: usize,
    /// The value in a document of its own, at its place behind the file: errors are found by their place.
    document: String,
    /// Its place there, from the key to the value.
    pub span: Range<usize>,
}

/// A key that cannot be set, and why.
pub(super) type BadOverride = (String, String);

/// A key of a table, or a place in a list.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// A step of a path.
struct Place<'a> {
    step: Step<'a>,
    /// The path up to here.
    path: &'a str,
    span: Range<usize>,
}

impl Override {
    /// Parses `KEY=VALUE`, which stands behind `start` bytes of other text.
    pub(super) fn parse(option: &'static str, text: &str, start: usize) -> Result<Override, BadOverride> {
        let Some(at) = unquoted(text).find(|(_, c)| *c == '=').map(|(at, _)| at) else {
            return Err((text.to_owned(), "expected KEY=VALUE, as in engine.hash_mib=256".to_owned()));
        };
        let key = &text[..at];
        let value = &text[at + 1..];
        // In place of the key, as that may name tables that exist.
        let name = format!("{VALUE}=");
        let padding = " ".repeat((start + at + 1).saturating_sub(name.len()));
        Ok(Override {
            option,
            key: key.trim_end().to_owned(),
            value_at: start + at + 1,
            document: format!("{padding}{name}{value}"),
            span: start..start + text.len(),
        })
    }

    /// Sets the key in the parsed file, and makes the tables that it needs.
    pub(super) fn apply<'t>(&'t self, root: &mut DeTable<'t>) -> Result<(), BadOverride> {
        let refused = |path: &str, why: String| (path.to_owned(), why);
        let places = self.places().map_err(|why| refused(&self.key, why))?;
        let value = self.value().map_err(|why| refused(&self.key, why))?;
        let mut whole = Spanned::new(0..0, DeValue::Table(std::mem::take(root)));
        let mut here = Ok(&mut whole);
        for (at, place) in places.iter().enumerate() {
            let blank = match places.get(at + 1).map(|next| &next.step) {
                Some(Step::Index(_)) => DeValue::Array(DeArray::new()),
                _ => DeValue::Table(DeTable::new()),
            };
            let blank = Spanned::new(self.span.clone(), blank);
            let outer = places[..at].last().map_or("", |outer| outer.path);
            here = here.and_then(|inner| enter(inner, place, blank).map_err(|why| refused(outer, why)));
        }
        let set = here.map(|place| *place = value);
        if let DeValue::Table(table) = whole.into_inner() {
            *root = table;
        }
        set
    }

    fn places(&self) -> Result<Vec<Place<'_>>, String> {
        let expected = || "expected a path, as in engine.hash_mib or server[0].player".to_owned();
        let mut places: Vec<Place<'_>> = Vec::new();
        let mut begin = 0;
        while begin < self.key.len() || places.is_empty() {
            let rest = &self.key[begin..];
            let (step, length) = match rest.strip_prefix('[').filter(|_| begin > 0) {
                Some(inside) => {
                    let (index, _) = inside.split_once(']').ok_or_else(expected)?;
                    (Step::Index(index.parse().map_err(|_| expected())?), index.len() + 2)
                }
                None => {
                    let dot = if begin > 0 { "." } else { "" };
                    let word = rest.strip_prefix(dot).ok_or_else(expected)?;
                    let length = unquoted(word).find(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
                    let word = &word[..length.unwrap_or(word.len())];
                    let name = ['"', '\''].iter().find_map(|q| word.strip_prefix(*q)?.strip_suffix(*q));
                    let name = name.unwrap_or(word);
                    if name.is_empty() {
                        return Err(expected());
                    }
                    (Step::Key(name), dot.len() + word.len())
                }
            };
            let end = begin + length;
            let span = self.span.start + begin..self.span.start + end;
            places.push(Place { step, path: &self.key[..end], span });
            begin = end;
        }
        Ok(places)
    }

    /// Parses the value as TOML; a bare word is text.
    fn value(&self) -> Result<Spanned<DeValue<'_>>, String> {
        let text = self.document[self.value_at..].trim();
        match DeTable::parse(&self.document).map(Spanned::into_inner) {
            Ok(mut table) if table.len() == 1 => table.remove(VALUE).ok_or_else(|| "is missing".to_owned()),
            Err(error) if text.starts_with(['"', '\'', '[', '{']) => Err(plain(error.message())),
            _ => Ok(Spanned::new(self.value_at..self.span.end, DeValue::String(Cow::Borrowed(text)))),
        }
    }
}

/// Key of the value in its own document.
const VALUE: &str = "v";

/// The characters outside of quotes, with their places.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    text.char_indices().filter(move |(_, c)| match quote {
        Some(open) => {
            quote = Some(open).filter(|open| open != c);
            false
        }
        None => {
            quote = Some(*c).filter(|c| matches!(c, '"' | '\''));
            quote.is_none()
        }
    })
}

/// Returns what is at this place, which becomes `blank` if nothing is.
fn enter<'v, 't>(
    outer: &'v mut Spanned<DeValue<'t>>,
    place: &Place<'t>,
    blank: Spanned<DeValue<'t>>,
) -> Result<&'v mut Spanned<DeValue<'t>>, String> {
    match (outer.get_mut(), &place.step) {
        (DeValue::Table(table), Step::Key(name)) => {
            let key = Spanned::new(place.span.clone(), Cow::Borrowed(*name));
            Ok(table.entry(key).or_insert(blank))
        }
        (DeValue::Array(list), Step::Index(at)) => {
            let length = list.len();
            if *at == length {
                list.push(blank);
            }
            list.get_mut(*at).ok_or_else(|| format!("has no [{at}]: the next one is [{length}]"))
        }
        (DeValue::Array(_), Step::Key(_)) => {
            Err("is a list: say which one by its number from 0, as in server[0].player".to_owned())
        }
        (_, Step::Index(_)) => Err("is not a list".to_owned()),
        (_, Step::Key(_)) => Err("is not a table".to_owned()),
    }
}
