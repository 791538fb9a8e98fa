//! The sites that have the API for bots, and what each of them lacks or says in other words.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use reqwest::{StatusCode, header::HeaderValue};
use serde::{Deserialize, Serialize};
use zeitnot_net::http::BaseUrl;
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::{
    WireError,
    lichess::{Event, GameId, GameMessage, VariantKey, line, pychess},
};

use super::{
    Config, challenges::filter::ChallengeFilter, game::actions::GameAction, rate_limits::RequestKind,
};

/// Games of Chess960 that are remembered, more than run at once.
const MAX_GAMES: usize = 512;

/// Site whose rules a server follows.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Site {
    /// lichess.org, and servers with the same API.
    Lichess,
    /// pychess.org.
    Pychess,
}

impl Site {
    /// Returns the site of a server, by its host.
    pub(crate) fn of(url: &BaseUrl) -> Site {
        if url.is_within("pychess.org") { Site::Pychess } else { Site::Lichess }
    }

    /// Returns whether bots can challenge.
    pub(crate) fn lets_bots_challenge(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether bots can join teams and tournaments.
    pub(crate) fn lets_bots_join(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether a bot's game can be one without a clock. pychess.org counts its days as minutes of the bot.
    pub(crate) fn has_correspondence(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether our draw offers reach the opponent.
    pub(crate) fn takes_draw_offers(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether there is a route for a request in a game.
    pub(crate) fn takes(self, action: GameAction) -> bool {
        self == Site::Lichess || matches!(action, GameAction::Resign | GameAction::Abort)
    }

    /// Returns whether a move that arrives twice is refused. Elsewhere the second one is played if it is our turn again,
    /// and an illegal move loses the game.
    pub(crate) fn refuses_repeated_moves(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether the stream of a game tells that we resigned it.
    pub(crate) fn tells_our_end(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether a look-up tells whether we are online, by a user's id. pychess.org knows users by their names only.
    pub(crate) fn tells_presence(self) -> bool {
        self == Site::Lichess
    }

    /// Returns whether a reply means that the token is not accepted.
    pub(crate) fn refuses_token(self, kind: RequestKind, status: StatusCode) -> bool {
        let is_of_account = matches!(kind, RequestKind::Account | RequestKind::EventStream);
        status == StatusCode::UNAUTHORIZED
            || self == Site::Pychess && status == StatusCode::FORBIDDEN && is_of_account
    }
}

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
    use zeitnot_net::Contradictions;

    use super::*;

    fn config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_site_is_known_by_its_host_unless_it_is_set() {
        for (text, site) in [
            ("", Site::Lichess),
            ("url = 'https://www.pychess.org'", Site::Pychess),
            ("url = 'https://pychess.org'", Site::Pychess),
            ("url = 'https://notpychess.org'", Site::Lichess),
            ("url = 'http://127.0.0.1:8080'\nsite = 'pychess'", Site::Pychess),
        ] {
            assert_eq!(config(text).site(), site, "{text}");
        }
    }

    #[test]
    fn what_a_site_does_not_have_is_refused_at_the_start() {
        for (keys, contradicts) in [
            ("", ""),
            ("[matchmaking]", "bots cannot challenge on pychess.org"),
            ("[[team]]\nid = 'a'", "bots cannot join any on pychess.org"),
            ("[[tournament]]\nid = 'abcd1234'", "bots cannot join any on pychess.org"),
            ("[challenge.human]\ntime_controls = ['correspondence']", "bots cannot play correspondence"),
        ] {
            let mut found = Contradictions::default();
            config(&format!("url = 'https://www.pychess.org'\n{keys}")).contradictions(&mut found);
            let found: Vec<_> = found.into_found().into_iter().map(|found| found.what).collect();
            assert_eq!(found.len(), usize::from(!contradicts.is_empty()), "{found:?}");
            assert!(found.iter().all(|what| what.contains(contradicts)), "{found:?}");
            let mut found = Contradictions::default();
            config(keys).contradictions(&mut found);
            assert_eq!(found.into_found(), [], "{keys}");
        }
        let mut found = Contradictions::default();
        config("site = 'pychess'").contradictions(&mut found);
        assert!(found.into_found()[0].what.contains("set url"));
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
