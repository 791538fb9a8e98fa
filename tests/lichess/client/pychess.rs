//! A client of pychess.org: a scripted server that has what that site has, and nothing else.

use zeitnot_clients::lichess::Lichess;
use zeitnot_seat::Action;

use crate::support::{
    lichess_client::{Client, ID, Player, config, start},
    lichess_server::{Feed, Server},
};

const SITE: &str = "site = 'pychess'\ngames = 1";
const EVENTS: &str = "/api/stream/event";
const HEADER: &str = "x-pychess-bot-capabilities";
const PING: &str = r#"{"type":"ping"}"#;
/// Its spaces and its missing fields are those of the site.
const END: &str = r#"{"type": "gameEnd", "game": {"id": "Zn4tQw8e"}}"#;

/// Starts a server that refuses an event stream without the header.
async fn pychess() -> Server {
    let server = Server::start().await;
    server.demand(EVENTS, HEADER, "Missing required X-PyChess-Bot-Capabilities header.");
    server.answer("/api/account", 200, r#"{"id":"Zeitnot","username":"Zeitnot","title":"BOT"}"#);
    server
}

fn state(moves: &str) -> String {
    format!(
        r#"{{"type": "gameState", "moves": "{moves}", "wtime": 180000, "btime": 180000, "winc": 2, "binc": 2, "wdraw": false, "bdraw": false, "wtakeback": false, "btakeback": false, "status": "started"}}"#
    )
}

fn full(variant: &str, fen: &str, moves: &str) -> String {
    format!(
        r#"{{"type": "gameFull", "id": "{ID}", "variant": {{"name": "{variant}"}}, "white": {{"name": "Zeitnot"}}, "black": {{"name": "Them"}}, "initialFen": "{fen}", "createdAt": 1800000000, "state": {}}}"#,
        state(moves)
    )
}

/// Starts a client in a game that the test plays with White.
async fn seated(chess960: &str, full: &str) -> (Server, Client, Feed, Player) {
    let mut server = pychess().await;
    let mut client = Client::of::<Lichess>(config(&server.url, "secret-of_site", SITE));
    server.online().await;
    server.tell(PING);
    let flag = if chess960 == "True" { "true" } else { "false" };
    server.tell(&format!(
        r#"{{"type":"challenge","challenge":{{"id":"{ID}","challenger":{{"name":"Them","rating":1500,"title":""}},
        "variant":{{"key":"standard"}},"rated":false,"timeControl":{{"type":"clock","limit":180,"increment":2}},
        "color":"black","finalColor":"black","speed":"blitz","perf":{{"name":"chess"}},"level":6,"chess960":{flag}}}}}"#
    ));
    server.hear_challenge(ID, "accept").await.ok();
    server.tell(&format!(
        r#"{{"type": "gameStart", "game": {{"id": "{ID}", "skill_level": "6", "chess960": "{chess960}"}}}}"#
    ));
    let game = server.game().await;
    game.line(full);
    let seat = client.game().await;
    (server, client, game, seat)
}

#[test(start_paused = true)]
async fn a_game_on_pychess_from_challenge_to_mate() {
    let (mut server, client, game, mut seat) = seated("False", &full("chess", "", "")).await;
    let head = server.feed.as_ref().unwrap().head.to_ascii_lowercase();
    assert!(head.contains(&format!("{HEADER}: {{\"version\":1,\"variants\":[\"chess\",")), "{head}");
    assert_eq!(seat.info.time_control.unwrap().to_string(), "180+2");
    let mut line = String::new();
    for (ours, theirs) in [("e2e4", "e7e5"), ("d1h5", "b8c6"), ("f1c4", "g8f6")] {
        let turn = seat.turn().await;
        // No draw is offered, as there is no way to.
        seat.act(turn, ours, true, None).await;
        assert_eq!(server.take_move().await, ours);
        line = format!("{line} {ours}").trim().to_owned();
        game.line(&state(&line));
        game.line(PING);
        line = format!("{line} {theirs}");
        game.line(&state(&line));
    }
    seat.answer("h5f7").await;
    assert_eq!(server.take_move().await, "h5f7");
    // The last move and the result are not told.
    game.line(END);
    assert_eq!(seat.ended().await, "white wins by checkmate");
    client.ends().await;
    assert!(server.posts.try_recv().is_err());
}

#[test(start_paused = true)]
async fn a_resignation_ends_the_game_although_its_stream_tells_nothing() {
    let (mut server, client, _game, mut seat) = seated("False", &full("chess", "", "e2e4 e7e5")).await;
    let turn = seat.turn().await;
    seat.actions.send(Action::Resign { turn }).await.unwrap();
    server.hear_game("resign").await.ok();
    assert_eq!(seat.ended().await, "black wins: white resigned");
    client.ends().await;
}

#[test(start_paused = true)]
async fn an_end_without_a_last_move_of_ours_has_no_known_result() {
    let (_server, client, game, mut seat) = seated("False", &full("chess", "", "")).await;
    seat.turn().await;
    game.line(END);
    assert_eq!(seat.ended().await, "over: the server does not tell the result");
    client.ends().await;
}

/// Whether it is Chess960 is told with its start only, and castling is written in another way there.
#[test(start_paused = true)]
async fn castling_is_written_as_the_site_reads_it() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    for (chess960, castling) in [("True", "e1h1"), ("False", "e1g1")] {
        let (mut server, client, game, mut seat) = seated(chess960, &full("chess", fen, "")).await;
        seat.answer("e1g1").await;
        assert_eq!(server.take_move().await, castling);
        game.line(END);
        seat.ended().await;
        client.ends().await;
    }
}

#[test(start_paused = true)]
async fn without_the_header_the_event_stream_is_refused() {
    let server = pychess().await;
    let told = start(&server, "").result().await.unwrap_err().to_string();
    assert!(told.contains("Missing required X-PyChess-Bot-Capabilities"), "{told}");
}

#[test(start_paused = true)]
async fn a_bad_token_is_told_by_status_403() {
    let server = Server::start().await;
    server.answer("/api/account", 403, "403: Forbidden");
    let told = start(&server, SITE).result().await.unwrap_err().to_string();
    assert!(told.contains("the token is not accepted"), "{told}");
}
