//! Admission to a tournament: the names and keys of its list, its password, and the names reserved for accounts.

use std::collections::BTreeSet;

use zeitnot_net::secret::Secret;
use zeitnot_pairing::Name;

use crate::{client::Client, keys::Keys};
use zeitnot_host::{
    note::{Note, with_note},
    origin::Origin,
};
use zeitnot_web::guesses::{Guesses, WrongSecret};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JoinError {
    #[error("Unknown tournament {name}; the arena has: {known}")]
    Unknown { name: String, known: String },
    #[error("Name {0} is already taken, perhaps by another program of yours")]
    Taken(Name),
    #[error("Name {0} is already taken: choose another one")]
    Reserved(Name),
    #[error("Name {name} is kept for its player's address: try again in {wait} s")]
    Held { name: Name, wait: u64 },
    #[error("Name {name} looks like {other}, which is taken")]
    LooksLike { name: Name, other: Name },
    #[error("There are too many names from your address in tournament {0}")]
    TooManyNames(Name),
    #[error("A name has no spaces. Or was the second word a key? Tournament {0} requires none")]
    NoKeyAsked(Name),
    #[error("Tournament {0} requires a key: ask the organiser for yours, and write it after the name")]
    KeyMissing(Name),
    #[error("That is not the key for {0}")]
    WrongKey(Name),
    #[error("There were too many wrong keys from your address in tournament {0}: wait a minute")]
    TooManyGuesses(Name),
    #[error("{0} is not on the list of players")]
    NotListed(Name),
    #[error("{name} is not on the list of players, but {listed} is: upper and lower case differ")]
    ListedOtherwise { name: Name, listed: Name },
    #[error("Tournament {0} is full")]
    Full(Name),
    #[error("{}", with_note(format!("The organiser has removed {name} from the tournament"), note.as_ref()))]
    Removed { name: Name, note: Option<Note> },
    #[error("Tournament {0} is closed: no games are left for a newcomer")]
    TooLate(Name),
    #[error("Tournament {0} has begun: its organiser must allow late entries")]
    HasBegun(Name),
    #[error("Tournament {0} is over")]
    Over(String),
}

/// Proof of a player who wants to join.
#[derive(Clone, Debug)]
pub(crate) enum Proof {
    /// Another front knows its account, or it is an engine of the arena.
    Account,
    /// A connection from this address, and the key that it showed.
    Shown { from: Origin, key: Option<Secret> },
}

#[derive(Clone, Debug)]
pub(crate) struct Applicant {
    pub(crate) name: Name,
    pub(crate) proof: Proof,
    pub(crate) client: Client,
}

/// Player who may join.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) name: Name,
    /// The address that gets the name; `None` if the name is proven.
    pub(super) holder: Option<Origin>,
    pub(super) client: Client,
}

#[derive(Debug, Default)]
pub(crate) struct Admission {
    pub(crate) password: Option<Secret>,
    pub(crate) keys: Option<Keys>,
    /// Names of accounts on other fronts, and of engines of the arena.
    pub(crate) reserved: BTreeSet<Name>,
    pub(crate) guesses: Guesses<Origin>,
}

impl Admission {
    /// Returns the word for what players show besides their names; empty if they show nothing.
    pub(super) fn proof(&self) -> &'static str {
        match (&self.keys, &self.password) {
            (Some(_), _) => "KEY",
            (None, Some(_)) => "PASSWORD",
            (None, None) => "",
        }
    }

    /// Checks whether a player may join.
    pub(super) fn admit(&self, tournament: &Name, applicant: Applicant) -> Result<Admitted, JoinError> {
        let Applicant { name, proof, client } = applicant;
        let (from, shown) = match &proof {
            Proof::Account => return Ok(Admitted { name, holder: None, client }),
            Proof::Shown { from, key } => (*from, key.as_ref().map(Secret::expose)),
        };
        let rejected = |wrong| match wrong {
            WrongSecret::Wrong => JoinError::WrongKey(name.clone()),
            WrongSecret::TooMany => JoinError::TooManyGuesses(tournament.clone()),
        };
        let key = self.keys.as_ref().and_then(|keys| keys.of(&name));
        let holder = match (key, &self.password, shown) {
            _ if self.reserved.contains(&name) => return Err(JoinError::Reserved(name)),
            (Some(key), _, Some(shown)) => {
                self.guesses.judge(from, shown, key.is(shown)).map_err(rejected)?;
                None
            }
            (None, Some(password), Some(shown)) => {
                self.guesses.judge_password(from, shown, password.is(shown)).map_err(rejected)?;
                Some(from)
            }
            (Some(_), _, None) | (None, Some(_), None) => {
                return Err(JoinError::KeyMissing(tournament.clone()));
            }
            (None, None, _) if self.keys.is_some() => return Err(self.not_listed(name)),
            (None, None, Some(_)) => return Err(JoinError::NoKeyAsked(tournament.clone())),
            (None, None, None) => Some(from),
        };
        Ok(Admitted { name, holder, client })
    }

    /// Returns the refusal of a name without a key of its own.
    fn not_listed(&self, name: Name) -> JoinError {
        let mut names = self.keys.iter().flat_map(Keys::names);
        match names.find(|listed| listed.as_str().eq_ignore_ascii_case(name.as_str())).cloned() {
            Some(listed) => JoinError::ListedOtherwise { name, listed },
            None => JoinError::NotListed(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tokio_util::sync::CancellationToken;

    use super::*;

    fn name(text: &str) -> Name {
        Name::try_from(text).unwrap()
    }

    /// Whether a player is admitted, and holds the name by its address.
    fn try_join(admission: &Admission, player: &str, key: Option<&str>) -> Result<bool, JoinError> {
        let client = Client::channel(CancellationToken::new()).0;
        let from = Origin::from(IpAddr::from([10, 0, 0, 1]));
        let proof = Proof::Shown { from, key: key.map(Secret::of) };
        let admitted = admission.admit(&name("class"), Applicant { name: name(player), proof, client });
        admitted.map(|admitted| admitted.holder.is_some())
    }

    #[test]
    fn keys_passwords_and_reserved_names() {
        let open = Admission { reserved: [name("Lila")].into(), ..Admission::default() };
        assert_eq!(try_join(&open, "alice", None), Ok(true));
        assert_eq!(try_join(&open, "my", Some("bot")), Err(JoinError::NoKeyAsked(name("class"))));
        assert_eq!(try_join(&open, "Lila", None), Err(JoinError::Reserved(name("Lila"))));
        let keys = Keys::parse("alice k1\n").unwrap();
        let mut listed = Admission { keys: Some(keys), ..Admission::default() };
        assert_eq!(try_join(&listed, "alice", Some("k1")), Ok(false));
        assert_eq!(try_join(&listed, "alice", Some("k2")), Err(JoinError::WrongKey(name("alice"))));
        assert_eq!(try_join(&listed, "alice", None), Err(JoinError::KeyMissing(name("class"))));
        assert_eq!(try_join(&listed, "bob", Some("k1")), Err(JoinError::NotListed(name("bob"))));
        let otherwise = JoinError::ListedOtherwise { name: name("Alice"), listed: name("alice") };
        assert_eq!(try_join(&listed, "Alice", Some("k1")), Err(otherwise));
        listed.password = Some(Secret::try_from("sesame").unwrap());
        assert_eq!(try_join(&listed, "bob", Some("sesame")), Ok(true));
        assert_eq!(try_join(&listed, "bob", Some("open")), Err(JoinError::WrongKey(name("bob"))));
        assert_eq!(try_join(&listed, "alice", Some("sesame")), Err(JoinError::WrongKey(name("alice"))));
        assert_eq!(try_join(&listed, "bob", None), Err(JoinError::KeyMissing(name("class"))));
    }
}
