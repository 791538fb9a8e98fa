//! Probing the root: the moves that preserve the best result.

use shakmaty_syzygy::Wdl;

use zeitnot_rules::{GameHistory, Outcome, Packed, Tactics, chess};

use super::TablebaseProbe;
use crate::Score;

/// The fifty-move rule in plies.
const FIFTY_MOVES: i32 = chess::FIFTY_MOVES as i32;
/// Rank below any number of plies.
const LAST: i32 = i32::MIN;

/// Tablebase result of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootProbe {
    /// Moves that preserve the best result.
    pub moves: Vec<Packed>,
    /// That result, with the fifty-move counter taken into account.
    pub wdl: Wdl,
    /// Whether the moves are ranked by DTZ and so make progress; otherwise the search must.
    pub by_dtz: bool,
    /// Number of moves probed.
    pub probes: u64,
}

/// Moves of one result that are kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// All of them, as long as the fifty-move rule and repetitions are far.
    All,
    /// The fastest wins and the slowest losses.
    Best,
}

/// Which moves with the same result are ranked by their distance as well.
#[derive(Copy, Clone)]
struct ByDistance {
    wins: bool,
    losses: bool,
}

/// Rank of a move: result first, then a tie-break.
type Rank = (Wdl, i32);

impl RootProbe {
    /// Ranks the legal or wanted moves. Returns `None` if one is unknown, or on a stop, as disks may be slow.
    pub(crate) fn of<G: Tactics>(
        probe: &dyn TablebaseProbe<G>,
        line: &GameHistory<G>,
        wanted: &[Packed],
        kept: Kept,
        stop: impl Fn() -> bool,
    ) -> Option<RootProbe> {
        let now = line.now();
        let moves: Vec<_> = now.moves().iter().map(|&mv| (now.pack(mv), mv)).collect();
        let moves: Vec<_> =
            moves.into_iter().filter(|(mv, _)| wanted.is_empty() || wanted.contains(mv)).collect();
        let best = |rank: &dyn Fn(&GameHistory<G>) -> Option<Rank>, by_dtz| {
            let mut ranks = Vec::new();
            for &(mv, played) in &moves {
                if stop() {
                    return None;
                }
                let mut next = line.clone();
                next.play(played);
                ranks.push((mv, rank(&next)?));
            }
            let best = ranks.iter().map(|(_, rank)| *rank).max()?;
            let moves = ranks.iter().filter(|(_, rank)| *rank == best).map(|(mv, _)| *mv).collect();
            Some(RootProbe { moves, wdl: best.0, by_dtz, probes: ranks.len() as u64 })
        };
        let clock = now.reversible_plies() as i32;
        let losses = kept == Kept::Best;
        let by_distance = ByDistance { wins: losses || line.has_repeated(), losses };
        best(&|next| rank_by_dtz(probe, next, clock, by_distance), true)
            .or_else(|| best(&|next| rank_by_wdl(probe, next), false))
    }

    /// Adjusts the score of a search among these moves to the tablebase result, keeping mates.
    pub(crate) fn adjust(&self, score: Score) -> Score {
        match self.wdl {
            Wdl::Win => score.max(Score::tb_win_in(0)),
            Wdl::Loss => score.min(Score::tb_loss_in(0)),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => Score::ZERO,
        }
    }
}

/// Rank of a move that ends the game, for the side that played it.
fn over<G: Tactics>(next: &GameHistory<G>) -> Option<Rank> {
    match next.outcome() {
        Outcome::Ongoing => None,
        Outcome::Draw(_) => Some((Wdl::Draw, 0)),
        Outcome::Win(winner, _) if winner == next.now().side_to_move() => Some((Wdl::Loss, LAST)),
        Outcome::Win(..) => Some((Wdl::Win, i32::MAX)),
    }
}

/// Rank by DTZ for the side that played the last move after `clock` reversible plies.
fn rank_by_dtz<G: Tactics>(
    probe: &dyn TablebaseProbe<G>,
    next: &GameHistory<G>,
    clock: i32,
    by_distance: ByDistance,
) -> Option<Rank> {
    if let Some(rank) = over(next) {
        return Some(rank);
    }
    let position = next.now();
    let distance = match position.reversible_plies() {
        0 => match probe.wdl(position)? {
            Wdl::Loss => 1,
            Wdl::BlessedLoss => FIFTY_MOVES + 1,
            Wdl::Draw => 0,
            Wdl::CursedWin => -FIFTY_MOVES - 1,
            Wdl::Win => -1,
        },
        _ => match -probe.dtz(position)? {
            0 => 0,
            distance => distance + distance.signum(),
        },
    };
    let plies = distance.abs();
    let in_time = clock + plies <= FIFTY_MOVES;
    Some(match (distance.signum(), in_time) {
        (0, _) => (Wdl::Draw, 0),
        // All moves that win in time are equal, so that the search picks among them; repetitions count less.
        (1, true) if next.repetitions() > 0 => (Wdl::Win, -FIFTY_MOVES - 1),
        (1, true) => (Wdl::Win, if by_distance.wins { -plies } else { 0 }),
        (1, false) => (Wdl::CursedWin, -plies),
        // Far from the fifty-move limit all losing moves are equal; near it the longest defence counts.
        (_, true) if !by_distance.losses && clock + 2 * plies < FIFTY_MOVES => (Wdl::Loss, 0),
        (_, true) => (Wdl::Loss, plies),
        (_, false) => (Wdl::BlessedLoss, plies),
    })
}

/// Rank by WDL alone, without DTZ tables.
fn rank_by_wdl<G: Tactics>(probe: &dyn TablebaseProbe<G>, next: &GameHistory<G>) -> Option<Rank> {
    if let Some(rank) = over(next) {
        return Some(rank);
    }
    let end = -probe.wdl(next.now())?;
    Some((end, if end == Wdl::Win && next.repetitions() > 0 { -1 } else { 0 }))
}
