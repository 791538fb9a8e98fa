//! Engines that die, hang, or answer what is no move.

use std::{fs, time::Duration};

use super::*;

/// With such an engine our own plays on after a while, and plays at once.
fn ours_plays_on(config: Config) {
    let mut thinker = thinker(&open(&with_ours(config)));
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
    ours_plays_on(script("exit", ":"));
}

#[test]
fn so_does_one_that_plays_what_is_no_legal_move() {
    ours_plays_on(script("echo bestmove e7e4", ":"));
    ours_plays_on(script("echo bestmove nonsense", ":"));
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
        let program = open(&with_ours(config));
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
    let line = line(&["e2e4"]);
    let (fallback, hurry) = (line.now().pack(line.now().moves()[0]), || within(4 * SHORT));
    let slow = uci_that(&start, "reply");
    let mut thinker = thinker(&open(&with_ours(slow.clone())));
    assert_eq!(thought_after(&mut thinker, &line, hurry(), fallback).0, last_move(&line));
    assert_eq!(thinker.faults(), 0);
    // Where ours may not, a quick move is no fault.
    fs::remove_file(&flag).unwrap();
    let mut thinker = self::thinker(&open(&slow));
    assert_eq!(thought_after(&mut thinker, &line, hurry(), fallback).1, Best::unsearched(fallback));
    assert_eq!(thinker.faults(), 0);
}

#[test]
fn so_does_one_that_prints_without_end() {
    ours_plays_on(script("exec yes info string hello", ":"));
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
    let mut thinker = thinker(&open(&with_ours(script(go, ":"))));
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

/// Thinks with a fallback move in the slot, twice, and returns the slot's moves and the faults.
fn without_ours(config: Config, on_engine_failure: OnEngineFailure) -> (String, String, u32) {
    let program = open(&Config { on_engine_failure, ..config });
    let (mut thinker, line) = (thinker(&program), line(&["e2e4"]));
    let fallback = line.now().pack(line.now().moves()[0]);
    let mut thought = || thought_after(&mut thinker, &line, within(LONG), fallback).0;
    let (first, second) = (thought(), thought());
    (first, second, thinker.faults())
}

#[test]
fn nobody_plays_for_one_that_has_failed_for_good() {
    for config in [
        script("exit", ":"),
        // Nor does a move that it found before, once it is not asked again.
        script("echo 'info depth 3 score cp 1 pv d7d5'; exit", ":"),
        script("echo bestmove e7e4", ":"),
        xboard_that("", "echo resign"),
    ] {
        for (policy, faults) in [(OnEngineFailure::Restart, 3), (OnEngineFailure::Resign, 1)] {
            let expected = ("-".to_owned(), "-".to_owned(), faults);
            assert_eq!(without_ours(config.clone(), policy), expected, "{policy:?}: {config:?}");
        }
    }
}

/// It is asked again also where its answer was no move; its limit for a move does not hold for the restart.
#[test]
fn one_that_is_back_in_time_plays_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    for answer in ["exit", "echo bestmove e7e4", "echo bestmove 0000"] {
        let _ = fs::remove_file(&flag);
        let start = format!("[ -e {} ] && sleep 0.5; ", flag.display());
        let go = format!("if [ -e {0} ]; then reply; else touch {0}; {answer}; fi", flag.display());
        let limits = MoveLimits { move_time: Some(SHORT), ..MoveLimits::default() };
        let config = Config { limits, ..uci_that(&start, &go) };
        let told = without_ours(config, OnEngineFailure::Restart);
        assert_eq!(told, ("e7e5".to_owned(), "e7e5".to_owned(), 0), "{answer}");
    }
}

#[test]
fn a_quick_move_bridges_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let line = line(&["e2e4"]);
    let first = line.now().moves()[0];
    let (fallback, quick) = (line.now().pack(first), line.now().write(first).to_string());
    // A line that the engine found before its failure is the engine's own.
    for (found, played) in [("", quick.as_str()), ("echo 'info depth 3 score cp 1 pv d7d5'; ", "d7d5")] {
        let _ = fs::remove_file(&flag);
        let start = format!("[ -e {} ] && exec sleep 100; ", flag.display());
        let program = open(&uci_that(&start, &format!("{found}touch {}; exit", flag.display())));
        let mut thinker = thinker(&program);
        let (mv, ..) = thought_after(&mut thinker, &line, within(8 * SHORT), fallback);
        assert_eq!(mv, played);
    }
}
