//! Where a move may come from before it is searched for: the cache, a book, and others who are asked over HTTP.
//!
//! [`Order`] ranks them. What is known at once and ranks first is played at once. Beside a search, the answers of
//! others are waited for in this order ([`Inquiry`]), each no longer than its limit; the search is what is left.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, de::Error};

use zeitnot_engine::book::{Book, BookError};

use crate::online::{self, Online, OnlineError};

mod inquiry;

pub(super) use inquiry::{Asked, Inquiry, News, Step, first_fit};

/// Where a move may come from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// What was found before.
    Cache,
    /// A book of openings.
    Book,
    /// How endgames end.
    Tablebase,
    /// What other people's engines found.
    Cloud,
    /// What people have played.
    Explorer,
}

impl Source {
    const ALL: [Source; 5] =
        [Source::Cache, Source::Book, Source::Tablebase, Source::Cloud, Source::Explorer];

    /// Who is to be asked over the network.
    fn online(self) -> Option<online::Source> {
        match self {
            Source::Cache | Source::Book => None,
            Source::Tablebase => Some(online::Source::Tablebase),
            Source::Cloud => Some(online::Source::Cloud),
            Source::Explorer => Some(online::Source::Explorer),
        }
    }
}

/// Which source goes before which; one that is not named is not asked. The search comes last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order(Vec<Source>);

impl Default for Order {
    fn default() -> Self {
        Order(Source::ALL.to_vec())
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(list: D) -> Result<Self, D::Error> {
        let sources = Vec::<Source>::deserialize(list)?;
        let twice =
            sources.iter().enumerate().any(|(at, source)| sources.iter().take(at).any(|s| s == source));
        if twice {
            return Err(D::Error::custom("expected each source once"));
        }
        Ok(Order(sources))
    }
}

/// Why moves cannot be looked up as the configuration wants it.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file that is no book.
    #[error("bot.book: {0}")]
    Book(#[from] BookError),
    /// A server that cannot be asked.
    #[error(transparent)]
    Online(#[from] OnlineError),
}

/// All sources but the cache. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct Library {
    order: Order,
    book: Option<Arc<Book>>,
    online: Online,
}

impl Library {
    /// Reads the books, and gets ready to ask others; asks nobody yet.
    ///
    /// # Errors
    /// [`SourceError`]: what the user has to mend.
    pub fn open(config: &super::Config) -> Result<Library, SourceError> {
        let book = Book::open(&config.book)?.map(Arc::new);
        let online = Online::new(&config.tablebase, &config.cloud, &config.explorer)?;
        Ok(Library { order: config.sources.clone(), book, online })
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for source in &self.order.0 {
            match (source, &self.book) {
                (Source::Cache, _) => f.write_str("cache, ")?,
                (Source::Book, Some(book)) => write!(f, "book ({} entries), ", book.entries())?,
                (Source::Book, None) => {}
                (other, _) => {
                    let on = self.online.sources().find(|on| other.online() == Some(*on));
                    on.map_or(Ok(()), |on| write!(f, "{on}, "))?;
                }
            }
        }
        f.write_str("search")
    }
}
