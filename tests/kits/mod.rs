//! The kits of `zeitnot kit`, with their real toolchains: a whole game on an arena, and what a student sees of a faulty bot.

mod command;
mod compiled;
mod homemade;
mod python;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
};
use zeitnot_testing::soon;

use crate::support::{
    arena::{By, TestArena, records, word},
    command::{err, out, zeitnot},
    program::Program,
};

/// Settings of a tournament of one game, with time for the default bots on a busy machine.
const QUICK_GAME: &str = "time = '120+2'\nplayers = 2\ngames_per_pair = 1";

/// Settings of a tournament in which a function that never returns has used up its clock after ten moves, if each of them costs
/// half of it.
const SHORT_GAME: &str = "time = '5+0'\nplayers = 2\ngames_per_pair = 1";
const SHORT_MOVES: usize = 12;

/// Returns the client's line about the end of a game.
const ENDS: [&str; 3] = [" won against ", " lost against ", " drew against "];

/// A kit on disk, with the settings for tournament `class` of an arena.
struct Kit {
    folder: TempDir,
}

impl Kit {
    fn write(name: &str, arena: &TestArena) -> Kit {
        Kit::write_for(name, &arena.authority(By::Tcp).to_string())
    }

    fn write_for(name: &str, address: &str) -> Kit {
        let folder = tempfile::tempdir().unwrap();
        let written =
            zeitnot(&["kit", name, folder.path().to_str().unwrap(), "--arena", address]).output().unwrap();
        assert!(written.status.success(), "{}", err(&written));
        Kit { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Replaces a file, such as the student's.
    fn put(&self, file: &str, content: &str) {
        fs::write(self.path(file), content).unwrap();
    }

    /// Sets the address of the arena, and the tournament.
    fn point_to(&self, address: &str) {
        let text = fs::read_to_string(self.path("settings.txt")).unwrap_or_default();
        let other = |line: &&str| !line.starts_with("arena =") && !line.starts_with("tournament =");
        let rest: String = text.lines().filter(other).map(|line| format!("{line}\n")).collect();
        self.put("settings.txt", &format!("arena = {address}\ntournament = class\n{rest}"));
    }

    /// Replaces text in a file, which has it.
    fn replace(&self, file: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(old), "{file} has no '{old}'");
        self.put(file, &text.replace(old, new));
    }

    fn command(&self, line: &str) -> Command {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap());
        command.args(words).current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs a command to its successful end. Returns its output.
    fn run(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        assert!(output.status.success(), "{line}:\n{}{}", out(&output), err(&output));
        out(&output).to_owned()
    }

    /// Lets the shell run a command to its successful end.
    fn shell(&self, line: &str) {
        let output = self.command("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}:\n{}{}", out(&output), err(&output));
    }

    /// Starts a command, such as the client's with a name.
    fn start(&self, line: &str) -> Program {
        // A program's stderr is what is read of it.
        let mut command = self.command("sh");
        // Where the tests run in the background, Ctrl-C is ignored, and programs would inherit that.
        command.args(["-c", &format!("exec env --default-signal=INT {line} >&2")]);
        Program::of(command, line)
    }

    /// Starts a command that ends at once, because of this.
    async fn refuses(&self, line: &str, why: &str) {
        let (code, told) = self.start(line).ends().await;
        assert!(code == Some(1) && told.last().is_some_and(|last| last.contains(why)), "{line}: {told:#?}");
    }
}

/// Starts a client with wrong names, and with settings for wrong ports: it says what is wrong.
async fn explains_wrong_names_and_ports(kit: &Kit, client: &str) {
    let page = "[web]\nlisten = '127.0.0.1:0'\ntoken = '0123456789abcdef0123456789abcdef'";
    let arena = TestArena::with(page, "").await;
    kit.point_to(&arena.url(By::Tcp));
    for several in ["'my bot'", "my bot key"] {
        kit.refuses(&format!("{client} {several}"), "in settings.txt; a name has no spaces").await;
    }
    kit.refuses(&format!("{client} .."), "The arena does not let .. in: '..' is not a name: ").await;
    for port in [arena.authority(By::WebSocket), arena.web.unwrap()] {
        kit.point_to(&port.to_string());
        let why = "The arena does not let alice in: this is its WebSocket or web port; settings.txt needs its TCP \
                   port (8000 by default)";
        kit.refuses(&format!("{client} alice"), why).await;
    }
    arena.stop().await;

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    kit.point_to(&address.to_string());
    let client = kit.start(&format!("{client} alice"));
    let (stream, _) = soon("a connection", silent.accept()).await.unwrap();
    let mut joins = String::new();
    BufReader::new(stream).read_line(&mut joins).await.unwrap();
    client
        .tells(&format!("The arena has closed the connection. Is {address} its TCP port (8000 by default)?"))
        .await;
    client.kill().await;
}

/// Lines of positions.txt, and what the kit's test says of them.
const POSITIONS: [(&str, &str); 5] = [
    ("mate | 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1 | d1d8", "ok    mate: d1d8"),
    (
        "mate | 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1 | Rd8#",
        "'Rd8#' is not legal there; write moves such as e2e4",
    ),
    ("mate | 6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1 |", "expected `name | FEN | moves that pass`"),
    ("mate | | d1d8", "expected `name | FEN | moves that pass`"),
    ("mate", "expected `name | FEN | moves that pass`"),
];

/// Writes wrong lines into the files that a student or a teacher edits. The programs that these commands start name each mistake.
async fn explains_wrong_files(kit: &Kit, client: &str, test: &str) {
    for (line, said) in POSITIONS {
        kit.put("positions.txt", &format!("# mine\n\n{line}\n"));
        let (_, told) = kit.start(test).ends().await;
        let said =
            if said.starts_with("ok ") { said.to_owned() } else { format!("positions.txt, line 3: {said}") };
        assert!(told.last().is_some_and(|last| last.ends_with(&said)), "{line}: {told:#?}");
    }
    for arena in ["localhost", ":1", "localhost:1 # ours", "\"localhost:1\"", "localhost:65536"] {
        kit.point_to(arena);
        let why = format!(
            "settings.txt needs the lines `arena = HOST:PORT` and `tournament = NAME`; it has `arena = {arena}` and \
             `tournament = class`"
        );
        kit.refuses(&format!("{client} alice"), &why).await;
    }
    kit.put("settings.txt", "# arena = localhost:1\n");
    kit.refuses(&format!("{client} alice"), "; it has `arena = ` and `tournament = `").await;
    fs::remove_file(kit.path("settings.txt")).unwrap();
    kit.refuses(&format!("{client} alice"), "settings.txt is missing; ").await;
    kit.point_to("http://nowhere.invalid:1");
    let lost = kit.start(&format!("{client} alice"));
    lost.tells("Trying again in 2 s; Ctrl-C stops.").await;
    let told = lost.told();
    let reason = told[0].strip_prefix("Cannot reach the arena at nowhere.invalid:1: ");
    assert!(reason.is_some_and(|reason| !reason.starts_with("nowhere.invalid.")), "{told:#?}");
    lost.kill().await;
}

/// Plays a game between two copies of a kit's default bot: `client` is the command without the name, `prepared` makes the
/// kit ready.
async fn plays_a_whole_game(name: &str, client: &str, prepared: impl AsyncFn(&Kit)) {
    let arena = TestArena::start(QUICK_GAME).await;
    let kit = Kit::write(name, &arena);
    prepared(&kit).await;
    plays_itself(&kit, client, arena).await;
}

/// Plays a game between two copies of a kit, with the settings for this arena.
async fn plays_itself(kit: &Kit, client: &str, arena: TestArena) {
    let players = ["alice", "bob"].map(|player| kit.start(&format!("{client} {player}")));
    let (_, folder) = arena.end().await;
    for player in players {
        let (code, told) = player.ends().await;
        assert_eq!(code, Some(0), "{told:#?}");
        assert!(!told.iter().any(|line| line.contains("instead")), "{told:#?}");
        assert!(told.iter().any(|line| line.starts_with("Game of ")), "{told:#?}");
        let is_end = |line: &&String| ENDS.iter().any(|end| line.contains(end));
        assert_eq!(told.iter().filter(is_end).count(), 1, "{told:#?}");
    }
    let record = records(folder.path());
    assert!(record.contains("[Termination \"normal\"]") && record.contains("\n1. "), "{record}");
}

/// Pawns that block each other keep the kings apart, so that no move ends the game.
const BLOCKED: &str = "k7/8/8/p1p1p1p1/P1P1P1P1/8/8/K7 w - - 0 1";

/// Returns moves of Black's king there that never repeat a position.
fn walk() -> impl Iterator<Item = String> {
    let row = |row: char| ('a'..='h').map(move |file| format!("{file}{row}"));
    let squares: Vec<_> = row('8').chain(row('7').rev()).chain(row('6')).collect();
    (1..squares.len()).map(move |at| squares[at - 1..=at].concat())
}

/// Lets a kit, as White, play two moves against a scripted opponent. Returns what its client says of them.
async fn plays_two_moves(name: &str, client: &str, time: &str, prepared: impl AsyncFn(&Kit)) -> [String; 2] {
    let kit = Kit::write_for(name, python::NOWHERE);
    prepared(&kit).await;
    let settings = format!("time = '{time}'\nplayers = 2\ngames_per_pair = 1");
    plays_moves(&kit, client, &settings, 2).await.try_into().unwrap()
}

/// Lets a kit, as White, play some moves against a scripted opponent, who then resigns. Returns what its client says of them.
async fn plays_moves(kit: &Kit, client: &str, settings: &str, count: usize) -> Vec<String> {
    let arena = TestArena::from_position(BLOCKED, settings).await;
    kit.point_to(&arena.url(By::Tcp));
    let alice = kit.start(&format!("{client} alice"));
    alice.tells("You joined tournament class").await;
    let mut bob = arena.say("bob", "JOIN class bob +moves +protocol=1").await;
    let paired = bob.expect("GAME_PAIRED").await;
    bob.ack(&paired).await;
    for step in walk().take(count - 1) {
        let legal = bob.expect("LEGAL_MOVES").await;
        bob.send(&format!("MOVE {} {step}", word(&legal, 1))).await;
    }
    let legal = bob.expect("LEGAL_MOVES").await;
    bob.send(&format!("RESIGN {}", word(&legal, 1))).await;
    let (_, folder) = arena.end().await;
    let (code, told) = alice.ends().await;
    assert_eq!(code, Some(0), "{told:#?}");
    let record = records(folder.path());
    assert!(record.contains("[Result \"1-0\"]") && record.contains("\n1. "), "{record}");
    let of_move = |number| {
        let line = told.iter().find(|line| line.starts_with(&format!("Move {number}: ")));
        line.unwrap_or_else(|| panic!("no move {number}: {told:#?}")).clone()
    };
    (1..=count).map(of_move).collect()
}
