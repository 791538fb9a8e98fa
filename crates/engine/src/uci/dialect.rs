//! Differences between the dialects of UCI, and UCI itself.

use std::time::Duration;

use zeitnot_rules::GameKind;
use zeitnot_wire::uci::{Go, UciScore, Words};

use super::options::{self, Offer, Options};
use crate::score::Score;

/// A dialect of UCI.
pub(super) struct Dialect {
    /// Commands it knows.
    pub words: Words,
    /// Game that is played unless an option says otherwise.
    pub game: GameKind,
    /// Reserve at the end of `movetime`.
    pub margin: Margin,
    /// Bytes of `info` lines in one search, at most; the answer is always sent.
    pub max_info_bytes: usize,
    /// Sent instead of a move where there is none.
    pub no_move: &'static str,
    /// Options that can be set.
    pub offers: &'static [&'static [Offer]],
    /// Further `option` lines, of options that are accepted without effect.
    pub other_options: fn(&Options) -> Vec<String>,
    /// Whether unknown options are ignored silently.
    pub ignores_unknown_options: bool,
    /// Whether a `go` during a search silences it: no answer. Otherwise it ends the search with its answer.
    pub go_silences: bool,
    /// Fills in what `go` leaves open.
    pub complete: fn(Go) -> Go,
    /// Score as it is sent.
    pub score: fn(Score) -> UciScore,
    /// Whether the answer names the expected reply.
    pub tells_reply: bool,
}

/// Safety margin of the time for one move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Margin {
    /// Default of the option `Move Overhead`.
    pub overhead: Duration,
    /// Of a fixed time per move, at most one part in this many is kept as a margin.
    pub divisor: u32,
}

/// UCI, for the games that it has a name for.
pub(super) const UCI: Dialect = Dialect {
    words: Words::Uci,
    game: GameKind::Chess,
    // GUIs are only a pipe away; but the machine may be busy, and wake either side late.
    margin: Margin { overhead: Duration::from_millis(50), divisor: 8 },
    max_info_bytes: usize::MAX,
    no_move: "(none)",
    offers: &[options::COMMON, options::CHESS],
    other_options: |_| Vec::new(),
    ignores_unknown_options: false,
    // UCI leaves it open. Who counts one answer for each `go` would wait for ever.
    go_silences: false,
    complete: |go| go,
    score: |score| score.into(),
    tells_reply: true,
};
