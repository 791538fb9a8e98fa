//! Tests with three-piece tables, invalid files, and a fake probe.

use std::{fs, ops::ControlFlow, path::Path, sync::Mutex};

use zeitnot_rules::{Color, Outcome, chess::Chess};

use super::*;
use crate::{
    Best, Evaluator, Limits, Progress, StopFlag, TranspositionTable, net::EvalFile, search::Search,
    thinker::think_watched,
};

/// Folder of the test files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/syzygy")
}

fn config(folder: &Path) -> SyzygyConfig {
    SyzygyConfig { folders: vec![folder.to_owned()], ..SyzygyConfig::default() }
}

fn files() -> Arc<dyn TablebaseProbe<Chess>> {
    Tablebases::open(&config(&folder())).unwrap().unwrap().chess.unwrap()
}

/// Copies of test files that may be damaged.
fn copied(names: &[&str]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in names {
        fs::copy(folder().join(name), copy.path().join(name)).unwrap();
    }
    copy
}

fn line(fen: &str) -> GameHistory<Chess> {
    GameHistory::new(Chess::parse(fen).unwrap())
}

fn root(probe: &dyn TablebaseProbe<Chess>, line: &GameHistory<Chess>) -> (Wdl, bool, Vec<String>) {
    let root = RootProbe::of(probe, line, &[], Kept::All, || false).unwrap();
    let text = |&mv: &Packed| line.now().write(line.now().unpack(mv).unwrap()).to_string();
    let mut moves: Vec<_> = root.moves.iter().map(text).collect();
    moves.sort();
    (root.wdl, root.by_dtz, moves)
}

/// Fake tables for this many pieces: the side with the rook loses.
struct Contrary(usize);

impl TablebaseProbe<Chess> for Contrary {
    fn max_pieces(&self, _: &Chess) -> usize {
        self.0
    }

    fn wdl(&self, position: &Chess) -> Option<Wdl> {
        let board = position.board();
        let ours = board.rooks() & board.by_color(position.turn());
        Some(match (board.rooks().is_empty(), ours.is_empty()) {
            (true, _) => Wdl::Draw,
            (_, true) => Wdl::Win,
            (_, false) => Wdl::Loss,
        })
    }

    fn dtz(&self, _: &Chess) -> Option<i32> {
        None
    }
}

fn search(
    line: &GameHistory<Chess>,
    probe: Arc<dyn TablebaseProbe<Chess>>,
    depth: u16,
) -> (String, Best, Progress<Chess>) {
    let tables = LimitedProbe::new(probe, &SyzygyConfig::default());
    let mut search = Search::new(Arc::new(TranspositionTable::new(4).unwrap()), 1, &EvalFile::default())
        .with_tablebases(Some(tables));
    let (limits, last) = (Limits { depth: Some(depth), ..Limits::default() }, Mutex::new(None));
    let watch = |progress: &Progress<Chess>| {
        *last.lock().unwrap() = Some(progress.clone());
        ControlFlow::Continue(())
    };
    let (best, _) = think_watched(&mut search, line, &limits, &StopFlag::default(), &watch);
    let text = line.now().write(line.now().unpack(best.mv).unwrap()).to_string();
    (text, best, last.into_inner().unwrap().unwrap())
}

#[test]
fn the_files_know_the_ends_and_distances_of_three_men() {
    let files = files();
    assert_eq!(files.max_pieces(&Chess::start()), 3);
    for (fen, end, distance) in [
        ("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1", Some(Wdl::Win), Some(15)),
        ("8/8/8/3k4/8/8/8/Q3K3 b - - 0 1", Some(Wdl::Loss), Some(-18)),
        ("7k/8/6K1/8/8/8/8/R7 w - - 0 1", Some(Wdl::Win), Some(1)),
        ("8/8/8/3k4/8/8/8/B3K3 w - - 0 1", Some(Wdl::Draw), Some(0)),
        // The opposition, and a pawn that is pushed at once.
        ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", Some(Wdl::Draw), Some(0)),
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", Some(Wdl::Loss), Some(-4)),
        ("8/4P3/8/8/k7/8/8/K7 w - - 0 1", Some(Wdl::Win), Some(1)),
        // Mates, four pieces, and castling rights are not covered.
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", None, Some(-1)),
        ("8/8/8/3k4/8/8/8/QQ2K3 w - - 0 1", None, None),
        ("8/8/8/3k4/8/8/8/4K2R w K - 0 1", None, None),
    ] {
        let position = Chess::parse(fen).unwrap();
        let found = files.dtz(&position);
        // Some tables know the distance to a ply or two.
        let plies = |distance: Option<i32>| distance.map(|plies| [plies, plies + plies.signum()]);
        assert_eq!(files.wdl(&position), end, "{fen}");
        assert!(
            found == distance || plies(distance).is_some_and(|two| found == Some(two[1])),
            "{fen}: {found:?}"
        );
    }
}

/// Two independent computations.
#[test]
fn the_files_and_our_own_table_of_a_pawn_agree() {
    let files = files();
    let mut evaluator = crate::eval::ChessEval::default();
    let mut won = 0;
    for at in 0..64 * 64 * 48_usize {
        // Some thousands, spread over all.
        let at = at * 61;
        let (king, other, pawn) = (at % 64, at / 64 % 64, 8 + at / 4096 % 48);
        let mut board = [b'1'; 64];
        (board[king], board[other], board[pawn]) = (b'K', b'k', b'P');
        let rows: Vec<_> =
            board.chunks(8).rev().map(|row| String::from_utf8_lossy(row).into_owned()).collect();
        let Ok(position) = Chess::parse(&format!("{} w - - 0 1", rows.join("/"))) else { continue };
        if position.piece_count() < 3 || at / 61 % 7 != 0 {
            continue;
        }
        let state = evaluator.refresh(&position);
        let score = evaluator.evaluate(&state, &position);
        let end = files.wdl(&position).unwrap();
        assert_eq!(end == Wdl::Win, score > Score::cp(500), "{}: {end:?}, {score}", position.print());
        won += usize::from(end == Wdl::Win);
    }
    assert!(won > 5_000, "{won}");
}

#[test]
fn at_the_root_all_moves_that_win_in_time_are_left_to_the_search() {
    let files = files();
    // All but those that lose the queen, or stalemate.
    let (end, by_dtz, moves) = root(&*files, &line("7k/8/8/8/8/8/5Q2/4K3 w - - 0 1"));
    assert_eq!((end, by_dtz), (Wdl::Win, true));
    assert!(moves.len() > 20 && moves.contains(&"f2a7".to_owned()), "{moves:?}");
    assert!(!moves.contains(&"f2f7".to_owned()), "{moves:?}");
    // Only one way to keep the win, and one that draws.
    assert_eq!(root(&*files, &line("8/8/8/8/4k3/8/4P3/4K3 w - - 0 1")).0, Wdl::Draw);
    assert_eq!(root(&*files, &line("k7/2K5/8/1P6/8/8/8/8 w - - 0 1")).2, ["c7b6", "c7c6", "c7c8"]);
    // A mate goes before all.
    assert_eq!(root(&*files, &line("7k/8/6K1/8/8/8/8/R7 w - - 0 1")).2, ["a1a8"]);
    // Of lost moves none is better than others, where no draw is near.
    assert_eq!(root(&*files, &line("8/8/8/3k4/8/8/8/Q3K3 b - - 0 1")).0, Wdl::Loss);
}

#[test]
fn fifty_moves_leave_only_what_is_fast_enough() {
    let files = files();
    let at = |clock| root(&*files, &line(&format!("8/8/8/3k4/8/8/8/Q3K3 w - - {clock} 80")));
    let ((early_end, _, early), (late_end, _, late)) = (at(0), at(83));
    assert_eq!((early_end, late_end), (Wdl::Win, Wdl::Win));
    assert!(late.len() < early.len() && late.contains(&"a1f6".to_owned()), "{late:?}");
    let position = Chess::parse("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1").unwrap();
    for text in late {
        let next = position.after(position.read(&text).unwrap());
        assert!(files.dtz(&next).unwrap() >= -16, "{text}");
    }
    // Too late: it is tried, and counts as a draw.
    let root =
        RootProbe::of(&*files, &line("8/8/8/3k4/8/8/8/Q3K3 w - - 90 80"), &[], Kept::All, || false).unwrap();
    assert_eq!((root.wdl, root.adjust(Score::cp(900))), (Wdl::CursedWin, Score::ZERO));
    let defence =
        RootProbe::of(&*files, &line("8/8/8/3k4/8/8/8/Q3K3 b - - 90 80"), &[], Kept::All, || false).unwrap();
    assert_eq!(defence.wdl, Wdl::BlessedLoss);
}

#[test]
fn who_has_repeated_takes_the_shortest_way() {
    let files = files();
    let mut line = line("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1");
    let before = root(&*files, &line).2.len();
    for text in ["a1b1", "d5d4", "b1a1", "d4d5"] {
        line.play(line.now().read(text).unwrap());
    }
    assert!(line.has_repeated());
    let (end, _, moves) = root(&*files, &line);
    assert_eq!(end, Wdl::Win);
    assert!(moves.len() < before / 2 && !moves.contains(&"a1b1".to_owned()), "{moves:?}");
}

#[test]
fn only_wanted_moves_are_ranked_and_a_stop_is_heard() {
    let line = line("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1");
    let wanted = ["a1a2", "a1d4"].map(|text| line.now().pack(line.now().read(text).unwrap()));
    let root = RootProbe::of(&*files(), &line, &wanted, Kept::All, || false).unwrap();
    assert_eq!(root.moves, wanted[..1], "the queen is not to be given away");
    assert_eq!(RootProbe::of(&*files(), &line, &wanted, Kept::All, || true), None);
}

#[test]
fn without_distances_ends_are_what_counts() {
    let copy = copied(&["KQvK.rtbw", "KRvK.rtbw", "KBvK.rtbw", "KNvK.rtbw", "KPvK.rtbw"]);
    let endgames = Tablebases::open(&config(copy.path())).unwrap().unwrap();
    let files: Arc<dyn TablebaseProbe<Chess>> = endgames.chess.unwrap();
    let (end, by_dtz, moves) = root(&*files, &line("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1"));
    assert_eq!((end, by_dtz), (Wdl::Win, false));
    assert!(!moves.contains(&"a1d4".to_owned()), "{moves:?}");
    // The search has to see to it that the win gets nearer: it asks as well.
    let pawn = line("8/8/8/8/1P5k/8/8/K7 w - - 0 1");
    let (_, best, progress) = search(&pawn, files, 10);
    assert!(best.score >= Score::tb_win_in(0), "{}", best.score);
    assert!(progress.tb_hits > pawn.now().moves().len() as u64, "{}", progress.tb_hits);
}

#[test]
fn the_search_prefers_a_win_by_tables_to_any_evaluation_and_a_mate_to_both() {
    // By what this oracle says a rook is fatal: the pawn is taken no more, or the rook is given for it.
    let absurd = "8/8/8/8/3k4/8/1R1p1K2/8 w - - 0 1";
    let (_, usual, none) = search(&line(absurd), Arc::new(Contrary(0)), 6);
    assert!(usual.score > Score::cp(200) && none.tb_hits == 0);
    let (mv, contrary, asked) = search(&line(absurd), Arc::new(Contrary(3)), 6);
    assert!(asked.tb_hits > 0 && contrary.score < usual.score && mv != "b2d2", "{mv} {}", contrary.score);
    // Black takes nothing but wins, as a rook stays after it; so it is the pawn that is to be left alone.
    let wins = "8/8/8/8/3k4/8/1R1p1K2/8 b - - 0 1";
    let (_, best, _) = search(&line(wins), Arc::new(Contrary(4)), 4);
    assert!(best.score >= Score::tb_win_in(0) && !best.score.is_mate(), "{}", best.score);
    let mates = "7k/8/6K1/8/8/8/p7/1R6 w - - 0 1";
    let (mv, best, _) = search(&line(mates), Arc::new(Contrary(3)), 4);
    assert_eq!((mv.as_str(), best.score), ("b1b8", Score::mate_in(1)));
}

#[test]
fn known_endgames_are_played_out_by_tables_of_all_roots() {
    // A search so shallow that it would never get there by itself.
    for fen in ["8/8/8/3k4/8/8/8/R3K3 w - - 60 90", "8/8/8/1P4k1/8/8/8/K7 w - - 0 1"] {
        let mut line = line(fen);
        while line.outcome() == Outcome::Ongoing {
            let (mv, ..) = search(&line, files(), 1);
            line.play(line.now().read(&mv).unwrap());
        }
        assert!(matches!(line.outcome(), Outcome::Win(Color::White, _)), "{fen}: {:?}", line.outcome());
    }
}

#[test]
fn folders_and_files_that_are_none_are_told_by_their_names() {
    let told = |folder: &Path| Tablebases::open(&config(folder)).unwrap_err().to_string();
    let gone = folder().join("gone");
    assert!(told(&gone).starts_with(&format!("endgame tables: {}: cannot be read: ", gone.display())));
    let file = folder().join("KQvK.rtbw");
    assert!(told(&file).starts_with(&format!("endgame tables: {}: cannot be read: ", file.display())));
    let empty = tempfile::tempdir().unwrap();
    fs::write(empty.path().join("notes.txt"), "KQvK").unwrap();
    assert!(told(empty.path()).contains("holds no Syzygy tables"));
    assert!(told(copied(&["KQvK.rtbz"]).path()).contains("but no WDL tables"));
    let whole = fs::read(&file).unwrap();
    for torn in [&whole[..100], &whole[..2], &[], &whole[16..], &[b"PK\x03\x04", &whole[4..]].concat()] {
        let copy = copied(&["KRvK.rtbw"]);
        let path = copy.path().join("KQvK.rtbw");
        fs::write(&path, torn).unwrap();
        let expected = format!("endgame tables: {}: is not a Syzygy table, or is truncated", path.display());
        assert!(told(copy.path()).starts_with(&expected), "{}", told(copy.path()));
    }
    assert!(Tablebases::open(&SyzygyConfig::default()).unwrap().is_none());
    let shown = Tablebases::open(&config(&folder())).unwrap().unwrap().to_string();
    assert_eq!(shown, "chess: 5 WDL and 5 DTZ tables, up to 3 pieces");
}

/// Damage that is not visible at startup costs the tables, not the search.
#[test]
fn a_table_that_is_damaged_inside_never_panics() {
    let lines = ["8/8/8/3k4/8/8/8/Q3K3 w - - 0 1", "8/8/8/3k4/8/8/8/Q3K3 b - - 0 1"].map(line);
    let copy = copied(&["KQvK.rtbw", "KQvK.rtbz"]);
    let (mut gave_up, mut tries) = (0, 0);
    for name in ["KQvK.rtbw", "KQvK.rtbz"] {
        let whole = fs::read(folder().join(name)).unwrap();
        for at in 4..whole.len().min(400) {
            let mut harmed = whole.clone();
            harmed[at] = !harmed[at];
            fs::write(copy.path().join(name), harmed).unwrap();
            let endgames = Tablebases::open(&config(copy.path())).unwrap().unwrap();
            let files: Arc<dyn TablebaseProbe<Chess>> = endgames.chess.unwrap();
            tries += 1;
            for line in &lines {
                gave_up += usize::from(RootProbe::of(&*files, line, &[], Kept::All, || false).is_none());
            }
        }
        fs::write(copy.path().join(name), whole).unwrap();
    }
    assert!(gave_up > 0 && tries > 600, "{gave_up} of {tries}");
}

/// Moves for a player that does not search.
#[test]
fn the_best_moves_are_the_fastest_wins_and_the_slowest_losses() {
    let files = files();
    for fen in ["8/8/8/3k4/8/8/8/Q3K3 w - - 0 1", "8/8/8/3k4/8/8/8/Q3K3 b - - 0 1"] {
        let line = line(fen);
        let kept = |kept| RootProbe::of(&*files, &line, &[], kept, || false).unwrap();
        let (all, best) = (kept(Kept::All), kept(Kept::Best));
        assert!(
            best.moves.len() < all.moves.len() && best.moves.iter().all(|mv| all.moves.contains(mv)),
            "{fen}"
        );
        let distance = |mv: &Packed| {
            let mut next = line.clone();
            next.play(line.now().unpack(*mv).unwrap());
            files.dtz(next.now()).unwrap()
        };
        // For the opponent: a loss that is near, or a win that is far.
        let nearest = all.moves.iter().map(distance).max().unwrap();
        assert!(best.moves.iter().all(|mv| distance(mv) == nearest), "{fen}");
    }
}
