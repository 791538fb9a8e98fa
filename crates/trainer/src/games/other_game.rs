//! Games other than chess in a file: see `docs/data.md`.
//!
//! Their layout is that of games of chess, but for the start: they begin with the usual one, and its bytes name the
//! game.

use zeitnot_engine::Score;
use zeitnot_rules::{Game, GameKind, Packed, for_each_game};

use super::{
    Label, Record,
    game_record::{BadGame, END, PLY, UNSCORED},
    transcript::{CHANCE, MAGIC, NAME, RESULT, SelfPlayed},
};

/// The game that these bytes are the start of, and the result.
pub(super) fn start_of(bytes: &[u8; Record::SIZE]) -> Option<(GameKind, u8)> {
    let name = bytes[NAME].split(|byte| *byte == 0).next()?;
    let kind = std::str::from_utf8(name).ok()?.parse().ok()?;
    (bytes.starts_with(&MAGIC) && bytes[RESULT] <= 2).then_some((kind, bytes[RESULT]))
}

/// A searched position with the move that was played in it.
#[derive(Clone, Debug)]
pub(crate) struct OtherPly<G: Game> {
    /// The position before the move.
    pub(crate) position: G,
    pub(crate) mv: G::Move,
    /// Score of the position, and result of the game.
    pub(crate) label: Label,
}

impl<G: SelfPlayed> OtherPly<G> {
    /// Returns whether the score belongs to the position as it stands: no check, nothing won by the move, no mate.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.position.is_check()
            && !self.position.is_noisy(self.mv)
            && !Score::from_bits(self.label.score).is_mate()
    }
}

macro_rules! count_positions {
    ($($kind:ident => $start:expr),* $(,)?) => {
        /// Replays games of a kind other than chess, and counts their searched positions and the quiet ones among them.
        ///
        /// # Errors
        /// [`BadGame`], also for a game of another kind.
        pub fn count_positions(game: GameKind, bytes: &[u8]) -> Result<(usize, usize), BadGame> {
            let (mut all, mut quiet) = (0, 0);
            match game {
                $(GameKind::$kind => for_each_ply(&$start, bytes, |ply| {
                    all += 1;
                    quiet += usize::from(ply.is_quiet());
                })?),*
            }
            Ok((all, quiet))
        }
    };
}
for_each_game!(count_positions);

/// Passes on the searched positions of all games in these bytes, which begin with `start`.
///
/// # Errors
/// [`BadGame`], also for a game with another start.
pub(crate) fn for_each_ply<G: SelfPlayed>(
    start: &G,
    bytes: &[u8],
    mut visit: impl FnMut(&OtherPly<G>),
) -> Result<(), BadGame> {
    let mut rest = bytes;
    while let Some((head, entries)) = rest.split_first_chunk::<{ Record::SIZE }>() {
        let (kind, result) = start_of(head).ok_or(BadGame::Start)?;
        if kind != start.kind() {
            return Err(BadGame::Start);
        }
        let (entries, _) = entries.as_chunks::<PLY>();
        let length = entries.iter().position(|entry| *entry == END).ok_or(BadGame::Torn)?;
        replay(start, &entries[..length], result, &mut visit)?;
        rest = &rest[Record::SIZE + PLY * (length + 1)..];
    }
    if rest.is_empty() { Ok(()) } else { Err(BadGame::Torn) }
}

fn replay<G: SelfPlayed>(
    start: &G,
    entries: &[[u8; PLY]],
    result: u8,
    visit: &mut impl FnMut(&OtherPly<G>),
) -> Result<(), BadGame> {
    let mut position = start.clone();
    let mut entries =
        entries.iter().map(|&[m0, m1, s0, s1]| (u16::from_le_bytes([m0, m1]), [s0, s1])).peekable();
    while let Some((packed, score)) = entries.next() {
        let mv = position.unpack(Packed(packed)).ok_or(BadGame::Move)?;
        let chance =
            entries.next_if(|(mark, _)| *mark == CHANCE).map_or(0, |(_, bytes)| u16::from_le_bytes(bytes));
        let before = position.clone();
        position.play_again(mv, chance);
        let score = i16::from_le_bytes(score);
        if score != UNSCORED {
            visit(&OtherPly { position: before, mv, label: Label { score, result } });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zeitnot_rules::{
        Outcome,
        chess::{Crazyhouse, VariantPosition},
        minichess::{MiniChess, Rules},
        tuc::Tuc,
    };

    use super::*;
    use crate::games::transcript::{PlayedPly, StoredGame, Transcript};

    /// A random game, and its positions.
    fn game<G: SelfPlayed>(start: &G, seed: u64) -> (StoredGame, Vec<String>) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut now, mut plies, mut seen) = (start.clone(), Vec::new(), Vec::new());
        while now.outcome() == Outcome::Ongoing && plies.len() < 60 {
            let mv = random.choice(now.moves()).unwrap();
            seen.push(now.print());
            let chance = now.play_by_chance(mv, &mut random);
            plies.push(PlayedPly { mv, score: plies.len() as i16, chance });
        }
        let opening: Vec<_> = plies.drain(..4).map(|ply| PlayedPly { score: UNSCORED, ..ply }).collect();
        let game = Transcript { opening, start: start.clone(), plies, result: 2 };
        (G::store(&game), seen.split_off(4))
    }

    fn comes_back<G: SelfPlayed>(start: &G) {
        for seed in 0..20 {
            let ((one, first), (two, second)) = (game(start, seed), game(start, seed + 100));
            let bytes = [one.bytes.clone(), two.bytes].concat();
            let mut seen = Vec::new();
            for_each_ply(start, &bytes, |ply| {
                assert_eq!((ply.label.result, ply.position.is_check() && ply.is_quiet()), (2, false));
                seen.push(ply.position.print());
            })
            .unwrap();
            assert_eq!(seen, [first, second].concat());
            assert_eq!(one.positions as usize + two.positions as usize, seen.len());
            let torn = for_each_ply(start, &bytes[..one.bytes.len() - 3], |_| {});
            assert_eq!(torn, Err(BadGame::Torn));
        }
    }

    #[test]
    fn games_come_back_with_what_chance_added() {
        comes_back(&MiniChess::start(Rules::Nthu2026));
        comes_back(&VariantPosition::from(Crazyhouse::start()));
        comes_back(&Tuc::start());
    }

    #[test]
    fn a_game_of_another_kind_is_refused() {
        let (stored, _) = game(&MiniChess::start(Rules::Imcs), 1);
        let told = for_each_ply(&MiniChess::start(Rules::Nthu2026), &stored.bytes, |_| {});
        assert_eq!(told, Err(BadGame::Start));
    }

    proptest! {
        #[test]
        fn damaged_games_are_games_or_errors(
            seed in 0u64..1000,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let start = Tuc::start();
            let (StoredGame { mut bytes, .. }, _) = game(&start, seed);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = for_each_ply(&start, &bytes, |_| {});
        }
    }
}
