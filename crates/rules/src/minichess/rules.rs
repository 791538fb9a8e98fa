//! The differences between the course servers, as settings. Source: the referees themselves, run and read.

use std::fmt;

use super::pieces::Kind;
use crate::kind::GameKind;

/// The rule by which a king is lost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KingRule {
    /// It must be captured.
    Captured,
    /// The side to move wins when it could capture it; but not when the plies are used up.
    EnPriseAfterTheLimit,
    /// The side to move wins when it could capture it, also when the plies are used up.
    EnPriseBeforeTheLimit,
}

/// The rule that decides when the plies are used up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AtTheLimit {
    /// A draw.
    Draw,
    /// The course's count of material.
    Material,
}

/// The settings of one server.
pub trait Rules: Copy + fmt::Debug + PartialEq + Eq + Send + Sync + 'static {
    /// The game.
    const KIND: GameKind;
    /// A bishop may also step to an empty square beside it.
    const BISHOP_STEPS: bool;
    /// The game ends after this many plies.
    const PLIES: u16;
    /// The rule that decides then.
    const AT_THE_LIMIT: AtTheLimit;
    /// The rule by which a king is lost.
    const KING: KingRule;
    /// Whether checkmate ends the game, one ply before the king could be captured.
    const CHECKMATE: bool;
    /// The game is drawn at this occurrence of a position.
    const REPETITION_LIMIT: Option<usize>;
}

/// The Internet MiniChess Server.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Imcs2009;

impl Rules for Imcs2009 {
    const KIND: GameKind = GameKind::MinichessImcs;
    const BISHOP_STEPS: bool = true;
    const PLIES: u16 = 80;
    const AT_THE_LIMIT: AtTheLimit = AtTheLimit::Draw;
    const KING: KingRule = KingRule::Captured;
    const CHECKMATE: bool = false;
    const REPETITION_LIMIT: Option<usize> = None;
}

/// The NTHU project of 2023, which runs programs by files.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Nthu2023;

impl Rules for Nthu2023 {
    const KIND: GameKind = GameKind::Minichess2023;
    const BISHOP_STEPS: bool = false;
    const PLIES: u16 = 50;
    const AT_THE_LIMIT: AtTheLimit = AtTheLimit::Material;
    const KING: KingRule = KingRule::EnPriseAfterTheLimit;
    const CHECKMATE: bool = false;
    const REPETITION_LIMIT: Option<usize> = None;
}

/// The NTHU project of 2026, which runs engines by UBGI.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Nthu2026;

impl Rules for Nthu2026 {
    const KIND: GameKind = GameKind::Minichess2026;
    const BISHOP_STEPS: bool = false;
    const PLIES: u16 = 100;
    const AT_THE_LIMIT: AtTheLimit = AtTheLimit::Material;
    const KING: KingRule = KingRule::EnPriseBeforeTheLimit;
    const CHECKMATE: bool = true;
    const REPETITION_LIMIT: Option<usize> = Some(4);
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
