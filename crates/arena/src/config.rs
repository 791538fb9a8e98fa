//! The `[arena]` table of the configuration, and its checks.

use std::{collections::BTreeSet, net::SocketAddr, path::PathBuf};

use zeitnot_host::database::DatabaseLocation;
use zeitnot_net::Contradictions;
use zeitnot_pairing::Name;
use zeitnot_settings::settings;
use zeitnot_web::{page, places::PlaceLimits};

use crate::{
    error::ArenaError,
    imcs, lichess,
    listening::{Ends, Listening},
    tournament::{StartKind, TournamentConfig},
    tuc::TucConfig,
};

/// The database's name in the folder of games.
const DATABASE: &str = "zeitnot.db";

settings! {
    /// A tournament server for a class or a lab, for `zeitnot arena`; see docs/arena.md.
    #[derive(PartialEq)]
    pub struct Config {
        /// Address to listen on for TCP. "0.0.0.0:8000" accepts other machines; port 0 takes any free port.
        #[schemars(example = &"127.0.0.1:8000")]
        tcp: Option<SocketAddr> = None,
        /// Address to listen on for WebSocket.
        #[schemars(example = &"127.0.0.1:8001")]
        websocket: Option<SocketAddr> = None,
        /// Folder for PGN files, one for each tournament and run; created if it does not exist.
        games: PathBuf = "games".into(),
        /// Database of tournaments and games, from which a restarted arena continues. A file (by default zeitnot.db in the
        /// folder of games, readable only by you), or "postgres://USER@HOST/DATABASE" with the password in PGPASSWORD or
        /// ~/.pgpass, which several arenas can share; a program from Cargo needs the feature `postgres` for that. `zeitnot
        /// arena results` reads it. "": none.
        #[schemars(with = "String", example = &"games/zeitnot.db")]
        database: Option<DatabaseLocation> = None,
        /// Maximum number of players connected at once, for each protocol; spectators do not count.
        #[schemars(range(min = 1))]
        max_connections: usize = 256,
        /// Maximum number of players from one address, and of their names in one tournament. A class behind one router or on
        /// one machine needs one for each program.
        #[schemars(range(min = 1))]
        max_connections_per_address: usize = 100,
        /// Maximum number of spectators; a new one replaces the oldest of the address that has the most.
        #[schemars(range(min = 1))]
        max_spectators: usize = 64,
        /// One table for each tournament.
        tournament: Vec<TournamentConfig> = Vec::new(),
        /// The page that shows the games to browsers, and the API behind it; see docs/web.md. With it the arena runs until
        /// it is stopped.
        web: Option<page::Config> = None,
        /// Tables for TUC-Chess over UDP, one port each.
        tuc: Vec<TucConfig> = Vec::new(),
        /// An Internet MiniChess Server (IMCS), on which users register, offer and accept games. With it the arena runs
        /// until it is stopped, also without [[arena.tournament]], `tcp` and `websocket`.
        imcs: Option<imcs::Config> = None,
        /// The Lichess Bot API, for lichess-bot, BotLi and others: they connect to http://… instead of Lichess.
        lichess: Option<lichess::Config> = None,
    }
}

impl Config {
    /// Finds keys that contradict each other.
    pub fn contradictions(&self, found: &mut Contradictions) {
        let max = ("max_connections", self.max_connections);
        found.at_most(("max_connections_per_address", self.max_connections_per_address), max);
        let names: Vec<_> = self.tournament.iter().map(|tournament| &tournament.name).collect();
        found.distinct("tournament", "name", &names);
        for (at, tournament) in self.tournament.iter().enumerate() {
            if let Err(why) = tournament.check() {
                found.add(&[&format!("tournament[{at}]")], why);
            }
            let accounts = self.accounts_of(&tournament.name).count();
            found.within(&format!("tournament[{at}]"), |found| {
                tournament.contradictions(self.max_players_at_once(), accounts, found);
                tournament.unused_keys(found);
                if tournament.start() == StartKind::Organiser && self.web.is_none() {
                    let what = "\"organiser\" needs [arena.web], as the organiser begins it there: add that table, or \
                                remove start";
                    found.add(&["start"], what);
                }
            });
        }
        if let Some(lichess) = &self.lichess {
            found.within("lichess", |found| lichess.contradictions(found));
        }
    }

    /// Returns the accounts that play in a tournament.
    fn accounts_of(&self, tournament: &Name) -> impl Iterator<Item = Name> {
        let accounts = self.lichess.iter().flat_map(lichess::Config::class_accounts);
        accounts.filter(move |(entered, _)| entered == tournament).map(|(_, account)| account)
    }

    /// Returns how many players, besides accounts, can be connected at once, and the key that limits them.
    pub(crate) fn max_players_at_once(&self) -> (&'static str, usize) {
        let all = ("arena.max_connections", self.max_connections);
        let per_address = ("arena.max_connections_per_address", self.max_connections_per_address);
        let is_local = self.tcp.iter().chain(&self.websocket).all(|port| port.ip().is_loopback());
        // All players of this machine come from one address.
        if is_local && per_address.1 < all.1 { per_address } else { all }
    }

    /// Database of tournaments and games, if there is to be one.
    pub fn database(&self) -> Option<DatabaseLocation> {
        match &self.database {
            None => Some(self.games.join(DATABASE).into()),
            Some(location) => Some(location.clone()).filter(|location| !location.is_none()),
        }
    }

    pub(crate) fn place_limits(&self) -> PlaceLimits {
        let (players, spectators) = (self.max_connections, self.max_spectators);
        PlaceLimits { players, spectators, per_address: self.max_connections_per_address }
    }

    /// Returns all ports: a row for each front, which the checks and the log read.
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

    /// Checks what the types alone do not say.
    ///
    /// # Errors
    /// [`ArenaError::Config`] with the mistake.
    pub fn check(&self) -> Result<(), ArenaError> {
        let error = |why: String| Err(ArenaError::Config(why));
        let listening = self.listening();
        let is_open = listening.iter().any(|port| port.ends == Ends::WithTournaments);
        // Other games need no tournament.
        let others = listening.iter().any(|port| port.ends != Ends::WithTournaments);
        if !is_open && (!self.tournament.is_empty() || !others) {
            return error("nowhere to listen: set tcp = \"127.0.0.1:8000\" or websocket".into());
        }
        if let Some(Err(why)) = self.imcs.as_ref().map(imcs::Config::check) {
            return error(why);
        }
        if let Some(Err(why)) = self.lichess.as_ref().map(lichess::Config::check) {
            return error(why);
        }
        if self.tournament.is_empty() && !others {
            return error("no tournament: add an [[arena.tournament]] with a name and a time".into());
        }
        if let Some((one, other, address)) = same_port(&listening) {
            return error(format!("{one} and {other} both listen on {address}: give each its own port"));
        }
        let mut names = BTreeSet::new();
        for tournament in &self.tournament {
            if !names.insert(&tournament.name) {
                return error(format!("two tournaments have the name '{}'", tournament.name));
            }
            if let Err(why) = tournament.check() {
                return error(format!("tournament '{}': {why}", tournament.name));
            }
        }
        if self.web.is_some() {
            // The organiser may create it on the page.
            return Ok(());
        }
        let accounts = self.lichess.iter().flat_map(|lichess| &lichess.account);
        match accounts.filter_map(|account| account.class.as_ref()).find(|class| !names.contains(class)) {
            Some(class) => {
                error(format!("lichess: there is no tournament '{class}' for an account to play in"))
            }
            None => Ok(()),
        }
    }

    /// Reads the files that the arena will read: openings, keys, users, tokens.
    ///
    /// # Errors
    /// [`ArenaError`] with the first one that cannot be used.
    pub fn check_files(&self) -> Result<(), ArenaError> {
        for tournament in &self.tournament {
            tournament.openings.as_ref().map_or(Ok(()), |it| it.read(tournament.game).map(drop))?;
        }
        for tournament in &self.tournament {
            tournament.open_keys(&self.accounts_of(&tournament.name).collect())?;
        }
        if let Some(imcs) = &self.imcs {
            imcs::Users::open(&imcs.users)?;
        }
        if let Some(web) = &self.web {
            web.find_token().map_err(ArenaError::Config)?;
        }
        let mut lichess = self.lichess.clone();
        lichess.as_mut().map_or(Ok(()), lichess::Config::load_tokens).map_err(ArenaError::Config)?;
        // Two of them may be the same.
        lichess.as_ref().map_or(Ok(()), lichess::Config::check).map_err(ArenaError::Config)
    }
}

/// Returns two keys with the same address, on which only one can listen.
fn same_port(ports: &[Listening]) -> Option<(&'static str, &'static str, SocketAddr)> {
    let is_same = |one: &Listening, other: &Listening| {
        let (a, b) = (one.address, other.address);
        let shared = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
        one.is_datagram() == other.is_datagram() && a.port() == b.port() && a.port() != 0 && shared
    };
    ports.iter().enumerate().find_map(|(at, other)| {
        let one = ports[..at].iter().find(|before| is_same(before, other))?;
        Some((one.key, other.key, other.address))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::keys::Keys;

    fn read(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn defaults_and_durations() {
        let config =
            read("tcp = '127.0.0.1:0'\n[[tournament]]\nname = 'class'\ntime = '3+0.05'\npause = '1s 500ms'");
        assert!(config.check().is_ok());
        let mut expected = TournamentConfig::new("class", "3+0.05").unwrap();
        expected.pause = Duration::from_millis(1500);
        assert_eq!(config.tournament, [expected]);
        assert_eq!((config.max_connections, config.games.as_path()), (256, "games".as_ref()));
        assert_eq!(config.database(), Some(DatabaseLocation::File("games/zeitnot.db".into())));
        assert_eq!(read("database = ''").database(), None);
        assert_eq!(read("database = 'class.db'").database(), Some(DatabaseLocation::File("class.db".into())));
    }

    #[test]
    fn imcs_needs_no_tournament() {
        assert!(read("[imcs]\nlisten = '127.0.0.1:0'").check().is_ok());
    }

    #[test]
    fn mistakes_are_reported() {
        let class = "[[tournament]]\nname = 'class'\ntime = '3'\n";
        for (text, why) in [
            (class.to_owned(), "nowhere to listen"),
            ("tcp = '127.0.0.1:0'".to_owned(), "no tournament"),
            (format!("tcp = '127.0.0.1:0'\n{class}{class}"), "two tournaments"),
            (format!("tcp = '127.0.0.1:0'\n{class}pairing = 'knockout'"), "needs players"),
            (format!("tcp = '127.0.0.1:0'\n{class}players = 6\npairing = 'swiss'"), "needs rounds"),
            (
                format!("tcp = '127.0.0.1:0'\n{class}players = 6\npairing = 'swiss'\nrounds = 6"),
                "fewer than players",
            ),
            (format!("tcp = '127.0.0.1:0'\n{class}players = 6\nrounds = 3"), "only with pairing"),
            (format!("tcp = '127.0.0.1:0'\n{class}players = 6\nacceleration = 'baku'"), "only with pairing"),
            (format!("tcp = '127.0.0.1:0'\n{class}players = 6\npairing = 'gauntlet'"), "needs gauntlet"),
            (format!("{class}[imcs]\nlisten = '127.0.0.1:0'"), "nowhere to listen"),
            ("[imcs]\nlisten = '127.0.0.1:0'\ntime = '1s 500ms'".to_owned(), "whole seconds"),
            (
                format!("tcp = '0.0.0.0:8000'\nwebsocket = '127.0.0.1:8000'\n{class}"),
                "tcp and websocket both",
            ),
            (
                "[lichess]\nlisten = '127.0.0.1:0'\naccount = [{ name = 'a', class = 'x' }]".to_owned(),
                "no tournament 'x'",
            ),
        ] {
            let error = read(&text).check().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_are_read_and_those_with_tokens_are_private() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("alice.token");
        let account = |name: &str| format!("{{ name = '{name}', token_file = '{}' }}", file.display());
        let with =
            |accounts: &str| read(&format!("[lichess]\nlisten = '127.0.0.1:0'\naccount = [{accounts}]"));
        let told = |config: &Config| config.check_files().unwrap_err().to_string();
        let one = with(&account("alice"));
        assert!(told(&one).contains("alice.token: No such file"), "{}", told(&one));
        fs::write(&file, "lip_alice\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let advice = format!("others can read it: chmod 600 {}", file.display());
        assert!(told(&one).ends_with(&advice), "{}", told(&one));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        one.check_files().unwrap();
        let two = with(&[account("alice"), account("bob")].join(", "));
        assert!(told(&two).contains("two accounts have the same token"));
        let class = "tcp = '127.0.0.1:0'\n[[tournament]]\nname = 'class'\ntime = '3'\n";
        let openings = format!("{class}openings = 'nowhere.epd'\n");
        assert!(told(&read(&openings)).contains("cannot read the openings nowhere.epd"));
        // With them, play never begins.
        let keys = folder.path().join("class.keys");
        let names = ["alice", "bob"].map(|name| Name::try_from(name).unwrap());
        Keys::add(&keys, &names).unwrap();
        let class = format!("{class}keys = '{}'\n", keys.display());
        let account = "[lichess]\nlisten = '127.0.0.1:0'\naccount = [{ name = 'carol', class = 'class' }]\n";
        assert!(told(&read(&format!("{class}players = 3\n"))).contains("players is 3, but"));
        let champion = format!("{class}start = 'organiser'\npairing = 'gauntlet'\ngauntlet = ['carol']\n");
        assert!(told(&read(&champion)).contains("carol of its gauntlet has no key"));
        for valid in [
            format!("{class}players = 2\n"),
            format!("{class}players = 3\npassword = 'sesame'\n"),
            format!("{class}players = 3\n{account}"),
            format!("{champion}{account}"),
        ] {
            read(&valid).check_files().unwrap();
        }
    }
}
