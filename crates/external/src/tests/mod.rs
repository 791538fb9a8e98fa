//! Engines that do all that engines should not do, as small scripts; and real ones, where there are any.

use std::{
    fs,
    ops::ControlFlow,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use zeitnot_engine::{
    Best, Clocks, Decision, EngineFactory, ExternalEngine, Limits, MoveLimits, Progress, Report, Score,
    StopFlag, Task, Thinker,
};
use zeitnot_rules::{ByColor, Game, GameHistory, GameKind, Packed, chess::Chess};
use zeitnot_testing::has_engine;

use super::{Config, MatchEngine, OnEngineFailure, Program, Protocol, Reply, thinker::External};

/// Plays the last legal move, which differs from the fallback move.
struct LastMove;

impl Thinker<Chess> for LastMove {
    fn think(&mut self, task: &Task<'_, Chess>) -> Report {
        let now = task.game.now();
        if let Some(&last) = now.moves().last() {
            task.best.publish(Best { mv: now.pack(last), depth: 1, ..task.best.read() });
        }
        Report::default()
    }
}

mod faults;
mod files;
mod lines;
#[cfg(target_os = "linux")]
mod processes;
mod ubgi;

/// A UCI engine that does `go` when it is asked in a game in which moves were played (so never in its trial), and
/// `stop` when it is told to.
fn script(go: &str, stop: &str) -> Config {
    let script = format!(
        r#"while read -r line; do case "$line" in
            uci) echo 'id name Fake 1'; echo 'option name Hash type spin default 1 min 1 max 9'; echo uciok;;
            isready) echo readyok;;
            *startpos) game=;;
            position*moves*) game=1;;
            go*) if [ "$game" ]; then {go}
                else echo 'info depth 1 score cp 5 pv e2e4'; echo bestmove e2e4; fi;;
            stop) {stop};;
            quit) exit;;
        esac; done"#
    );
    Config { args: vec!["-c".into(), script], ..Config::new("/bin/sh") }
}

/// A UCI engine that runs this at its start, and that at `go` in a game; there, `reply` is its usual answer.
fn uci_that(start: &str, go: &str) -> Config {
    let mut config = script(go, ":");
    config.args[1] = format!("reply() {{ echo bestmove e7e5; }}; {start}{}", config.args[1]);
    config
}

/// The same, in xboard's protocol.
fn xboard_that(start: &str, go: &str) -> Config {
    let script = format!(
        r#"reply() {{ echo move e7e5; }}; {start}while read -r line; do case "$line" in
            protover*) echo 'feature usermove=1 setboard=1 san=0 done=1';;
            new) game=;;
            usermove*) game=1;;
            go) if [ "$game" ]; then {go}; else echo '1 5 1 20 e2e4'; echo move e2e4; fi;;
            quit) exit;;
        esac; done"#
    );
    Config { args: vec!["-c".into(), script], protocol: Protocol::Xboard, ..Config::new("/bin/sh") }
}

/// The same engine, for which ours may play.
fn with_ours(config: Config) -> Config {
    Config { on_engine_failure: OnEngineFailure::Own, ..config }
}

fn open(config: &Config) -> Arc<Program> {
    Program::open("fake", config).unwrap().program
}

fn thinker(program: &Arc<Program>) -> External<Chess> {
    External::new(program.clone(), Box::new(|| Box::new(LastMove)))
}

fn line(moves: &[&str]) -> GameHistory<Chess> {
    let mut line = GameHistory::new(Chess::start());
    moves.iter().for_each(|text| line.play(line.now().read(text).unwrap()));
    line
}

/// The slot's move after a thought of at most so long, as text; `-` where nobody put one there.
fn thought(
    thinker: &mut dyn Thinker<Chess>,
    line: &GameHistory<Chess>,
    limits: Limits,
) -> (String, Best, Report) {
    thought_after(thinker, line, limits, Packed::NONE)
}

/// The same, with a fallback move in the slot.
fn thought_after(
    thinker: &mut dyn Thinker<Chess>,
    line: &GameHistory<Chess>,
    limits: Limits,
    fallback: Packed,
) -> (String, Best, Report) {
    let (best, stop) = (Decision::new(fallback), StopFlag::default());
    let watch = |_: &Progress<Chess>| ControlFlow::Continue(());
    let report =
        thinker.think(&Task { game: line, limits: &limits, best: &best, stop: &stop, watch: &watch });
    let best = best.read();
    let now = line.now();
    (now.unpack(best.mv).map_or("-".into(), |mv| now.write(mv).to_string()), best, report)
}

fn within(time: Duration) -> Limits {
    Limits { hard: Some(Instant::now() + time), ..Limits::default() }
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(300);

fn last_move(line: &GameHistory<Chess>) -> String {
    line.now().write(*line.now().moves().last().unwrap()).to_string()
}

#[test]
fn what_it_says_is_published_and_told() {
    let go = "echo 'info depth 7 seldepth 9 score cp 31 nodes 500 pv e7e5 g1f3'; echo 'bestmove e7e5'";
    let program = open(&script(go, ":"));
    assert_eq!((program.name(), program.title()), ("fake", "Fake 1"));
    let (mv, best, report) = thought(&mut thinker(&program), &line(&["e2e4"]), within(LONG));
    assert_eq!((mv.as_str(), best.score, best.depth), ("e7e5", Score::cp(31), 7));
    assert_eq!((report.nodes, report.depth), (500, 7));
}

#[test]
fn options_that_it_does_not_have_are_named() {
    let mut config = script(":", ":");
    config.options.extend([("hash".to_owned(), "4".into()), ("Contempt".to_owned(), "7".into())]);
    let tried = Program::open("fake", &config).unwrap();
    assert_eq!(tried.unknown_options, ["Contempt"]);
    assert_eq!(tried.program.options().collect::<Vec<_>>(), ["Hash"]);
}

/// It can neither be told which moves to search, nor be relied on to play one of them.
#[test]
fn what_it_cannot_be_asked_our_search_plays() {
    let line = line(&["e2e4"]);
    let wanted = line.now().pack(*line.now().moves().last().unwrap());
    for config in [xboard_that("", "reply"), uci_that("", "reply")] {
        let mut thinker = thinker(&open(&with_ours(config)));
        let limits = Limits { root_moves: vec![wanted], ..within(LONG) };
        assert_eq!(thought(&mut thinker, &line, limits).0, last_move(&line));
        assert_eq!(thought(&mut thinker, &line, within(LONG)).0, "e7e5", "it plays on");
    }
}

#[test]
fn stop_brings_the_answer() {
    let mut thinker = thinker(&open(&script("echo 'info depth 3 score cp 1 pv d7d5'", "echo bestmove e7e5")));
    let line = line(&["e2e4"]);
    let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
    let limits = Limits::default();
    let watch = |_: &Progress<Chess>| ControlFlow::Continue(());
    thread::scope(|scope| {
        let task = Task { game: &line, limits: &limits, best: &best, stop: &stop, watch: &watch };
        let thinking = scope.spawn(move || thinker.think(&task));
        while best.read().mv == Packed::NONE {
            thread::sleep(Duration::from_millis(1));
        }
        stop.stop();
        assert_eq!(thinking.join().unwrap().depth, 3);
    });
    assert_eq!(line.now().unpack(best.read().mv), line.now().read("e7e5").ok());
    // So does a watcher that has enough, where there is no clock to go by.
    let enough = |_: &Progress<Chess>| ControlFlow::Break(());
    let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
    let mut thinker =
        self::thinker(&open(&script("echo 'info depth 3 score cp 1 pv d7d5'", "echo bestmove e7e5")));
    thinker.think(&Task { game: &line, limits: &limits, best: &best, stop: &stop, watch: &enough });
    assert_eq!(line.now().unpack(best.read().mv), line.now().read("e7e5").ok());
}

#[test]
fn its_limits_are_sent_with_every_go() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("go");
    let go = format!(r#"echo "$line" > '{}'; echo bestmove e7e5"#, note.display());
    let limits = MoveLimits {
        nodes: 1.try_into().ok(),
        depth: 5.try_into().ok(),
        move_time: Some(Duration::from_secs(40)),
    };
    let program = open(&Config { limits, ..script(&go, ":") });
    let factory = program.factory().unwrap();
    for (limits, sent) in [
        (Limits::default(), "go depth 5 nodes 1 movetime 39985"),
        (Limits { depth: Some(3), ..Limits::default() }, "go depth 3 nodes 1 movetime 39985"),
    ] {
        thought(&mut *factory.thinker(), &line(&["e2e4"]), limits);
        let told = fs::read_to_string(&note).unwrap();
        let words = |text: &str| {
            let mut words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
            // It counts from the start of the thought.
            words.retain(|word| word.parse::<u32>().is_ok_and(|number| number < 100) || word == "movetime");
            words.sort();
            words
        };
        assert_eq!(words(&told), words(sent), "{told}");
    }
}

#[test]
fn its_limits_hold_in_a_match() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("go");
    let go = format!(r#"echo "$line" > '{}'; echo bestmove e7e5"#, note.display());
    let limits = MoveLimits {
        nodes: 7.try_into().ok(),
        move_time: Some(Duration::from_secs(40)),
        ..MoveLimits::default()
    };
    let mut engine = MatchEngine::new(open(&Config { limits, ..script(&go, ":") }));
    engine.prepare().unwrap();
    let clocks = Clocks {
        left: ByColor::both(Duration::from_secs(30)),
        increment: Duration::ZERO,
        moves_to_go: None,
        read_at: Instant::now(),
    };
    let line = line(&["e2e4"]);
    for (limits, sent) in [
        // The clock may end before the time for a move: both bind.
        (Limits { clocks: Some(clocks), ..Limits::default() }, ["go wtime ", " nodes 7"]),
        (Limits { depth: Some(3), ..Limits::default() }, ["go movetime 39", " depth 3 nodes 7"]),
    ] {
        let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
        let watch = |_: &Progress<Chess>| ControlFlow::Continue(());
        let task = Task { game: &line, limits: &limits, best: &best, stop: &stop, watch: &watch };
        assert_eq!(engine.think(&task).unwrap().reply, Reply::Move);
        let told = fs::read_to_string(&note).unwrap();
        assert!(told.starts_with(sent[0]) && told.contains(sent[1]), "{told}");
    }
}

#[test]
fn a_move_that_is_not_wanted_is_not_played() {
    let mut thinker =
        thinker(&open(&script("echo 'info depth 3 score cp 1 pv d7d5'; echo bestmove e7e5", ":")));
    let line = line(&["e2e4"]);
    let wanted = line.now().pack(line.now().read("d7d5").unwrap());
    let limits = Limits { root_moves: vec![wanted], ..within(LONG) };
    assert_eq!(thought(&mut thinker, &line, limits).0, "d7d5");
}

/// Writes the input of an engine of xboard's protocol there; it knows one answer to each last move.
fn xboard(log: &Path) -> Config {
    let script = format!(
        r#"while read -r line; do echo "$line" >> {}; case "$line" in
            protover*) echo 'feature done=0 usermove=1 setboard=1 san=1 ping=1 memory=1'
                echo 'feature myname="Fake X" variants="normal,giveaway" done=1';;
            ping*) echo "pong 1";;
            new) reply=e2e4;;
            usermove\ e2e4) reply=e7e5;;
            usermove\ g1f3) reply=b8c6;;
            usermove\ d2d4) reply=d7d5;;
            go) echo "3 12 1 100 $reply"; echo "move $reply";;
            quit) exit;;
        esac; done"#,
        log.display()
    );
    Config { args: vec!["-c".into(), script], protocol: Protocol::Xboard, ..Config::new("/bin/sh") }
}

#[test]
fn an_engine_with_a_board_of_its_own_is_told_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut config = xboard(&log);
    config.options.extend([("memory".to_owned(), "8".into()), ("cores".to_owned(), "2".into())]);
    let tried = Program::open("x", &config).unwrap();
    assert_eq!((tried.program.title(), tried.unknown_options), ("Fake X", vec!["cores".to_owned()]));
    fs::remove_file(&log).unwrap();
    let mut thinker = thinker(&tried.program);
    let clocks = Clocks {
        left: ByColor([Duration::from_secs(61), Duration::from_secs(30)]),
        increment: Duration::from_millis(500),
        moves_to_go: Some(7),
        read_at: Instant::now() + LONG,
    };
    for (moves, answer) in [
        (&["e2e4"][..], "e7e5"),
        (&["e2e4", "e7e5", "g1f3"], "b8c6"),
        // The slot's move was another one.
        (&["d2d4"], "d7d5"),
    ] {
        let limits = Limits { clocks: Some(clocks), ..within(LONG) };
        let (mv, best, _) = thought(&mut thinker, &line(moves), limits);
        assert_eq!((mv.as_str(), best.score, best.depth), (answer, Score::cp(12), 3));
    }
    drop(thinker);
    let clock = ["level 7 0:30 0.5", "time 3000", "otim 6100", "go", "force"];
    let begin = ["new", "force", "easy", "post"];
    let told = fs::read_to_string(&log).unwrap();
    let told: Vec<_> = told.lines().filter(|line| !line.starts_with("accepted")).collect();
    let expected = [
        &["xboard", "protover 2", "rejected san", "memory 8", "ping 1"][..],
        &begin,
        &["usermove e2e4"],
        &clock,
        &["usermove g1f3"],
        &clock,
        &begin,
        &["usermove d2d4"],
        &clock,
        &["quit"],
    ];
    assert_eq!(told, expected.concat());
}

#[test]
fn what_it_can_play_is_what_it_says() {
    let plain = open(&script(":", ":"));
    assert!(plain.plays(GameKind::Chess, false) && !plain.plays(GameKind::Chess, true));
    assert!(!plain.plays(GameKind::Minichess2023, false));
    let mut config = script(":", ":");
    let options = "echo 'option name UCI_Chess960 type check default false'; echo uciok";
    config.args[1] = config.args[1].replace("echo uciok", options);
    assert!(open(&config).plays(GameKind::Chess, true));
    let only = "echo 'option name UCI_Variant type combo default atomic var atomic'; echo uciok";
    config.args[1] = config.args[1].replace("echo uciok", only);
    assert!(!open(&config).plays(GameKind::Chess, false));
}

#[test]
fn engines_and_their_settings_are_told_apart() {
    let fingerprint = |config: &Config| open(config).factory().unwrap().fingerprint();
    let plain = script(":", ":");
    let mut other = plain.clone();
    other.options.insert("Hash".to_owned(), "2".into());
    assert_eq!(fingerprint(&plain), fingerprint(&plain));
    assert_ne!(fingerprint(&plain), fingerprint(&other));
    let ours = EngineFactory::new(&zeitnot_engine::Config::default()).unwrap();
    assert_ne!(fingerprint(&plain), ours.fingerprint());
}

/// Each that is installed plays some moves with itself; what it says is told in its own words.
#[test]
fn real_engines_play() {
    for (name, args, protocol) in [
        ("stockfish", &[][..], Protocol::Uci),
        ("gnuchess", &["--uci"][..], Protocol::Uci),
        ("phalanx", &[][..], Protocol::Xboard),
        ("hoichess", &[][..], Protocol::Xboard),
        ("sjeng", &[][..], Protocol::Xboard),
    ] {
        let command = format!("/usr/games/{name}");
        if !has_engine(&command) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let args = args.iter().map(|arg| arg.to_string()).collect();
        let folder = Some(folder.path().to_owned());
        let config = Config { args, folder, protocol, ..Config::new(command) };
        let program = open(&config);
        let (mut first, mut second) = (thinker(&program), thinker(&program));
        // Without a book's move, and with castling and captures at hand.
        let mut line = GameHistory::new(
            Chess::parse("r3k2r/pppq1ppp/2n5/3pP3/8/2NQ4/PPP2PPP/R3K2R w KQkq - 0 1").unwrap(),
        );
        let mut deepest = 0;
        for ply in 0..8 {
            let clocks = Clocks {
                left: ByColor::both(Duration::from_secs(4)),
                increment: Duration::ZERO,
                moves_to_go: None,
                read_at: Instant::now(),
            };
            let limits = Limits { clocks: Some(clocks), ..within(LONG) };
            let thinker = if ply % 2 == 0 { &mut first } else { &mut second };
            let (mv, best, _) = thought(thinker, &line, limits);
            let mv =
                line.now().read(&mv).unwrap_or_else(|_| panic!("{name}: {mv} in {}", line.now().print()));
            deepest = deepest.max(best.depth);
            line.play(mv);
            if line.outcome().is_over() {
                break;
            }
        }
        assert_eq!((first.faults(), second.faults()), (0, 0), "{name}");
        assert!(deepest > 2, "{name} tells nothing of its search");
    }
}
