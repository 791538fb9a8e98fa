//! The differences between the course servers, as settings. Source: the referees themselves, run and read.

use super::pieces::Kind;
use crate::kind::GameKind;

/// The rules of one server.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// The Internet MiniChess Server of Portland State University.
    Imcs,
    /// The NTHU project of 2023, which runs programs by files.
    Nthu2023,
    /// The NTHU project of 2026, which runs engines by UBGI.
    Nthu2026,
}

/// The differences between the servers.
pub(super) struct Settings {
    pub kind: GameKind,
    /// A bishop may also step to an empty square beside it.
    pub bishop_steps: bool,
    /// The game ends after this many plies.
    pub plies: u16,
    /// The rule that decides then.
    pub at_the_limit: AtTheLimit,
    /// The rule by which a king is lost.
    pub king: KingRule,
    /// Whether checkmate ends the game, one ply before the king could be captured.
    pub checkmate: bool,
    /// The game is drawn at this occurrence of a position.
    pub repetition_limit: Option<usize>,
}

/// The rule by which a king is lost.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum KingRule {
    /// It must be captured.
    Captured,
    /// The side to move wins when it could capture it; but not when the plies are used up.
    EnPriseAfterTheLimit,
    /// The side to move wins when it could capture it, also when the plies are used up.
    EnPriseBeforeTheLimit,
}

/// The rule that decides when the plies are used up.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum AtTheLimit {
    Draw,
    /// The course's count of material.
    Material,
}

/// By [`Rules`].
const SETTINGS: [Settings; 3] = [
    Settings {
        kind: GameKind::MinichessImcs,
        bishop_steps: true,
        plies: 80,
        at_the_limit: AtTheLimit::Draw,
        king: KingRule::Captured,
        checkmate: false,
        repetition_limit: None,
    },
    Settings {
        kind: GameKind::Minichess2023,
        bishop_steps: false,
        plies: 50,
        at_the_limit: AtTheLimit::Material,
        king: KingRule::EnPriseAfterTheLimit,
        checkmate: false,
        repetition_limit: None,
    },
    Settings {
        kind: GameKind::Minichess2026,
        bishop_steps: false,
        plies: 100,
        at_the_limit: AtTheLimit::Material,
        king: KingRule::EnPriseBeforeTheLimit,
        checkmate: true,
        repetition_limit: Some(4),
    },
];

impl Rules {
    pub(super) fn settings(self) -> &'static Settings {
        &SETTINGS[self as usize]
    }
}

/// The value of a piece in the count of material by the NTHU referees.
pub(super) const fn course_value(kind: Kind) -> i32 {
    match kind {
        Kind::Pawn => 2,
        Kind::Rook => 6,
        Kind::Knight => 7,
        Kind::Bishop => 8,
        Kind::Queen => 20,
        Kind::King => 100,
    }
}

/// The plain values of the pieces, in centipawns: those of the courses, but for the king.
pub(super) const fn value(kind: Kind) -> i32 {
    match kind {
        Kind::King => 10_000,
        other => 50 * course_value(other),
    }
}
