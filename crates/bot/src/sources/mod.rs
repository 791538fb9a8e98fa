//! Sources of moves that go before the search: the cache, opening books, tablebases, and servers.
//!
//! [`SourceOrder`] ranks them. A move that is known at once and ranks first is played at once. The answers of the
//! others are waited for beside the search ([`SourceLookup`]), each no longer than its timeout; the search comes last.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use zeitnot_engine::book::{Book, BookConfig, BookError};
use zeitnot_rules::Game;
use zeitnot_seat::{GameInfo, LookupSource, PositionLookup};
use zeitnot_settings::{JsonSchema, schemars};

use crate::syzygy::SyzygyTables;

mod books;
mod lookup;

pub use books::BookRule;
use books::Books;
pub(crate) use lookup::{LookupAnswer, LookupRequest, LookupState, SourceLookup};

#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    Cache,
    Book,
    Syzygy,
    Tablebase,
    ChessDb,
    Cloud,
    Explorer,
}

impl Source {
    const ALL: [Source; 7] = [
        Source::Cache,
        Source::Book,
        Source::Syzygy,
        Source::Tablebase,
        Source::ChessDb,
        Source::Cloud,
        Source::Explorer,
    ];

    /// Returns the server to ask, if the source is one.
    fn server(self) -> Option<LookupSource> {
        match self {
            Source::Cache | Source::Book | Source::Syzygy => None,
            Source::Tablebase => Some(LookupSource::Tablebase),
            Source::ChessDb => Some(LookupSource::ChessDb),
            Source::Cloud => Some(LookupSource::Cloud),
            Source::Explorer => Some(LookupSource::Explorer),
        }
    }
}

/// Sources by rank; others are not used. The search comes last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceOrder(Vec<Source>);

impl Default for SourceOrder {
    fn default() -> Self {
        SourceOrder(Source::ALL.to_vec())
    }
}

impl<'de> Deserialize<'de> for SourceOrder {
    fn deserialize<D: Deserializer<'de>>(list: D) -> Result<Self, D::Error> {
        let sources = Vec::<Source>::deserialize(list)?;
        if sources.iter().enumerate().any(|(at, source)| sources[..at].contains(source)) {
            return Err(D::Error::custom("expected each source once"));
        }
        Ok(SourceOrder(sources))
    }
}

impl SourceOrder {
    pub(crate) fn has(&self, source: Source) -> bool {
        self.0.contains(&source)
    }

    /// Returns whether this server is a source.
    pub fn asks(&self, server: LookupSource) -> bool {
        self.0.iter().any(|source| source.server() == Some(server))
    }
}

/// All sources but the cache. Cheap to clone; shared by all players.
#[derive(Clone, Debug, Default)]
pub struct MoveSources {
    order: SourceOrder,
    books: Books,
    /// Of this game.
    book: Option<Book>,
    syzygy: Option<SyzygyTables>,
    servers: Option<Arc<dyn PositionLookup>>,
}

impl MoveSources {
    /// Reads the books. `servers` are asked later, game by game.
    ///
    /// # Errors
    /// [`BookError`] if a book cannot be read.
    pub fn open(
        order: SourceOrder,
        book: &BookConfig,
        rules: &[BookRule],
        servers: Option<Arc<dyn PositionLookup>>,
    ) -> Result<MoveSources, BookError> {
        Ok(MoveSources { order, books: Books::open(book, rules)?, servers, ..MoveSources::default() })
    }

    /// Returns the sources of one game, with the book that is chosen for it.
    pub(crate) fn for_game<G: Game>(&self, info: &GameInfo, start: &G) -> MoveSources {
        MoveSources { book: self.books.choose(info, start), ..self.clone() }
    }

    /// The same with tablebases on this machine.
    #[must_use]
    pub fn with_syzygy(self, syzygy: Option<SyzygyTables>) -> MoveSources {
        MoveSources { syzygy, ..self }
    }
}

impl fmt::Display for MoveSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enabled = self.servers.as_ref().map(|servers| servers.sources()).unwrap_or_default();
        for source in &self.order.0 {
            match source {
                Source::Cache => f.write_str("cache, ")?,
                Source::Book => fmt::Display::fmt(&self.books, f)?,
                Source::Syzygy => {
                    if let Some(tables) = &self.syzygy {
                        write!(f, "syzygy ({tables}), ")?;
                    }
                }
                other => {
                    if let Some(server) = other.server().filter(|server| enabled.contains(server)) {
                        write!(f, "{server}, ")?;
                    }
                }
            }
        }
        f.write_str("search")
    }
}
