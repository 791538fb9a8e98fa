//! Games as PGN files: complete also where we came back in the middle, and never in the way of a move.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::Deserialize;
use time::OffsetDateTime;

use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::{Eval, Worth};
use zeitnot_wire::{
    lichess::{GameFull, GameId, GameState, Player, Speed, Status, Variant, VariantKey},
    pgn::{self, Pgn, Ply},
};

mod shelf;

/// The `records` table; without it no game is written down.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where; made if it is not there.
    pub folder: PathBuf,
    /// What goes into one file.
    #[serde(default)]
    pub file: Grouping,
}

/// What goes into one file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// Each game has its own.
    #[default]
    Game,
    /// All games against one opponent.
    Opponent,
    /// All games.
    All,
}

/// A game on its way to a file.
#[derive(Clone, Debug)]
pub struct Record {
    full: GameFull,
    /// The side we play.
    side: Color,
    /// What is known of each ply, by its number.
    notes: Vec<Note>,
    /// Plies in the server's list; a note may be there before.
    plies: usize,
}

/// What is known of a ply, apart from the move.
#[derive(Copy, Clone, Debug, Default)]
struct Note {
    left: Option<Duration>,
    eval: Option<Eval>,
}

/// No game is longer: the server ends it before.
const LONGEST: usize = 4096;

impl Record {
    /// Begins where the stream does, at the first move or in the middle.
    pub fn new(full: GameFull, side: Color) -> Record {
        let state = full.state.clone();
        let mut record = Record { full, side, notes: Vec::new(), plies: 0 };
        record.state(state);
        record
    }

    /// The stream was opened again, or told how the game stands. The clocks are those behind the last move.
    pub fn state(&mut self, state: GameState) {
        let plies = state.moves.split_ascii_whitespace().take(LONGEST).count();
        let both = self.full.state.moves.split_ascii_whitespace().zip(state.moves.split_ascii_whitespace());
        let common = both.take_while(|(known, told)| known == told).count();
        if common < self.plies {
            // Where moves were taken back, what was noted of them goes as well.
            self.notes.truncate(common);
        }
        self.notes.resize(self.notes.len().max(plies), Note::default());
        if plies > self.plies
            && let Some(last) = self.notes.get_mut(plies - 1)
        {
            let first = self.full.start().is_some_and(|fen| fen.split(' ').nth(1) == Some("b"));
            let mover = if first == plies.is_multiple_of(2) { Color::White } else { Color::Black };
            last.left = state.left()[mover];
        }
        (self.full.state, self.plies) = (state, plies);
    }

    /// What we thought as we played the ply with this number, from 0. It may not stand in the list yet.
    pub fn thought(&mut self, ply: usize, eval: Eval) {
        if ply < LONGEST {
            let length = self.notes.len().max(ply + 1);
            self.notes.resize(length, Note::default());
            if let Some(note) = self.notes.get_mut(ply) {
                note.eval = Some(eval);
            }
        }
    }

    /// Is there anything that the server could not tell us again?
    pub fn has_thoughts(&self) -> bool {
        self.notes.iter().any(|note| note.eval.is_some())
    }

    /// The text of the game as it stands.
    pub fn pgn(&self) -> String {
        let plies = self.plies();
        let tags = self.tags(plies.len());
        let fen = self.full.variant.key.set_up(self.full.start());
        Pgn { tags, fen, plies, result: self.result() }.print()
    }

    /// All moves that fit the rules, with what is known of them.
    fn plies(&self) -> Vec<Ply> {
        let Ok(mut line) = self.full.variant.key.begin(self.full.start()) else { return Vec::new() };
        let mut plies = Vec::new();
        for (at, text) in self.full.state.moves.split_ascii_whitespace().take(LONGEST).enumerate() {
            let read = line.read(text).and_then(|mv| Ok((line.record(&mv)?, mv)));
            let Ok((text, mv)) = read else {
                tracing::debug!(game = %self.full.id, at, "a move that does not fit our board: the record ends here");
                break;
            };
            let note = self.notes.get(at).copied().unwrap_or_default();
            let eval = note.eval.map(|eval| told(eval, line.side()));
            plies.push(Ply { text, left: note.left, eval });
            // It was just read here.
            let _ = line.play(&mv);
        }
        plies
    }

    fn tags(&self, plies: usize) -> Vec<(&'static str, String)> {
        let full = &self.full;
        let began = full.created_at.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        let began = began.map(OffsetDateTime::from);
        let date = began.map_or_else(|| pgn::UNKNOWN_DATE.to_owned(), pgn::date);
        let time = began.map_or_else(|| pgn::UNKNOWN_TIME.to_owned(), pgn::time);
        let mode = if full.rated { "rated" } else { "casual" };
        let speed = full.speed.as_ref().map_or("", Speed::as_str);
        let [white, black] = full.players().0;
        let clock =
            full.clock.map(|clock| format!("{}+{}", clock.initial.as_secs(), clock.increment.as_secs()));
        let mut tags = vec![
            ("Event", format!("{mode} {speed} game")),
            ("Site", format!("https://lichess.org/{}", full.id)),
            ("Date", date.clone()),
            ("Round", "-".to_owned()),
            ("White", name(white)),
            ("Black", name(black)),
            ("Result", self.result().to_owned()),
            ("UTCDate", date),
            ("UTCTime", time),
            ("TimeControl", clock.unwrap_or_else(|| "-".to_owned())),
            ("PlyCount", plies.to_string()),
            ("Termination", self.termination().to_owned()),
        ];
        for (elo, title, player) in [("WhiteElo", "WhiteTitle", white), ("BlackElo", "BlackTitle", black)] {
            tags.extend(player.rating.map(|rating| (elo, rating.to_string())));
            tags.extend(player.title.as_ref().map(|word| (title, word.to_string())));
        }
        if full.variant.key != VariantKey::Standard {
            tags.push(("Variant", Variant::from(full.variant.key.clone()).name));
        }
        tags
    }

    fn result(&self) -> &'static str {
        let state = &self.full.state;
        match (state.winner, &state.status) {
            (Some(Color::White), _) => "1-0",
            (Some(Color::Black), _) => "0-1",
            (None, Status::Created | Status::Started | Status::Aborted | Status::NoStart) => "*",
            (None, Status::UnknownFinish | Status::Other(_)) => "*",
            (None, _) => "1/2-1/2",
        }
    }

    fn termination(&self) -> &'static str {
        match self.full.state.status {
            Status::Created | Status::Started => "unterminated",
            Status::Aborted | Status::NoStart | Status::Timeout => "abandoned",
            Status::OutOfTime => "time forfeit",
            Status::Cheat => "rules infraction",
            _ => "normal",
        }
    }

    /// Writes the game down, with what is on the shelf about it. Blocks: not for the network's thread.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, config: &Config) -> io::Result<PathBuf> {
        fs::create_dir_all(&config.folder)?;
        let shelf = shelf::place(config, self.full.id);
        self.recall(&shelf);
        let path = config.folder.join(self.file_name(config.file));
        match config.file {
            // A game that is written again, as after a crash, takes its own place.
            Grouping::Game => replace(&path, &self.pgn())?,
            Grouping::Opponent | Grouping::All => append(&path, &self.pgn())?,
        }
        shelf::clear(&shelf)?;
        Ok(path)
    }

    /// Puts what is known of a game that goes on later on the shelf, with what was there before. Blocks.
    ///
    /// # Errors
    /// What the system says.
    pub fn put_by(&mut self, config: &Config) -> io::Result<PathBuf> {
        let shelf = shelf::place(config, self.full.id);
        self.recall(&shelf);
        fs::create_dir_all(shelf.parent().unwrap_or(Path::new(".")))?;
        let played = self.full.state.moves.split_ascii_whitespace();
        replace(&shelf, &shelf::print(played.zip(&self.notes)))?;
        Ok(shelf)
    }

    /// Fills in what was noted before a sleep or a restart, as far as the moves are still the same.
    fn recall(&mut self, shelf: &Path) {
        let kept = shelf::read(shelf);
        let played = self.full.state.moves.split_ascii_whitespace().zip(&mut self.notes);
        let same = played.zip(kept).take_while(|((played, _), kept)| *played == kept.mv);
        for ((_, note), kept) in same {
            note.left = note.left.or(kept.left());
            note.eval = note.eval.or(kept.eval());
        }
    }

    /// Writes the game down on a thread for such things, and reports what goes wrong.
    pub async fn keep(mut self, config: Config) {
        Record::on_disk(self.full.id, config.folder.clone(), move || self.write(&config)).await;
    }

    /// [Puts it by](Record::put_by) on a thread for such things, and reports what goes wrong.
    pub async fn shelve(mut self, config: Config) {
        Record::on_disk(self.full.id, config.folder.clone(), move || self.put_by(&config)).await;
    }

    async fn on_disk(
        id: GameId,
        folder: PathBuf,
        work: impl FnOnce() -> io::Result<PathBuf> + Send + 'static,
    ) {
        let written = tokio::task::spawn_blocking(work).await;
        match written.unwrap_or_else(|crashed| Err(io::Error::other(crashed))) {
            Ok(path) => tracing::debug!(game = %id, path = %path.display(), "written down"),
            Err(error) => {
                tracing::error!(game = %id, %error, folder = %folder.display(), "the game is not written down");
            }
        }
    }

    fn file_name(&self, grouping: Grouping) -> String {
        let names = ByColor(self.full.players().0.map(|player| safe(&name(player))));
        match grouping {
            Grouping::Game => {
                format!("{}_vs_{}_{}.pgn", names[Color::White], names[Color::Black], self.full.id)
            }
            // The word before it keeps it apart from names that some systems have for themselves.
            Grouping::Opponent => format!("against_{}.pgn", names[!self.side].to_ascii_lowercase()),
            Grouping::All => "games.pgn".to_owned(),
        }
    }
}

fn name(player: &Player) -> String {
    match (&player.id, player.ai_level) {
        (_, Some(level)) => format!("Stockfish level {level}"),
        (Some(id), None) if player.name.is_empty() => id.to_string(),
        (Some(_), None) => player.name.clone(),
        (None, None) => "Anonymous".to_owned(),
    }
}

/// Text from outside as a part of a file's name.
fn safe(text: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    text.chars().take(30).map(clean).collect()
}

/// As lichess and others write it: pawns or a mate, for White, and the depth.
fn told(eval: Eval, side: Color) -> String {
    let sign = if side == Color::White { 1 } else { -1 };
    match eval.worth {
        Worth::Centipawns(cp) => format!("{:.2},{}", f64::from(cp.saturating_mul(sign)) / 100.0, eval.depth),
        Worth::Mate(moves) => format!("#{},{}", i32::from(moves) * sign, eval.depth),
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// In one piece, so that games that end together do not mix.
fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_wire::Message;

    fn full(white: &str, moves: &str) -> GameFull {
        let state = format!(
            r#"{{"type":"gameState","moves":"{moves}","wtime":180000,"btime":179000,"winc":2000,"binc":2000,"status":"started"}}"#
        );
        let line = format!(
            r#"{{"type":"gameFull","id":"abcdefgh","clock":{{"initial":180000,"increment":2000}},"speed":"blitz",
                "rated":true,"createdAt":1800000000000,"white":{{"id":"bob","name":"{white}","rating":1500}},
                "black":{{"id":"zeitnot","name":"Zeitnot","title":"BOT"}},"initialFen":"startpos","state":{state}}}"#
        )
        .replace('\n', "");
        match zeitnot_wire::lichess::GameMessage::parse(&line).unwrap() {
            zeitnot_wire::lichess::GameMessage::GameFull(full) => *full,
            other => panic!("{other:?}"),
        }
    }

    fn state(full: &GameFull, moves: &str, left: [u64; 2]) -> GameState {
        let [wtime, btime] = left.map(|seconds| Some(Duration::from_secs(seconds)));
        GameState { moves: moves.into(), wtime, btime, ..full.state.clone() }
    }

    #[test]
    fn a_game_from_the_middle_on_to_the_letter() {
        // We came back after the second ply.
        let full = full("Bob", "e2e4 e7e5");
        let mut record = Record::new(full.clone(), Color::Black);
        record.state(state(&full, "e2e4 e7e5 f1c4", [170, 179]));
        record.thought(3, Eval { worth: Worth::Centipawns(-25), depth: 12 });
        record.state(state(&full, "e2e4 e7e5 f1c4 b8c6", [170, 171]));
        record.state(state(&full, "e2e4 e7e5 f1c4 b8c6", [999, 999]));
        record.state(state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5", [160, 171]));
        record.thought(5, Eval { worth: Worth::Mate(-1), depth: 9 });
        record.state(state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6", [160, 161]));
        let mut end = state(&full, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", [150, 161]);
        (end.status, end.winner) = (Status::Mate, Some(zeitnot_rules::Color::White));
        record.state(end);
        let expected = r#"[Event "rated blitz game"]
[Site "https://lichess.org/abcdefgh"]
[Date "2027.01.15"]
[Round "-"]
[White "Bob"]
[Black "Zeitnot"]
[Result "1-0"]
[UTCDate "2027.01.15"]
[UTCTime "08:00:00"]
[TimeControl "180+2"]
[PlyCount "7"]
[Termination "normal"]
[WhiteElo "1500"]
[BlackTitle "BOT"]

1. e4 e5 {[%clk 0:02:59.00]} 2. Bc4 {[%clk 0:02:50.00]} 2... Nc6
{[%eval 0.25,12] [%clk 0:02:51.00]} 3. Qh5 {[%clk 0:02:40.00]} 3... Nf6
{[%eval #1,9] [%clk 0:02:41.00]} 4. Qxf7# {[%clk 0:02:30.00]} 1-0

"#;
        assert_eq!(record.pgn(), expected);
    }

    #[test]
    fn moves_that_are_taken_back_leave_nothing() {
        let full = full("Bob", "");
        let mut record = Record::new(full.clone(), Color::White);
        record.thought(0, Eval { worth: Worth::Centipawns(10), depth: 3 });
        record.state(state(&full, "e2e4 e7e5", [100, 100]));
        record.state(state(&full, "", [100, 100]));
        record.state(state(&full, "d2d4", [90, 100]));
        assert!(record.pgn().ends_with("\n1. d4 {[%clk 0:01:30.00]} *\n\n"), "{}", record.pgn());
        record.state(state(&full, "d2d4 nonsense e2e4", [90, 100]));
        assert!(record.pgn().contains("1. d4"));
    }

    #[test]
    fn names_of_users_are_no_paths() {
        let folder = tempfile::tempdir().unwrap();
        let games = folder.path().join("games");
        let mut record = Record::new(full("../../con <x>", "e2e4"), Color::Black);
        for (file, name, games_in_it) in [
            (Grouping::Game, "______con__x__vs_Zeitnot_abcdefgh.pgn", 1),
            (Grouping::Opponent, "against_______con__x_.pgn", 2),
            (Grouping::All, "games.pgn", 2),
        ] {
            let config = Config { folder: games.clone(), file };
            record.write(&config).unwrap();
            assert_eq!(record.write(&config).unwrap(), games.join(name));
            let text = fs::read_to_string(games.join(name)).unwrap();
            assert_eq!(text, record.pgn().repeat(games_in_it));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_thought_before_a_sleep_is_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { folder: folder.path().join("games"), file: Grouping::Game };
        let eval = |cp, depth| Eval { worth: Worth::Centipawns(cp), depth };
        let full = full("Bob", "");
        let mut moves = String::new();
        // Each time we wake, we know nothing of before.
        for (ply, mv, thought) in [
            (1, "e7e5", eval(-25, 12)),
            (3, "b8c6", Eval { worth: Worth::Mate(2), depth: 7 }),
            (5, "g8f6", eval(0, 3)),
        ] {
            let theirs = ["", "e2e4", "", "g1f3", "", "f1c4"][ply];
            let woken = state(&full, format!("{moves} {theirs}").trim(), [180, 179]);
            let mut record = Record::new(GameFull { state: woken, ..full.clone() }, Color::Black);
            record.thought(ply, thought);
            moves = format!("{moves} {theirs} {mv}").trim().to_owned();
            record.state(state(&full, &moves, [180, 150]));
            record.put_by(&config).unwrap();
        }
        // The last of ours was taken back, and another played.
        moves = moves.replace("g8f6", "g8h6");
        let mut record = Record::new(GameFull { state: state(&full, &moves, [9, 9]), ..full }, Color::Black);
        let text = fs::read_to_string(record.write(&config).unwrap()).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("1... e5 {[%eval 0.25,12] [%clk 0:02:30.00]}"), "{text}");
        assert!(text.contains("2... Nc6 {[%eval #-2,7] [%clk 0:02:30.00]}"), "{text}");
        assert!(text.contains("Nh6") && !text.contains(",3]"), "{text}");
        assert_eq!(fs::read_dir(&config.folder).unwrap().count(), 2, "the game, and a shelf");
        assert_eq!(fs::read_dir(config.folder.join("unfinished")).unwrap().count(), 0);
    }

    #[test]
    fn a_shelf_that_cannot_be_read_is_no_matter() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { folder: folder.path().to_owned(), file: Grouping::All };
        let mut record = Record::new(full("Bob", "e2e4 e7e5"), Color::White);
        let shelf = record.put_by(&config).unwrap();
        fs::write(shelf, "e2e4 {}\nno JSON").unwrap();
        record.write(&config).unwrap();
    }

    #[tokio::test]
    async fn a_disk_that_does_not_work_is_only_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let config = Config { folder: file.path().join("below"), file: Grouping::All };
        Record::new(full("Bob", ""), Color::White).keep(config).await;
    }
}
