//! Arena with IMCS, and clients that check each byte.

use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
};
use zeitnot_arena::Config;
use zeitnot_testing::soon;

use crate::support::{arena::TestArena, storage::Storage};

/// Arena with nothing but IMCS.
pub struct Imcs {
    pub address: String,
    arena: TestArena,
}

impl Imcs {
    pub async fn start() -> Imcs {
        Imcs::in_folder(Storage::file()).await
    }

    /// Starts with further settings.
    pub async fn with(settings: &str) -> Imcs {
        Imcs::open(Storage::file(), settings).await
    }

    /// Starts with the users of an earlier run.
    pub async fn in_folder(folder: Storage) -> Imcs {
        Imcs::open(folder, "").await
    }

    /// Late moves lose at once.
    async fn open(folder: Storage, settings: &str) -> Imcs {
        let path = folder.path().display();
        let text = format!(
            "games = '{path}/games'\n[imcs]\nlisten = '127.0.0.1:0'\nusers = '{path}/users'\n{settings}"
        );
        let mut config: Config = toml::from_str(&text).unwrap();
        config.imcs.as_mut().unwrap().late = Duration::from_millis(50);
        let arena = TestArena::with_config(folder, config).await;
        Imcs { address: arena.imcs.unwrap().to_string(), arena }
    }

    /// Connects and reads the greeting.
    pub async fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client(BufStream::new(stream));
        client.hears("100 imcs 2.5\r\n").await;
        client
    }

    /// Registers a new user.
    pub async fn register(&self, name: &str) -> Client {
        let mut client = self.connect().await;
        client.ask(&format!("register {name} pw"), &format!("202 hello new user {name}\r\n")).await;
        client
    }

    /// Starts a game between alice (White) and bob with these clocks.
    pub async fn game(&self, seconds: u32) -> (Client, Client) {
        let mut alice = self.register("alice").await;
        let mut bob = self.register("bob").await;
        alice.ask(&format!("offer W {seconds}"), "103 1 game waiting for offer acceptance\r\n").await;
        bob.say("accept 1").await;
        let time = format!("{}:{:02}", seconds / 60, seconds % 60);
        bob.hears(&format!("106 B {time} {time} game starts\r\n")).await;
        alice.hears(&format!("105 W {time} {time} game starts\r\n")).await;
        (alice, bob)
    }

    pub async fn stop(self) -> Storage {
        self.arena.stop().await.1
    }

    pub async fn ended(self) -> Storage {
        self.arena.end().await.1
    }
}

/// Client that checks each byte.
pub struct Client(BufStream<TcpStream>);

impl Client {
    pub async fn say(&mut self, line: &str) {
        self.bytes(format!("{line}\r\n").as_bytes()).await;
    }

    pub async fn bytes(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Breaks the connection down, as a failing network does.
    pub fn reset(self) {
        self.0.get_ref().set_zero_linger().unwrap();
    }

    /// Returns the next line with its end; empty after the close.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        soon("a line", self.0.read_line(&mut line)).await.unwrap();
        line
    }

    /// Expects exactly these bytes.
    #[track_caller]
    pub fn hears(&mut self, expected: &str) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            let mut heard = vec![0; expected.len()];
            let read = soon(&format!("{expected:?} at {at}"), self.0.read_exact(&mut heard)).await;
            let heard = String::from_utf8_lossy(&heard).into_owned();
            assert_eq!(heard, expected, "at {at}: {read:?}");
        }
    }

    #[track_caller]
    pub fn ask(&mut self, line: &str, expected: &str) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            self.say(line).await;
            let mut heard = String::new();
            while heard.len() < expected.len() {
                let line = self.line().await;
                assert!(!line.is_empty(), "closed at {at}, after {heard:?}");
                heard += &line;
            }
            assert_eq!(heard, expected, "at {at}");
        }
    }

    /// Returns everything up to the prompt.
    pub async fn prompt(&mut self) -> String {
        let mut heard = String::new();
        loop {
            let line = self.line().await;
            heard += &line;
            if line.starts_with("? ") {
                return heard;
            }
            assert!(!line.is_empty(), "closed after {heard:?}");
        }
    }

    /// Waits for the prompt and answers it.
    pub async fn play(&mut self, mv: &str) {
        self.prompt().await;
        self.say(mv).await;
    }

    /// Returns everything up to the close.
    pub async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        soon("the close", self.0.read_to_end(&mut rest)).await.unwrap();
        String::from_utf8(rest).unwrap()
    }
}
