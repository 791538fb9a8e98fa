//! Parts of the protocol that differ by site: lines of streams, and the capabilities that we offer.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use reqwest::header::HeaderValue;
use zeitnot_wire::{
    WireError,
    lichess::{Event, GameId, GameMessage, VariantKey, line, pychess},
};

use super::{Config, challenges::filter::ChallengeFilter, rate_limits::RequestKind, site::Site};

/// Games of Chess960 that are remembered, more than run at once.
const MAX_GAMES: usize = 512;

/// A site's words for one account: how its lines are read, and what is told when the event stream is opened.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) site: Site,
    memory: Mutex<Memory>,
}

#[derive(Debug)]
struct Memory {
    capabilities: String,
    /// Games of Chess960, the oldest first.
    chess960: VecDeque<GameId>,
}

impl Dialect {
    pub(crate) fn new(config: &Config) -> Dialect {
        let memory = Memory { capabilities: capabilities(config), chess960: VecDeque::new() };
        Dialect { site: config.site(), memory: Mutex::new(memory) }
    }

    /// Changes what we offer. Returns whether the event stream has to be opened again for it.
    pub(crate) fn offer(&self, config: &Config) -> bool {
        let new = capabilities(config);
        let mut memory = self.memory();
        let is_new = self.site == Site::Pychess && memory.capabilities != new;
        memory.capabilities = new;
        is_new
    }

    /// Returns the header that a request of this kind needs beside those of all requests.
    pub(crate) fn header(&self, kind: RequestKind) -> Option<(&'static str, HeaderValue)> {
        let needs_one = self.site == Site::Pychess && kind == RequestKind::EventStream;
        let value = HeaderValue::from_str(&self.memory().capabilities).ok().filter(|_| needs_one)?;
        Some((pychess::CAPABILITIES, value))
    }

    /// Parses a line of the event stream. Returns `None` for a keepalive.
    pub(crate) fn event(&self, text: &str) -> Result<Option<Event>, WireError> {
        if self.site == Site::Lichess {
            return line(text);
        }
        let event = pychess::event(text)?;
        if let Some(Event::GameStart { game }) = &event
            && game.variant.key == VariantKey::Chess960
        {
            let mut memory = self.memory();
            memory.chess960.truncate(MAX_GAMES - 1);
            memory.chess960.push_front(game.game_id);
        }
        Ok(event)
    }

    /// Parses a line of a game's stream. Returns `None` for a keepalive.
    pub(crate) fn game_message(&self, text: &str) -> Result<Option<GameMessage>, WireError> {
        match self.site {
            Site::Lichess => line(text),
            Site::Pychess => pychess::game_message(text, |id| self.memory().chess960.contains(&id)),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the variants that are accepted from anybody, as pychess.org has them; it refuses bots with none.
fn capabilities(config: &Config) -> String {
    let filters = [&config.challenge.human, &config.challenge.bot];
    let accepts = |variant: &VariantKey| {
        let accepted = |filter: &&ChallengeFilter| filter.accept && filter.variants.contains(variant);
        filters.iter().any(accepted)
    };
    let mut offered: Vec<_> = VariantKey::KNOWN.iter().filter(|variant| accepts(variant)).cloned().collect();
    if offered.iter().all(|variant| *variant == VariantKey::FromPosition) {
        offered.push(VariantKey::Standard);
    }
    pychess::capabilities(&offered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_variants_that_are_accepted_are_offered_by_the_sites_names() {
        let header = |text: &str| {
            let dialect = Dialect::new(&config(&format!("site = 'pychess'\n{text}")));
            dialect.header(RequestKind::EventStream).unwrap().1.to_str().unwrap().to_owned()
        };
        assert_eq!(
            header(""),
            r#"{"version":1,"variants":["chess","chess960","crazyhouse","antichess","atomic","horde","kingofthehill","racingkings","3check"]}"#
        );
        let some = "[challenge.human]\nvariants = ['atomic']\n[challenge.bot]\naccept = false";
        assert_eq!(header(some), r#"{"version":1,"variants":["atomic"]}"#);
        let none = "[challenge.human]\naccept = false\n[challenge.bot]\naccept = false";
        assert_eq!(header(none), r#"{"version":1,"variants":["chess"]}"#);
        assert!(Dialect::new(&config("")).header(RequestKind::EventStream).is_none());
    }

    #[test]
    fn what_is_offered_anew_needs_a_new_stream() {
        let dialect = Dialect::new(&config("site = 'pychess'"));
        assert!(!dialect.offer(&config("concurrency = 2")));
        let fewer = config("[challenge.human]\nvariants = ['atomic']\n[challenge.bot]\naccept = false");
        assert!(dialect.offer(&fewer) && !dialect.offer(&fewer));
    }
}
