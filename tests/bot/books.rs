//! Opening books: one for all games, and those of rules.

use std::{fs, time::Duration};

use zeitnot_bot::{Config, MoveOrigin};
use zeitnot_engine::book;
use zeitnot_rules::{Color, Game, GameHistory, GameKind, chess::Chess};
use zeitnot_seat::{GameDetails, GameInfo, Opponent};

use super::sources::{Setup, bot};
use crate::support::{
    bot::{ask, clocks, info, moved},
    polyglot::Builder,
};

/// Moves come from a book until it ends.
#[test]
async fn an_opening_is_played_from_a_book() {
    const OPENING: [&str; 9] = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1"];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spanish.bin");
    let mut line = GameHistory::new(Chess::start());
    let mut entries = Builder::default();
    for text in OPENING {
        let in_book = if text == "e1g1" { "e1h1" } else { text };
        entries = entries.entry(line.now().book_key().unwrap(), in_book, 1);
        line.play(line.now().read(text).unwrap());
    }
    fs::write(&file, entries.bytes()).unwrap();
    let book = book::BookConfig { files: vec![file], ..book::BookConfig::default() };
    let mut house = bot(Setup { bot: Config { book, ..Config::default() }, ..Setup::default() });
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    for (turn, pair) in OPENING.chunks(2).enumerate() {
        // Also with a millisecond on the clock: to look into a book takes no time.
        let left = Duration::from_millis(if turn == 3 { 1 } else { 60_000 });
        assert_eq!(ask(&mut seat, turn as u32, Some(clocks(left))).await, pair[0]);
        assert_eq!(house.answers.recv().await.unwrap().origin, MoveOrigin::Book);
        for text in pair {
            moved(&seat, text).await;
        }
    }
    moved(&seat, "f8e7").await;
    ask(&mut seat, 9, Some(clocks(Duration::from_secs(60)))).await;
    assert_eq!(house.answers.recv().await.unwrap().origin, MoveOrigin::Searched);
}

/// The first rule that matches decides, then `[bot.book]`.
#[test]
async fn each_kind_of_game_has_its_book() {
    let folder = tempfile::tempdir().unwrap();
    let book = |mv: &str| {
        let file = folder.path().join(format!("{mv}.bin"));
        let entries = Builder::default().entry(Chess::start().book_key().unwrap(), mv, 1);
        fs::write(&file, entries.bytes()).unwrap();
        file.display().to_string()
    };
    let [bullet, human, white, usual, atomic] = ["a2a3", "b2b3", "c2c3", "d2d3", "e2e3"].map(book);
    let text = format!(
        "[book]\nfiles = ['{usual}']\n\
        [[books]]\ngames = ['chess960']\n\
        [[books]]\ngames = ['atomic']\ncolor = 'white'\nfiles = ['{atomic}']\n\
        [[books]]\ntime_controls = ['bullet']\nfiles = ['{bullet}']\n\
        [[books]]\nopponent = 'human'\nfiles = ['{human}']\n\
        [[books]]\ntime_controls = ['rapid']\ncolor = 'white'\nfiles = ['{white}']\n\
        [[books]]\ntime_controls = ['classical']\nfiles = ['{white}']\nmax_ply = 0\n"
    );
    let config: Config = toml::from_str(&text).unwrap();
    let mut house = bot(Setup { bot: config, ..Setup::default() });
    for (clock, opponent, expected) in [
        ("60+0", Some(Opponent::Human), Some("a2a3")),
        ("180+2", Some(Opponent::Human), Some("b2b3")),
        ("600+0", Some(Opponent::Bot), Some("c2c3")),
        ("180+2", Some(Opponent::Bot), Some("d2d3")),
        ("180+2", None, Some("d2d3")),
        ("3600+0", None, None),
    ] {
        let details = GameDetails { opponent, ..GameDetails::default() };
        let time_control = Some(clock.parse().unwrap());
        let game = GameInfo { time_control, details, ..info(Color::White, None) };
        let mut seat = house.lobby.open(game).await.unwrap();
        let text = ask(&mut seat, 1, None).await;
        let origin = house.answers.recv().await.unwrap().origin;
        match expected {
            Some(mv) => assert_eq!((text.as_str(), origin), (mv, MoveOrigin::Book), "{clock} {opponent:?}"),
            None => assert_eq!(origin, MoveOrigin::Searched, "{clock} {opponent:?}"),
        }
    }
    // A variant has only those that name it.
    for (kind, expected) in
        [(GameKind::Atomic, MoveOrigin::Book), (GameKind::KingOfTheHill, MoveOrigin::Searched)]
    {
        let time_control = Some("60+0".parse().unwrap());
        let game = GameInfo { game: kind, time_control, ..info(Color::White, None) };
        let mut seat = house.lobby.open(game).await.unwrap();
        let text = ask(&mut seat, 1, None).await;
        assert_eq!(house.answers.recv().await.unwrap().origin, expected, "{kind:?}: {text}");
    }
    // Chess960 has none.
    let start = "bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w FCfc - 0 1";
    let mut seat = house.lobby.open(info(Color::White, Some(start))).await.unwrap();
    ask(&mut seat, 1, None).await;
    assert_eq!(house.answers.recv().await.unwrap().origin, MoveOrigin::Searched);
}
