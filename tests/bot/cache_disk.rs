//! The cache on the disk: what it loses when it is killed, and what it does with files that it cannot use.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use zeitnot_bot::cache::{Cache, CacheAnswer, CachedMove, Config};
use zeitnot_engine::Score;
use zeitnot_rules::{Game, GameHistory, chess::Chess};

const ENGINE: u64 = 7;

fn open(file: &Path) -> Cache {
    Cache::open(&Config { file: file.to_owned(), ..Config::default() }, ENGINE)
}

/// A position that stands for this number, below 8192: two kings, a knight and a pawn.
pub(super) fn position(number: u64) -> Chess {
    let mut board = [[' '; 8]; 8];
    let king = number % 8;
    let enemy = number / 8 % 8;
    let knight = number / 64 % 16;
    let pawn = number / 1024 % 8;
    for (piece, rank, file) in
        [('K', 0, king), ('k', 7, enemy), ('N', 2 + knight as usize / 8, knight % 8), ('P', 1, pawn)]
    {
        board[rank][file as usize] = piece;
    }
    let ranks = board
        .iter()
        .rev()
        .map(|rank| rank.iter().map(|&c| if c == ' ' { '1' } else { c }).collect::<String>());
    let fen = ranks.collect::<Vec<_>>().join("/");
    Chess::parse(&format!("{fen} w - - 0 1")).unwrap()
}

pub(super) fn keep(cache: &Cache, number: u64) {
    let position = position(number);
    let mv = position.pack(position.moves()[0]);
    cache.insert(
        &GameHistory::new(position),
        CachedMove { mv, score: Score::cp(12), depth: 9, effort: 1000 + number },
    );
}

async fn knows(cache: &Cache, number: u64) -> bool {
    let line = GameHistory::new(position(number));
    loop {
        match cache.look_up(&line, 0, Duration::ZERO) {
            CacheAnswer::Play(_) | CacheAnswer::Hint(_) => return true,
            CacheAnswer::Unknown => return false,
            CacheAnswer::Pending(mut lookup) => {
                if !lookup.done().await {
                    return false;
                }
            }
        }
    }
}

/// The other half of the next test, in a process of its own: writes until it is killed.
#[test]
fn the_one_who_is_killed() {
    let Some(file) = env::var_os("ZEITNOT_TEST_KILLED") else { return };
    let cache = open(Path::new(&file));
    for number in 0.. {
        keep(&cache, number);
        println!("kept {number}");
        std::io::stdout().flush().unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
async fn kill_9_loses_the_last_second_at_most_and_the_next_start_is_clean() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["bot::cache_disk::the_one_who_is_killed", "--exact", "--nocapture"])
        .env("ZEITNOT_TEST_KILLED", &file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut kept = Vec::new();
    let began = Instant::now();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(number) = line.unwrap().strip_prefix("kept ") {
            kept.push((number.parse::<u64>().unwrap(), Instant::now()));
        }
        if began.elapsed() > Duration::from_secs(3) {
            break;
        }
    }
    child.kill().unwrap(); // SIGKILL
    let killed = Instant::now();
    child.wait().unwrap();

    let cache = open(&file);
    let old: Vec<_> = kept.iter().filter(|(_, at)| killed - *at > Duration::from_secs(1)).collect();
    assert!(old.len() > 100, "{} were written", old.len());
    for (number, _) in &old {
        assert!(knows(&cache, *number).await, "{number} of {} is lost", kept.len());
    }
    let left_over: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left_over, ["cache.redb"], "nothing had to be set aside");
}

#[test]
async fn what_was_kept_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let before = open(&file);
    (0..100).for_each(|number| keep(&before, number));
    before.store_lag("server", vec![1, 2, 3]);
    before.close();
    let now = open(&file);
    for number in 0..100 {
        assert!(knows(&now, number).await, "{number}");
    }
    assert!(!knows(&now, 100).await);
    assert_eq!(now.lags(), [("server".to_owned(), vec![1, 2, 3])]);
}

#[test]
async fn a_file_that_is_none_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    for garbage in [&b"this is no database"[..], &[0; 4096], &[0xff; 100_000]] {
        fs::write(&file, garbage).unwrap();
        let cache = open(&file);
        keep(&cache, 1);
        assert!(knows(&cache, 1).await);
        assert!(cache.is_on_disk());
        cache.close();
    }
    let aside = fs::read_dir(folder.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("cache.redb.broken-")
    });
    assert!(aside.count() >= 1);
}

#[test]
async fn a_database_that_was_cut_off_is_read_or_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let before = open(&file);
    (0..2000).for_each(|number| keep(&before, number));
    before.close();
    let whole = fs::read(&file).unwrap();
    for part in [whole.len() / 2, whole.len() / 10, 100] {
        fs::write(&file, &whole[..part]).unwrap();
        let cache = open(&file);
        keep(&cache, 5000);
        assert!(knows(&cache, 5000).await);
        cache.close();
    }
}

#[test]
async fn a_file_in_use_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let first = open(&file);
    keep(&first, 1);
    let second = open(&file);
    assert!(!second.is_on_disk());
    keep(&second, 2);
    assert!(knows(&second, 2).await, "it plays on from memory");
    first.close();
    let third = open(&file);
    assert!(knows(&third, 1).await && !knows(&third, 2).await);
}

#[test]
async fn the_oldest_go_when_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    let config = Config { file: file.clone(), max_disk_entries: 500, ..Config::default() };
    let cache = Cache::open(&config, ENGINE);
    (0..600).for_each(|number| keep(&cache, number));
    cache.close();
    let cache = open(&file);
    let mut known = 0;
    for number in 0..600 {
        known += usize::from(knows(&cache, number).await);
    }
    assert!((300..=550).contains(&known), "{known}");
}

/// A file that release 0.1 wrote.
#[test]
async fn a_file_of_an_earlier_release_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache.redb");
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/files-0.1/cache.redb"), &file).unwrap();
    let cache = open(&file);
    assert!(cache.is_on_disk() && cache.lags() == [("server".to_owned(), vec![1, 2, 3])]);
    assert!(knows(&cache, 1).await && knows(&cache, 2).await && !knows(&cache, 3).await);
    cache.close();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
