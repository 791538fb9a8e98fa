//! A whole tournament of random movers, and what is left of it.

use std::{io, ops::ControlFlow};

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use shakmaty::{Chess, Position};
use zeitnot_arena::{Event, Name};
use zeitnot_rules::{Game, chess};

use crate::support::arena::{By, Player, TestArena, word};

/// Plays random legal moves, whatever comes, until the arena closes.
async fn play_randomly(mut player: Player) {
    while let Some(line) = player.next().await {
        match word(&line, 0) {
            "GAME_PAIRED" => player.ack(&line).await,
            "YOUR_MOVE" => {
                let fen = line.splitn(7, ' ').last().unwrap();
                let position = chess::Chess::parse(fen).unwrap();
                let moves = position.moves();
                let mv = moves[fastrand::usize(..moves.len())];
                player.send(&format!("MOVE {} {}", word(&line, 1), position.write(mv))).await;
            }
            _ => {}
        }
    }
}

/// One game as the other program read it: its tags, and the position after all moves.
type Found = (Vec<(String, String)>, Chess);

/// Plays the games over.
struct Replay;

impl Visitor for Replay {
    type Tags = Vec<(String, String)>;
    type Movetext = Found;
    type Output = Found;

    fn begin_tags(&mut self) -> ControlFlow<Found, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }
    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Found> {
        tags.push((String::from_utf8_lossy(name).into(), value.decode_utf8().unwrap().into()));
        ControlFlow::Continue(())
    }
    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Found, Found> {
        ControlFlow::Continue((tags, Chess::default()))
    }
    fn san(&mut self, game: &mut Found, san: SanPlus) -> ControlFlow<Found> {
        let mv = san.san.to_move(&game.1).expect("a legal move");
        game.1.play_unchecked(mv);
        ControlFlow::Continue(())
    }
    fn end_game(&mut self, game: Found) -> Found {
        game
    }
}

#[tokio::test]
async fn four_random_movers_play_a_double_round_robin() {
    let mut arena = TestArena::start("players = 4\ngames_per_pair = 2").await;
    let mut players = tokio::task::JoinSet::new();
    for (i, name) in ["alice", "bob", "carol", "dave"].into_iter().enumerate() {
        let by = if i % 2 == 0 { By::Tcp } else { By::WebSocket };
        players.spawn(play_randomly(arena.join(by, name).await));
    }
    let mut news = std::mem::replace(&mut arena.news, tokio::sync::broadcast::Sender::new(1).subscribe());
    let (summary, _folder) = arena.end().await;
    players.join_all().await;

    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    let rows = tournament.standings.rows();
    assert!(rows.iter().all(|row| row.tally.games() == 6 && row.tally.forfeits == 0));
    assert_eq!(rows.iter().map(|row| row.score.points()).sum::<f64>(), 12.0);
    assert!(rows.is_sorted_by(|a, b| a.score >= b.score));

    let pgn = std::fs::File::open(tournament.pgn.as_ref().unwrap()).unwrap();
    let games: io::Result<Vec<Found>> = Reader::new(pgn).read_games(&mut Replay).collect();
    let games = games.unwrap();
    assert_eq!(games.len(), 12);
    let tag = |game: &Found, name: &str| {
        game.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap()
    };
    for row in &rows {
        let colour =
            |colour: &str| games.iter().filter(|game| tag(game, colour) == row.name.as_str()).count();
        assert_eq!((colour("White"), colour("Black")), (3, 3));
    }
    for game in &games {
        assert_eq!(tag(game, "Termination"), "normal");
        if let Some(winner) = game.1.outcome().winner() {
            assert_eq!(tag(game, "Result"), winner.fold_wb("1-0", "0-1"));
        } else {
            assert_eq!(tag(game, "Result"), "1/2-1/2");
        }
    }

    let (mut started, mut ended, mut last) = (0, 0, None);
    while let Ok(item) = news.try_recv() {
        assert_eq!(item.tournament, Name::try_from("class").unwrap());
        match item.event {
            Event::GameStarted { .. } => started += 1,
            Event::GameEnded { .. } => ended += 1,
            Event::Standings(standings) => last = Some(standings),
            _ => {}
        }
    }
    assert_eq!((started, ended), (12, 12));
    assert_eq!(*last.unwrap(), tournament.standings);
}
