//! Orders of the organiser, by `zeitnot arena` and by the API.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use zeitnot_testing::until;

use crate::support::{
    arena::{By, Player, TestArena, word},
    command::{err, out, zeitnot},
    storage::{Storage, on_both_databases},
    web::{Browser, TOKEN, with_page_in, without_tournament},
};

on_both_databases!(
    a_swiss_by_the_command_line_goes_on_after_a_restart,
    a_password_is_read_from_standard_input_or_a_private_file,
    a_forfeit_is_corrected_by_the_id_of_its_row,
    a_tournament_is_deleted_until_somebody_is_paired,
    orders_hold_for_players_that_the_arena_provides,
    orders_need_the_token_and_a_tournament
);

/// Runs `zeitnot arena` with these words for the arena of that page.
async fn order(page: &Browser, words: &str) -> Output {
    let words = format!("arena {words} --page http://{}", page.address);
    let run = move || {
        let words: Vec<_> = words.split(' ').collect();
        zeitnot(&words).current_dir("/").env("ZEITNOT_ORGANISER_TOKEN", TOKEN).output().unwrap()
    };
    spawn_blocking(run).await.unwrap()
}

/// Output of an order that is carried out.
async fn done(page: &Browser, words: &str) -> String {
    let output = order(page, words).await;
    assert!(output.status.success(), "{words}: {}", err(&output));
    out(&output).to_owned()
}

/// The only line about an order that is refused.
async fn refused(page: &Browser, words: &str) -> String {
    let output = order(page, words).await;
    assert_eq!(
        (output.status.code(), err(&output).lines().count()),
        (Some(1), 1),
        "{words}: {}",
        err(&output)
    );
    err(&output).trim_end().to_owned()
}

async fn join(arena: &TestArena, names: &[&str]) -> Vec<Player> {
    let mut players = Vec::new();
    for name in names {
        players.push(arena.say(name, &format!("JOIN cup {name} sesame")).await);
    }
    players
}

/// All play one game, in which White resigns.
async fn round(players: &mut [Player]) {
    for player in &mut *players {
        let paired = player.expect("GAME_PAIRED").await;
        player.ack(&paired).await;
    }
    for player in &mut *players {
        let started = player.expect("GAME_STARTED").await;
        if word(&started, 2) == player.name {
            player.send(&format!("RESIGN {}", word(&started, 1))).await;
        }
    }
    for player in players {
        player.expect("GAME_OVER").await;
    }
}

/// Scores by name, and the state, once every player has this many results.
async fn standings(page: &Browser, games: u64) -> (Vec<(String, f64)>, String) {
    let mut spectator = page.live().await;
    spectator.send(r#"{"watch":{"tournament":"cup"}}"#).await;
    loop {
        let shown = spectator.expect("tournament").await["tournament"].clone();
        let players = shown["players"].as_array().unwrap();
        let played = |player: &Value| {
            ["wins", "draws", "losses"].iter().filter_map(|it| player[it].as_u64()).sum::<u64>()
        };
        if players.len() == 4 && players.iter().all(|player| games == played(player)) {
            let score = |player: &Value| {
                (player["name"].as_str().unwrap().to_owned(), player["score"].as_f64().unwrap())
            };
            return (players.iter().map(score).collect(), shown["state"].as_str().unwrap().to_owned());
        }
    }
}

async fn a_swiss_by_the_command_line_goes_on_after_a_restart(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    let mut password = tempfile::NamedTempFile::new().unwrap();
    writeln!(password, "sesame").unwrap();
    let settings = format!(
        "--time 60+0 --pairing swiss --rounds 2 --password-file {} --pause 0s --pairing-interval 20ms",
        password.path().display()
    );
    let created = done(&page, &format!("create cup {settings}")).await;
    assert!(created.starts_with("cup: swiss, 60+0; to join:\n"), "{created}");
    assert!(created.ends_with("  JOIN cup NAME PASSWORD\n"), "{created}");
    let other = done(&page, "create wild --time 60+0 --game atomic").await;
    assert!(other.starts_with("wild: atomic, round-robin, 60+0; to join:\n"), "{other}");
    done(&page, "delete wild").await;
    assert!(refused(&page, "start cup").await.contains("needs two players"));
    assert!(refused(&page, "resume cup").await.contains("is not paused"));
    assert!(refused(&page, "start cap").await.contains("no tournament cap"));
    let names = ["alice", "bob", "carol", "dave"];
    let mut players = join(&arena, &names).await;
    for player in &mut players[..3] {
        player.expect("INFO Player dave joined").await;
    }
    assert_eq!(done(&page, "start cup").await, "cup has begun\n");
    assert!(refused(&page, "edit cup --time 30+0").await.contains("play has begun"));
    round(&mut players).await;
    assert!(done(&page, "pause cup").await.starts_with("cup is paused"));
    let (played, _) = standings(&page, 1).await;
    // The first game that was over counts as a draw.
    let game = page.json("/api/games").await.1["games"][0]["id"].as_str().unwrap().to_owned();
    let correct = format!("correct {game} 1/2-1/2 --note agreed");
    assert_eq!(done(&page, &correct).await, "the game counts 1/2-1/2\n");
    assert!(refused(&page, &correct).await.contains("already has that result"));
    assert!(refused(&page, "correct nothing 1-0 --note no").await.contains("ended game nothing"));
    assert!(refused(&page, "forfeit cup erin").await.contains("no player erin"));
    assert!(refused(&page, "pair-players cup alice alice").await.contains("with themselves"));
    let before = loop {
        let (scores, _) = standings(&page, 1).await;
        if scores != played {
            break scores;
        }
    };
    let (_, folder) = arena.stop().await;

    let (arena, page) = without_tournament(folder).await;
    assert_eq!(standings(&page, 1).await, (before, "paused".to_owned()));
    let mut players = join(&arena, &names).await;
    let listed = done(&page, "tournaments").await;
    assert_eq!(listed, "cup: paused, swiss, 60+0, players: 4\n");
    done(&page, "resume cup").await;
    round(&mut players).await;
    for player in &mut players {
        assert_eq!(player.expect("INFO Tournament").await, "INFO Tournament cup is over");
    }
    let (after, _) = standings(&page, 2).await;
    assert_eq!(after.iter().map(|(_, score)| score).sum::<f64>(), 4.0, "{after:?}");
    arena.stop().await;
}

async fn a_password_is_read_from_standard_input_or_a_private_file(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    let with_input = async |words: &str, input: &'static str| {
        let words = format!("arena {words} --page http://{}", page.address);
        let run = move || {
            let mut command = zeitnot(&words.split(' ').collect::<Vec<_>>());
            command.current_dir("/").env("ZEITNOT_ORGANISER_TOKEN", TOKEN);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        };
        let output = spawn_blocking(run).await.unwrap();
        (output.status.code(), format!("{}{}", out(&output), err(&output)))
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    let create = "create cup --time 60+0 --password-file";
    let in_file = format!("{create} {}", file.path().display());
    for (words, why) in [(format!("{create} /no/such"), "/no/such: No such file"), (in_file, "it is empty")] {
        let (code, told) = with_input(&words, "").await;
        assert!(code == Some(2) && told.contains(why), "{code:?} {told}");
    }
    let (code, told) = with_input(&format!("{create} -"), "open sesame\n").await;
    assert!(code == Some(1) && told.contains("without spaces") && !told.contains("sesame"), "{told}");
    assert_eq!(with_input(&format!("{create} -"), "hush\n").await.0, Some(0));
    assert_eq!(with_input("edit cup --password-file -", "sesame\n").await.0, Some(0));
    arena.say("alice", "JOIN cup alice sesame").await.expect("INFO You joined").await;
    arena.stop().await;
}

/// The rows of the games that are over, once one fits.
async fn rows_with(page: &Browser, what: &str, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut spectator = page.live().await;
    spectator.send(r#"{"watch":{"tournament":"cup"}}"#).await;
    loop {
        let shown = spectator.expect("tournament").await["tournament"]["pairings"].clone();
        let over = shown.as_array().unwrap().iter().filter(|row| !row["result"].is_null());
        let over: Vec<Value> = over.cloned().collect();
        if over.iter().any(&fits) {
            assert_eq!(over.len(), 1, "{what}: {over:?}");
            return over;
        }
    }
}

async fn a_forfeit_is_corrected_by_the_id_of_its_row(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    let cup = json!({"name": "cup", "time_control": "60+0", "access": {"password": "sesame"}});
    assert_eq!(page.order("POST", "/api/tournaments", cup).await.0, 201);
    let mut players = join(&arena, &["alice", "bob"]).await;
    done(&page, "start cup").await;
    players[0].expect("GAME_PAIRED").await;
    done(&page, "forfeit cup alice").await;
    let row = rows_with(&page, "forfeit", |row| row["forfeit"] == true).await.remove(0);
    let loses = if row["white"] == "alice" { "0-1" } else { "1-0" };
    assert_eq!((&row["result"], &row["note"]), (&json!(loses), &Value::Null));
    let id = row["game"].as_str().unwrap();
    let correct = format!("correct {id} 1/2-1/2 --note agreed");
    assert_eq!(done(&page, &correct).await, "the game counts 1/2-1/2\n");
    let corrected = rows_with(&page, "correction", |row| row["note"] == "agreed").await;
    let mut expected = row.clone();
    (expected["result"], expected["note"]) = (json!("1/2-1/2"), json!("agreed"));
    assert_eq!(corrected, [expected]);
    let shown = async |page: &Browser| {
        let game = page.json(&format!("/api/games/{id}")).await.1;
        ["result", "result_at_board", "note"].map(|key| game[key].clone())
    };
    let expected = [json!("1/2-1/2"), json!(loses), json!("agreed")];
    assert_eq!(shown(&page).await, expected);
    let (_, folder) = arena.stop().await;

    let (arena, page) = without_tournament(folder).await;
    assert_eq!(rows_with(&page, "restart", |row| row["note"] == "agreed").await, corrected);
    assert_eq!(shown(&page).await, expected);
    arena.stop().await;
}

async fn a_tournament_is_deleted_until_somebody_is_paired(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    done(&page, "create cup --time 60+0").await;
    let mut spectator = page.live().await;
    spectator.send(r#"{"watch":{"tournament":"cup"}}"#).await;
    spectator.expect("tournament").await;
    let mut alice = arena.say("alice", "JOIN cup alice").await;
    alice.expect("INFO You joined").await;
    arena.say("eve", "JOIN cup e\u{200b}ve").await.rest().await;
    assert!(refused(&page, "delete cap").await.contains("there is no tournament cap"));
    assert_eq!(done(&page, "delete cup").await, "cup is deleted\n");
    let told = alice.rest().await;
    assert_eq!(told.last().unwrap(), "INFO Tournament cup has been deleted by the organiser", "{told:?}");
    assert_eq!(spectator.expect("deleted").await["tournament"], "cup");
    assert_eq!(done(&page, "tournaments").await, "");
    assert_eq!(page.json("/api/tournaments/cup").await.0, 404);
    let stranger = arena.say("bob", "JOIN cup bob").await.rest().await;
    assert!(stranger[0].contains("Unknown tournament"), "{stranger:?}");
    // Another one of that name is as new, and stays.
    done(&page, "create cup --time 30+0 --pause 0s --pairing-interval 20ms").await;
    done(&page, "create late --time 30+0").await;
    done(&page, "delete late").await;
    let mut players = [arena.say("alice", "JOIN cup alice").await, arena.say("bob", "JOIN cup bob").await];
    players[0].expect("INFO Player bob joined").await;
    done(&page, "start cup").await;
    assert!(refused(&page, "delete cup").await.contains("cup has begun: only"));
    let (summary, folder) = arena.stop().await;
    assert_eq!(summary.tournaments.len(), 1, "{summary:?}");

    let (arena, page) = without_tournament(folder).await;
    let listed = done(&page, "tournaments").await;
    assert!(listed.starts_with("cup: ") && listed.lines().count() == 1, "{listed}");
    assert_eq!(page.json("/api/tournaments/cup").await.1["refusals"], json!([]));
    arena.stop().await;
}

async fn orders_hold_for_players_that_the_arena_provides(storage: Storage) {
    let settings = "engines = ['random']\nplayers = 2\ngames_per_pair = 3\n";
    let (arena, page) = with_page_in(storage, settings).await;
    let order = async |path: &str| {
        let path = format!("/api/tournaments/class/{path}");
        let (status, answer) = page.order("POST", &path, json!({})).await;
        assert_eq!(status, 204, "{path}: {answer}");
    };
    // The game runs until alice moves.
    let begin = async |alice: &mut Player| {
        let paired = alice.expect("GAME_PAIRED").await;
        alice.ack(&paired).await;
        alice.expect("YOUR_MOVE").await;
    };
    let mut alice = arena.join(By::Tcp, "alice").await;
    begin(&mut alice).await;
    order("players/random/forfeit").await;
    alice.expect("GAME_OVER").await;
    alice.expect("GAME_PAIRED").await;
    order("pause").await;
    alice.expect("GAME_ABORTED").await;
    order("resume").await;
    begin(&mut alice).await;
    order("players/random/remove").await;
    alice.expect("INFO Tournament class is over").await;

    let is_over = async || page.json("/api/tournaments/class").await.1["state"] == "complete";
    until("the end", is_over).await;
    let shown = page.json("/api/tournaments/class").await.1;
    let players = shown["players"].as_array().unwrap();
    let row = |name: &str| players.iter().find(|player| player["name"] == name).unwrap();
    assert_eq!((&row("alice")["score"], &row("random")["score"]), (&json!(3.0), &json!(0.0)), "{shown}");
    assert_eq!((&row("random")["engine"], &row("random")["withdrawn"]), (&json!(true), &json!(true)));
    arena.stop().await;
}

async fn orders_need_the_token_and_a_tournament(storage: Storage) {
    let (arena, page) = without_tournament(storage).await;
    page.order("POST", "/api/tournaments", json!({"name": "cup", "time_control": "3"})).await;
    let before = page.json("/api/tournaments").await;
    let meet = json!({"white": "alice", "black": "bob"});
    let count = json!({"result": "1-0", "note": "so"});
    for (method, path, body) in [
        ("DELETE", "/api/tournaments/cup", Value::Null),
        ("POST", "/api/tournaments/cup/start", Value::Null),
        ("POST", "/api/tournaments/cup/pause", Value::Null),
        ("POST", "/api/tournaments/cup/resume", Value::Null),
        ("POST", "/api/tournaments/cup/late", json!({"allowed": true})),
        ("POST", "/api/tournaments/cup/players/alice/remove", json!({})),
        ("POST", "/api/tournaments/cup/players/alice/forfeit", json!({"note": "late"})),
        ("POST", "/api/tournaments/cup/pairings", meet),
        ("PATCH", "/api/games/cup", count),
    ] {
        let json = [("content-type", "application/json")];
        let stranger = page.ask(method, path, &json, body.to_string().into_bytes()).await;
        assert_eq!(stranger.status(), 401, "{path}");
        let (status, answer) = page.order(method, &path.replace("/cup", "/cap"), body).await;
        assert_eq!(status, 404, "{path}: {answer}");
    }
    for (method, path, body, expected) in [
        ("POST", "/api/tournaments/cup/late", json!({"allowed": 1}), 422),
        ("POST", "/api/tournaments/cup/players/alice/remove", json!({"note": "two\nlines"}), 400),
        ("POST", "/api/tournaments/cup/players/a%20b/remove", json!({}), 400),
        ("POST", "/api/tournaments/cup/players/alice/forfeit", json!({}), 404),
        ("POST", "/api/tournaments/cup/pairings", json!({"white": "alice"}), 422),
        ("PATCH", "/api/games/cup", json!({"result": "2-0", "note": "so"}), 400),
        ("PATCH", "/api/games/cup", json!({"result": "1-0", "note": ""}), 400),
    ] {
        let (status, answer) = page.order(method, path, body).await;
        assert_eq!(status, expected, "{path}: {answer}");
    }
    assert_eq!(page.json("/api/tournaments").await, before);
    // By the command line: without a token, with a wrong one, and where no arena is.
    let run = async |token: Option<&str>, url: String| {
        let mut command = zeitnot(&["arena", "start", "cup", "--page", &url]);
        command.current_dir("/").env_remove("ZEITNOT_ORGANISER_TOKEN");
        if let Some(token) = token {
            command.env("ZEITNOT_ORGANISER_TOKEN", token);
        }
        let output = spawn_blocking(move || command.output().unwrap()).await.unwrap();
        (output.status.code(), err(&output).to_owned())
    };
    let here = format!("http://{}", page.address);
    for (token, url, code, why) in [
        (None, here.clone(), 2, "--token-file"),
        (Some("guess"), here, 2, "not the organiser's token"),
        (Some(TOKEN), "http://127.0.0.1:1".to_owned(), 1, "no arena answers at http://127.0.0.1:1"),
        (Some(TOKEN), "ftp://x".to_owned(), 2, "expected"),
        (Some(TOKEN), "http://192.0.2.1".to_owned(), 2, "unencrypted to http://192.0.2.1: use https://"),
        (Some(TOKEN), "http://127.example.org".to_owned(), 2, "unencrypted"),
    ] {
        let (exit, told) = run(token, url).await;
        assert!(exit == Some(code) && told.contains(why), "{exit:?} {told}");
        assert!(!told.contains("guess"), "{told}");
    }
    arena.stop().await;
}
