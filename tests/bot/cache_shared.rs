//! The shared cache on a real Redis server: what bots learn of each other, and what each fault of the server costs.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use zeitnot_bot::cache::{Cache, CacheAnswer, CachedMove, Config};
use zeitnot_engine::Score;
use zeitnot_rules::{GameHistory, Packed};
use zeitnot_testing::{has_program, until};

use super::cache_disk::{keep, position};
use crate::support::{
    files,
    redis::{Redis, free_port},
};

const ENGINE: u64 = 7;
/// Time for a move, of which a lookup takes at most a part, and at most a quarter of a second.
const TIME: Duration = Duration::from_secs(10);
/// More than a lookup takes on a busy machine, and less than anybody would wait for a server.
const WAIT: Duration = Duration::from_secs(2);

fn config(url: &str) -> Config {
    let shared = Some(url.to_owned().try_into().unwrap());
    Config { file: "".into(), min_effort: 0.0, shared, ..Config::default() }
}

/// A bot's cache that is connected.
async fn connected(config: &Config) -> Cache {
    let cache = Cache::open(config, ENGINE);
    // A position that nobody knows: it is not asked for until the server answers.
    look_up_until(&cache, 8191, "unknown").await;
    cache
}

/// Looks a position up again and again until more of these are reported.
async fn look_up_until(cache: &Cache, number: u64, what: &str) {
    let before = told(cache, what);
    until(what, async || {
        look_up(cache, number).await;
        told(cache, what) > before
    })
    .await;
}

/// The number before these words in the report of the shared cache.
fn told(cache: &Cache, what: &str) -> u64 {
    let report = cache.report().unwrap();
    let shared = report.split_once("; shared: ").map_or("", |(_, shared)| shared);
    let counts = shared.split(", ").filter_map(|count| count.split_once(' '));
    counts.into_iter().find(|(_, words)| *words == what).map_or(0, |(count, _)| count.parse().unwrap())
}

/// The move that would be played without a search, where a move may take [`TIME`].
async fn look_up(cache: &Cache, number: u64) -> Option<Packed> {
    look_up_within(cache, number, TIME).await
}

async fn look_up_within(cache: &Cache, number: u64, time: Duration) -> Option<Packed> {
    let line = GameHistory::new(position(number));
    let began = Instant::now();
    let answer = match cache.look_up(&line, 0, time) {
        CacheAnswer::Pending(mut lookup) => {
            lookup.done().await;
            cache.look_up(&line, 0, Duration::ZERO)
        }
        answer => answer,
    };
    assert!(began.elapsed() < WAIT, "{:?}", began.elapsed());
    match answer {
        CacheAnswer::Play(cached) => Some(cached.mv),
        _ => None,
    }
}

#[test]
async fn what_one_bot_finds_another_plays() {
    let Some(redis) = Redis::start(&[]) else { return };
    let first = connected(&config(&redis.url())).await;
    (0..20).for_each(|number| keep(&first, number));
    let mut client = redis.client();
    client.has_keys(20);
    let keys = client.keys("zeitnot:1:chess:0000000000000007:");
    assert_eq!(keys.len(), 20);
    let left: u64 = client.ask(&format!("TTL {}", keys[0])).parse().unwrap();
    assert!((29 * 86_400..=30 * 86_400).contains(&left), "{left}");

    let second = connected(&config(&redis.url())).await;
    for number in 0..20 {
        assert_eq!(look_up(&second, number).await, look_up(&first, number).await);
    }
    assert_eq!((told(&second, "found"), told(&first, "found")), (20, 0));
    // They are in its memory now.
    assert!(look_up_within(&second, 3, Duration::ZERO).await.is_some());
    assert_eq!(told(&second, "found"), 20);
}

#[test]
async fn other_engines_and_other_fleets_have_entries_of_their_own() {
    let Some(redis) = Redis::start(&[]) else { return };
    let ours = config(&redis.url());
    let theirs = Config { shared_prefix: "theirs".to_owned().try_into().unwrap(), ..ours.clone() };
    let first = connected(&ours).await;
    keep(&first, 1);
    redis.client().has_keys(1);
    for (config, engine) in [(&ours, ENGINE + 1), (&theirs, ENGINE)] {
        let other = Cache::open(config, engine);
        until("an answer", async || {
            assert_eq!(look_up(&other, 1).await, None);
            told(&other, "unknown") > 0
        })
        .await;
    }
}

#[test]
async fn values_that_are_not_ours_are_ignored_and_replaced() {
    let Some(redis) = Redis::start(&[]) else { return };
    let mut client = redis.client();
    let first = connected(&config(&redis.url())).await;
    keep(&first, 1);
    client.has_keys(1);
    let key = client.keys("").remove(0);
    let known = look_up(&first, 1).await;
    assert!(known.is_some());
    let illegal =
        CachedMove { mv: Packed(0xffff), score: Score::cp(12), depth: 99, effort: 1 << 50 }.to_bytes();
    let long = vec![1; 1 << 20];
    for garbage in [&b""[..], b"1", &illegal[1..], &[2; 15], &[0xff; 15], &illegal, &long] {
        client.set(&key, garbage);
        let second = connected(&config(&redis.url())).await;
        assert_eq!(look_up(&second, 1).await, None, "{} bytes", garbage.len());
        keep(&second, 1);
        until("an entry of ours", async || {
            let third = connected(&config(&redis.url())).await;
            look_up(&third, 1).await == known
        })
        .await;
    }
    client.ask(&format!("DEL {key}"));
    client.ask(&format!("LPUSH {key} 1"));
    let second = connected(&config(&redis.url())).await;
    assert_eq!(look_up(&second, 1).await, None);
}

#[test]
async fn a_server_that_is_away_is_not_asked_until_it_is_back() {
    let Some(mut redis) = Redis::start(&[]) else { return };
    let cache = connected(&config(&redis.url())).await;
    redis.kill();
    look_up_until(&cache, 1, "not asked for").await;
    keep(&cache, 2);
    assert_eq!(told(&cache, "not stored"), 1);
    assert!(look_up(&cache, 2).await.is_some(), "from its own memory");
    redis.restart();
    look_up_until(&cache, 1, "unknown").await;
    keep(&cache, 3);
    redis.client().has_keys(1);
}

#[test]
async fn a_slow_server_costs_a_part_of_the_time_three_times_and_then_nothing() {
    let Some(redis) = Redis::start(&[]) else { return };
    let cache = connected(&config(&redis.url())).await;
    let asked = told(&cache, "unknown");
    // Too little time is not worth a request.
    assert_eq!(look_up_within(&cache, 1, Duration::from_millis(7)).await, None);
    assert_eq!(told(&cache, "unknown"), asked);
    redis.pause();
    look_up_until(&cache, 1, "not asked for").await;
    let slow = told(&cache, "without an answer in time");
    assert!((1..=3).contains(&slow), "{slow}");
    redis.resume();
    look_up_until(&cache, 1, "unknown").await;
}

#[test]
async fn a_full_server_is_still_asked() {
    let Some(redis) = Redis::start(&[]) else { return };
    let mut client = redis.client();
    let first = connected(&config(&redis.url())).await;
    keep(&first, 1);
    client.has_keys(1);
    client.ask("CONFIG SET maxmemory 1");
    keep(&first, 2);
    until("it takes no more", async || told(&first, "not stored") == 1).await;
    let second = connected(&config(&redis.url())).await;
    assert!(look_up(&second, 1).await.is_some());
    client.ask("CONFIG SET maxmemory 0");
    keep(&first, 3);
    client.has_keys(2);
}

#[test]
async fn the_end_writes_what_is_queued_and_waits_for_no_server_for_long() {
    let Some(redis) = Redis::start(&[]) else { return };
    let cache = connected(&config(&redis.url())).await;
    (0..200).for_each(|number| keep(&cache, number));
    cache.close();
    assert_eq!(redis.client().ask("DBSIZE"), "200");
    let stuck = connected(&config(&redis.url())).await;
    redis.pause();
    keep(&stuck, 300);
    let absent = Cache::open(&config(&format!("redis://127.0.0.1:{}", free_port())), ENGINE);
    for cache in [stuck, absent] {
        let began = Instant::now();
        cache.close();
        assert!(began.elapsed() < 2 * WAIT, "{:?}", began.elapsed());
    }
}

#[test]
async fn the_password_may_be_in_a_file_and_the_user_may_have_few_rights() {
    let Some(redis) = Redis::start(&[]) else { return };
    // As docs/fleet.md has it.
    let rights = "~zeitnot:* +getrange +set +del";
    let made = redis.client().ask(&format!("ACL SETUSER fleet reset on >hush-hush {rights}"));
    assert_eq!(made, "OK");
    redis.client().ask("ACL SETUSER default off");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    files::write(&file, "hush-hush\n", 0o400);
    let url = format!("redis://fleet@127.0.0.1:{}", redis.port);
    let config = Config { shared_password_file: Some(file), ..config(&url) };
    let first = connected(&config).await;
    let second = connected(&config).await;
    keep(&first, 1);
    until("the other finds it", async || look_up(&second, 1).await.is_some()).await;
    // The other may read the entry before the server's reply to its writer arrives.
    until("the write is counted", async || told(&first, "stored") == 1).await;
}

/// Makes an authority, and starts a server with a certificate of it. Returns its URL; `ca.pem` is the authority.
/// `None` if a program for that is not here.
pub(super) fn start_with_tls(folder: &Path) -> Option<(Redis, String)> {
    if !has_program("openssl", "openssl") {
        return None;
    }
    let openssl = |arguments: &str| {
        let done = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {new} -subj /CN=test-authority -days 2 -keyout ca.key -out ca.pem"));
    openssl(&format!("req {new} -subj /CN=localhost -keyout server.key -out server.csr"));
    openssl(
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
    );
    let port = free_port();
    let at = folder.display();
    let options = format!(
        "--tls-port {port} --tls-auth-clients no --tls-ca-cert-file {at}/ca.pem --tls-cert-file {at}/server.pem \
         --tls-key-file {at}/server.key"
    );
    let redis = Redis::start(&options.split(' ').collect::<Vec<_>>())?;
    Some((redis, format!("rediss://localhost:{port}")))
}

#[test]
async fn it_works_by_tls_with_an_authority_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_redis, url)) = start_with_tls(folder.path()) else { return };
    let config = Config { shared_ca_file: Some(folder.path().join("ca.pem")), ..config(&url) };
    let first = connected(&config).await;
    let second = connected(&config).await;
    keep(&first, 1);
    until("the other finds it", async || look_up(&second, 1).await.is_some()).await;
}
