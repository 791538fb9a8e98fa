//! Files of games, for reading and for appending. A game torn by a killed writer is cut off when the file is opened.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufReader, Read, Write},
    path::Path,
};

use zeitnot_rules::GameKind;

use super::{
    Label, Record,
    game_file_error::{GameFileError, io_error},
    game_reader::{Next, read_game},
    game_record::{END, Games, PLY, PlayedGame, games},
    other_game,
    transcript::StoredGame,
};

/// A file of games in memory.
#[derive(Clone, Debug)]
pub struct GameFile {
    bytes: Vec<u8>,
}

impl GameFile {
    /// Reads a file of chess. A game at its end that is still being written is left out.
    ///
    /// # Errors
    /// [`GameFileError::Io`], and [`GameFileError::NotGames`] if it does not begin with a game.
    pub fn open(path: &Path) -> Result<GameFile, GameFileError> {
        GameFile::open_for(path, GameKind::Chess)
    }

    /// Reads a file of any game.
    pub fn open_for(path: &Path, game: GameKind) -> Result<GameFile, GameFileError> {
        let mut bytes = fs::read(path).map_err(|source| io_error(path, source))?;
        if !begins_with_a_game(&bytes, game) {
            return Err(GameFileError::NotGames(path.to_owned()));
        }
        let whole = Extent::of(&bytes[..]).map_err(|source| io_error(path, source))?;
        bytes.truncate(usize::try_from(whole.bytes).unwrap_or(usize::MAX));
        Ok(GameFile { bytes })
    }

    pub fn games(&self) -> Games<'_> {
        games(&self.bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads at most `most` quiet positions of a file.
pub fn read_quiet(path: &Path, most: usize) -> Result<Vec<Record>, GameFileError> {
    let file = GameFile::open(path)?;
    let mut records = Vec::new();
    for game in file.games() {
        let wrong = |error| GameFileError::BadGame { path: path.to_owned(), error };
        let game = game.map_err(wrong)?;
        for ply in game.plies() {
            if records.len() >= most {
                return Ok(records);
            }
            let ply = ply.map_err(wrong)?;
            if ply.is_quiet() {
                let label = Label { score: ply.score, result: game.result() };
                records.push(Record::pack(&ply.position, label));
            }
        }
    }
    Ok(records)
}

/// File that games are appended to.
#[derive(Debug)]
pub struct GameWriter {
    file: File,
    whole: Extent,
}

impl GameWriter {
    /// Opens or creates a file of chess for appending, cutting off a torn game.
    pub fn open(path: &Path) -> Result<GameWriter, GameFileError> {
        GameWriter::open_for(path, GameKind::Chess)
    }

    /// Opens or creates a file of any game.
    pub fn open_for(path: &Path, game: GameKind) -> Result<GameWriter, GameFileError> {
        let io = |source| io_error(path, source);
        let file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(GameFileError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut head = Vec::new();
        (&file).take(HEAD).read_to_end(&mut head).map_err(io)?;
        if !begins_with_a_game(&head, game) {
            return Err(GameFileError::NotGames(path.to_owned()));
        }
        let rest = BufReader::with_capacity(BUFFER, head.as_slice().chain(&file));
        let whole = Extent::of(rest).map_err(io)?;
        if file.metadata().map_err(io)?.len() != whole.bytes {
            file.set_len(whole.bytes).map_err(io)?;
        }
        Ok(GameWriter { file, whole })
    }

    pub fn games(&self) -> u64 {
        self.whole.games
    }

    pub fn positions(&self) -> u64 {
        self.whole.positions
    }

    /// Appends a game, in one write.
    ///
    /// # Errors
    /// I/O errors, such as a full disk.
    pub fn append(&mut self, game: &PlayedGame) -> io::Result<()> {
        self.append_stored(&StoredGame { bytes: game.to_bytes(), positions: game.plies.len() as u64 })
    }

    /// Appends a game of any kind, in one write.
    pub fn append_stored(&mut self, game: &StoredGame) -> io::Result<()> {
        self.file.write_all(&game.bytes)?;
        self.whole.add(game);
        Ok(())
    }
}

/// Buffer for reading a file to be appended to.
const BUFFER: usize = 1 << 20;
/// Bytes that suffice to tell whether a file begins with a game.
const HEAD: u64 = 1 << 14;

/// Returns whether the first game is one of this kind, and in chess legal as far as it goes, so that no other file is
/// taken for torn games, and cut.
fn begins_with_a_game(bytes: &[u8], game: GameKind) -> bool {
    // A file of fewer bytes is a game whose writer was killed at once.
    let Some((start, moves)) = bytes.split_first_chunk::<{ Record::SIZE }>() else { return true };
    if game != GameKind::Chess {
        return other_game::start_of(start).is_some_and(|(kind, _)| kind == game);
    }
    let (plies, _) = moves.as_chunks::<PLY>();
    let plies = plies.iter().take_while(|ply| **ply != END).flatten().copied();
    let first: Vec<u8> = start.iter().copied().chain(plies).chain(END).collect();
    games(&first).flatten().any(|game| game.plies().all(|ply| ply.is_ok()))
}

/// Whole games of a file.
#[derive(Copy, Clone, Debug, Default)]
struct Extent {
    bytes: u64,
    games: u64,
    positions: u64,
}

impl Extent {
    /// Finds the ends of the games; what stands in them is not looked at.
    fn of(mut file: impl Read) -> io::Result<Extent> {
        let mut whole = Extent::default();
        while let Next::Game(game) = read_game(&mut file)? {
            whole.add(&game);
        }
        Ok(whole)
    }

    fn add(&mut self, game: &StoredGame) {
        self.bytes += game.bytes.len() as u64;
        self.games += 1;
        self.positions += game.positions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{BadGame, Label};
    use zeitnot_rules::{Game, chess::Chess};

    /// The first moves of a game.
    fn game(moves: &[&str]) -> PlayedGame {
        let start = Chess::start();
        let mut now = start.clone();
        let mut plies = Vec::new();
        for text in moves {
            let mv = now.read(text).unwrap();
            plies.push((mv, 20));
            now.play(mv);
        }
        PlayedGame { start, plies, result: 1 }
    }

    #[test]
    fn a_torn_game_is_cut_off_and_the_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let (first, second) = (game(&["e2e4", "e7e5", "g1f3"]), game(&["d2d4"]));
        GameWriter::open(&path).unwrap().append(&first).unwrap();
        for torn in [1, 31, 32, 33, 36, 39] {
            let mut bytes = fs::read(&path).unwrap();
            bytes.extend_from_slice(&second.to_bytes()[..torn]);
            fs::write(&path, bytes).unwrap();
            assert_eq!(GameFile::open(&path).unwrap().games().count(), 1, "readers leave it out");
            let writer = GameWriter::open(&path).unwrap();
            assert_eq!((writer.games(), writer.positions()), (1, 3));
        }
        let mut writer = GameWriter::open(&path).unwrap();
        writer.append(&second).unwrap();
        assert_eq!((writer.games(), writer.positions()), (2, 4));
        drop(writer);
        let whole = [first.to_bytes(), second.to_bytes()].concat();
        assert_eq!(GameFile::open(&path).unwrap().bytes(), whole);
        let writer = GameWriter::open(&path).unwrap();
        assert_eq!((writer.games(), writer.positions()), (2, 4));
    }

    #[test]
    fn files_joined_are_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, both] = ["one", "two", "both"].map(|name| folder.path().join(name));
        let games = [game(&["e2e4", "e7e5"]), game(&["c2c4"])];
        for (path, game) in [&one, &two].into_iter().zip(&games) {
            GameWriter::open(path).unwrap().append(game).unwrap();
        }
        fs::write(&both, [fs::read(&one).unwrap(), fs::read(&two).unwrap()].concat()).unwrap();
        let lengths: Vec<_> =
            GameFile::open(&both).unwrap().games().map(|game| game.unwrap().len()).collect();
        assert_eq!(lengths, [2, 1]);
    }

    #[test]
    fn quiet_positions_are_read_with_score_and_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let played = game(&["e2e4", "d7d5", "e4d5", "d8d5", "b1c3"]);
        GameWriter::open(&path).unwrap().append(&played).unwrap();
        let positions = |most| read_quiet(&path, most).unwrap();
        let all: Vec<_> = positions(9).iter().map(|record| record.unpack().unwrap()).collect();
        assert_eq!(all.len(), 3, "without the captures");
        assert_eq!(all[0], (Chess::start(), Label { score: 20, result: 1 }));
        assert_eq!(positions(2).len(), 2);

        let [one, mut bad] = [played.to_bytes(), played.to_bytes()];
        bad[32] ^= 1;
        fs::write(&path, [one, bad].concat()).unwrap();
        let told = read_quiet(&path, 9).unwrap_err();
        assert!(matches!(told, GameFileError::BadGame { error: BadGame::Move, .. }), "{told}");
    }

    #[test]
    fn another_file_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        let record = Record::pack(&Chess::start(), Label { score: 0, result: 1 }).0;
        for bytes in [record.repeat(2_000), b"positions and moves of games, in words".to_vec()] {
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(GameWriter::open(&path), Err(GameFileError::NotGames(_))));
            assert!(matches!(GameFile::open(&path), Err(GameFileError::NotGames(_))));
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let first = GameWriter::open(&path).unwrap();
        assert!(matches!(GameWriter::open(&path), Err(GameFileError::InUse(_))));
        drop(first);
        assert!(GameWriter::open(&path).is_ok());
    }
}
