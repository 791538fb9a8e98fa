//! What the arena listens on: a row for each front, which the checks of the configuration and the log read.

use std::{fmt, net::SocketAddr};

use crate::config::Config;

/// When a front has nothing more to do.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Ends {
    WithTournaments,
    WithItsGames,
    WhenStopped,
}

/// A port, as configured or as bound. Its text is the URL and the purpose.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Key of the address.
    pub(crate) key: &'static str,
    pub(crate) address: SocketAddr,
    pub(crate) ends: Ends,
    url: String,
    purpose: &'static str,
}

impl Listening {
    /// Whether it goes on when all tournaments and tables have ended.
    pub fn stays(&self) -> bool {
        self.ends == Ends::WhenStopped
    }

    pub(crate) fn is_datagram(&self) -> bool {
        self.url.starts_with("udp:")
    }
}

impl fmt::Display for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.url, self.purpose)
    }
}

impl Config {
    /// Returns all ports.
    pub fn listening(&self) -> Vec<Listening> {
        let port = |key, scheme, address: Option<SocketAddr>, purpose, ends| {
            address.map(|address| Listening {
                key,
                address,
                ends,
                url: format!("{scheme}://{address}"),
                purpose,
            })
        };
        let imcs = self.imcs.as_ref().map(|imcs| imcs.listen);
        let lichess = self.lichess.as_ref().map(|lichess| lichess.listen);
        let tables = self.tuc.iter().map(|table| {
            port("tuc.address", "udp", Some(table.address), " for TUC-Chess", Ends::WithItsGames)
        });
        let page = self.web.as_ref().map(|web| Listening {
            key: "web.listen",
            address: web.listen,
            ends: Ends::WhenStopped,
            url: web.url(web.listen),
            purpose: " for browsers",
        });
        let bots = " for bots that speak the Lichess API";
        let ports = [
            port("tcp", "tcp", self.tcp, "", Ends::WithTournaments),
            port("websocket", "ws", self.websocket, "", Ends::WithTournaments),
            port("imcs.listen", "tcp", imcs, " for MiniChess (IMCS)", Ends::WhenStopped),
            port("lichess.listen", "http", lichess, bots, Ends::WhenStopped),
        ];
        ports.into_iter().chain(tables).flatten().chain(page).collect()
    }
}
