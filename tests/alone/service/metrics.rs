//! Metrics, as the real Prometheus takes them, and the answers to health checks.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;
use zeitnot_testing::{LONG, has_program, until};

use super::{arena, opponent, player};
use crate::support::{program::Program, web::Browser};

const LISTEN: &str = "[metrics]\nlisten = '127.0.0.1:0'\n";

/// The port that a program has told of in its log.
pub async fn port(program: &Program) -> Browser {
    let line = program.tells("metrics: http://").await;
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
    Browser::keep_alive(address.parse().unwrap())
}

async fn metrics(port: &Browser) -> String {
    let answer = port.get("/metrics").await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    answer.text().await.unwrap()
}

/// The sum of a metric over its labels.
fn sum(text: &str, name: &str) -> f64 {
    let values = text.lines().filter(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{') || rest.starts_with(' '))
    });
    values.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

#[test(limit = LONG)]
async fn games_are_counted_and_prometheus_takes_them_without_a_warning() {
    let arena = arena().await;
    let folder = arena.folder.path();
    let text = player(arena.tcp.unwrap(), "bot").replace("memory_mib = 0", "file = ''") + LISTEN;
    let bot = Program::configured(folder, "bot", &text);
    let port = port(&bot).await;
    until("ready", async || port.get("/readyz").await.status() == 200).await;
    assert_eq!(port.get("/healthz").await.status(), 200);
    assert_eq!(port.get("/").await.status(), 404);
    assert_eq!(port.ask("POST", "/metrics", &[], Vec::new()).await.status(), 405);
    let _opponent = opponent(&arena);
    until("two games", async || sum(&metrics(&port).await, "zeitnot_games_total") >= 2.0).await;
    let text = metrics(&port).await;
    let moves = sum(&text, "zeitnot_move_seconds_count");
    assert!(moves > 0.0, "{text}");
    assert_eq!(moves, sum(&text, "zeitnot_deadline_slack_seconds_count"));
    assert_eq!(sum(&text, "zeitnot_late_moves_total"), 0.0);
    assert!(sum(&text, "zeitnot_lag_seconds_count") > 0.0, "{text}");
    assert_eq!(sum(&text, "zeitnot_connected"), 1.0);
    assert!(sum(&text, "zeitnot_connections_total") >= 1.0, "{text}");
    assert!(sum(&text, "process_resident_memory_bytes") > 1e6, "{text}");
    lint(&text);
    scrape(&port, folder).await;
    are_documented(&text, "### Metrics of a bot\n");
}

#[test]
async fn an_arena_counts_its_players_and_is_always_ready() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{LISTEN}[arena]\ntcp = '127.0.0.1:0'\ngames = '{}'\n[[arena.tournament]]\nname = 'class'\ntime = '60'\n",
        folder.path().display()
    );
    let arena = Program::arena(folder.path(), &text);
    let port = port(&arena).await;
    assert_eq!(port.get("/readyz").await.status(), 200);
    let line = arena.tells("listening on tcp://").await;
    let address = line.rsplit("tcp://").next().unwrap().parse().unwrap();
    let _bot = Program::configured(folder.path(), "bot", &player(address, "bot"));
    until("a player", async || sum(&metrics(&port).await, "zeitnot_arena_players_joined_total") == 1.0).await;
    let text = metrics(&port).await;
    lint(&text);
    are_documented(&text, "### Metrics of an arena\n");
}

/// Names and types of the exported metrics.
fn exported(metrics: &str) -> BTreeSet<(String, String)> {
    let types = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.filter_map(|line| line.split_once(' ')).map(|(name, kind)| (name.into(), kind.into())).collect()
}

/// Names and types in the tables of a section of the page, and in the last one.
fn documented(sections: &[&str]) -> BTreeSet<(String, String)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/service.md")).unwrap();
    let tables =
        sections.iter().map(|section| page.split(section).nth(1).unwrap().split("\n##").next().unwrap());
    let rows = tables.flat_map(str::lines).filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` | "))
        .map(|(name, rest)| (name.to_owned(), rest.split(' ').next().unwrap().to_owned()))
        .collect()
}

/// The page documents what is exported, and nothing else.
fn are_documented(metrics: &str, section: &str) {
    assert_eq!(exported(metrics), documented(&[section, "### Metrics of both\n"]));
}

/// The dashboard asks for nothing that does not exist.
#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let known = documented(&["### Metrics of a bot\n", "### Metrics of an arena\n", "### Metrics of both\n"]);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/grafana.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let queries = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut shown = BTreeSet::new();
    for query in queries.map(|query| query["expr"].as_str().unwrap()) {
        let words = query.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words.filter(|word| word.starts_with("zeitnot_") || word.starts_with("process_")) {
            let is_of = |(name, kind): &&(String, String)| {
                let parts = if kind == "histogram" { &["_bucket", "_count", "_sum"][..] } else { &[""] };
                parts.iter().any(|part| word == format!("{name}{part}"))
            };
            let metric =
                known.iter().find(is_of).unwrap_or_else(|| panic!("no such metric: {word} in {query}"));
            shown.insert(metric.0.clone());
        }
    }
    let hidden: Vec<_> = known.iter().filter(|(name, _)| !shown.contains(name)).collect();
    assert!(hidden.iter().all(|(name, _)| name == "process_start_time_seconds"), "{hidden:?}");
}

#[test]
async fn a_bot_without_a_server_is_alive_and_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let bot = Program::configured(folder.path(), "bot", &(player(nobody, "bot") + LISTEN));
    let port = port(&bot).await;
    bot.tells("reconnecting in").await;
    assert_eq!(port.get("/healthz").await.status(), 200);
    let ready = port.get("/readyz").await;
    assert_eq!(ready.status(), 503);
    assert_eq!(ready.text().await.unwrap(), "not connected to any server\n");
    until("a loss", async || sum(&metrics(&port).await, "zeitnot_connections_lost_total") >= 1.0).await;
}

/// Whether Prometheus is there.
fn has_prometheus() -> bool {
    has_program("prometheus", "prometheus")
}

/// Prometheus's own check of names, types and help.
fn lint(metrics: &str) {
    if !has_prometheus() {
        return;
    }
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().unwrap();
    promtool.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && told.is_empty(), "{told}");
}

/// A server of Prometheus; killed when dropped.
struct Prometheus {
    child: Child,
    api: Browser,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Prometheus {
    fn start(folder: &Path, target: SocketAddr) -> Prometheus {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = folder.join("prometheus.yml");
        let text = format!(
            "scrape_configs:\n  - job_name: zeitnot\n    scrape_interval: 1s\n    static_configs:\n\
             \x20     - targets: ['{target}']\n"
        );
        fs::write(&config, text).unwrap();
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("prometheus").display()))
            .arg(format!("--web.listen-address={free}"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("prometheus.log")).unwrap())
            .spawn()
            .unwrap();
        Prometheus { child, api: Browser::new(free) }
    }

    /// The result of a query; null before the server answers.
    async fn ask(&self, path: &str) -> Value {
        match self.api.try_ask("GET", path, &[], Vec::new()).await {
            Ok(answer) => serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default(),
            Err(_) => Value::Null,
        }
    }
}

/// The real server takes the metrics, and logs nothing worse than information.
async fn scrape(port: &Browser, folder: &Path) {
    if !has_prometheus() {
        return;
    }
    let prometheus = Prometheus::start(folder, port.address);
    until("a scrape", async || {
        let games = prometheus.ask("/api/v1/query?query=sum(zeitnot_games_total)").await;
        let value =
            games["data"]["result"][0]["value"][1].as_str().and_then(|value| value.parse::<f64>().ok());
        value.is_some_and(|games| games >= 2.0)
    })
    .await;
    let targets = prometheus.ask("/api/v1/targets").await;
    let target = &targets["data"]["activeTargets"][0];
    assert_eq!((&target["health"], &target["lastError"]), (&"up".into(), &"".into()), "{targets}");
    let log = fs::read_to_string(folder.join("prometheus.log")).unwrap();
    let bad: Vec<_> = log.lines().filter(|line| !line.contains("level=info")).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}
