//! At the root: the moves that hold the best end, and what that end is.

use shakmaty_syzygy::Wdl;

use zeitnot_rules::{GameHistory, Outcome, Packed, Tactics, chess};

use super::TablebaseProbe;
use crate::Score;

/// As distances are counted.
const FIFTY_MOVES: i32 = chess::FIFTY_MOVES as i32;
/// Less than any count of plies.
const LAST: i32 = i32::MIN;

/// What endgame tables say of the position that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootProbe {
    /// The moves that hold the best end.
    pub moves: Vec<Packed>,
    /// That end, the plies without a capture or a pawn's move so far included.
    pub end: Wdl,
    /// Do the moves get nearer to it by themselves? If not, the search has to see to that.
    pub certain: bool,
    /// How many moves were looked up for it.
    pub asked: u64,
}

/// Ends first; then what is better on the way to the same end.
type Rank = (Wdl, i32);

impl RootProbe {
    /// Ranks the moves, or those of them that are wanted. `None` where not every one is known, or where it has
    /// been stopped: tables may lie on a slow disk.
    pub(super) fn of<G: Tactics>(
        oracle: &dyn TablebaseProbe<G>,
        line: &GameHistory<G>,
        wanted: &[Packed],
        stop: impl Fn() -> bool,
    ) -> Option<RootProbe> {
        let now = line.now();
        let moves: Vec<_> = now.moves().iter().map(|&mv| (now.pack(mv), mv)).collect();
        let moves: Vec<_> =
            moves.into_iter().filter(|(mv, _)| wanted.is_empty() || wanted.contains(mv)).collect();
        let best = |rank: &dyn Fn(&GameHistory<G>) -> Option<Rank>, certain| {
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
            Some(RootProbe { moves, end: best.0, certain, asked: ranks.len() as u64 })
        };
        let (clock, repeats) = (now.reversible_plies() as i32, line.has_repeated());
        best(&|next| by_distance(oracle, next, clock, repeats), true)
            .or_else(|| best(&|next| by_end(oracle, next), false))
    }

    /// The score of a search among these moves: the tables know the end, the search may know a mate.
    pub(crate) fn told(&self, score: Score) -> Score {
        match self.end {
            Wdl::Win => score.max(Score::tb_win_in(0)),
            Wdl::Loss => score.min(Score::tb_loss_in(0)),
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => Score::ZERO,
        }
    }
}

/// The end that the rules of the game have made of the last move, for the side that played it.
fn over<G: Tactics>(next: &GameHistory<G>) -> Option<Rank> {
    match next.outcome() {
        Outcome::Ongoing => None,
        Outcome::Draw(_) => Some((Wdl::Draw, 0)),
        Outcome::Win(winner, _) if winner == next.now().side() => Some((Wdl::Loss, LAST)),
        Outcome::Win(..) => Some((Wdl::Win, i32::MAX)),
    }
}

/// By the distance, for the side that played the last move after `clock` reversible plies.
fn by_distance<G: Tactics>(
    oracle: &dyn TablebaseProbe<G>,
    next: &GameHistory<G>,
    clock: i32,
    repeats: bool,
) -> Option<Rank> {
    if let Some(rank) = over(next) {
        return Some(rank);
    }
    let position = next.now();
    let distance = match position.reversible_plies() {
        0 => match oracle.end(position)? {
            Wdl::Loss => 1,
            Wdl::BlessedLoss => FIFTY_MOVES + 1,
            Wdl::Draw => 0,
            Wdl::CursedWin => -FIFTY_MOVES - 1,
            Wdl::Win => -1,
        },
        _ => match -oracle.distance(position)? {
            0 => 0,
            distance => distance + distance.signum(),
        },
    };
    let plies = distance.abs();
    let in_time = clock + plies <= FIFTY_MOVES;
    Some(match (distance.signum(), in_time) {
        (0, _) => (Wdl::Draw, 0),
        // All that win in time do, as long as the line goes on: the search takes the one that it likes best.
        (1, true) if next.repetitions() > 0 => (Wdl::Win, -FIFTY_MOVES - 1),
        (1, true) => (Wdl::Win, if repeats { -plies } else { 0 }),
        (1, false) => (Wdl::CursedWin, -plies),
        // Where fifty moves are far, how long it takes the other side proves nothing; where they are near, each ply
        // may be the one that saves the game.
        (_, true) if clock + 2 * plies < FIFTY_MOVES => (Wdl::Loss, 0),
        (_, true) => (Wdl::Loss, plies),
        (_, false) => (Wdl::BlessedLoss, plies),
    })
}

/// By the end alone, where distances are not known.
fn by_end<G: Tactics>(oracle: &dyn TablebaseProbe<G>, next: &GameHistory<G>) -> Option<Rank> {
    if let Some(rank) = over(next) {
        return Some(rank);
    }
    let end = -oracle.end(next.now())?;
    Some((end, if end == Wdl::Win && next.repetitions() > 0 { -1 } else { 0 }))
}
