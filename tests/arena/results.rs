//! `zeitnot arena results`: what the database tells of a tournament, while it is played and afterwards.

use serde_json::{Value, json};
use zeitnot_testing::until;

use crate::support::{
    arena::{TestArena, results},
    command::{err, zeitnot},
    storage::{Storage, on_both_databases},
};

on_both_databases!(
    results_are_there_when_they_are_told_and_afterwards,
    a_name_is_no_formula_for_a_spreadsheet,
    an_unknown_tournament_is_refused_with_those_that_there_are
);

async fn results_are_there_when_they_are_told_and_afterwards(storage: Storage) {
    let arena = TestArena::tournament(storage, "", "players = 2\ngames_per_pair = 2").await;
    let database = arena.folder.database();
    let mut board = arena.game().await;
    board.play("f2-f3 e7-e5 g2-g4 d8-h4").await;
    assert_eq!(board.over().await, "0-1 Checkmate");

    // The arena runs, and the result is on the disk.
    assert!(results(&database, &[]).starts_with("class: chess at 60+0, running, begun on "));
    let table = results(&database, &["class"]);
    assert!(
        table.contains(&format!("1 {}", board.black.name)) && table.ends_with("games: 1 over\n"),
        "{table}"
    );
    let csv = results(&database, &["class", "--csv"]);
    let winner = &board.black.name;
    let loser = &board.white.name;
    assert_eq!(
        csv,
        format!(
            "rank,name,score,sonneborn_berger,direct_encounter,games_won,games,wins,draws,losses,forfeits,byes,out\n\
             1,{winner},1,0,0,1,1,1,0,0,0,0,\n2,{loser},0,0,0,0,1,0,0,1,0,0,\n"
        )
    );
    let (summary, folder) = arena.stop().await;
    let pgn = results(&folder.database(), &["class", "--pgn"]);
    let written = std::fs::read_to_string(summary.tournaments[0].pgn.as_ref().unwrap()).unwrap();
    assert_eq!(pgn, written, "the stored games are those of the file");
    let told: Value = serde_json::from_str(&results(&folder.database(), &["class", "--json"])).unwrap();
    assert_eq!((&told["state"], &told["pairings"][0]["result"]), (&json!("running"), &json!("0-1")));
    assert_eq!(told["players"][0]["name"], json!(board.black.name));
}

async fn a_name_is_no_formula_for_a_spreadsheet(storage: Storage) {
    let arena = TestArena::tournament(storage, "", "players = 3").await;
    let mut players = Vec::new();
    for name in ["=HYPERLINK(\"http://evil.example\")", "@SUM(A1,A2)"] {
        players.push(arena.say(name, &format!("JOIN class {name}")).await);
    }
    let csv = || results(&arena.folder.database(), &["class", "--csv"]);
    // Joins are written a little later.
    until("both players", async || csv().lines().count() == 3).await;
    for cell in [r#","'=HYPERLINK(""http://evil.example"")",0,"#, r#","'@SUM(A1,A2)",0,"#] {
        assert!(csv().contains(cell), "{}", csv());
    }
    arena.stop().await;
}

async fn an_unknown_tournament_is_refused_with_those_that_there_are(storage: Storage) {
    let arena = TestArena::tournament(storage, "", "").await;
    let database = arena.folder.database();
    let output = zeitnot(&["arena", "results", "clss", "--database", &database]).output().unwrap();
    let told = err(&output);
    assert_eq!((output.status.code(), told.lines().count()), (Some(2), 1), "{told}");
    assert!(told.contains("has no tournament 'clss'") && told.ends_with("it has: class\n"), "{told}");
    arena.stop().await;
}
