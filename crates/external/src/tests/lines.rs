//! Programs that read a line for each position and print their move; and those that do something else.

use zeitnot_rules::{Tactics, Visitor};

use super::*;

/// A program that plays the first legal move where it is tried, and in a game runs these commands, which know the
/// fields of the question. It notes each line that it reads.
fn program(note: &Path, answer: &str) -> Config {
    let script = format!(
        r#"tab=$(printf '\t')
        first() {{ echo "${{moves%% *}}"; }}
        while IFS= read -r line; do
            printf '%s\n' "$line" >> '{}'
            IFS=$tab read -r game position time opponent increment moves <<END
$line
END
            case "$position" in
                rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR*) first;;
                *) {answer};;
            esac
        done"#,
        note.display()
    );
    Config { args: vec!["-c".into(), script], protocol: Protocol::Lines, ..Config::new("/bin/sh") }
}

/// Answer to this position, as text.
fn ask<G: Tactics>(
    engine: &mut MatchEngine,
    game: &GameHistory<G>,
    limits: &Limits,
) -> Result<String, String> {
    let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
    let watch = |_: &Progress<G>| ControlFlow::Continue(());
    let task = Task { game, limits, best: &best, stop: &stop, watch: &watch };
    let answer = engine.think(&task).map_err(|fault| fault.to_string())?;
    assert_eq!(answer.reply, Reply::Move);
    Ok(game.now().write(game.now().unpack(best.read().mv).unwrap()).to_string())
}

fn started(config: &Config) -> MatchEngine {
    let mut engine = MatchEngine::new(open(config));
    engine.prepare().unwrap();
    engine
}

/// The last line that a program noted.
fn last_question(note: &Path) -> Vec<String> {
    let noted = fs::read_to_string(note).unwrap();
    noted.lines().last().unwrap().split('\t').map(str::to_owned).collect()
}

struct PlayFirst<'e>(&'e mut MatchEngine, &'e Path);

impl Visitor for PlayFirst<'_> {
    type Out = ();

    fn visit<G: Tactics>(self, start: G) {
        let PlayFirst(engine, note) = self;
        let mut game = GameHistory::new(start);
        for _ in 0..6 {
            let now = game.now().clone();
            let moves: Vec<_> = now.moves().iter().map(|&mv| now.write(mv).to_string()).collect();
            assert_eq!(ask(engine, &game, &within(LONG)).as_ref(), Ok(&moves[0]));
            let question = last_question(note);
            let [kind, position, .., listed] = &question[..] else { panic!("{question:?}") };
            assert_eq!(
                (kind.as_str(), position, listed),
                (now.kind().name(), &now.print(), &moves.join(" "))
            );
            game.play(now.read(&moves[0]).unwrap());
        }
    }
}

#[test]
fn one_program_plays_every_game_and_is_sent_nothing_but_questions() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let config = program(&note, "first");
    let mut engine = started(&config);
    for &game in GameKind::ALL {
        game.with(PlayFirst(&mut engine, &note));
        engine.prepare().unwrap();
    }
    drop(engine);
    let noted = fs::read_to_string(&note).unwrap();
    assert!(noted.lines().all(|line| line.split('\t').count() == 6), "{noted}");
    // It can also be kept to some.
    let some = open(&Config { games: Some(vec![GameKind::Tuc]), ..config });
    assert!(some.plays(GameKind::Tuc, false) && !some.plays(GameKind::Chess, false));
    assert_eq!(last_question(&note)[0], "tuc", "it is tried in one of them");
}

#[test]
fn chess960_has_its_own_name_and_castling() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut engine = started(&program(&note, "echo e1h1"));
    let castling = Chess::parse_chess960("rk5r/8/8/8/8/8/8/R3K2R w KQkq - 0 1").unwrap();
    assert_eq!(ask(&mut engine, &GameHistory::new(castling), &within(LONG)).as_deref(), Ok("e1h1"));
    let question = last_question(&note);
    assert_eq!(question[0], "chess960");
    assert!(question[5].split(' ').any(|mv| mv == "e1h1"), "{question:?}");
    assert!(open(&program(&note, "first")).plays(GameKind::Chess, true));
}

#[test]
fn clocks_and_fixed_times_are_told_apart_and_refused_moves_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut engine = started(&program(&note, "first"));
    let line = line(&["e2e4"]);
    let clocks = Clocks {
        left: ByColor([Duration::from_secs(61), Duration::from_secs(30)]),
        increment: Duration::from_millis(500),
        moves_to_go: None,
        read_at: Instant::now() + LONG,
    };
    let wanted = line.now().pack(line.now().read("g8f6").unwrap());
    for (limits, times) in [
        (Limits { clocks: Some(clocks), ..Limits::default() }, ["30000", "61000", "500"]),
        (Limits { move_time: Some(Duration::from_secs(7)), ..Limits::default() }, ["7000", "0", "0"]),
    ] {
        ask(&mut engine, &line, &limits).unwrap();
        assert_eq!(last_question(&note)[2..5], times);
        let limits = Limits { root_moves: vec![wanted], ..limits };
        assert_eq!(ask(&mut engine, &line, &limits).as_deref(), Ok("g8f6"));
        assert_eq!(last_question(&note)[5], "g8f6");
    }
    let depth = Limits { depth: Some(5), ..Limits::default() };
    assert!(ask(&mut engine, &line, &depth).unwrap_err().contains("cannot search within such limits"));
}

/// Other notations are read as well, as people write them.
#[test]
fn answers_may_be_in_san() {
    let folder = tempfile::tempdir().unwrap();
    for answer in ["Nf6", "g8-f6", "' g8f6 '"] {
        let mut engine = started(&program(&folder.path().join("note"), &format!("echo {answer}")));
        assert_eq!(ask(&mut engine, &line(&["e2e4"]), &within(LONG)).as_deref(), Ok("g8f6"), "{answer}");
    }
}

#[test]
fn each_fault_is_told_with_what_the_program_printed() {
    let folder = tempfile::tempdir().unwrap();
    let line = line(&["e2e4"]);
    for (answer, time, told) in [
        ("exit", LONG, "has ended by itself"),
        (
            "echo Traceback: >&2; echo '  File \"me.py\", line 7' >&2; echo '  ~~^~~' >&2; exit 1",
            LONG,
            "has ended by itself: Traceback: | File \"me.py\", line 7",
        ),
        ("sleep 1000 > /dev/null & echo lost >&2; exit 1", LONG, "has ended by itself: lost"),
        ("echo e7e4", LONG, "plays \"e7e4\", which is not a legal move"),
        ("echo I play e7e5", LONG, "prints \"I play e7e5\" instead of a move"),
        ("echo", LONG, "prints \"\" instead of a move"),
        ("printf 'a\\033[2J \\342\\200\\256b\\n'", LONG, "prints \"a[2J b\" instead of a move"),
        ("exec yes hello world", LONG, "prints \"hello world\" instead of a move"),
        (":", SHORT, "has not answered in time"),
        ("head -c 10485760 /dev/zero | tr '\\0' x; echo", SHORT, "has not answered in time"),
    ] {
        let mut engine = started(&program(&folder.path().join("note"), answer));
        assert_eq!(ask(&mut engine, &line, &within(time)).unwrap_err(), told, "{answer}");
        // The next game has another process.
        engine.prepare().unwrap();
    }
    let long = "z".repeat(1000);
    let mut engine = started(&program(&folder.path().join("note"), &format!("echo 1 {long}")));
    let told = ask(&mut engine, &line, &within(LONG)).unwrap_err();
    assert_eq!(told, format!("prints \"1 {}\" instead of a move", &long[..158]));
}

/// A second answer is not that to the next question. It may be read a moment late; then there is another one.
#[test]
fn a_second_answer_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let line = line(&["e2e4"]);
    for answer in ["echo e7e5; echo e7e5", "exec yes e7e5"] {
        let mut engine = started(&program(&folder.path().join("note"), answer));
        let told = std::iter::from_fn(|| Some(ask(&mut engine, &line, &within(LONG)))).find_map(Result::err);
        assert_eq!(
            told.as_deref(),
            Some("prints \"e7e5\" although it was not asked for another move"),
            "{answer}"
        );
    }
}

#[test]
fn in_a_bot_a_late_program_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let once = format!("[ -e {0} ] && first || {{ touch {0}; sleep 100; }}", flag.display());
    for policy in [OnEngineFailure::Restart, OnEngineFailure::Resign] {
        let _ = fs::remove_file(&flag);
        let config = program(&folder.path().join("note"), &once);
        let mut thinker = thinker(&open(&Config { on_engine_failure: policy, ..config }));
        let (start, line) = (line(&[]), line(&["e2e4"]));
        let first = line.now().write(line.now().moves()[0]).to_string();
        let fallback = line.now().pack(*line.now().moves().last().unwrap());
        // Its start may take longer than the late answer has.
        assert_ne!(thought(&mut thinker, &start, within(LONG)).0, "-");
        assert_eq!(thinker.faults(), 0);
        assert_eq!(thought_after(&mut thinker, &line, within(4 * SHORT), fallback).0, last_move(&line));
        assert_eq!(thinker.faults(), 1);
        assert_eq!(thought(&mut thinker, &line, within(LONG)).0, first);
        assert_eq!(thinker.faults(), 0);
    }
}

#[test]
fn what_cannot_be_such_a_program_is_told_at_the_start() {
    let sh = |script: &str, start_within| Config {
        args: vec!["-c".into(), script.into()],
        protocol: Protocol::Lines,
        start_within,
        ..Config::new("/bin/sh")
    };
    for (script, told) in [
        (
            "echo Hello, I am a bot; cat",
            "prints \"Hello, I am a bot\" instead of a move; it may print only moves to stdout",
        ),
        ("read -r line; echo e2e4; echo e2e4; cat", "prints \"e2e4\" although it was not asked"),
        ("read -r line; echo e2e4", "has ended by itself; start it by hand"),
        ("echo 'no such module' >&2; exit 1", "has ended by itself: no such module; correct that"),
        ("cat > /dev/null", "has not answered in time; does it flush its output"),
        ("read -r line; echo a2a3b; cat", "is not a legal move; if it does not play this game, set `games`"),
    ] {
        let config = sh(script, if told.starts_with("has not answered") { SHORT } else { LONG });
        // The test of a program may end before the output after its first move is read.
        let mut opened = std::iter::repeat_with(|| Program::open("me", &config));
        let failure = opened.find_map(Result::err).unwrap().to_string();
        assert!(failure.starts_with("engine me (/bin/sh) ") && failure.contains(told), "{script}: {failure}");
        assert!(failure.contains(" (tried in chess: if it plays only other games, name them: "), "{failure}");
    }
    let failure = |games: &[GameKind]| {
        let config = Config { games: Some(games.to_vec()), ..sh("exit 1", LONG) };
        Program::open("me", &config).unwrap_err().to_string()
    };
    assert!(!failure(&[GameKind::Tuc]).contains("tried in"), "it names its games");
}
