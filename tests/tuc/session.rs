//! The TUC-Chess client against a scripted server, with datagrams that are lost, duplicated, reordered or invalid.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    net::UdpSocket,
    time::{Instant, sleep, timeout},
};
use zeitnot_bot as bot;
use zeitnot_clients::tuc::TucChess;
use zeitnot_engine::{Fault, Kind};
use zeitnot_rules::{
    Color, Game,
    tuc::{Move, Tuc},
};
use zeitnot_testing::soon;

use crate::support::{
    baits::{is_bait, loses},
    client::Client,
    log::Log,
};

/// Span of paused time in which nothing may be sent.
const QUIET: Duration = Duration::from_millis(300);

fn start(server: SocketAddr, settings: &str) -> Client {
    start_with(server, settings, "2s", "50ms")
}

/// The same, with this limit for the server's silence, and this pause between attempts to find one.
fn start_with(server: SocketAddr, settings: &str, silence: &str, pause: &str) -> Client {
    start_by(Kind::Random, server, settings, silence, pause)
}

fn start_by(kind: Kind, server: SocketAddr, settings: &str, silence: &str, pause: &str) -> Client {
    let text = format!(
        "address = '{server}'\nplayer = 'zeitnot'\nmove_time = '100ms'\n{settings}\n[timeouts]\nseat = '400ms'\n\
         confirmation = '400ms'\nsilence = '{silence}'\nbetween_games = '1s'\n\
         reconnect = {{ min_delay = '{pause}', max_delay = '{pause}', stable_after = '1s' }}"
    );
    Client::with_bot::<TucChess>(toml::from_str(&text).unwrap(), kind, bot::Config::default())
}

/// Starts a server, and a client that plays this side.
async fn playing(settings: &str, side: &str) -> (Server, Client) {
    let mut server = Server::bind().await;
    let client = start(server.address(), settings);
    server.seat(side).await;
    (server, client)
}

/// Scripted server.
struct Server {
    socket: UdpSocket,
    client: SocketAddr,
}

impl Server {
    async fn bind() -> Server {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let client = socket.local_addr().unwrap();
        Server { socket, client }
    }

    fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    async fn hear(&mut self) -> String {
        let mut buffer = [0; 300];
        let received = soon("a datagram", self.socket.recv_from(&mut buffer)).await;
        let (length, from) = received.unwrap();
        self.client = from;
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    async fn hears_nothing(&mut self) {
        let mut buffer = [0; 300];
        let heard = timeout(QUIET, self.socket.recv_from(&mut buffer)).await;
        assert!(heard.is_err(), "heard {:?}", String::from_utf8_lossy(&buffer));
    }

    async fn say(&self, text: &str) {
        self.socket.send_to(text.as_bytes(), self.client).await.unwrap();
    }

    /// Seats the client and starts the game.
    async fn seat(&mut self, side: &str) {
        assert_eq!(self.hear().await, "zeitnot");
        self.say(side).await;
        self.say("GB").await;
    }

    /// Returns the client's next datagram, which must be a legal move.
    async fn hear_move(&mut self, board: &Tuc) -> Move {
        let text = self.hear().await;
        assert_eq!(text.len(), 4, "{text:?}");
        board.read(&text).unwrap()
    }
}

impl Server {
    /// Plays a move without a prize and announces it.
    async fn announce(&self, board: &mut Tuc, mv: Move) {
        self.say(&told(board, mv)).await;
    }

    /// Hears a move of the client and announces it.
    async fn take_move(&mut self, board: &mut Tuc) {
        let mv = self.hear_move(board).await;
        self.announce(board, mv).await;
    }

    /// Ends the game, and waits for the client's end.
    async fn end(&self, client: Client, message: &str) {
        self.say(message).await;
        client.ends().await;
    }
}

/// Plays a move without a prize and returns its announcement.
fn told(board: &mut Tuc, mv: Move) -> String {
    board.play_for(mv, 0);
    let [white, black] = board.points().0.map(|points| points / 100);
    format!("T{}{mv}99{white:02}{black:02}", u8::from(board.side_to_move() == Color::Black))
}

#[test(start_paused = true)]
async fn a_game_as_black_from_name_to_end() {
    let log = Log::capture();
    let (mut server, client) = playing("", "PB").await;
    server.hears_nothing().await;
    let mut board = Tuc::start();
    server.say(&told(&mut board, Move::parse("5040").unwrap())).await;
    for mv in ["5343", "5444"] {
        server.take_move(&mut board).await;
        // The announcement of our own move asks for no other.
        server.hears_nothing().await;
        let theirs = board.read(mv).unwrap();
        server.announce(&mut board, theirs).await;
    }
    server.hear_move(&board).await;
    // Our last move is not announced.
    server.end(client, "GE0203").await;
    log.shows("3 to 2\" (6 plies)").await;
}

#[test(start_paused = true)]
async fn a_search_that_finds_nothing_in_time_leaves_a_move_that_hangs_nothing() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut bait_count = 0;
    while bait_count < 10 {
        let mut server = Server::bind().await;
        let client = start_by(Kind::Faulty(Fault::Silent), server.address(), "", "2s", "50ms");
        server.seat("PW").await;
        let mut board = Tuc::start();
        for _ in 0..12 {
            let ours = server.hear_move(&board).await;
            let is_bait = is_bait(&board);
            assert!(!(is_bait && loses(&board, ours)), "{ours} in {}", board.print());
            bait_count += usize::from(is_bait);
            server.announce(&mut board, ours).await;
            let replies = board.moves();
            if board.outcome().is_over() || replies.is_empty() {
                break;
            }
            server.announce(&mut board, replies[random.usize(..replies.len())]).await;
            if board.outcome().is_over() {
                break;
            }
        }
        server.end(client, "GE0000").await;
    }
}

#[test(start_paused = true)]
async fn the_opponents_last_move_counts_although_nobody_tells_it() {
    let log = Log::capture();
    let (mut server, client) = playing("", "PW").await;
    let mut board = Tuc::start();
    server.take_move(&mut board).await;
    server.end(client, "GE0801").await;
    log.shows("8 to 1\" (2 plies)").await;
}

#[test(start_paused = true)]
async fn doubled_late_and_invalid_datagrams_are_not_answered() {
    let (mut server, client) = playing("", "PW").await;
    let mut board = Tuc::start();
    server.take_move(&mut board).await;
    let reply = told(&mut board, Move::parse("1020").unwrap());
    server.say(&reply).await;
    let second = server.hear_move(&board).await;
    // Before our move is confirmed.
    let odd = [
        &reply[..],
        "",
        "T",
        "T0",
        "Tx1020990000",
        "T09999990000",
        "T01020770000",
        "GE",
        "GEabcd",
        "PW",
        "GB",
        "hello",
    ];
    for odd in odd {
        server.say(odd).await;
    }
    server.socket.send_to(&[0xff; 2000], server.client).await.unwrap();
    server.hears_nothing().await;
    server.announce(&mut board, second).await;
    server.hears_nothing().await;
    server.announce(&mut board, Move::parse("2030").unwrap()).await;
    server.hear_move(&board).await;
    server.end(client, "GE0000").await;
}

#[test(start_paused = true)]
async fn a_reply_makes_up_for_the_lost_announcement_of_our_move() {
    let log = Log::capture();
    let (mut server, client) = playing("", "PW").await;
    let mut board = Tuc::start();
    for reply in ["1020", "1121", "1222"] {
        let ours = server.hear_move(&board).await;
        let lost = told(&mut board, ours);
        assert_eq!(lost.len(), 12);
        let reply = board.read(reply).unwrap();
        server.announce(&mut board, reply).await;
    }
    server.hear_move(&board).await;
    server.end(client, "GE0000").await;
    log.shows("(7 plies)").await;
    assert_eq!(log.count("not legal on our board"), 0, "{}", log.text());
}

#[test(start_paused = true)]
async fn a_move_that_does_not_fit_is_taken_over() {
    let log = Log::capture();
    let (mut server, client) = playing("", "PB").await;
    // The datagrams before were lost: a rook in the middle of the board, and it is our turn.
    server.say("T16133990000").await;
    let mut board = Tuc::start();
    board.hear(Move::parse("6133").unwrap(), Color::Black, None, zeitnot_rules::ByColor([0, 0]));
    server.hear_move(&board).await;
    server.end(client, "GE0000").await;
    // At least one move of theirs, and ours.
    log.shows("(2 plies)").await;
}

#[test(start_paused = true)]
async fn a_move_is_sent_again_only_with_resend() {
    for (settings, again) in [("", false), ("resend = true", true)] {
        let (mut server, client) = playing(settings, "PW").await;
        let board = Tuc::start();
        let first = server.hear_move(&board).await;
        if again {
            assert_eq!(server.hear_move(&board).await, first);
        } else {
            server.hears_nothing().await;
            server.hears_nothing().await;
        }
        server.end(client, "GE0000").await;
    }
}

#[test]
async fn a_server_that_falls_silent_or_dies_is_left_and_found_again() {
    let mut server = Server::bind().await;
    let address = server.address();
    let client = start_with(address, "", "700ms", "50ms");
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    // After the silence it gives the game up and asks for another.
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    drop(server);
    // The outage lasts until the client has noticed it.
    tokio::time::sleep(QUIET).await;
    let mut server = Server { socket: UdpSocket::bind(address).await.unwrap(), client: address };
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    server.end(client, "GE0100").await;
}

#[test(start_paused = true)]
async fn a_silent_server_is_waited_for_visibly_and_one_that_is_gone_as_well() {
    let log = Log::capture();
    let mut server = Server::bind().await;
    // Few attempts, as one may reach a port that another test has meanwhile.
    let client = start_with(server.address(), "", "100s", "5s");
    server.seat("PW").await;
    server.take_move(&mut Tuc::start()).await;
    for seconds in [15, 30, 60] {
        log.shows(&format!(
            "nothing from the server for {seconds} s: a player thinks, or the server is gone"
        ))
        .await;
    }
    log.shows("giving it up; reconnecting in").await;
    drop(server);
    log.shows("no server there").await;
    log.shows("; trying for ").await;
    assert!(log.count("no server there") <= 2, "{}", log.text());
    client.ends_soon().await;
}

/// The system shows the sockets of this machine.
#[cfg(target_os = "linux")]
#[test(start_paused = true)]
async fn a_server_on_this_machine_that_begins_anew_is_joined_again_within_seconds() {
    for has_begun in [false, true] {
        let mut server = Server::bind().await;
        let address = server.address();
        let began = Instant::now();
        let client = start_with(address, "", "600s", "1s");
        assert_eq!(server.hear().await, "zeitnot");
        server.say("PB").await;
        if has_begun {
            server.say("GB").await;
        }
        // No datagram is on its way: the opponent's move is awaited, or the opponent.
        server.hears_nothing().await;
        drop(server);
        server = Server { socket: UdpSocket::bind(address).await.unwrap(), client: address };
        server.seat("PW").await;
        server.hear_move(&Tuc::start()).await;
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        server.end(client, "GE0100").await;
    }
}

/// A server elsewhere shows only by its answer that it is another one.
#[test(start_paused = true)]
async fn a_server_that_takes_our_move_for_a_name_has_begun_anew() {
    let log = Log::capture();
    let mut server = Server::bind().await;
    let client = start_with(server.address(), "", "600s", "50ms");
    server.seat("PB").await;
    let mut board = Tuc::start();
    sleep(Duration::from_secs(11)).await;
    let theirs = Move::parse("5040").unwrap();
    server.announce(&mut board, theirs).await;
    server.hear_move(&board).await;
    server.say("PW").await;
    server.say("GB").await;
    server.hear_move(&Tuc::start()).await;
    log.shows("has taken our move for a name").await;
    server.end(client, "GE0100").await;
}

#[test(start_paused = true)]
async fn the_next_game_begins_after_a_moment() {
    let (mut server, client) = playing("games = 2", "PW").await;
    let board = Tuc::start();
    server.hear_move(&board).await;
    server.say("GE0100").await;
    // The server may be closing, and would take the name for nothing.
    server.hears_nothing().await;
    server.seat("PW").await;
    server.hear_move(&board).await;
    server.end(client, "GE0100").await;
}

#[test(start_paused = true)]
async fn seats_are_asked_for_at_intervals_and_a_stop_ends_that() {
    let mut server = Server::bind().await;
    let client = start(server.address(), "");
    assert_eq!(server.hear().await, "zeitnot");
    let first = server.client;
    assert_eq!(server.hear().await, "zeitnot");
    assert_ne!(server.client, first, "a new attempt has a new address");
    server.say("PW").await;
    server.hears_nothing().await;
    client.ends_soon().await;
}

#[test(start_paused = true)]
async fn the_first_stop_goes_on_with_the_game_and_the_second_leaves_it() {
    let (mut server, client) = playing("games = 5", "PW").await;
    let mut board = Tuc::start();
    let ours = server.hear_move(&board).await;
    client.shutdown.soon.cancel();
    server.announce(&mut board, ours).await;
    server.announce(&mut board, Move::parse("1020").unwrap()).await;
    server.hear_move(&board).await;
    client.ends_now().await;
}
