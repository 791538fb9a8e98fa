//! Connections of the clients to their servers, as the log tells of them.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metrics::{counter, describe_counter, describe_gauge, gauge};

const CONNECTED: &str = "zeitnot_connected";
const OPENED: &str = "zeitnot_connections_total";
const LOST: &str = "zeitnot_connections_lost_total";

/// Servers that are counted: no more than a configuration may name.
const MAX_SERVERS: usize = 64;

/// Servers, and whether we are connected to each. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct Connections(Arc<Mutex<BTreeMap<String, bool>>>);

/// Describes the metrics of the connections to the exporter.
pub(in crate::cli) fn describe() {
    describe_gauge!(CONNECTED, "Whether we are connected to the server: 1 or 0");
    describe_counter!(OPENED, "Connections that were opened, the first and those after a loss");
    describe_counter!(LOST, "Connections that were lost, and attempts that failed");
}

impl Connections {
    pub(super) fn opened(&self, server: &str) {
        counter!(OPENED, "server" => server.to_owned()).increment(1);
        // From the beginning on, so that the first loss shows as an increase.
        counter!(LOST, "server" => server.to_owned()).increment(0);
        self.set(server, true);
    }

    pub(super) fn lost(&self, server: &str) {
        counter!(LOST, "server" => server.to_owned()).increment(1);
        self.set(server, false);
    }

    fn set(&self, server: &str, is_connected: bool) {
        gauge!(CONNECTED, "server" => server.to_owned()).set(f64::from(u8::from(is_connected)));
        let mut servers = self.servers();
        if servers.len() < MAX_SERVERS || servers.contains_key(server) {
            servers.insert(server.to_owned(), is_connected);
        }
    }

    /// Returns whether we are connected to a server, at least.
    pub(super) fn any(&self) -> bool {
        self.servers().values().any(|is_connected| *is_connected)
    }

    fn servers(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Connections {
    /// `connected to A, B; not to C`, or `connecting`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers();
        let named = |wanted: bool| {
            let names = servers.iter().filter(|(_, is)| **is == wanted).map(|(server, _)| server.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        match (named(true), named(false)) {
            (open, lost) if open.is_empty() && lost.is_empty() => f.write_str("connecting"),
            (open, lost) if lost.is_empty() => write!(f, "connected to {open}"),
            (open, lost) if open.is_empty() => write!(f, "not connected to {lost}"),
            (open, lost) => write!(f, "connected to {open}; not to {lost}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_that_of_the_last_event() {
        let connections = Connections::default();
        assert!(!connections.any());
        assert_eq!(connections.to_string(), "connecting");
        connections.lost("a");
        assert_eq!((connections.any(), connections.to_string().as_str()), (false, "not connected to a"));
        connections.opened("a");
        connections.opened("b");
        assert_eq!((connections.any(), connections.to_string().as_str()), (true, "connected to a, b"));
        connections.lost("b");
        assert_eq!(connections.to_string(), "connected to a; not to b");
        (0..2 * MAX_SERVERS).for_each(|number| connections.lost(&number.to_string()));
        assert_eq!(connections.servers().len(), MAX_SERVERS);
    }
}
