//! Decision whether a cached move may be played without a search.

use std::fmt;

use zeitnot_engine::{Playable, Score};
use zeitnot_rules::GameHistory;

use super::Entry;

/// Reason why it may not.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Not legal: two positions share a key, or the file is damaged.
    Illegal,
    /// The position, or the one after the move, occurred before, and we stand better.
    Repeats,
    /// The fifty-move draw is near, which the search did not know.
    NearFifty,
    /// The score is a draw, perhaps one by repetition of the moves before.
    Draw,
    OtherEngine,
    /// A game was lost with it.
    Lost,
    /// A search would have more nodes now.
    TooLittleEffort,
}

impl Reason {
    pub(super) const ALL: [Reason; 7] = [
        Reason::Illegal,
        Reason::Repeats,
        Reason::NearFifty,
        Reason::Draw,
        Reason::OtherEngine,
        Reason::Lost,
        Reason::TooLittleEffort,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Illegal => "illegal",
            Reason::Repeats => "repeats",
            Reason::NearFifty => "near fifty moves",
            Reason::Draw => "a draw",
            Reason::OtherEngine => "other engine",
            Reason::Lost => "lost a game",
            Reason::TooLittleEffort => "too little effort",
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Play,
    /// Search it first.
    Hint(Reason),
    Ignore(Reason),
}

/// Score up to which a repetition is acceptable.
const MAX_REPEATING: Score = Score::cp(20);
/// Plies without a capture or pawn move up to which the fifty-move rule is ignored.
pub(super) const FAR_FROM_FIFTY: u32 = 60;

/// Requirements for a move that is played without a search.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub engine: u64,
    /// In nodes.
    pub min_effort: u64,
}

pub(super) fn judge<G: Playable>(entry: &Entry, history: &GameHistory<G>, required: Requirement) -> Verdict {
    let now = history.now();
    let Some(mv) = now.unpack(entry.cached.mv) else { return Verdict::Ignore(Reason::Illegal) };
    if entry.cached.score > MAX_REPEATING && repeats(history, mv) {
        return Verdict::Ignore(Reason::Repeats);
    }
    let reason = if now.reversible_plies() > FAR_FROM_FIFTY {
        Reason::NearFifty
    } else if entry.cached.score == Score::ZERO {
        Reason::Draw
    } else if entry.engine != required.engine {
        Reason::OtherEngine
    } else if entry.is_refuted() {
        Reason::Lost
    } else if entry.cached.effort < required.min_effort {
        Reason::TooLittleEffort
    } else {
        return Verdict::Play;
    };
    Verdict::Hint(reason)
}

/// Returns whether the position, or the one after the move, occurred before. The first matters as much: what was played
/// here led back to here.
fn repeats<G: Playable>(history: &GameHistory<G>, mv: G::Move) -> bool {
    history.repetitions() > 0 || history.leads_back(mv)
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::{Game, chess::Chess};

    use super::*;
    use crate::cache::{CachedMove, Losses};

    const REQUIRED: Requirement = Requirement { engine: 7, min_effort: 1_000 };
    const ROOK: &str = "7k/8/8/8/8/8/R7/K7 w - - 0 1";

    fn history(start: &str, moves: &[&str]) -> GameHistory<Chess> {
        let mut history = GameHistory::new(Chess::parse(start).unwrap());
        moves.iter().for_each(|text| history.play(history.now().read(text).unwrap()));
        history
    }

    #[test]
    fn a_cached_move_is_played_only_where_a_search_would_find_no_better() {
        let far = "7k/8/8/8/8/8/R7/K7 w - - 60 80";
        let near = "7k/8/8/8/8/8/R7/K7 w - - 61 80";
        // After the first four moves the position is back; after all six, b2a2 leads back.
        let moves = ["a2a3", "h8g8", "a3a2", "g8h8", "a2b2", "h8g8"];
        let more_effort = Requirement { min_effort: 1_001, ..REQUIRED };
        let other_engine = Requirement { engine: 8, ..REQUIRED };
        for (start, plies, mv, score, required, expected) in [
            (ROOK, 0, "a2a7", 500, REQUIRED, Verdict::Play),
            (ROOK, 0, "a2a7", 500, more_effort, Verdict::Hint(Reason::TooLittleEffort)),
            (ROOK, 0, "a2a7", 500, other_engine, Verdict::Hint(Reason::OtherEngine)),
            (ROOK, 0, "a2a7", 0, REQUIRED, Verdict::Hint(Reason::Draw)),
            (far, 0, "a2a7", 500, REQUIRED, Verdict::Play),
            (near, 0, "a2a7", 500, REQUIRED, Verdict::Hint(Reason::NearFifty)),
            (ROOK, 4, "a2a3", 500, REQUIRED, Verdict::Ignore(Reason::Repeats)),
            (ROOK, 4, "a2a3", -30, REQUIRED, Verdict::Play),
            (ROOK, 6, "b2a2", 500, REQUIRED, Verdict::Ignore(Reason::Repeats)),
        ] {
            let history = history(start, &moves[..plies]);
            let mv = history.now().pack(history.now().read(mv).unwrap());
            let cached = CachedMove { mv, score: Score::cp(score), depth: 9, effort: 1_000 };
            let entry = Entry { cached, engine: 7, losses: Losses::default(), hour: 0 };
            assert_eq!(judge(&entry, &history, required), expected, "{start} {plies} {score} {required:?}");
        }
    }

    #[test]
    fn illegal_moves_are_ignored() {
        let rook = history(ROOK, &[]);
        let mv = rook.now().pack(rook.now().read("a2a7").unwrap());
        let cached = CachedMove { mv, score: Score::cp(500), depth: 9, effort: 1_000 };
        let other = history("7k/8/8/8/8/8/1R6/K7 w - - 0 1", &[]);
        let verdict =
            judge(&Entry { cached, engine: 7, losses: Losses::default(), hour: 0 }, &other, REQUIRED);
        assert_eq!(verdict, Verdict::Ignore(Reason::Illegal));
    }
}
