//! Games in memory, cut into chunks, and their quiet positions. The last twentieth of each file is held out.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use zeitnot_rules::fnv1a_bytes;

use crate::{
    error::TrainError,
    games::{BadGame, GameFile, GameFileError, games},
    position::TrainingPosition,
    threads::{in_parallel, shares},
};

/// One game of so many is held out, at least one of a file that has two.
const HELD_OUT: usize = 20;
/// Moves of a chunk, and those of its last game that are more.
const CHUNK_PLIES: usize = 16_384;
/// Held-out moves that are looked at, at most.
const HELD_OUT_PLIES: usize = 2_000_000;
/// Size of a game without moves: its start, and the mark of its end.
const EMPTY_GAME: usize = 36;
/// Size of a move.
const PLY: usize = 4;

/// All games of a run.
#[derive(Debug)]
pub struct Corpus {
    files: Vec<(PathBuf, GameFile)>,
    learned: Vec<Chunk>,
    held_out: Vec<Chunk>,
    games: usize,
    plies: usize,
    fingerprint: u64,
}

/// Consecutive games of a file.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    file: usize,
    bytes: Range<usize>,
    /// Moves, which are at least as many as quiet positions.
    pub(crate) plies: usize,
}

impl Corpus {
    /// Reads files of games.
    ///
    /// # Errors
    /// [`TrainError::Games`] if one cannot be read, [`TrainError::NoGames`] unless there is a game to learn from.
    pub fn open(paths: &[PathBuf]) -> Result<Corpus, TrainError> {
        let mut corpus = Corpus {
            files: Vec::new(),
            learned: Vec::new(),
            held_out: Vec::new(),
            games: 0,
            plies: 0,
            fingerprint: 0,
        };
        let mut hashes = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let file = GameFile::open(path)?;
            let lengths = lengths(path, &file)?;
            corpus.games += lengths.len();
            corpus.plies += lengths.iter().sum::<usize>();
            hashes.extend(fnv1a_bytes(file.bytes()).to_le_bytes());
            let held_out = lengths.len().div_ceil(HELD_OUT).min(lengths.len().saturating_sub(1));
            let (learned, held_out) = lengths.split_at(lengths.len() - held_out);
            let end = cut(number, 0, learned, &mut corpus.learned);
            cut(number, end, held_out, &mut corpus.held_out);
            corpus.files.push((path.clone(), file));
        }
        if corpus.learned.is_empty() {
            return Err(TrainError::NoGames);
        }
        corpus.fingerprint = fnv1a_bytes(&hashes);
        Ok(corpus)
    }

    /// The number of games, held-out ones included.
    pub fn games(&self) -> usize {
        self.games
    }

    /// The number of moves, held-out ones included.
    pub fn plies(&self) -> usize {
        self.plies
    }

    /// Changes with the files, but not with their names.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(crate) fn learned(&self) -> &[Chunk] {
        &self.learned
    }

    /// Positions that are never learned from; of many, a part from everywhere.
    pub fn held_out(&self, threads: usize) -> Result<Vec<TrainingPosition>, TrainError> {
        let plies: usize = self.held_out.iter().map(|chunk| chunk.plies).sum();
        let step = plies.div_ceil(HELD_OUT_PLIES).max(1);
        let chunks: Vec<_> = self.held_out.iter().step_by(step).collect();
        self.positions(&chunks, threads)
    }

    /// The quiet positions of chunks, in their order.
    pub(crate) fn positions(
        &self,
        chunks: &[&Chunk],
        threads: usize,
    ) -> Result<Vec<TrainingPosition>, TrainError> {
        let parts = in_parallel(shares(chunks, threads).map(|chunks| || self.read(chunks)));
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for part in parts {
            all.extend(part);
        }
        Ok(all)
    }

    fn read(&self, chunks: &[&Chunk]) -> Result<Vec<TrainingPosition>, TrainError> {
        let mut found = Vec::new();
        for chunk in chunks {
            let (path, file) = &self.files[chunk.file];
            quiet(&file.bytes()[chunk.bytes.clone()], &mut found).map_err(|error| bad_game(path, error))?;
        }
        Ok(found)
    }
}

fn bad_game(path: &Path, error: BadGame) -> TrainError {
    TrainError::Games(GameFileError::BadGame { path: path.to_owned(), error })
}

/// The number of moves of each game.
fn lengths(path: &Path, file: &GameFile) -> Result<Vec<usize>, TrainError> {
    let lengths = file.games().map(|game| game.map(|game| game.len()));
    lengths.collect::<Result<_, _>>().map_err(|error| bad_game(path, error))
}

/// Cuts games that begin at a byte of a file into chunks, and returns where they end.
fn cut(file: usize, start: usize, lengths: &[usize], chunks: &mut Vec<Chunk>) -> usize {
    let mut chunk = Chunk { file, bytes: start..start, plies: 0 };
    for &length in lengths {
        chunk.bytes.end += EMPTY_GAME + PLY * length;
        chunk.plies += length;
        if chunk.plies >= CHUNK_PLIES {
            let next = Chunk { file, bytes: chunk.bytes.end..chunk.bytes.end, plies: 0 };
            chunks.push(std::mem::replace(&mut chunk, next));
        }
    }
    let end = chunk.bytes.end;
    if !chunk.bytes.is_empty() {
        chunks.push(chunk);
    }
    end
}

/// Appends the quiet positions of games.
fn quiet(bytes: &[u8], found: &mut Vec<TrainingPosition>) -> Result<(), BadGame> {
    for game in games(bytes) {
        let game = game?;
        for ply in game.plies() {
            let ply = ply?;
            if ply.is_quiet() {
                found.push(TrainingPosition::new(&ply.position, ply.score, game.result()));
            }
        }
    }
    Ok(())
}
