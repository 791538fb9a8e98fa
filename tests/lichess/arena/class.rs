//! A tournament of the class in which some speak the contest protocol and some the Lichess Bot API.

use zeitnot_arena::Event;
use zeitnot_bot as bot;
use zeitnot_clients::contest::Contest;
use zeitnot_engine::Kind;
use zeitnot_testing::{LONG, soon, until};

use crate::support::{
    arena::{By, TestArena, record_files, records, word},
    client::Client,
    contest_server::entry,
    lichess_arena::Bot as Account,
    lichess_client::{PATIENT, start_with},
};

/// Each of four meets each of the others twice.
const GAMES: usize = 12;

/// Two games between an account, Lila, and whoever joins.
async fn class(settings: &str) -> (TestArena, Account) {
    let account = "[lichess]\nlisten = '127.0.0.1:0'\n\
                   account = [{ name = 'Lila', token = 'lip_lila', class = 'class' }]";
    let arena = TestArena::with(account, &format!("players = 2\n{settings}")).await;
    let lila = Account::new(arena.lichess.unwrap(), "lip_lila");
    (arena, lila)
}

impl Account {
    /// Opens the event stream, which takes the seat, and closes it.
    async fn comes_and_goes(&self) {
        drop(self.events().await);
        let status = "/api/users/status?ids=lila";
        until("Lila is away", async || self.get(status).await.1[0]["online"] != true).await;
    }
}

#[test]
async fn an_account_that_comes_after_the_pairing_is_waited_for() {
    let (arena, lila) = class("ack_timeout = '60s'").await;
    lila.comes_and_goes().await;
    let mut carl = arena.join(By::Tcp, "carl").await;
    let paired = carl.expect("GAME_PAIRED").await;
    let is_white = word(&paired, 2) == "Lila";
    carl.ack(&paired).await;

    let mut events = lila.events().await;
    let start = events.expect("gameStart").await;
    let id = start["game"]["gameId"].as_str().unwrap();
    assert_eq!(start["game"]["color"], if is_white { "white" } else { "black" });
    assert_eq!(start["game"]["opponent"]["username"], "carl");
    let mut game = lila.watch(id).await;
    assert_eq!(game.expect("gameFull").await["clock"]["initial"], 60_000);
    // The referee's rules: no abort, no draw; one move each, in turn.
    for deed in ["abort", "draw/yes", "takeback/yes", "claim-victory"] {
        assert!(lila.cannot(id, deed, 400).await.contains("tournament of the class"), "{deed}");
    }
    let (ours, theirs) = if is_white { ("e2e4", "e7e5") } else { ("e7e5", "e2e4") };
    let answer = format!("MOVE {} {theirs}", word(&paired, 1));
    if !is_white {
        assert!(lila.cannot(id, "move/e7e5", 400).await.contains("Not your turn"));
        carl.expect("YOUR_MOVE").await;
        carl.send(&answer).await;
        game.expect("gameState").await;
    }
    assert!(lila.cannot(id, "move/e2e8", 400).await.contains("e2e8"));
    lila.play(id, ours).await;
    assert!(lila.cannot(id, &format!("move/{ours}"), 400).await.contains("Not your turn"));
    if is_white {
        carl.expect("YOUR_MOVE").await;
        carl.send(&answer).await;
        game.expect("gameState").await;
    }
    while game.expect("gameState").await["moves"] != "e2e4 e7e5" {}
    lila.act(id, "resign").await;
    assert!(carl.expect("GAME_OVER").await.ends_with("Resignation"));
    arena.stop().await;
}

#[test]
async fn an_account_that_stays_away_is_paired_again_when_back() {
    let (arena, lila) = class("ack_timeout = '2s'").await;
    lila.comes_and_goes().await;
    let mut carl = arena.join(By::Tcp, "carl").await;
    let paired = carl.expect("GAME_PAIRED").await;
    carl.ack(&paired).await;
    assert!(carl.expect("GAME_ABORTED").await.contains("Lila"));

    let mut events = lila.events().await;
    let paired = carl.expect("GAME_PAIRED").await;
    carl.ack(&paired).await;
    let start = events.expect("gameStart").await;
    let id = start["game"]["gameId"].as_str().unwrap();
    lila.act(id, "resign").await;
    assert!(carl.expect("GAME_OVER").await.ends_with("Resignation"));
    let end = events.expect("gameFinish").await;
    assert_eq!(
        (&end["game"]["gameId"], &end["game"]["status"]["name"]),
        (&start["game"]["gameId"], &"resign".into())
    );

    // The second game is lost by whoever hangs up.
    let paired = carl.expect("GAME_PAIRED").await;
    carl.ack(&paired).await;
    let start = events.expect("gameStart").await;
    let mut game = lila.watch(start["game"]["gameId"].as_str().unwrap()).await;
    game.expect("gameFull").await;
    drop(carl);
    let state = game.expect("gameState").await;
    assert_eq!((&state["status"], &state["winner"]), (&"timeout".into(), &start["game"]["color"]));
    assert_eq!(events.expect("gameFinish").await["game"]["winner"], start["game"]["color"]);
    let (summary, _) = arena.stop().await;
    let rows = summary.tournaments[0].standings.rows();
    assert!(rows.iter().all(|row| row.tally.games() == 2 && row.tally.wins == 1), "{rows:?}");
}

#[test(limit = LONG, workers = 2)]
async fn two_protocols_play_one_round_robin() {
    let accounts = "[lichess]\nlisten = '127.0.0.1:0'\nlimits = { moves = 5 }\n\
         account = [{ name = 'Lila', token = 'lip_lila', class = 'class' },\n\
         { name = 'Otto', token = 'lip_otto', class = 'class' }]";
    let settings = "time = '20+0.1'\nplayers = 4\npairing_interval = '50ms'\npause = '50ms'";
    let mut arena = TestArena::with(accounts, settings).await;
    let lichess = format!("http://{}", arena.lichess.unwrap());
    let random = |token| start_with(&lichess, token, Kind::Random, PATIENT);
    // One of the others has the name of an account but for its case: they are not the same.
    let contest = |name| {
        Client::with_bot::<Contest>(entry(&arena.url(By::Tcp), name), Kind::Random, bot::Config::default())
    };
    let clients = [random("lip_lila"), random("lip_otto"), contest("lila"), contest("carl")];
    let mut ends = Vec::new();
    let play = async {
        loop {
            match arena.news.recv().await.unwrap().event {
                Event::GameEnded { names, result, reason, plies, .. } => {
                    assert!(result.is_some(), "{names:?}: {reason}");
                    assert!(plies > 3, "{names:?}: {reason} after {plies} plies");
                    ends.push(reason);
                }
                Event::Over(_) => break,
                _ => {}
            }
        }
    };
    soon("the tournament ends", play).await;
    for client in clients {
        client.ends_now().await;
    }
    let (summary, folder) = arena.stop().await;

    let tournament = &summary.tournaments[0];
    assert!(tournament.complete);
    assert_eq!(ends.len(), GAMES);
    assert!(!ends.iter().any(|end| end.contains("time") || end.contains("disconnect")), "{ends:?}");
    let rows = tournament.standings.rows();
    let mut names: Vec<_> = rows.iter().map(|row| row.name.to_string()).collect();
    names.sort();
    assert_eq!(names, ["Lila", "Otto", "carl", "lila"]);
    assert!(rows.iter().all(|row| row.tally.games() == 6 && row.tally.forfeits == 0), "{rows:?}");
    // The tournament's file has all games, and there is no other.
    assert_eq!(record_files(folder.path()).collect::<Vec<_>>(), [tournament.pgn.clone().unwrap()]);
    assert_eq!(records(folder.path()).matches("[Result ").count(), GAMES);
}
