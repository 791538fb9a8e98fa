//! Service: what watches over a program that runs for long, such as systemd, Prometheus and health checks.

use std::{fmt, time::Duration};

use tokio_util::task::TaskTracker;
use zeitnot_clients::Shutdown;
use zeitnot_external::process;

use super::CliError;

pub(super) mod client_events;
pub(super) mod connections;
mod heartbeat;
pub(super) mod metrics;
pub(super) mod process_metrics;
mod systemd;

pub(super) use connections::Connections;
use heartbeat::Heartbeat;
use metrics::Exporter;
pub(super) use systemd::Notifier;

/// Time without an answer of the network thread after which it counts as hung.
const MAX_SILENCE: Duration = Duration::from_secs(2);

/// Signs of life of the program. Cheap to clone.
#[derive(Clone, Debug)]
struct Health {
    heartbeat: Heartbeat,
    readiness: Readiness,
}

/// State in which the program serves its purpose.
#[derive(Clone, Debug)]
pub(super) enum Readiness {
    /// Always, as its ports are open.
    Listening,
    /// While it is connected to a server.
    Connected(Connections),
}

impl Health {
    fn is_alive(&self) -> bool {
        self.is_alive_within(MAX_SILENCE)
    }

    fn is_alive_within(&self, limit: Duration) -> bool {
        self.heartbeat.silence() < limit
    }

    fn is_ready(&self) -> bool {
        let is_ready = match &self.readiness {
            Readiness::Listening => true,
            Readiness::Connected(connections) => connections.any(),
        };
        is_ready && self.is_alive()
    }
}

/// Starts what watches over the program, on the network thread; systemd is told until the notifier is dropped. `status`
/// describes what the program does, in a line; `update` measures what changes unseen, whenever the metrics are asked for.
pub(super) fn watch(
    exporter: Option<Exporter>,
    readiness: Readiness,
    status: impl fmt::Display + Send + 'static,
    update: impl Fn() + Send + Sync + 'static,
    shutdown: &Shutdown,
    tasks: &TaskTracker,
) -> Result<Option<Notifier>, CliError> {
    systemd::VARIABLES.into_iter().for_each(process::withhold);
    let heartbeat = Heartbeat::default();
    let health = Health { heartbeat: heartbeat.clone(), readiness };
    // Until the program ends, also while it finishes its games.
    tokio::spawn(heartbeat.run());
    if let Some(exporter) = exporter {
        exporter.serve(health.clone(), update, tasks, shutdown.now.clone());
    }
    Notifier::start(health, move || status.to_string(), shutdown.soon.clone())
}
