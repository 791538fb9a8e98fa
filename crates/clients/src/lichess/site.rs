//! The sites that have the API for bots, and what each of them lacks.

use reqwest::StatusCode;
use serde::{Deserialize, Serialize};
use zeitnot_net::http::BaseUrl;
use zeitnot_settings::{JsonSchema, schemars};

use super::rate_limits::RequestKind;

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

#[cfg(test)]
mod tests {
    use zeitnot_net::Contradictions;

    use super::*;
    use crate::lichess::Config;

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
}
