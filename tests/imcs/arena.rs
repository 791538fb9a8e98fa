//! The arena's IMCS server, byte by byte.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    time::{Instant, pause, resume, sleep},
};
use zeitnot_testing::as_time_passes;

use crate::support::{
    arena::{records, results},
    imcs::{Client, Imcs},
    log::Log,
};

#[test]
async fn guests_get_the_replies_of_the_protocol() {
    let imcs = Imcs::start().await;
    let mut guest = imcs.connect().await;
    for (command, reply) in [
        ("list", "211 0 available games\r\n.\r\n"),
        ("ratings", "212 ratings\r\n.\r\n"),
        ("me alice pw", "400 no such username: please use register command\r\n"),
        ("password pw", "403 please use the me command first\r\n"),
        ("rerate", "403 please use the me command first\r\n"),
        ("offer", "404 must set name first using me command\r\n"),
        ("accept 1", "406 must set name first using me command\r\n"),
        ("clean", "406 must set name first using me command\r\n"),
        ("stop", "406 must set name first using me command\r\n"),
        ("showpass alice", "502 admin only\r\n"),
        ("HELP", "501 unknown command\r\n"),
        ("me alice", "409 me: usage: me <name> <password>\r\n"),
        ("help me", "409 help: usage: help\r\n"),
        ("offer X", "409 offer: usage: offer [<color> [<time> [<opponent-time>]]]\r\n"),
        ("register al/ice pw", "410 illegal characters in username\r\n"),
        ("register alice é", "411 illegal characters in password\r\n"),
    ] {
        guest.ask(command, reply).await;
    }
    guest.say("help").await;
    guest.hears("210 imcs 2.5 help\r\n help: this help\r\n").await;
    while guest.line().await != ".\r\n" {}
    guest.bytes(b"\n \r\n\r\0quit\r\0").await;
    assert_eq!(guest.rest().await, "200 Goodbye\r\n");
    imcs.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn users_register_log_in_and_are_kept() {
    let imcs = Imcs::start().await;
    let mut alice = imcs.register("alice").await;
    let taken = "402 username already exists: please use password command to change\r\n";
    for (command, reply) in [
        ("register alice x", taken),
        ("password new", "203 password change for user alice\r\n"),
        ("me alice new", "201 hello alice\r\n"),
        ("rerate", "206 rating reset for user alice\r\n"),
        ("accept x", "407 bad game id\r\n"),
        ("accept 7", "408 no such game\r\n"),
        ("clean", "204 0 games cleaned\r\n"),
        ("stop", "502 admin only\r\n"),
        ("register bob pw", "202 hello new user bob\r\n"),
        ("ratings", "212 ratings\r\n alice 1000\r\n bob 1000\r\n.\r\n"),
        ("register admin secret", "202 hello new user admin\r\n"),
        ("showpass alice", "207 password for alice is new\r\n"),
        ("showpass eve", "400 no such username\r\n"),
    ] {
        alice.ask(command, reply).await;
    }
    let mut idle = imcs.connect().await;
    alice.say("stop").await;
    assert_eq!(alice.rest().await, "104 stopping server\r\n205 server stopped\r\n");
    assert_eq!(idle.rest().await, "503 server shutdown, come back later\r\n");
    let folder = imcs.ended().await;
    let users = std::fs::read_to_string(folder.path().join("users")).unwrap();
    assert!(users.ends_with("\nadmin secret 1000\nalice new 1000\nbob pw 1000\n"), "{users}");
}

#[test]
async fn users_that_could_not_be_written_are_tried_again_at_the_end() {
    let log = Log::capture();
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users");
    let imcs = Imcs::in_folder(folder.into()).await;
    // No file can be made in the place of a folder.
    std::fs::create_dir(&users).unwrap();
    imcs.register("alice").await;
    log.shows("cannot write the users of IMCS to ").await;
    std::fs::remove_dir(&users).unwrap();
    let _folder = imcs.stop().await;
    assert!(std::fs::read_to_string(&users).unwrap_or_default().ends_with("\nalice pw 1000\n"));
}

#[test]
async fn offers_are_made_withdrawn_and_accepted() {
    let imcs = Imcs::start().await;
    let mut alice = imcs.register("alice").await;
    let mut bob = imcs.register("bob").await;
    alice.ask("offer W 10 0:20", "103 1 game waiting for offer acceptance\r\n").await;
    bob.ask("list", "211 1 available games\r\n 1 alice W 0:10 0:20 1000 [offer]\r\n.\r\n").await;
    bob.ask("accept 1 W", "405 bad color W\r\n").await;

    // While the offer stands nothing is answered; a second connection takes it back.
    alice.say("list").await;
    let mut second = imcs.connect().await;
    second.ask("me alice pw", "201 hello alice\r\n").await;
    second.ask("clean", "204 1 games cleaned\r\n").await;
    alice.hears("421 offer countermanded\r\n211 0 available games\r\n.\r\n").await;

    alice.ask("offer", "103 2 game waiting for offer acceptance\r\n").await;
    bob.ask("list", "211 1 available games\r\n 2 alice ? 5:00 5:00 1000 [offer]\r\n.\r\n").await;
    bob.ask("accept 2 w", "105 W 5:00 5:00 game starts\r\n").await;
    alice.hears("106 B 5:00 5:00 game starts\r\n").await;
    second.ask("list", "211 1 available games\r\n 2 bob alice (1000/1000)  [in-progress]\r\n.\r\n").await;
    imcs.stop().await;
    assert!(bob.rest().await.ends_with("503 server shutdown, come back later\r\n"));
    assert_eq!(alice.rest().await, "503 server shutdown, come back later\r\n");
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
async fn a_game_is_played_rated_and_recorded() {
    let imcs = Imcs::start().await;
    let (mut alice, mut bob) = imcs.game(60).await;
    let start = "\r\n1 W\nkqbnr\nppppp\n.....\n.....\nPPPPP\nRNBQK\n\r\n? 01:00.000 01:00.000\r\n";
    alice.hears(start).await;
    alice.say("a2-a4").await;
    alice.hears("- illegal move a2-a4\r\n").await;
    alice.hears(start).await;
    alice.say("").await;
    alice.hears("- invalid move \r\n").await;
    alice.hears(start).await;
    alice.say("hello world").await;
    alice.hears("- invalid move hello world\r\n").await;
    alice.hears(start).await;
    alice.say("! b1-c3").await;
    let position =
        "! b1-c3\r\n\r\n1 B\nkqbnr\nppppp\n.....\n..N..\nPPPPP\nR.BQK\n\r\n? 01:00.000 01:00.000\r\n";
    bob.hears(position).await;
    bob.say("b5-b4").await;
    assert!(
        alice.prompt().await.starts_with(
            "! b5-b4\r\n\r\n2 W\nkqbnr\np.ppp\n.p...\n..N..\nPPPPP\nR.BQK\n\r\n? 01:00.000 00:5"
        )
    );
    alice.say("c3-d5").await;
    bob.play("c5-c4").await;
    alice.play("d5-b4").await;
    bob.play("c4-c3").await;
    alice.play("b4-a6").await;
    assert_eq!(alice.rest().await, "= W wins\r\n231 W wins\r\n");
    assert_eq!(bob.rest().await, "! b4-a6\r\n= W wins\r\n231 W wins\r\n");

    let mut guest = imcs.connect().await;
    guest.ask("ratings", "212 ratings\r\n alice 1016\r\n bob 984\r\n.\r\n").await;
    let folder = imcs.stop().await;
    let record = records(folder.path());
    let moves = "alice\tbob\t1-0\tW wins\tb1-c3 b5-b4 c3-d5 c5-c4 d5-b4 c4-c3 b4-a6\n";
    assert!(record.starts_with("20") && record.ends_with(&format!("Z\t{moves}")), "{record:?}");
    let stored: Value = serde_json::from_str(&results(&folder.database(), &["--front", "imcs"])).unwrap();
    let [game] = stored.as_array().unwrap().as_slice() else { panic!("{stored}") };
    assert_eq!(
        (&game["white"], &game["result"], &game["termination"]),
        (&json!("alice"), &json!("1-0"), &json!("normal"))
    );
    assert_eq!(game["moves"], json!(["b1c3", "b5b4", "c3d5", "c5c4", "d5b4", "c4c3", "b4a6"]));

    // Who was known is known to the next one.
    let imcs = Imcs::in_folder(folder).await;
    let mut guest = imcs.connect().await;
    guest.ask("me bob pw", "201 hello bob\r\n").await;
    guest.ask("ratings", "212 ratings\r\n alice 1016\r\n bob 984\r\n.\r\n").await;
    imcs.stop().await;
}

#[test]
async fn a_resignation_ends_the_game() {
    let imcs = Imcs::start().await;
    let (mut alice, mut bob) = imcs.game(60).await;
    alice.play("a2-a3").await;
    bob.play("resign").await;
    let over = "= W wins on opponent resignation\r\n231 W wins on opponent resignation\r\n";
    assert_eq!(alice.rest().await, over);
    assert_eq!(bob.rest().await, over);
    imcs.stop().await;
}

#[test]
async fn a_player_whose_clock_runs_out_loses_but_the_first_move_is_free() {
    let imcs = Imcs::start().await;
    let (mut alice, mut bob) = imcs.game(1).await;
    alice.prompt().await;
    sleep(Duration::from_millis(1100)).await;
    alice.say("a2-a3").await;
    assert!(bob.prompt().await.ends_with("? 00:01.000 00:01.000\r\n"));
    let lost = "= W wins on opponent time\r\n231 W wins on opponent time\r\n";
    assert_eq!(bob.rest().await, lost);
    assert_eq!(alice.rest().await, lost);
    imcs.stop().await;
}

#[test]
async fn a_player_who_disconnects_loses() {
    let imcs = Imcs::start().await;
    let (mut alice, mut bob) = imcs.game(60).await;
    alice.play("a2-a3").await;
    bob.prompt().await;
    drop(bob);
    let won = "= W wins on opponent disconnect\r\n231 W wins on opponent disconnect\r\n";
    assert_eq!(alice.rest().await, won);

    let mut guest = imcs.connect().await;
    guest.ask("ratings", "212 ratings\r\n alice 1016\r\n bob 984\r\n.\r\n").await;
    imcs.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

/// A reset while the other side is to move is a loss as well, and rated.
#[test]
async fn a_connection_reset_does_not_escape_a_loss() {
    let imcs = Imcs::with("reconnect = '50ms'").await;
    let (mut alice, mut bob) = imcs.game(60).await;
    alice.play("a2-a3").await;
    bob.play("b5-b4").await;
    alice.prompt().await;
    bob.reset();
    alice.say("b2-b3").await;
    let won = "= W wins on opponent disconnect\r\n231 W wins on opponent disconnect\r\n";
    assert_eq!(alice.rest().await, won);
    let mut guest = imcs.connect().await;
    guest.ask("ratings", "212 ratings\r\n alice 1016\r\n bob 984\r\n.\r\n").await;
    imcs.stop().await;
}

/// The first line of the list of offers.
async fn offers(guest: &mut Client) -> String {
    guest.say("list").await;
    let count = guest.line().await;
    while guest.line().await != ".\r\n" {}
    count
}

/// A guest who vanishes while waiting is noticed: the offer and the place of the address are free again.
#[test]
async fn an_offer_goes_with_its_owner() {
    let imcs = Imcs::start().await;
    let mut dave = imcs.register("dave").await;
    for number in 1..=120 {
        let mut carol = imcs.connect().await;
        let login = if number == 1 { "register carol pw" } else { "me carol pw" };
        let hello = if number == 1 { "202 hello new user carol\r\n" } else { "201 hello carol\r\n" };
        carol.ask(login, hello).await;
        let waiting = format!("103 {number} game waiting for offer acceptance\r\n");
        carol.ask("offer B 60", &waiting).await;
        match number % 2 {
            0 => carol.reset(),
            _ => drop(carol),
        }
        while offers(&mut dave).await != "211 0 available games\r\n" {}
    }
    dave.ask("accept 1", "408 no such game\r\n").await;
    imcs.stop().await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
}

/// The text of an HTTP request, which any page can make a browser send, is not obeyed.
#[test]
async fn an_http_request_ends_the_connection() {
    let imcs = Imcs::start().await;
    for method in ["POST", "GET", "OPTIONS", "PATCH"] {
        let mut guest = imcs.connect().await;
        let request = format!("{method} / HTTP/1.1\r\nHost: arena\r\n\r\nregister eve pw\r\n");
        guest.bytes(request.as_bytes()).await;
        assert_eq!(guest.rest().await, "", "{method}");
    }
    // Nor while an offer stands.
    let mut alice = imcs.register("alice").await;
    alice.ask("offer W", "103 1 game waiting for offer acceptance\r\n").await;
    alice.bytes(b"POST / HTTP/1.1\r\nclean\r\n").await;
    assert_eq!(alice.rest().await, "");
    let mut guest = imcs.connect().await;
    guest.ask("me eve pw", "400 no such username: please use register command\r\n").await;
    imcs.stop().await;
}

#[test]
async fn a_broken_connection_can_be_replaced() {
    let imcs = Imcs::start().await;
    let (mut alice, mut bob) = imcs.game(60).await;
    alice.play("a2-a3").await;
    bob.prompt().await;
    bob.reset();
    // Nobody else can take the game up.
    let mut eve = imcs.register("eve").await;
    eve.ask("accept 1", "408 no such game\r\n").await;
    let mut bob = imcs.connect().await;
    bob.ask("me bob pw", "201 hello bob\r\n").await;
    bob.say("accept 1").await;
    assert!(bob.line().await.starts_with("106 B "));
    let prompt = bob.prompt().await;
    assert!(prompt.starts_with("! a2-a3\r\n\r\n1 B\n") && prompt.contains("\n? 00:59."), "{prompt}");
    bob.say("b5-b4").await;
    assert!(alice.prompt().await.starts_with("! b5-b4\r\n"));
    alice.say("resign").await;
    assert!(bob.rest().await.ends_with("232 B wins on opponent resignation\r\n"));
    imcs.stop().await;
}

#[test]
async fn a_broken_connection_that_is_not_replaced_loses() {
    let imcs = Imcs::with("reconnect = '200ms'").await;
    let (mut alice, mut bob) = imcs.game(60).await;
    alice.play("a2-a3").await;
    bob.prompt().await;
    let began = Instant::now();
    bob.reset();
    assert_eq!(
        alice.rest().await,
        "= W wins on opponent disconnect\r\n231 W wins on opponent disconnect\r\n"
    );
    assert!(began.elapsed() >= Duration::from_millis(200));
    imcs.stop().await;
}

#[test]
async fn wrong_passwords_are_answered_late_and_five_of_them_are_the_last() {
    let imcs = Imcs::start().await;
    let mut alice = imcs.register("alice").await;
    pause();
    for _ in 0..5 {
        as_time_passes(alice.ask("me alice pw", "201 hello alice\r\n")).await;
        let began = Instant::now();
        as_time_passes(alice.ask("me alice guess", "401 wrong password\r\n")).await;
        assert!(began.elapsed() >= Duration::from_secs(1));
    }
    assert_eq!(as_time_passes(alice.rest()).await, "");
    resume();
    imcs.stop().await;
}

#[test]
async fn hostile_bytes_get_replies() {
    let imcs = Imcs::start().await;
    let mut guest = imcs.connect().await;
    guest.bytes(&[&vec![b'x'; 1 << 20][..], b"\n\xff\xfe\nregister eve\x00 pw\nlist\n"].concat()).await;
    guest.hears("501 unknown command\r\n501 unknown command\r\n").await;
    guest.hears("410 illegal characters in username\r\n211 0 available games\r\n.\r\n").await;
    let (mut alice, _bob) = imcs.game(60).await;
    alice.prompt().await;
    alice.bytes(b"\x1b[2Ja2-a3\n").await;
    assert!(alice.prompt().await.starts_with("- invalid move [2Ja2-a3\r\n"));
    imcs.stop().await;
}
