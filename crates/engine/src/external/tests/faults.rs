//! Engines that die, hang, or answer what is no move.

use std::{fs, time::Duration};

use super::*;

/// With such an engine our own plays on after a while, and plays at once.
fn ours_plays_on(config: &Config) {
    let mut thinker = thinker(&open(config));
    let line = line(&["e2e4"]);
    let (mv, ..) = thought(&mut thinker, &line, within(LONG));
    assert_eq!(mv, last_move(&line));
}

#[test]
fn what_cannot_be_an_engine_is_told_in_one_line() {
    let sh = |script: &str, start_within: Duration| Config {
        args: vec!["-c".into(), script.into()],
        start_within,
        ..Config::new("/bin/sh")
    };
    // Where it is not the time that ends it, a busy machine may take its time.
    for (config, said) in [
        (Config::new("/nowhere/engine"), "cannot be started: No such file"),
        (sh("sleep 100", SHORT), "does not answer `uci`"),
        (sh("yes", LONG), "prints without end"),
        (sh("exec head -c 20000000 /dev/zero", LONG), "has ended by itself"),
        (sh("exit 1", LONG), "has ended by itself"),
        (sh("echo uciok; sleep 100", 5 * SHORT), "does not answer `isready`"),
    ] {
        let failure = Program::open("odd", &config).unwrap_err().to_string();
        assert!(failure.starts_with("engine odd (") && failure.contains(said), "{failure}");
        assert!(failure.contains("; ") && !failure.contains('\n'), "{failure}");
    }
}

#[test]
fn one_that_dies_once_is_started_again_and_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let go = format!("[ -e {0} ] || {{ touch {0}; exit; }}; echo bestmove e7e5", flag.display());
    let (mv, ..) = thought(&mut thinker(&open(&script(&go, ":"))), &line(&["e2e4"]), within(LONG));
    assert_eq!(mv, "e7e5");
    assert!(flag.exists());
}

#[test]
fn one_that_always_dies_leaves_the_game_to_ours() {
    ours_plays_on(&script("exit", ":"));
}

#[test]
fn so_does_one_that_plays_what_is_no_legal_move() {
    ours_plays_on(&script("echo bestmove e7e4", ":"));
    ours_plays_on(&script("echo bestmove nonsense", ":"));
}

/// Our own search plays the move, and the engine the next one, in another process.
#[test]
fn an_answer_that_is_no_move_is_replaced_by_our_search_and_the_engine_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    for answer in
        ["bestmove (none)", "bestmove 0000", "bestmove", "bestmove e7e4", "move e7e4", "resign", "0-1 {bye}"]
    {
        let _ = fs::remove_file(&starts);
        // Only the first process does it, the one after the trial.
        let note = format!("echo >> {}; ", starts.display());
        let go = format!("if [ $(wc -l < {}) = 2 ]; then echo '{answer}'; else reply; fi", starts.display());
        let is_xboard = !answer.starts_with("bestmove");
        let config = if is_xboard { xboard_that(&note, &go) } else { uci_that(&note, &go) };
        let program = open(&config);
        let (mut thinker, line) = (thinker(&program), line(&["e2e4"]));
        let (mv, best, _) = thought(&mut thinker, &line, within(LONG));
        assert_eq!((mv, best.depth, thinker.faults()), (last_move(&line), 1, 1), "{answer}");
        let told = thought(&mut thinker, &line, within(LONG)).0;
        assert_eq!((told.as_str(), thinker.faults()), ("e7e5", 0), "{answer}");
        assert_eq!(fs::read_to_string(&starts).unwrap().len(), 3, "{answer}");
    }
}

#[test]
fn while_it_starts_slowly_our_search_plays() {
    // Quick at its trial.
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let start = format!("[ -e {0} ] && exec sleep 100; touch {0}; ", flag.display());
    let program = open(&uci_that(&start, "reply"));
    let line = line(&["e2e4"]);
    let (mut thinker, hurry) = (thinker(&program), within(4 * SHORT));
    assert_eq!(thought(&mut thinker, &line, hurry).0, last_move(&line));
    assert_eq!(thinker.faults(), 0);
}

#[test]
fn so_does_one_that_prints_without_end() {
    ours_plays_on(&script("exec yes info string hello", ":"));
}

#[test]
fn an_illegal_line_and_a_line_of_ten_mebibytes_are_passed_over() {
    let go = "echo 'info depth 9 score cp 900 pv e7e4'; head -c 10485760 /dev/zero | tr '\\0' x; echo; echo bestmove e7e5";
    let (mv, best, _) = thought(&mut thinker(&open(&script(go, ":"))), &line(&["e2e4"]), within(LONG));
    assert_eq!((mv.as_str(), best.depth), ("e7e5", 0));
}

#[test]
fn one_that_ignores_stop_costs_its_thought_and_no_more() {
    let go = "echo 'info depth 3 score cp 1 pv d7d5'; sleep 100";
    let mut thinker = thinker(&open(&script(go, ":")));
    let line = line(&["e2e4"]);
    for _ in 0..3 {
        let limits = within(Duration::from_secs(2));
        let hard = limits.hard.unwrap();
        let (mv, ..) = thought(&mut thinker, &line, limits);
        assert_eq!(mv, "d7d5");
        assert!(hard.elapsed() < Duration::from_secs(5));
    }
    // Then ours takes over.
    assert_eq!(thought(&mut thinker, &line, within(LONG)).0, last_move(&line));
}
