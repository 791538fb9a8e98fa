//! Positions in which whoever takes the most loses material.

use zeitnot_rules::Tactics;

/// Whether the other side wins more by exchanges afterwards than the move wins.
pub fn loses<G: Tactics>(position: &G, mv: G::Move) -> bool {
    let after = position.after(mv);
    let lost = position.gain(mv) + 1;
    !after.outcome().is_over() && after.noisy_moves().into_iter().any(|reply| after.see_ge(reply, lost))
}

/// Whether all moves that take the most lose material, and another move does not.
pub fn is_bait<G: Tactics>(position: &G) -> bool {
    let moves = position.moves();
    let most = moves.iter().map(|mv| position.gain(*mv)).max().unwrap_or(0);
    let takes_most = |mv: &G::Move| position.gain(*mv) == most;
    let all_lose = moves.iter().filter(|mv| takes_most(mv)).all(|mv| loses(position, *mv));
    most > 0 && all_lose && moves.iter().any(|mv| !loses(position, *mv))
}

/// Draws this many of them from random games.
pub fn baits<G: Tactics>(start: &G, count: usize) -> Vec<G> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut found = Vec::new();
    while found.len() < count {
        let mut position = start.clone();
        for _ in 0..30 {
            let moves = position.moves();
            if position.outcome().is_over() || moves.is_empty() {
                break;
            }
            position.play(moves[random.usize(..moves.len())]);
            if found.len() < count && !position.outcome().is_over() && is_bait(&position) {
                found.push(position.clone());
                break;
            }
        }
    }
    found
}
