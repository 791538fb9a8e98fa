//! An engine of the NTHU course of 2026: it knows only the words of UBGI's specification.

use zeitnot_rules::minichess::{MiniChess, Rules};

use super::*;

/// Notes what it is told, and plays the same move always.
fn course_engine(note: &Path, mv: &str) -> Config {
    let script = format!(
        r#"while read -r line; do printf '%s\n' "$line" >> '{}'; case "$line" in
            ubgi) echo 'id name MiniChess'; echo 'option name BoardWidth type spin default 5 min 1 max 26'
                echo 'option name Algorithm type combo default pvs var pvs var minimax'; echo ubgiok;;
            isready) echo 'info string NNUE loaded'; echo readyok;;
            go*) echo 'info depth 3 score cp 18 currmove {mv} currmovenumber 4'
                echo 'info depth 6 seldepth 12 score cp 25 nodes 48201 time 120 nps 401675 pv {mv} e5e4'
                echo 'bestmove {mv}';;
            quit) exit;;
        esac; done"#,
        note.display()
    );
    Config { args: vec!["-c".into(), script], protocol: Protocol::Ubgi, ..Config::new("/bin/sh") }
}

#[test]
fn it_is_spoken_to_in_ubgi_and_plays_minichess_2026_only() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let mut config = course_engine(&note, "a2a3");
    config.options.extend([("algorithm".to_owned(), "minimax".into()), ("Style".to_owned(), "7".into())]);
    let opened = Program::open("course", &config).unwrap();
    assert_eq!(
        (opened.program.title(), &opened.unknown_options[..]),
        ("MiniChess", &["Style".to_owned()][..])
    );
    for &game in GameKind::ALL {
        assert_eq!(opened.program.plays(game, false), game == GameKind::Minichess2026, "{game:?}");
    }
    fs::remove_file(&note).unwrap();

    let mut engine = MatchEngine::new(opened.program);
    engine.prepare().unwrap();
    let clocks = Clocks {
        left: ByColor::both(Duration::from_secs(60)),
        increment: Duration::from_secs(1),
        moves_to_go: None,
        read_at: Instant::now() + LONG,
    };
    let start = MiniChess::start(Rules::Nthu2026);
    let mut moved = GameHistory::new(start.clone());
    for mv in ["b1c3", "b5b4"] {
        moved.play(moved.now().read(mv).unwrap());
    }
    let other = GameHistory::new(start.parse_position("kqbnr/ppppp/...../...../PPPPP/RNBQK W 5").unwrap());
    for (game, limits) in [
        (&moved, Limits { clocks: Some(clocks), ..Limits::default() }),
        (&moved, Limits { move_time: Some(Duration::from_secs(2)), ..Limits::default() }),
        (&other, Limits { depth: Some(4), ..Limits::default() }),
    ] {
        let (best, stop) = (Decision::new(Packed::NONE), StopFlag::default());
        let watch = |_: &Progress<MiniChess>| ControlFlow::Continue(());
        let answer = engine.think(&Task { game, limits: &limits, best: &best, stop: &stop, watch: &watch });
        assert_eq!((answer.unwrap().reply, best.read().depth), (Reply::Move, 6));
    }
    drop(engine);
    let noted = fs::read_to_string(&note).unwrap();
    let clocked = noted.lines().find(|line| line.starts_with("go movetime")).unwrap();
    let time: u64 = clocked.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((500..6000).contains(&time), "a share of the clock: {clocked}");
    let expected = [
        "ubgi",
        "setoption name Algorithm value minimax",
        "ubginewgame",
        "isready",
        "position startpos moves b1c3 b5b4",
        clocked,
        "position startpos moves b1c3 b5b4",
        "go movetime 2000",
        "position board kqbnr/ppppp/...../...../PPPPP/RNBQK 0",
        "go depth 4",
        "quit",
    ];
    assert_eq!(noted.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_engine_of_another_protocol_or_game_is_told() {
    let mut uci = script("echo bestmove a2a3", ":");
    (uci.protocol, uci.start_within) = (Protocol::Ubgi, SHORT);
    let failure = Program::open("odd", &uci).unwrap_err().to_string();
    assert!(failure.contains("does not answer `ubgi`; is it an engine of UBGI"), "{failure}");
    let folder = tempfile::tempdir().unwrap();
    let gomoku = course_engine(&folder.path().join("note"), "e5");
    let failure = Program::open("odd", &gomoku).unwrap_err().to_string();
    assert!(failure.contains("plays \"e5\", which is not a legal move"), "{failure}");
}
