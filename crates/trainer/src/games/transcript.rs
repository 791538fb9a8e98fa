//! Games as they were played against itself, with what chance added, and the bytes that a file keeps of them.

use std::ops::{Range, RangeInclusive};

use zeitnot_engine::Playable;
use zeitnot_rules::{
    Game, Packed,
    chess::{Chess, VariantPosition},
    minichess::MiniChess,
    tuc::{POINT, SQUARES, Square, Tuc},
};

use super::{
    PlayedGame, Record,
    game_record::{END, PLY, UNSCORED},
};

/// A move as it was played.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayedPly<G: Game> {
    pub(crate) mv: G::Move,
    /// Score of the position before, in centipawns for White; [`UNSCORED`] if it was not searched.
    pub(crate) score: i16,
    /// Addition of chance to the position; 0 for nothing.
    pub(crate) chance: u16,
}

/// Returns whether this part of a game is a move with a score.
pub(super) fn is_scored(entry: [u8; PLY]) -> bool {
    let [m0, m1, s0, s1] = entry;
    u16::from_le_bytes([m0, m1]) != CHANCE && i16::from_le_bytes([s0, s1]) != UNSCORED
}

impl<G: Game> PlayedPly<G> {
    /// A random move.
    pub(crate) fn unscored(mv: G::Move, chance: u16) -> Self {
        PlayedPly { mv, score: UNSCORED, chance }
    }
}

/// A game that was played against itself.
#[derive(Clone, Debug)]
pub(crate) struct Transcript<G: Game> {
    /// Random moves from the usual start.
    pub(crate) opening: Vec<PlayedPly<G>>,
    /// The position after them.
    pub(crate) start: G,
    /// Moves after them.
    pub(crate) plies: Vec<PlayedPly<G>>,
    /// Half points of White: 0, 1 or 2.
    pub(crate) result: u8,
}

/// A game in the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    pub(crate) bytes: Vec<u8>,
    /// Positions with a score.
    pub(super) positions: u64,
}

impl StoredGame {
    /// The game as it stands in a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn positions(&self) -> u64 {
        self.positions
    }
}

/// A game that is played against itself.
pub(crate) trait SelfPlayed: Playable {
    /// Number of random plies at the start: odd and even, so that either side may begin to search, and enough that a
    /// million games hardly repeat each other.
    const RANDOM_PLIES: RangeInclusive<usize> = 6..=9;

    /// The bytes of a game.
    fn store(game: &Transcript<Self>) -> StoredGame {
        store(game)
    }

    /// Plays a move with what chance adds to it, and returns that.
    fn play_by_chance(&mut self, mv: Self::Move, _: &mut fastrand::Rng) -> u16 {
        self.play(mv);
        0
    }

    /// Plays a move with what chance once added to it.
    fn play_again(&mut self, mv: Self::Move, _chance: u16) {
        self.play(mv);
    }
}

/// First bytes of a game, in place of the occupied squares: no position of chess has them.
pub(super) const MAGIC: [u8; 8] = *b"zeitnot\0";
/// The name of the game, with zeros behind it.
pub(super) const NAME: Range<usize> = 8..28;
/// The result, where games of chess have it.
pub(super) const RESULT: usize = 30;
/// Marks what chance added to the move before: no game packs a move so.
pub(super) const CHANCE: u16 = u16::MAX;

/// The bytes of a game other than chess.
fn store<G: SelfPlayed>(game: &Transcript<G>) -> StoredGame {
    let mut start = [0; Record::SIZE];
    start[..MAGIC.len()].copy_from_slice(&MAGIC);
    for (byte, letter) in start[NAME].iter_mut().zip(game.start.kind().name().bytes()) {
        *byte = letter;
    }
    start[RESULT] = game.result;
    let mut bytes = start.to_vec();
    let mut now = game.start.start_position();
    for &PlayedPly { mv, score, chance } in game.opening.iter().chain(&game.plies) {
        let Packed(packed) = now.pack(mv);
        bytes.extend(packed.to_le_bytes());
        bytes.extend(score.to_le_bytes());
        if chance != 0 {
            bytes.extend(CHANCE.to_le_bytes());
            bytes.extend(chance.to_le_bytes());
        }
        now.play_again(mv, chance);
    }
    bytes.extend(END);
    StoredGame { bytes, positions: game.plies.len() as u64 }
}

impl SelfPlayed for Chess {
    fn store(game: &Transcript<Self>) -> StoredGame {
        StoredGame { bytes: PlayedGame::from(game).to_bytes(), positions: game.plies.len() as u64 }
    }
}

impl From<&Transcript<Chess>> for PlayedGame {
    fn from(game: &Transcript<Chess>) -> PlayedGame {
        let plies = game.plies.iter().map(|ply| (ply.mv, ply.score)).collect();
        PlayedGame { start: game.start.clone(), plies, result: game.result }
    }
}

impl SelfPlayed for VariantPosition {}

impl SelfPlayed for MiniChess {
    /// Fewer, as most of the positions after many are lost.
    const RANDOM_PLIES: RangeInclusive<usize> = 4..=9;
}

/// Bit of a prize that was worth a point; the bits above it are the number of the square of a new prize, from 1.
const WORTH: u16 = 1;

impl SelfPlayed for Tuc {
    const RANDOM_PLIES: RangeInclusive<usize> = 4..=9;

    fn play_by_chance(&mut self, mv: Self::Move, random: &mut fastrand::Rng) -> u16 {
        let settings = self.rules().edition.settings();
        let worth = self.takes_prize(mv) && random.f64() < settings.worth_chance();
        let mut after = self.clone();
        after.play_for(mv, 0);
        let free = after.free_squares();
        let appears = !after.outcome().is_over() && random.f64() < settings.prize_chance;
        let squares = (0..SQUARES).filter(|square| free >> square & 1 == 1);
        let square = random.choice(squares.collect::<Vec<_>>()).filter(|_| appears);
        let chance = if worth { WORTH } else { 0 } | square.map_or(0, |square| (square as u16 + 1) << 1);
        self.play_again(mv, chance);
        chance
    }

    fn play_again(&mut self, mv: Self::Move, chance: u16) {
        self.play_for(mv, if chance & WORTH != 0 { POINT } else { 0 });
        if let Some(square) = usize::from(chance >> 1).checked_sub(1).filter(|square| *square < SQUARES) {
            self.put_prize(Square::new(square));
        }
    }
}
