//! The TUC-Chess client against a scripted server, with datagrams that are lost, duplicated, reordered or invalid.

use std::{net::SocketAddr, time::Duration};

use tokio::{net::UdpSocket, task::JoinHandle, time::timeout};
use tokio_util::task::TaskTracker;
use zeitnot_bot as bot;
use zeitnot_clients::{
    Protocol, ProtocolError, Shutdown,
    tuc::{Config, TucChess},
};
use zeitnot_engine::Kind;
use zeitnot_rules::{
    Color, Game,
    tuc::{Move, Tuc},
};

use crate::support::{bot::lobby, wait::soon};

/// Span of paused time in which nothing may be sent.
const QUIET: Duration = Duration::from_millis(300);

/// Running client.
struct Client {
    run: JoinHandle<Result<(), ProtocolError>>,
    shutdown: Shutdown,
}

impl Client {
    fn start(server: SocketAddr, settings: &str) -> Client {
        let text = format!(
            "address = '{server}'\nplayer = 'zeitnot'\nmove_time = '100ms'\n{settings}\n[timeouts]\nseat = '400ms'\n\
             confirmation = '400ms'\nsilence = '2s'\nreconnect = {{ min_delay = '50ms', max_delay = '50ms', stable_after = '1s' }}"
        );
        let config: Config = toml::from_str(&text).unwrap();
        let shutdown = Shutdown::default();
        let lobby = lobby(Kind::Random, bot::Config::default(), &shutdown.now, &TaskTracker::new());
        let run = tokio::spawn(TucChess::run(config, lobby, shutdown.clone()));
        Client { run, shutdown }
    }

    async fn ends(self) {
        soon("the client ends", self.run).await.unwrap().unwrap();
    }
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

/// Plays a move without a prize and returns its announcement.
fn told(board: &mut Tuc, mv: Move) -> String {
    board.play_for(mv, 0);
    let [white, black] = board.points().0.map(|points| points / 100);
    format!("T{}{mv}99{white:02}{black:02}", u8::from(board.side_to_move() == Color::Black))
}

#[tokio::test(start_paused = true)]
async fn a_game_as_black_from_name_to_end() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "");
    server.seat("PB").await;
    server.hears_nothing().await;
    let mut board = Tuc::start();
    server.say(&told(&mut board, Move::parse("5040").unwrap())).await;
    for mv in ["5343", "5444"] {
        let reply = server.hear_move(&board).await;
        let ours = told(&mut board, reply);
        server.say(&ours).await;
        // Its own move is told to it as well: no reason to move again.
        server.hears_nothing().await;
        let theirs = board.read(mv).unwrap();
        let theirs = told(&mut board, theirs);
        server.say(&theirs).await;
    }
    server.hear_move(&board).await;
    server.say("GE0203").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_twice_or_late_or_is_nonsense_is_not_answered() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "");
    server.seat("PW").await;
    let mut board = Tuc::start();
    let first = server.hear_move(&board).await;
    let first = told(&mut board, first);
    server.say(&first).await;
    let reply = told(&mut board, Move::parse("1020").unwrap());
    server.say(&reply).await;
    let second = server.hear_move(&board).await;
    // Before our move is confirmed, everything else there is.
    for odd in [
        &reply,
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
    ] {
        server.say(odd).await;
    }
    server.socket.send_to(&[0xff; 2000], server.client).await.unwrap();
    server.hears_nothing().await;
    let second = told(&mut board, second);
    server.say(&second).await;
    server.hears_nothing().await;
    let reply = told(&mut board, Move::parse("2030").unwrap());
    server.say(&reply).await;
    server.hear_move(&board).await;
    server.say("GE0000").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn where_the_word_on_our_move_is_lost_the_reply_tells_enough() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "");
    server.seat("PW").await;
    let mut board = Tuc::start();
    for reply in ["1020", "1121", "1222"] {
        let ours = server.hear_move(&board).await;
        let lost = told(&mut board, ours);
        assert_eq!(lost.len(), 12);
        let reply = board.read(reply).unwrap();
        let reply = told(&mut board, reply);
        server.say(&reply).await;
    }
    server.hear_move(&board).await;
    server.say("GE0000").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_that_does_not_fit_is_made_the_best_of() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "");
    server.seat("PB").await;
    // The datagrams before were lost: a rook in the middle of the board, and it is our turn.
    server.say("T16133990000").await;
    let mut board = Tuc::start();
    board.hear(Move::parse("6133").unwrap(), Color::Black, None, zeitnot_rules::ByColor([0, 0]));
    server.hear_move(&board).await;
    server.say("GE0000").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_is_sent_again_only_where_that_is_wanted() {
    for (settings, again) in [("", false), ("resend = true", true)] {
        let mut server = Server::bind().await;
        let client = Client::start(server.address(), settings);
        server.seat("PW").await;
        let board = Tuc::start();
        let first = server.hear_move(&board).await;
        if again {
            assert_eq!(server.hear_move(&board).await, first);
        } else {
            tokio::time::sleep(QUIET).await;
            server.hears_nothing().await;
        }
        server.say("GE0000").await;
        client.ends().await;
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_or_dies_is_left_and_the_next_one_found() {
    let mut server = Server::bind().await;
    let address = server.address();
    let client = Client::start(address, "");
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    // Silence: the game is given up, and a new one asked for.
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    drop(server);
    tokio::time::sleep(QUIET).await;
    let mut server = Server { socket: UdpSocket::bind(address).await.unwrap(), client: address };
    server.seat("PW").await;
    server.hear_move(&Tuc::start()).await;
    server.say("GE0100").await;
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_twice_for_a_seat_in_haste_and_leaving_is_quick() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "");
    assert_eq!(server.hear().await, "zeitnot");
    let first = server.client;
    assert_eq!(server.hear().await, "zeitnot");
    assert_ne!(server.client, first, "a new attempt has a new address");
    server.say("PW").await;
    server.hears_nothing().await;
    client.shutdown.soon.cancel();
    client.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_running_game_is_finished_and_a_second_signal_leaves_it() {
    let mut server = Server::bind().await;
    let client = Client::start(server.address(), "games = 5");
    server.seat("PW").await;
    let mut board = Tuc::start();
    let ours = server.hear_move(&board).await;
    client.shutdown.soon.cancel();
    let ours = told(&mut board, ours);
    server.say(&ours).await;
    let reply = told(&mut board, Move::parse("1020").unwrap());
    server.say(&reply).await;
    server.hear_move(&board).await;
    client.shutdown.now.cancel();
    client.ends().await;
}
