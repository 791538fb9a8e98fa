//! Players that the arena runs itself: built-in ones, and engines of the configuration.

use std::{collections::BTreeMap, fs, num::NonZeroU64, path::Path};

use serde_json::json;
use zeitnot_arena::{Event, Summary};
use zeitnot_engine::{BuiltIn, EngineFactory, MoveLimits};
use zeitnot_external::{Config, Program, Protocol};
use zeitnot_testing::soon;

use super::tournament::play_randomly;
use crate::support::{
    arena::{By, TestArena, records, tags},
    command::ZEITNOT,
    files,
    program::Program as Process,
    web::{Browser, TOKEN},
};

/// An engine of the configuration.
fn engine(name: &str, config: &Config) -> BTreeMap<String, EngineFactory> {
    let factory = Program::open(name, config).unwrap().program.factory().unwrap();
    [(name.to_owned(), factory)].into()
}

/// A UCI engine that moves once from the start, and dies whenever it is asked for another move.
fn mortal(folder: &Path) -> Config {
    let path = folder.join("mortal");
    let script = "#!/bin/sh\nwhile read -r line; do case $line in\nuci) echo uciok;;\nisready) echo readyok;;\n\
                  position*moves*) dies=1;;\nposition*) dies=;;\ngo*) [ -z \"$dies\" ] || exit 1; echo bestmove e2e4;;\n\
                  quit) exit;;\nesac; done\n";
    files::write(&path, script, 0o755);
    Config::new(path)
}

/// Games and points of a player of the only tournament.
fn score(summary: &Summary, player: &str) -> (u32, f64) {
    let rows = summary.tournaments[0].standings.rows();
    let row = rows.iter().find(|row| row.name.as_str() == player).unwrap();
    (row.tally.games(), row.score.points())
}

#[test]
async fn built_in_players_and_an_external_engine_play_a_tournament() {
    let mut program = Config::new(ZEITNOT);
    program.args = vec!["uci".into()];
    program.limits = MoveLimits { nodes: NonZeroU64::new(200), ..MoveLimits::default() };
    let settings = "engines = ['random', 'greedy', 'level-1', 'program']\nplayers = 4\ngames_per_pair = 1";
    let folder = tempfile::tempdir().unwrap();
    let arena = TestArena::with_engines(folder, settings, engine("program", &program)).await;
    let (summary, folder) = arena.end().await;
    assert!(summary.tournaments[0].complete);
    for player in ["random", "greedy", "level-1", "program"] {
        assert_eq!(score(&summary, player).0, 3);
    }
    let pgn = records(folder.path());
    assert!(tags(&pgn, "Termination").iter().all(|end| *end == "normal"), "{pgn}");
}

#[test]
async fn a_student_meets_built_in_players_whose_names_are_reserved() {
    let arena = TestArena::start(
        "engines = ['random', 'minimax-2', 'level-1']\nplayers = 4\npairing = 'swiss'\nrounds = 2",
    )
    .await;
    for name in ["level-1", "random"] {
        let refused = arena.join(By::Tcp, name).await.rest().await;
        assert_eq!(refused, [format!("INFO Name {name} is already taken: choose another one")]);
    }
    let alice = tokio::spawn(play_randomly(arena.join(By::Tcp, "alice").await));
    let (summary, _folder) = arena.end().await;
    alice.await.unwrap();
    assert!(summary.tournaments[0].complete);
    assert_eq!(score(&summary, "alice").0, 2);
}

/// It is killed after ten seconds, so its clock would mislead it.
#[test]
async fn a_program_is_told_the_time_for_a_move_where_its_clock_allows_more() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note");
    let script = format!(
        "tab=$(printf '\\t'); while IFS=$tab read -r game position time opponent increment moves; do \
         echo $time $opponent > {}; echo \"${{moves%% *}}\"; done",
        note.display()
    );
    let args = vec!["-c".into(), script];
    let program = Config { args, protocol: Protocol::Lines, ..Config::new("/bin/sh") };
    let settings = "time = '900+10'\nengines = ['program', 'random']\nplayers = 2\ngames_per_pair = 1";
    let arena = TestArena::with_engines(folder, settings, engine("program", &program)).await;
    let (_, folder) = arena.end().await;
    let noted = fs::read_to_string(folder.path().join("note")).unwrap();
    let (time, opponent) = noted.trim().split_once(' ').unwrap();
    assert!((5_000..=10_000).contains(&time.parse().unwrap()) && opponent == "0", "{noted}");
}

#[test]
async fn built_in_players_go_on_after_a_restart() {
    let settings = "engines = ['random', 'greedy', 'level-1']\nplayers = 3\ngames_per_pair = 4";
    let folder = tempfile::tempdir().unwrap();
    let mut arena = TestArena::tournament(folder, "", settings).await;
    for _ in 0..2 {
        while !matches!(soon("an event", arena.news.recv()).await.unwrap().event, Event::GameEnded { .. }) {}
    }
    let (summary, folder) = arena.stop().await;
    assert!(!summary.tournaments[0].complete);
    let (summary, _folder) = TestArena::tournament(folder, "", settings).await.end().await;
    assert!(summary.tournaments[0].complete);
    assert_eq!(["random", "greedy", "level-1"].map(|player| score(&summary, player).0), [8, 8, 8]);
}

#[test]
async fn an_engine_that_dies_loses_its_game_and_the_tournament_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let engines = engine("mortal", &mortal(folder.path()));
    let settings = "engines = ['mortal', 'random']\nplayers = 2\ngames_per_pair = 2";
    let (summary, _folder) = TestArena::with_engines(folder, settings, engines).await.end().await;
    assert!(summary.tournaments[0].complete);
    assert_eq!(score(&summary, "mortal"), (2, 0.0));
}

/// An engine that a tournament names stops the arena. Others are tried only where an organiser may name them.
#[test]
async fn an_engine_that_fails_does_not_stop_an_arena_whose_tournaments_do_without_it() {
    let run = |page: &str, engines: &str| {
        let text = format!(
            "[arena]\ntcp = '127.0.0.1:0'\ngames = '.'\n{page}[[arena.tournament]]\nname = 'class'\ntime = '60'\n\
             engines = [{engines}]\n[engines.broken]\ncommand = 'false'\n[[bot.choose]]\nengine = 'broken'\n"
        );
        let folder = tempfile::tempdir().unwrap();
        (Process::arena(folder.path(), &text), folder)
    };
    for (page, warnings) in [("", 0), ("[arena.web]\nlisten = '127.0.0.1:0'\n", 1)] {
        let (arena, _folder) = run(page, "'random'");
        arena.tells("listening on").await;
        let told = arena.told();
        let is_warning =
            |line: &&String| line.contains("broken") && line.contains("no tournament can have it");
        assert_eq!(told.iter().filter(is_warning).count(), warnings, "{told:#?}");
        arena.signal("INT");
        assert_eq!(arena.ends().await.0, Some(0));
    }
    let (arena, _folder) = run("", "'broken'");
    let (code, told) = arena.ends().await;
    assert_eq!((code, told.len()), (Some(1), 1), "{told:#?}");
}

#[test]
async fn an_organiser_has_at_most_32_engines_of_the_configuration_at_once() {
    let factory = EngineFactory::new(&BuiltIn::Random.config()).unwrap();
    let names: Vec<_> = (0..32).map(|at| format!("engine-{at}")).collect();
    let engines = names.iter().map(|name| (name.clone(), factory.clone())).collect();
    let settings = format!("engines = ['engine-0']\n[web]\nlisten = '127.0.0.1:0'\ntoken = '{TOKEN}'");
    let arena = TestArena::with_engines(tempfile::tempdir().unwrap(), &settings, engines).await;
    let page = Browser::new(arena.web.unwrap());
    let create = async |name: &str, engines: &[&str]| {
        let settings = json!({"name": name, "time_control": "60+0", "engines": engines});
        let (status, answer) = page.order("POST", "/api/tournaments", settings).await;
        (status, answer["error"].as_str().unwrap_or_default().to_owned())
    };
    let all: Vec<_> = names.iter().map(String::as_str).collect();
    let (status, why) = create("cup", &all).await;
    assert!(status == 400 && why.contains("32 of [engines] beside 1 in other tournaments"), "{status} {why}");
    assert_eq!(create("cup", &all[1..]).await, (201, String::new()));
    assert_eq!(create("second", &["engine-1"]).await.0, 400);
    assert_eq!(create("second", &["level-3", "random"]).await.0, 201);
    // Engines of the tournament's earlier settings are not counted twice, and dropping them makes room.
    for (engines, expected) in [(&all[1..], 200), (&all[..], 400), (&all[2..], 200)] {
        let edit = json!({ "engines": engines });
        assert_eq!(page.order("PATCH", "/api/tournaments/cup", edit).await.0, expected);
    }
    assert_eq!(create("third", &["engine-1"]).await.0, 201);
    arena.stop().await;
}
