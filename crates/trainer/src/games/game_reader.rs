//! Reads a file of games one after the other, however large it is.

use std::{
    collections::HashSet,
    fs::{File, TryLockError},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, BufReader, ErrorKind, Read},
    path::{Path, PathBuf},
};

use zeitnot_rules::GameKind;

use super::{
    Record, count_positions,
    game_file_error::{GameFileError, io_error},
    game_record::{BadGame, END, PLY, games},
    other_game,
    transcript::{CHANCE, MAGIC, RESULT, StoredGame, is_scored},
};

/// Buffer for reading.
const BUFFER: usize = 1 << 20;
/// Maximum number of moves, so that bytes that are no games are not read as one. By its rules, a game of chess has no
/// more than 11,798.
const MAX_PLIES: usize = 1 << 16;

/// File of games that is read from its start to its end.
#[derive(Debug)]
pub struct GameReader {
    path: PathBuf,
    file: BufReader<File>,
}

impl GameReader {
    /// Opens a file that no other process writes to.
    pub fn open(path: &Path) -> Result<GameReader, GameFileError> {
        let file = File::open(path).map_err(|source| io_error(path, source))?;
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(GameFileError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(io_error(path, source)),
        }
        Ok(GameReader { path: path.to_owned(), file: BufReader::with_capacity(BUFFER, file) })
    }

    /// Reads a game, and replays it by its rules. `None` at the end of the file.
    ///
    /// # Errors
    /// [`GameFileError`]; a [`BadGame::Torn`] is the end of the file.
    pub fn next_game(&mut self) -> Result<Option<(GameKind, StoredGame)>, GameFileError> {
        let bad = |error| GameFileError::BadGame { path: self.path.clone(), error };
        let game = match read_game(&mut self.file).map_err(|source| io_error(&self.path, source))? {
            Next::Game(game) => game,
            Next::End => return Ok(None),
            Next::Torn => return Err(bad(BadGame::Torn)),
        };
        Ok(Some((check(&game.bytes).map_err(bad)?, game)))
    }
}

/// Replays a game, and returns its kind.
fn check(bytes: &[u8]) -> Result<GameKind, BadGame> {
    if bytes.starts_with(&MAGIC) {
        let (kind, _) = bytes.first_chunk().and_then(other_game::start_of).ok_or(BadGame::Start)?;
        count_positions(kind, bytes)?;
        return Ok(kind);
    }
    for game in games(bytes) {
        game?.plies().try_for_each(|ply| ply.map(drop))?;
    }
    Ok(GameKind::Chess)
}

/// Next part of a file.
#[derive(Debug)]
pub(super) enum Next {
    /// A game with its end; its moves may be none.
    Game(StoredGame),
    /// The end of the file, behind a game.
    End,
    /// The end of the file within a game, or something that is no game.
    Torn,
}

/// Reads to the end of a game; what stands in it is not looked at.
pub(super) fn read_game(file: &mut impl Read) -> io::Result<Next> {
    let mut start = [0; Record::SIZE];
    let there = fill(file, &mut start)?;
    if there < start.len() {
        return Ok(if there == 0 { Next::End } else { Next::Torn });
    }
    let mut game = StoredGame { bytes: start.to_vec(), positions: 0 };
    for _ in 0..=MAX_PLIES {
        let mut ply = END;
        if fill(file, &mut ply)? < PLY {
            break;
        }
        game.bytes.extend(ply);
        if ply == END {
            return Ok(Next::Game(game));
        }
        game.positions += u64::from(is_scored(ply));
    }
    Ok(Next::Torn)
}

/// Reads as many bytes as there are room and file.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut there = 0;
    while there < bytes.len() {
        match file.read(&mut bytes[there..]) {
            Ok(0) => break,
            Ok(read) => there += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(there)
}

/// Set of games, eight bytes for each: two are the same if they begin with the same position and have the same moves,
/// whatever their scores and results. Of a hundred million games, one is taken for another with a chance of 1 in 3,700.
#[derive(Debug, Default)]
pub struct GameSet {
    hashes: HashSet<u64>,
    hasher: RandomState,
}

impl GameSet {
    /// Adds a game, and returns whether it is new.
    pub fn insert(&mut self, game: &StoredGame) -> bool {
        let mut hasher = self.hasher.build_hasher();
        let (start, plies) = game.bytes.split_at(Record::SIZE);
        // Behind the position stand a score and the result.
        hasher.write(&start[..RESULT - 2]);
        for ply in plies.as_chunks::<PLY>().0 {
            let is_chance = ply.starts_with(&CHANCE.to_le_bytes());
            hasher.write(if is_chance { ply } else { &ply[..2] });
        }
        self.hashes.insert(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use zeitnot_engine::{StopFlag, net::EvalFile};
    use zeitnot_rules::{Game, chess::Chess};

    use super::*;
    use crate::games::{GameWriter, NodeLimits, PlayedGame, Shard, self_player};

    fn game(moves: &[&str], score: i16, result: u8) -> PlayedGame {
        let start = Chess::start();
        let mut now = start.clone();
        let read = |text: &&str| {
            let mv = now.read(text).unwrap();
            now.play(mv);
            (mv, score)
        };
        PlayedGame { plies: moves.iter().map(read).collect(), start, result }
    }

    fn stored(game: &PlayedGame) -> StoredGame {
        StoredGame { bytes: game.to_bytes(), positions: game.plies.len() as u64 }
    }

    /// Reads all games of these bytes, and the error behind them.
    fn read(bytes: &[u8]) -> (Vec<StoredGame>, Option<GameFileError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        fs::write(&path, bytes).unwrap();
        let mut reader = GameReader::open(&path).unwrap();
        let mut all = Vec::new();
        loop {
            match reader.next_game() {
                Ok(Some((GameKind::Chess, game))) => all.push(game),
                Ok(Some((kind, _))) => panic!("{kind:?}"),
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error)),
            }
        }
    }

    #[test]
    fn games_come_one_after_the_other() {
        let both = [game(&["e2e4", "e7e5"], 3, 1), game(&["c2c4"], -3, 2)];
        let bytes = both.each_ref().map(PlayedGame::to_bytes).concat();
        let (all, error) = read(&bytes);
        assert!(error.is_none());
        assert_eq!(all, both.each_ref().map(stored));
        assert!(read(&[]).0.is_empty());
    }

    #[test]
    fn other_games_name_their_rules() {
        let folder = tempfile::tempdir().unwrap();
        let limits = NodeLimits { soft: 20, hard: 80 };
        for kind in [GameKind::Minichess2026, GameKind::Tuc] {
            let mut player = self_player(kind, limits, Shard::WHOLE, 1, &EvalFile::HandMade).unwrap();
            let [first, second] = [0, 1].map(|at| player.stored_game(at, &StopFlag::default()).unwrap());
            let path = folder.path().join(kind.name());
            fs::write(&path, [&first.bytes[..], &second.bytes].concat()).unwrap();
            let mut reader = GameReader::open(&path).unwrap();
            assert_eq!(reader.next_game().unwrap(), Some((kind, first.clone())));
            let mut set = GameSet::default();
            assert_eq!([&first, &second, &first].map(|game| set.insert(game)), [true, true, false]);
        }
    }

    #[test]
    fn a_damaged_or_cut_game_is_an_error_behind_those_before_it() {
        let [first, second] = [game(&["e2e4"], 1, 1), game(&["d2d4"], 1, 1)].map(|game| game.to_bytes());
        let mut damaged = second.clone();
        damaged[33] ^= 0x0f;
        let mut nowhere = second.clone();
        nowhere[..8].fill(0);
        let endless = [&second[..32], &[1; 4 * (MAX_PLIES + 2)]].concat();
        for (bytes, expected) in [
            (damaged, BadGame::Move),
            (nowhere, BadGame::Start),
            (second[..second.len() - 1].to_vec(), BadGame::Torn),
            (second[..20].to_vec(), BadGame::Torn),
            (endless, BadGame::Torn),
        ] {
            let (all, error) = read(&[&first[..], &bytes].concat());
            assert_eq!(all.len(), 1);
            assert!(
                matches!(error, Some(GameFileError::BadGame { error, .. }) if error == expected),
                "{error:?}"
            );
        }
    }

    #[test]
    fn a_file_that_is_written_to_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games");
        let writer = GameWriter::open(&path).unwrap();
        assert!(matches!(GameReader::open(&path), Err(GameFileError::InUse(_))));
        drop(writer);
        assert!(GameReader::open(&path).is_ok());
    }

    #[test]
    fn a_double_has_the_same_position_and_moves() {
        let mut set = GameSet::default();
        let mut is_new = |game: &PlayedGame| set.insert(&stored(game));
        let first = game(&["e2e4", "e7e5"], 3, 1);
        assert!(is_new(&first));
        assert!(!is_new(&first) && !is_new(&game(&["e2e4", "e7e5"], 4, 2)), "scores and result do not count");
        assert!(is_new(&game(&["e2e4"], 3, 1)) && is_new(&game(&["e2e4", "e7e6"], 3, 1)));
        let mut after = Chess::start();
        after.play(after.read("e2e4").unwrap());
        let mv = after.read("e7e5").unwrap();
        assert!(is_new(&PlayedGame { start: after, plies: vec![(mv, 3)], result: 1 }));
    }

    proptest! {
        #[test]
        fn any_bytes_are_games_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            read(&bytes);
        }
    }
}
