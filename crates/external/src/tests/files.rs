//! Programs that are started for each move, and write it into a file.

use zeitnot_rules::minichess::{MiniChess, Rules};

use super::*;

/// A program that does this, with the state as `$1` and the action as `$2`.
fn does(script: &str) -> Config {
    Config {
        args: vec!["-c".into(), script.into(), "program".into()],
        protocol: Protocol::Files,
        ..Config::new("/bin/sh")
    }
}

/// Answer at the start of a game to a program that plays a move where it is tried, and does this later.
fn answer(script: &str, limits: &Limits) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let script = format!("[ -e {} ] || {{ echo 4 0 3 0 > $2; exit; }}; {script}", flag.display());
    let mut engine = MatchEngine::new(open(&does(&script)));
    fs::write(&flag, "").unwrap();
    engine.prepare().unwrap();
    let game = GameHistory::new(MiniChess::start(Rules::Nthu2023));
    let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
    let watch = |_: &Progress<MiniChess>| ControlFlow::Continue(());
    let task = Task { game: &game, limits, best: &best, stop: &stop, watch: &watch };
    engine.think(&task).map_err(|fault| fault.to_string())?;
    Ok(game.now().write(game.now().unpack(best.read().mv).unwrap()).to_string())
}

fn a_move(time: Duration) -> Limits {
    Limits { move_time: Some(time), ..Limits::default() }
}

#[test]
fn the_last_move_that_it_wrote_counts_also_if_it_is_killed() {
    let clocks = Clocks {
        left: ByColor::both(Duration::from_secs(60)),
        increment: Duration::from_secs(20),
        moves_to_go: None,
        read_at: Instant::now(),
    };
    for (script, limits) in [
        ("head -c 1 $1 | grep -q 0 && echo 4 1 3 1 > $2", a_move(LONG)),
        ("echo 4 0 3 0 > $2; echo 4 1 3 1 >> $2; exit 3", Limits { clocks: Some(clocks), ..a_move(LONG) }),
        ("echo 4 1 3 1 > $2; sleep 1000", a_move(10 * SHORT)),
        ("trap '' TERM; echo 4 1 3 1 > $2; while :; do sleep 1; done", a_move(10 * SHORT)),
    ] {
        assert_eq!(answer(script, &limits).as_deref(), Ok("b2b3"), "{script}");
    }
}

#[test]
fn what_is_no_move_is_told() {
    for (script, told) in [
        ("exit 1", "has written no move into the file `action`"),
        ("echo hello > $2", "has written no move into the file `action`"),
        ("echo 4 0 2 0 > $2", "plays \"a2a4\", which is not a legal move"),
    ] {
        assert_eq!(answer(script, &a_move(LONG)).unwrap_err(), told, "{script}");
    }
    let depth = Limits { depth: Some(3), ..Limits::default() };
    assert!(answer("", &depth).unwrap_err().contains("cannot search within such limits"));
    let failure = Program::open("files", &does("exit")).unwrap_err().to_string();
    assert!(failure.contains("`action`; its last two arguments are the files"), "{failure}");
    assert!(
        Program::open("files", &Config { protocol: Protocol::Files, ..Config::new("/nowhere/engine") })
            .unwrap_err()
            .is_missing()
    );
}

#[test]
fn it_plays_the_games_on_that_board_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let program = open(&does(&format!("echo $1 > {}; echo 4 0 3 0 > $2", note.display())));
    let games: Vec<_> = GameKind::ALL.iter().filter(|&&game| program.plays(game, false)).collect();
    assert_eq!(games, [&GameKind::MinichessImcs, &GameKind::Minichess2023, &GameKind::Minichess2026]);
    let state = fs::read_to_string(&note).unwrap();
    assert!(!Path::new(state.trim()).parent().unwrap().exists(), "{state}");
}

#[test]
fn a_closed_program_is_killed_and_starts_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let script =
        format!("echo 4 0 3 0 > $2; [ -e {0} ] && {{ echo $1 >> {0}; sleep 1000; }}", note.display());
    let program = open(&does(&script));
    fs::write(&note, "").unwrap();
    let mut engine = MatchEngine::new(program.clone());
    engine.prepare().unwrap();
    let game = GameHistory::new(MiniChess::start(Rules::Nthu2023));
    let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
    let (limits, watch) =
        (a_move(Duration::from_secs(900)), |_: &Progress<MiniChess>| ControlFlow::Continue(()));
    let task = Task { game: &game, limits: &limits, best: &best, stop: &stop, watch: &watch };
    thread::scope(|scope| {
        let thinking = scope.spawn(|| engine.think(&task).map(|answer| answer.reply));
        let state = || fs::read_to_string(&note).unwrap();
        while !state().ends_with('\n') {
            thread::sleep(Duration::from_millis(1));
        }
        program.close();
        // A thread that lingers leaves nothing behind at our end.
        assert!(!Path::new(state().trim()).parent().unwrap().exists());
        assert_eq!(thinking.join().unwrap().unwrap_err().to_string(), "was closed");
    });
    assert_eq!(engine.prepare().unwrap_err().to_string(), "was closed");
}
