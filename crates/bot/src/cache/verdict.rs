//! May a move that was found before be played without a search?

use std::fmt;

use zeitnot_engine::{Playable, Score};
use zeitnot_rules::GameHistory;

use super::entry::Entry;

/// Why it may not.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It is not legal here: two positions share a key, or the file is damaged.
    Illegal,
    /// It, or the position it is for, stood on the board before, and we have better things to do.
    Repeats,
    /// The draw by fifty moves is near, and whoever found it did not know.
    NearFifty,
    /// It was found to lead to a draw, which may have been one by the moves that led there.
    Draw,
    /// Another engine found it.
    OtherEngine,
    /// The present budget buys a better search.
    TooLittleEffort,
}

impl Reason {
    /// All of them, in the order in which they are looked for.
    pub const ALL: [Reason; 6] = [
        Reason::Illegal,
        Reason::Repeats,
        Reason::NearFifty,
        Reason::Draw,
        Reason::OtherEngine,
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
            Reason::TooLittleEffort => "too little effort",
        })
    }
}

/// What may be done with it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Play,
    /// The search may look at it first.
    Seed(Reason),
    /// It is of no use at all.
    Ignore(Reason),
}

/// With less than this we do not mind a draw.
const BETTER: Score = Score::cp(20);
/// So many plies without a capture or a pawn move are not yet near to fifty moves.
pub(super) const FAR_FROM_FIFTY: u32 = 60;

/// What the present search would be like.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Present {
    /// The engine's fingerprint.
    pub engine: u64,
    /// The least effort that counts as much, in nodes.
    pub effort: u64,
}

/// Judges an entry for the position that the line leads to.
pub(super) fn judge<G: Playable>(entry: &Entry, line: &GameHistory<G>, present: Present) -> Verdict {
    let now = line.now();
    let Some(mv) = now.unpack(entry.found.mv) else { return Verdict::Ignore(Reason::Illegal) };
    if entry.found.score > BETTER && repeats(line, mv) {
        return Verdict::Ignore(Reason::Repeats);
    }
    let reason = if now.reversible_plies() > FAR_FROM_FIFTY {
        Reason::NearFifty
    } else if entry.found.score == Score::ZERO {
        Reason::Draw
    } else if entry.engine != present.engine {
        Reason::OtherEngine
    } else if entry.found.effort < present.effort {
        Reason::TooLittleEffort
    } else {
        return Verdict::Play;
    };
    Verdict::Seed(reason)
}

/// Has the position stood on the board before, or does the move lead to one that has?
///
/// The first matters as much as the second: what was played from here led back to here.
fn repeats<G: Playable>(line: &GameHistory<G>, mv: G::Move) -> bool {
    line.repetitions() > 0 || line.leads_back(mv)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Found;
    use zeitnot_rules::{Game, chess::Chess};

    const PRESENT: Present = Present { engine: 7, effort: 1_000 };

    /// An entry for the position at the end of these moves, and the line to there.
    fn entry(start: &str, moves: &[&str], mv: &str, score: i32) -> (Entry, GameHistory<Chess>) {
        let mut line = GameHistory::new(Chess::parse(start).unwrap());
        moves.iter().for_each(|text| line.play(line.now().read(text).unwrap()));
        let mv = line.now().pack(line.now().read(mv).unwrap());
        let found = Found { mv, score: Score::cp(score), depth: 9, effort: 1_000 };
        (Entry { found, engine: 7, hour: 0 }, line)
    }

    const ROOK: &str = "7k/8/8/8/8/8/R7/K7 w - - 0 1";

    #[test]
    fn what_is_as_good_as_a_search_is_played() {
        let (entry, line) = entry(ROOK, &[], "a2a7", 500);
        assert_eq!(judge(&entry, &line, PRESENT), Verdict::Play);
    }

    #[test]
    fn with_less_effort_it_is_only_looked_at_first() {
        let (entry, line) = entry(ROOK, &[], "a2a7", 500);
        let dear = Present { effort: 1_001, ..PRESENT };
        assert_eq!(judge(&entry, &line, dear), Verdict::Seed(Reason::TooLittleEffort));
        let another = Present { engine: 8, ..PRESENT };
        assert_eq!(judge(&entry, &line, another), Verdict::Seed(Reason::OtherEngine));
    }

    #[test]
    fn near_the_fifty_moves_it_is_not_trusted() {
        let (far, far_line) = entry("7k/8/8/8/8/8/R7/K7 w - - 60 80", &[], "a2a7", 500);
        assert_eq!(judge(&far, &far_line, PRESENT), Verdict::Play);
        let (near, near_line) = entry("7k/8/8/8/8/8/R7/K7 w - - 61 80", &[], "a2a7", 500);
        assert_eq!(judge(&near, &near_line, PRESENT), Verdict::Seed(Reason::NearFifty));
    }

    #[test]
    fn who_is_better_does_not_repeat_and_who_is_worse_may() {
        let moves = ["a2a3", "h8g8"];
        let (entry, line) = entry(ROOK, &["a2a3", "h8g8", "a3a2", "g8h8"], "a2a3", 500);
        assert_eq!(judge(&entry, &line, PRESENT), Verdict::Ignore(Reason::Repeats), "the position is back");
        let (back, back_line) =
            self::entry(ROOK, &[&moves[..], &["a3a2", "g8h8", "a2b2", "h8g8"]].concat(), "b2a2", 500);
        assert_eq!(
            judge(&back, &back_line, PRESENT),
            Verdict::Ignore(Reason::Repeats),
            "the move leads back"
        );
        let worse = Entry { found: Found { score: Score::cp(-30), ..entry.found }, ..entry };
        assert_eq!(judge(&worse, &line, PRESENT), Verdict::Play);
    }

    #[test]
    fn a_draw_may_have_been_one_only_in_the_game_it_was_found_in() {
        let (draw, line) = entry(ROOK, &[], "a2a7", 0);
        assert_eq!(judge(&draw, &line, PRESENT), Verdict::Seed(Reason::Draw));
    }

    #[test]
    fn what_is_not_legal_is_of_no_use() {
        let (entry, _) = entry(ROOK, &[], "a2a7", 500);
        let other = GameHistory::new(Chess::parse("7k/8/8/8/8/8/1R6/K7 w - - 0 1").unwrap());
        assert_eq!(judge(&entry, &other, PRESENT), Verdict::Ignore(Reason::Illegal));
    }
}
