//! UBGI, the Universal Board Game Interface, for MiniChess under the runner and GUI of the NTHU course of 2026.
//!
//! The runner starts a new process for each move, kills it when the time is up, and reads its output only then.
//! So it starts fast, answers early, and prints no more than fits into a pipe that nobody reads: 64 KiB on Linux.

use std::{num::NonZeroUsize, time::Duration};

use zeitnot_rules::{
    GameKind,
    minichess::{COLUMNS, ROWS},
};
use zeitnot_wire::uci::{Go, UciScore, Words};

use super::{
    dialect::{Dialect, Margin},
    options,
};

/// Enough for a game. Pages are allocated as they are used, so a new process loses no time.
pub(super) const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// Depth of a `go` without limits.
const DEFAULT_DEPTH: u16 = 6;

pub(super) const UBGI: Dialect = Dialect {
    words: Words::Ubgi,
    game: GameKind::Minichess2026,
    // A process that is killed at the limit loses the game; a lost tenth of a ply loses nothing.
    margin: Margin { overhead: Duration::from_millis(60), divisor: 3 },
    max_info_bytes: 48 << 10,
    // The runner ends such a game by itself, and to the GUI it is no move.
    no_move: "0000",
    offers: &[options::COMMON],
    // The runner sets `Algorithm` to what its own engine knows: that must not weaken ours, so it has no choices.
    other_options: |options| {
        vec![
            "option name GameName type string default MiniChess".to_owned(),
            format!("option name BoardWidth type spin default {COLUMNS} min 1 max 26"),
            format!("option name BoardHeight type spin default {ROWS} min 1 max 26"),
            format!("option name Algorithm type combo default {0} var {0}", options.engine.kind),
        ]
    },
    // The runner sets options of its own engines.
    ignores_unknown_options: true,
    // Section 8.4 of the protocol. The GUI takes the next `bestmove` for the answer to its last `go`.
    go_silences: true,
    complete: |go| if go == Go::default() { Go { depth: Some(DEFAULT_DEPTH), ..go } } else { go },
    score: |score| UciScore::Cp(score.get()),
    tells_reply: false,
};
