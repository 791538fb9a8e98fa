//! Opening books by game: the first rule that matches decides.

use std::{fmt, path::PathBuf, sync::Arc};

use zeitnot_engine::book::{Book, BookConfig, BookError, Selection};
use zeitnot_net::Contradictions;
use zeitnot_rules::Game;
use zeitnot_seat::GameInfo;
use zeitnot_settings::schemars;

use crate::choice::{Variant, rule};

rule! {
    /// Opening books for some games; without `games`, for chess and Chess960.
    pub struct BookRule {
        /// Opening books in Polyglot format (.bin), merged into one; empty: no book in these games.
        #[serde(default)]
        files: Vec<PathBuf>,
        /// As `selection` of [bot.book], which is the default.
        #[schemars(example = Selection::Best)]
        selection: Option<Selection>,
        /// As `max_ply` of [bot.book], which is the default.
        #[schemars(example = 16)]
        max_ply: Option<usize>,
        /// As `min_weight` of [bot.book], which is the default.
        #[schemars(example = 10)]
        min_weight: Option<u32>,
    }
}

impl BookRule {
    fn config(&self, default: &BookConfig) -> BookConfig {
        BookConfig {
            files: self.files.clone(),
            selection: self.selection.unwrap_or(default.selection),
            max_ply: self.max_ply.unwrap_or(default.max_ply),
            min_weight: self.min_weight.unwrap_or(default.min_weight),
        }
    }

    /// Returns whether the rule is for games of this variant. The start of a variant has the key of the same position of
    /// chess: its books are those that name it.
    fn is_for(&self, variant: Variant) -> bool {
        self.games.is_some() || variant.is_chess()
    }

    /// Returns whether the rule is also for other games than chess and Chess960.
    pub(crate) fn names_variants(&self) -> bool {
        self.games.iter().flatten().any(|variant| !variant.is_chess())
    }

    /// Finds keys that contradict each other.
    pub(crate) fn contradictions(&self, found: &mut Contradictions) {
        self.conditions().contradictions(found);
        if !self.files.is_empty() && self.max_ply == Some(0) {
            found.add(&["max_ply"], "0 uses no move of the files: raise it, or remove the files");
        }
    }
}

/// Opened books. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    by_rule: Arc<[(BookRule, Option<Book>)]>,
    /// Where no rule matches.
    default: Option<Book>,
}

impl Books {
    pub(super) fn open(default: &BookConfig, rules: &[BookRule]) -> Result<Books, BookError> {
        let open = |rule: &BookRule| Ok((rule.clone(), Book::open(&rule.config(default))?));
        let by_rule: Result<Vec<_>, _> = rules.iter().map(open).collect();
        Ok(Books { by_rule: by_rule?.into(), default: Book::open(default)? })
    }

    /// Returns the book of a game.
    pub(super) fn choose<G: Game>(&self, info: &GameInfo, start: &G) -> Option<Book> {
        let variant = Variant::of(start);
        let matches = |rule: &BookRule| rule.is_for(variant) && rule.conditions().match_game(info, variant);
        match self.by_rule.iter().find(|(rule, _)| matches(rule)) {
            Some((_, book)) => book.clone(),
            None => self.default.clone().filter(|_| variant.is_chess()),
        }
    }
}

impl fmt::Display for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(book) = &self.default {
            write!(f, "book ({} entries), ", book.entries())?;
        }
        for (at, book) in self.by_rule.iter().enumerate() {
            let entries = book.1.as_ref().map_or(0, Book::entries);
            write!(f, "bot.books[{at}] ({entries} entries), ")?;
        }
        Ok(())
    }
}
