//! Exporter of the metrics to Prometheus, and the port where it is asked.

use std::net::SocketAddr;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::info;
use zeitnot_bot as bot;
use zeitnot_engine::priority;
use zeitnot_settings::settings;
use zeitnot_web::{
    hosts::PublicUrl,
    status_server::{Status, StatusServer},
};

use super::{Health, process_metrics};
use crate::cli::CliError;

settings! {
    /// A port for Prometheus (/metrics) and health checks (/healthz, /readyz), of `zeitnot play` and `zeitnot arena`; see
    /// docs/service.md. It has no password: keep it on this machine or behind a firewall.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// Address to listen on for HTTP; port 0 takes any free port.
        listen: SocketAddr = ([127, 0, 0, 1], 9464).into(),
        /// The name by which others reach it, if not by an address.
        #[schemars(with = "String", example = &"http://bot.example.org:9464")]
        public: Option<PublicUrl> = None,
    }
}

/// Exporter with its port bound. From its start on, all metrics are kept.
pub(in crate::cli) struct Exporter {
    server: StatusServer,
    handle: PrometheusHandle,
}

impl Exporter {
    /// Takes the port, and begins to keep metrics, those that `describe` describes among them. Must be called within a
    /// runtime, before anything is measured.
    pub(in crate::cli) fn open(config: &Config, describe: impl Fn()) -> Result<Exporter, CliError> {
        let server = StatusServer::bind(config.listen, config.public.clone())?;
        let handle = recorder().map_err(|error| CliError::Usage(format!("metrics: {error}")))?;
        process_metrics::start();
        describe();
        Ok(Exporter { server, handle })
    }

    /// Serves the metrics and the state until `stop`. `update` measures what changes unseen, whenever the metrics are asked
    /// for.
    pub(super) fn serve(
        self,
        health: Health,
        update: impl Fn() + Send + Sync + 'static,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) {
        let Exporter { server, handle } = self;
        info!("metrics: http://{}/metrics", server.address());
        tasks.spawn(server.run(Watched { handle, health, update }, priority::usual, stop));
    }
}

fn recorder() -> Result<PrometheusHandle, BuildError> {
    let with_buckets =
        bot::metrics::BUCKETS.iter().try_fold(PrometheusBuilder::new(), |builder, &(name, bounds)| {
            builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), bounds)
        });
    with_buckets?.install_recorder()
}

/// The program, as its port shows it.
struct Watched<U> {
    handle: PrometheusHandle,
    health: Health,
    update: U,
}

impl<U: Fn() + Send + Sync + 'static> Status for Watched<U> {
    fn metrics(&self) -> String {
        process_metrics::update();
        (self.update)();
        self.handle.render()
    }

    fn is_alive(&self) -> bool {
        self.health.is_alive()
    }

    fn is_ready(&self) -> bool {
        self.health.is_ready()
    }

    fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}
