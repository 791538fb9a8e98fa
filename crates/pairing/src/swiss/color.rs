//! Allocation of colours (FIDE handbook C.04.3, part E).

use zeitnot_rules::Color;

use super::contender::{Contender, Strength};

/// Returns the colour of `player` against `opponent`.
pub(super) fn allocate(player: &Contender, opponent: &Contender, initial: Color) -> Color {
    by_preference(player, opponent).unwrap_or_else(|| {
        let player_is_higher = player.precedes(opponent);
        let higher = if player_is_higher { player } else { opponent };
        // E.4 and E.5: odd numbers have the initial colour.
        let by_number = if higher.number.is_multiple_of(2) { !initial } else { initial };
        let color = higher.preference.unwrap_or(by_number);
        if player_is_higher { color } else { !color }
    })
}

/// E.1 to E.3: both preferences, the stronger one, or the opposite of the last round in which the colours differed.
fn by_preference(player: &Contender, opponent: &Contender) -> Option<Color> {
    if !player.wants_as(opponent) {
        return player.preference.or_else(|| opponent.preference.map(|color| !color));
    }
    // Among absolute preferences the greater difference of colours is the stronger one.
    let weight = |contender: &Contender| {
        let excess = if contender.strength == Strength::Absolute { contender.imbalance } else { 0 };
        (contender.strength, excess)
    };
    if weight(player) != weight(opponent) {
        let player_has_it = weight(player) > weight(opponent);
        return player.preference.map(|color| if player_has_it { color } else { !color });
    }
    let last_rounds = player.colors.iter().zip(&opponent.colors);
    last_rounds.into_iter().find(|(own, other)| own != other).map(|(own, _)| !*own)
}
