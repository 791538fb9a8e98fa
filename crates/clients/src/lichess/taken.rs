//! The accounts that this process plays with. Two sessions of one account would end each other's event stream for
//! ever.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use zeitnot_net::http::Base;
use zeitnot_wire::lichess::UserId;

/// Of all servers: the one thing that sessions, which know nothing of each other, have to agree upon.
static TAKEN: Mutex<BTreeSet<(String, UserId)>> = Mutex::new(BTreeSet::new());

/// As long as it is kept, no other session plays with this account.
#[derive(Debug)]
pub(super) struct Taken((String, UserId));

impl Taken {
    /// `None`: another session has it.
    pub fn take(server: &Base, who: &UserId) -> Option<Taken> {
        let account = (server.to_string(), who.clone());
        let is_first = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone());
        is_first.then_some(Taken(account))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_session_an_account() {
        let (base, other) = (Base::default(), Base::try_from("http://127.0.0.1:1".to_owned()).unwrap());
        let who = "taken".parse().unwrap();
        let first = Taken::take(&base, &who);
        assert!(first.is_some() && Taken::take(&base, &who).is_none() && Taken::take(&other, &who).is_some());
        drop(first);
        assert!(Taken::take(&base, &who).is_some());
    }
}
