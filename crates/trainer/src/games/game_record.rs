//! One game with the score of every position, in viriformat's layout: see `docs/data.md`.

use std::slice;

use shakmaty::{Move, Role};
use zeitnot_engine::Score;
use zeitnot_rules::{Game, Packed, Tactics, chess::Chess};

use super::{Label, Record};

/// Size of a move with its score.
pub(super) const PLY: usize = 4;
/// Terminator of a game: no move goes from a1 to a1.
pub(super) const END: [u8; PLY] = [0; PLY];

/// Kinds of moves, in the upper two bits.
const EN_PASSANT: u16 = 1;
const CASTLING: u16 = 2;
const PROMOTION: u16 = 3;
/// Pieces to promote to, by their bits.
const PROMOTIONS: [Role; 4] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// First position.
    pub start: Chess,
    /// Moves from there on, each with the score of the position before it, in centipawns for White.
    pub plies: Vec<(Move, i16)>,
    /// Half points of White: 0, 1 or 2.
    pub result: u8,
}

impl PlayedGame {
    /// The game as it stands in a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Record(start) = Record::pack(&self.start, Label { score: 0, result: self.result });
        let mut bytes = start.to_vec();
        bytes.reserve(PLY * (self.plies.len() + 1));
        for &(mv, score) in &self.plies {
            bytes.extend(encode(mv).to_le_bytes());
            bytes.extend(score.to_le_bytes());
        }
        bytes.extend(END);
        bytes
    }
}

/// Bytes that are no games.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGame {
    #[error("a game without an end")]
    Torn,
    #[error("a game that begins with no legal position")]
    Start,
    #[error("a game with an illegal move")]
    Move,
}

/// Reads the games of a file. After one that does not begin with a position, the next one is read.
pub fn games(bytes: &[u8]) -> Games<'_> {
    Games { rest: bytes }
}

/// Iterator over the games of a file.
#[derive(Clone, Debug)]
pub struct Games<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Games<'b> {
    type Item = Result<GameRecord<'b>, BadGame>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = std::mem::take(&mut self.rest);
        let Some((start, moves)) = bytes.split_first_chunk() else { return Some(Err(BadGame::Torn)) };
        let (plies, _) = moves.as_chunks();
        let Some(count) = plies.iter().position(|ply| *ply == END) else { return Some(Err(BadGame::Torn)) };
        self.rest = &moves[PLY * (count + 1)..];
        Some(GameRecord::new(Record(*start), &plies[..count]))
    }
}

/// A game of a file; its moves are read as they are asked for.
#[derive(Clone, Debug)]
pub struct GameRecord<'b> {
    start: Chess,
    result: u8,
    plies: &'b [[u8; PLY]],
}

impl<'b> GameRecord<'b> {
    fn new(start: Record, plies: &'b [[u8; PLY]]) -> Result<Self, BadGame> {
        let (start, label) = start.unpack().map_err(|_| BadGame::Start)?;
        Ok(GameRecord { start, result: label.result, plies })
    }

    /// The first position.
    pub fn start(&self) -> &Chess {
        &self.start
    }

    /// Half points of White: 0, 1 or 2.
    pub fn result(&self) -> u8 {
        self.result
    }

    /// Number of moves, which is that of the positions with a score.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// Returns whether the games differ in their scores at most.
    pub fn has_moves_of(&self, other: &GameRecord<'_>) -> bool {
        self.start == other.start
            && self.result == other.result
            && self.plies.iter().map(|ply| &ply[..2]).eq(other.plies.iter().map(|ply| &ply[..2]))
    }

    /// Reads the positions, each with the move that was played. An illegal move is the last item.
    pub fn plies(&self) -> Plies<'b> {
        Plies { now: self.start.clone(), rest: self.plies.iter() }
    }
}

/// A position with the move that was played in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The position before the move.
    pub position: Chess,
    pub mv: Move,
    /// Score of the position, in centipawns for White.
    pub score: i16,
}

impl Ply {
    /// Returns whether the score belongs to the position as it stands: no check, capture or promotion, and no mate.
    pub fn is_quiet(&self) -> bool {
        is_quiet(&self.position, self.mv, self.score)
    }
}

/// Score of a position that was not searched, or is not to be learnt, as bits: it counts as a mate, which no quiet
/// position has.
pub const UNSCORED: i16 = i16::MIN;

/// Returns whether a score belongs to a position as it stands: the side to move is not in check, the move played is
/// no capture or promotion, and the score no mate.
pub fn is_quiet(position: &Chess, mv: Move, score: i16) -> bool {
    !position.is_check() && position.gain(mv) == 0 && !Score::from_bits(score).is_mate()
}

/// Iterator over the positions of a game.
#[derive(Clone, Debug)]
pub struct Plies<'b> {
    now: Chess,
    rest: slice::Iter<'b, [u8; PLY]>,
}

impl Iterator for Plies<'_> {
    type Item = Result<Ply, BadGame>;

    fn next(&mut self) -> Option<Self::Item> {
        let &[m0, m1, s0, s1] = self.rest.next()?;
        let Some(mv) = decode(&self.now, u16::from_le_bytes([m0, m1])) else {
            self.rest = [].iter();
            return Some(Err(BadGame::Move));
        };
        let position = self.now.clone();
        self.now.play(mv);
        Some(Ok(Ply { position, mv, score: i16::from_le_bytes([s0, s1]) }))
    }
}

fn encode(mv: Move) -> u16 {
    let (kind, promotion) = match mv {
        Move::EnPassant { .. } => (EN_PASSANT, 0),
        Move::Castle { .. } => (CASTLING, 0),
        _ => match PROMOTIONS.iter().position(|&role| mv.promotion() == Some(role)) {
            Some(bits) => (PROMOTION, bits as u16),
            None => (0, 0),
        },
    };
    let from = mv.from().map_or(0, u16::from);
    from | u16::from(mv.to()) << 6 | promotion << 12 | kind << 14
}

/// `None` unless the move is legal here, and written as [`encode`] does.
fn decode(position: &Chess, bits: u16) -> Option<Move> {
    let promotion = match bits >> 14 {
        PROMOTION => PROMOTIONS[usize::from(bits >> 12 & 3)] as u16,
        _ => 0,
    };
    let mv = position.unpack(Packed(bits & 0xfff | promotion << 12))?;
    (encode(mv) == bits).then_some(mv)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STARTS: [&str; 4] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 12 41",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    ];

    fn game(
        start: &str,
        choices: &[prop::sample::Index],
        result: u8,
    ) -> (PlayedGame, Vec<(Chess, Move, i16)>) {
        let mut now = Chess::parse(start).unwrap();
        let mut game = PlayedGame { start: now.clone(), plies: Vec::new(), result };
        let mut seen = Vec::new();
        for (at, choice) in choices.iter().enumerate() {
            let moves = now.moves();
            if moves.is_empty() {
                break;
            }
            let (mv, score) = (moves[choice.index(moves.len())], 7 - at as i16);
            game.plies.push((mv, score));
            seen.push((now.clone(), mv, score));
            now.play(mv);
        }
        (game, seen)
    }

    /// Reads everything that can be read.
    fn read(bytes: &[u8]) -> Vec<Result<Ply, BadGame>> {
        games(bytes)
            .flat_map(|game| match game {
                Ok(game) => game.plies().collect(),
                Err(error) => vec![Err(error)],
            })
            .collect()
    }

    proptest! {
        #[test]
        fn games_come_back_whole(choices in prop::collection::vec(any::<prop::sample::Index>(), 0..150), result in 0u8..=2) {
            let all = STARTS.map(|start| game(start, &choices, result));
            let bytes: Vec<u8> = all.iter().flat_map(|(game, _)| game.to_bytes()).collect();
            let again: Vec<_> = games(&bytes).map(Result::unwrap).collect();
            prop_assert_eq!(again.len(), all.len());
            for (again, (game, seen)) in again.iter().zip(&all) {
                prop_assert_eq!((again.start().print(), again.result()), (game.start.print(), result));
                prop_assert_eq!(again.len(), seen.len());
                for (ply, (position, mv, score)) in again.plies().map(Result::unwrap).zip(seen) {
                    prop_assert_eq!((ply.position.print(), ply.mv, ply.score), (position.print(), *mv, *score));
                    prop_assert_eq!(ply.position.key(), position.key());
                }
            }
        }

        #[test]
        fn any_bytes_are_games_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            read(&bytes);
        }

        #[test]
        fn damaged_games_are_games_or_errors(
            choices in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut bytes: Vec<u8> = STARTS.iter().flat_map(|start| game(start, &choices, 1).0.to_bytes()).collect();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            read(&bytes);
        }
    }

    #[test]
    fn the_layout_is_as_documented() {
        let start = Chess::parse("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 40").unwrap();
        let ply = |text: &str| {
            let game =
                PlayedGame { start: start.clone(), plies: vec![(start.read(text).unwrap(), -2)], result: 2 };
            let bytes = game.to_bytes();
            assert_eq!((bytes.len(), &bytes[28..32], &bytes[36..]), (40, &[0, 0, 2, 0][..], &END[..]));
            assert_eq!(bytes[34..36], [0xfe, 0xff]);
            u16::from_le_bytes([bytes[32], bytes[33]])
        };
        assert_eq!(ply("a1a2"), 8 << 6);
        assert_eq!(ply("O-O"), 4 | 7 << 6 | 2 << 14, "the king takes its rook");
        assert_eq!(ply("e5d6"), 36 | 43 << 6 | 1 << 14);
        for (at, piece) in ["n", "b", "r", "q"].iter().enumerate() {
            assert_eq!(ply(&format!("b7b8{piece}")), 49 | 57 << 6 | (at as u16) << 12 | 3 << 14);
        }
    }

    #[test]
    fn a_move_has_one_spelling() {
        let position = Chess::parse("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 40").unwrap();
        let legal = (0..=u16::MAX).filter(|&bits| decode(&position, bits).is_some());
        assert_eq!(legal.count(), position.moves().len());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let start = Chess::start();
        let mv = start.read("e2e4").unwrap();
        let whole = PlayedGame { start, plies: vec![(mv, 3)], result: 1 }.to_bytes();
        let errors = |bytes: &[u8]| read(bytes).into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert_eq!(errors(&whole), []);
        for torn in 1..whole.len() {
            assert_eq!(errors(&[&whole[..], &whole[..torn]].concat()), [BadGame::Torn], "{torn}");
        }
        let twice = [&whole[..32], &whole[32..36], &whole[32..]].concat();
        assert_eq!(errors(&twice), [BadGame::Move]);
        let mut none = whole.clone();
        none[..8].fill(0);
        let all = read(&[none, whole].concat());
        assert_eq!((&all[0], all.len()), (&Err(BadGame::Start), 2), "the next game is read");
    }

    #[test]
    fn quiet_is_without_check_capture_promotion_and_mate() {
        let quiet = |fen: &str, mv: &str, score| {
            let position = Chess::parse(fen).unwrap();
            is_quiet(&position, position.read(mv).unwrap(), score)
        };
        let (open, in_check) = ("4k3/P7/8/3p4/4P3/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1");
        assert!(quiet(open, "e1e2", 900) && !quiet(open, "e4d5", 0) && !quiet(open, "a7a8n", 0));
        assert!(
            !quiet(open, "e1e2", UNSCORED)
                && !quiet(open, "e1e2", Score::mate_in(3).to_bits())
                && !quiet(in_check, "e1d1", 0)
        );
    }
}
