//! An arena on ports of its own, and clients that speak from a script.

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tokio::{
    net::{TcpSocket, TcpStream},
    sync::broadcast,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use zeitnot_arena::{Arena, Config, News, Summary};
use zeitnot_engine::EngineFactory;
use zeitnot_net::{Address, LineReader, LineWriter, over_tcp};
use zeitnot_testing::{LONG, soon};

use crate::support::{
    command::{err, out, zeitnot},
    storage::Storage,
};

/// Transport of a client.
#[derive(Copy, Clone, Debug)]
pub enum By {
    Tcp,
    WebSocket,
}

/// An arena in this process.
pub struct TestArena {
    pub tcp: Option<SocketAddr>,
    pub websocket: Option<SocketAddr>,
    pub imcs: Option<SocketAddr>,
    pub lichess: Option<SocketAddr>,
    pub web: Option<SocketAddr>,
    /// Addresses of the TUC-Chess tables.
    pub tables: Vec<SocketAddr>,
    pub news: broadcast::Receiver<News>,
    pub folder: Storage,
    pub shutdown: CancellationToken,
    running: JoinHandle<Summary>,
}

impl TestArena {
    /// Starts an arena with this configuration. `{folder}` in it stands for the folder.
    pub async fn open(folder: impl Into<Storage>, config: &str) -> Self {
        let folder = folder.into();
        let config: Config =
            toml::from_str(&config.replace("{folder}", &folder.path().display().to_string())).unwrap();
        config.check().unwrap();
        Self::with_config(folder, config).await
    }

    pub async fn with_config(folder: impl Into<Storage>, config: Config) -> Self {
        Self::bind(folder, config, BTreeMap::new()).await
    }

    /// The same, with engines of the configuration.
    pub async fn bind(
        folder: impl Into<Storage>,
        mut config: Config,
        engines: BTreeMap<String, EngineFactory>,
    ) -> Self {
        let folder = folder.into();
        if let Some(url) = folder.url().filter(|_| config.database.is_none()) {
            config.database = Some(url.parse().unwrap());
        }
        let arena = Arena::with_engines(config, engines).await.unwrap();
        let Config { tcp, websocket, imcs, lichess, web, tuc, .. } = arena.bound().clone();
        let imcs = imcs.map(|imcs| imcs.listen);
        let lichess = lichess.map(|lichess| lichess.listen);
        let web = web.map(|web| web.listen);
        let tables = tuc.iter().map(|table| table.address).collect();
        let news = arena.news();
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(arena.run(shutdown.clone()));
        TestArena { tcp, websocket, imcs, lichess, web, tables, news, folder, shutdown, running }
    }

    /// Starts an arena with one tournament, `class`, and these settings besides or instead of quick ones.
    pub async fn start(settings: &str) -> Self {
        Self::with("", settings).await
    }

    /// The same, with settings of the arena as well.
    pub async fn with(arena: &str, settings: &str) -> Self {
        Self::tournament(tempfile::tempdir().unwrap(), arena, settings).await
    }

    /// The same, with games that begin in this position.
    pub async fn from_position(fen: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("openings.epd"), fen).unwrap();
        Self::tournament(folder, "", &format!("openings = '{{folder}}/openings.epd'\n{settings}")).await
    }

    pub async fn tournament(folder: impl Into<Storage>, arena: &str, settings: &str) -> Self {
        Self::open(folder, &class(arena, settings)).await
    }

    /// The same, with engines of the configuration.
    pub async fn with_engines(
        folder: impl Into<Storage>,
        settings: &str,
        engines: BTreeMap<String, EngineFactory>,
    ) -> Self {
        let folder = folder.into();
        let text = class("", settings).replace("{folder}", &folder.path().display().to_string());
        Self::bind(folder, toml::from_str(&text).unwrap(), engines).await
    }

    /// Address of the contest protocol, as clients write it.
    pub fn url(&self, by: By) -> String {
        match by {
            By::Tcp => format!("tcp://{}", self.authority(by)),
            By::WebSocket => format!("ws://{}", self.authority(by)),
        }
    }

    pub fn authority(&self, by: By) -> SocketAddr {
        match by {
            By::Tcp => self.tcp.unwrap(),
            By::WebSocket => self.websocket.unwrap(),
        }
    }

    /// A connection that has said nothing yet.
    pub async fn connect(&self, by: By) -> Player {
        let address: Address = self.url(by).parse().unwrap();
        let (reader, writer) = address.connect(LONG).await.unwrap();
        Player { name: String::new(), reader, writer }
    }

    /// A connection for bytes of all kinds.
    pub async fn raw(&self, by: By) -> TcpStream {
        TcpStream::connect(self.authority(by)).await.unwrap()
    }

    /// A player of the tournament.
    pub async fn join(&self, by: By, name: &str) -> Player {
        let mut player = self.connect(by).await;
        player.name = name.to_owned();
        player.send(&format!("JOIN class {name}")).await;
        player
    }

    /// A player whose first line this is.
    pub async fn say(&self, name: &str, line: &str) -> Player {
        let mut player = self.connect(By::Tcp).await;
        player.name = name.to_owned();
        player.send(line).await;
        player
    }

    /// A player whose connection comes from this address.
    pub async fn join_from(&self, address: [u8; 4], name: &str) -> Player {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        let stream = socket.connect(self.authority(By::Tcp)).await.unwrap();
        let (reader, writer) = over_tcp(stream).unwrap();
        let mut player = Player { name: name.to_owned(), reader, writer };
        player.send(&format!("JOIN class {name}")).await;
        player
    }

    /// Alice and bob, and the line that pairs them.
    pub async fn paired(&self) -> (Player, Player, String) {
        let mut alice = self.join(By::Tcp, "alice").await;
        let bob = self.join(By::Tcp, "bob").await;
        let paired = alice.expect("GAME_PAIRED").await;
        (alice, bob, paired)
    }

    /// Alice and bob at the board.
    pub async fn game(&self) -> Board {
        let mut alice = self.join(By::Tcp, "alice").await;
        let mut bob = self.join(By::Tcp, "bob").await;
        let game = begin(&mut alice, &mut bob).await;
        Board::new(game, alice, bob)
    }

    /// Waits for the arena's own end.
    pub async fn end(self) -> (Summary, Storage) {
        (soon("the arena ends", self.running).await.unwrap(), self.folder)
    }

    /// Stops the arena.
    pub async fn stop(self) -> (Summary, Storage) {
        self.shutdown.cancel();
        self.end().await
    }
}

/// Configuration of an arena with one tournament, `class`.
fn class(arena: &str, settings: &str) -> String {
    let mut text = format!(
        "tcp = '127.0.0.1:0'\nwebsocket = '127.0.0.1:0'\ngames = '{{folder}}/games'\n{arena}\n\
         [[tournament]]\nname = 'class'\n"
    );
    for (key, value) in [("time", "60+0"), ("pairing_interval", "20ms"), ("pause", "0ms")] {
        if !settings.lines().any(|line| line.starts_with(&format!("{key} "))) {
            text += &format!("{key} = '{value}'\n");
        }
    }
    text + settings
}

/// Texts of all files below an arena's `games`, except the database.
pub fn records(folder: &Path) -> String {
    record_files(folder).map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Those files.
pub fn record_files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir(folder.join("games")).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| !file.file_name().unwrap().to_string_lossy().starts_with("zeitnot.db"))
}

/// Output of `zeitnot arena results` for this database.
pub fn results(database: &str, arguments: &[&str]) -> String {
    let output =
        zeitnot(&["arena", "results"]).args(arguments).arg("--database").arg(database).output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    out(&output).to_owned()
}

/// Values of a tag in all games of a PGN.
pub fn tags<'p>(pgn: &'p str, name: &str) -> Vec<&'p str> {
    let mark = format!("[{name} \"");
    pgn.lines().filter_map(|line| line.strip_prefix(&mark)?.strip_suffix("\"]")).collect()
}

/// Two players who have been paired acknowledge; returns the GAME_PAIRED line.
pub async fn begin(a: &mut Player, b: &mut Player) -> String {
    let paired = a.expect("GAME_PAIRED").await;
    assert_eq!(b.expect("GAME_PAIRED").await, paired);
    a.ack(&paired).await;
    b.ack(&paired).await;
    paired
}

/// A field of a message.
pub fn word(line: &str, at: usize) -> &str {
    line.split(' ').nth(at).unwrap_or_else(|| panic!("no field {at} in '{line}'"))
}

/// A game with both players at the board.
pub struct Board {
    pub game: String,
    pub white: Player,
    pub black: Player,
}

impl Board {
    pub fn new(paired: String, a: Player, b: Player) -> Self {
        let game = word(&paired, 1).to_owned();
        let (white, black) = if word(&paired, 2) == a.name { (a, b) } else { (b, a) };
        Board { game, white, black }
    }

    /// Plays these, each side when it is asked.
    pub async fn play(&mut self, moves: &str) {
        for (i, mv) in moves.split(' ').enumerate() {
            let player = if i % 2 == 0 { &mut self.white } else { &mut self.black };
            player.expect("YOUR_MOVE").await;
            player.send(&format!("MOVE {} {mv}", self.game)).await;
        }
    }

    /// The result and the reason that both are told.
    pub async fn over(&mut self) -> String {
        let line = self.white.expect("GAME_OVER").await;
        assert_eq!(self.black.expect("GAME_OVER").await, line);
        line.strip_prefix(&format!("GAME_OVER {} ", self.game)).unwrap().to_owned()
    }
}

/// A client.
pub struct Player {
    pub name: String,
    pub reader: LineReader,
    pub writer: LineWriter,
}

impl Player {
    /// A player of tournament `class` at this address.
    pub async fn at(address: SocketAddr, name: &str) -> Player {
        let (reader, writer) = over_tcp(TcpStream::connect(address).await.unwrap()).unwrap();
        let mut player = Player { name: name.to_owned(), reader, writer };
        player.send(&format!("JOIN class {name}")).await;
        player
    }

    /// Acknowledges a pairing.
    pub async fn ack(&mut self, paired: &str) {
        self.send(&format!("ACK {}", word(paired, 1))).await;
    }

    pub async fn send(&mut self, line: &str) {
        self.writer.send(line).await.unwrap();
    }

    /// The next line; `None` when the arena has closed the connection.
    pub async fn next(&mut self) -> Option<String> {
        let incoming = soon(&format!("a line for {}", self.name), self.reader.next()).await;
        incoming.ok().flatten().map(|incoming| incoming.line.unwrap().trim_end().to_owned())
    }

    /// The next line that begins so; others are passed over.
    pub async fn expect(&mut self, beginning: &str) -> String {
        self.until(beginning).await.pop().unwrap()
    }

    /// All lines up to the next that begins so.
    pub async fn until(&mut self, beginning: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.next().await {
            lines.push(line);
            if lines.last().is_some_and(|line| line.starts_with(beginning)) {
                return lines;
            }
        }
        panic!("{}: closed without '{beginning}', but with {lines:#?}", self.name)
    }

    /// Everything up to the close.
    pub async fn rest(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.next().await {
            lines.push(line);
        }
        lines
    }
}
