//! A game as played: its start, its moves, and the keys that repetition needs.

use crate::game::{Game, Key, Outcome, Reason};

/// A position with its history.
///
/// ```
/// use zeitnot_rules::{Game, GameHistory, Outcome, Reason, chess::Chess};
///
/// let mut history = GameHistory::<Chess>::new(Chess::start());
/// for text in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"] {
///     assert_eq!(history.outcome(), Outcome::Ongoing);
///     history.play(history.now().read(text).unwrap());
/// }
/// assert_eq!(history.outcome(), Outcome::Draw(Reason::ThreefoldRepetition));
/// ```
#[derive(Clone, Debug)]
pub struct GameHistory<G: Game> {
    root: G,
    before: Option<G>,
    now: G,
    moves: Vec<G::Move>,
    /// The keys of all positions before `now`, oldest first.
    keys: Vec<Key>,
}

impl<G: Game> GameHistory<G> {
    /// A game that begins with this position.
    pub fn new(root: G) -> Self {
        GameHistory { before: None, now: root.clone(), root, moves: Vec::new(), keys: Vec::new() }
    }

    /// The position at the start.
    pub fn root(&self) -> &G {
        &self.root
    }

    /// The present position.
    pub fn now(&self) -> &G {
        &self.now
    }

    /// The moves so far.
    pub fn moves(&self) -> &[G::Move] {
        &self.moves
    }

    /// The last move, with the position that it was played in.
    pub fn last(&self) -> Option<(&G, G::Move)> {
        self.before.as_ref().zip(self.moves.last().copied())
    }

    /// The keys of the positions before this one, oldest first.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Plays a legal move of [`GameHistory::now`].
    pub fn play(&mut self, mv: G::Move) {
        self.keys.push(self.now.key());
        self.moves.push(mv);
        self.before = Some(self.now.clone());
        self.now.play(mv);
    }

    /// Undoes the last moves.
    pub fn take_back(&mut self, plies: usize) {
        self.truncate(self.moves.len().saturating_sub(plies));
    }

    /// Undoes all but the first moves.
    pub fn truncate(&mut self, plies: usize) {
        let mut kept = GameHistory::new(self.root.clone());
        for &mv in self.moves.iter().take(plies) {
            kept.play(mv);
        }
        *self = kept;
    }

    /// Replaces the present position by what the server reports, where chance had a part in the last move.
    pub fn amend(&mut self, now: G) {
        self.now = now;
    }

    /// The number of earlier occurrences of the present position.
    pub fn repetitions(&self) -> usize {
        let reversible = self.now.reversible_plies() as usize;
        let key = self.now.key();
        self.keys.iter().rev().take(reversible).filter(|&&k| k == key).count()
    }

    /// Whether a position has occurred twice since the last move that cannot be taken back.
    pub fn has_repeated(&self) -> bool {
        let reversible = self.now.reversible_plies() as usize;
        let first = self.keys.len().saturating_sub(reversible);
        let late = self.keys.get(first..).unwrap_or_default();
        self.repetitions() > 0 || (1..late.len()).any(|at| late[..at].contains(&late[at]))
    }

    /// Whether this move leads to a position that has occurred before.
    pub fn leads_back(&self, mv: G::Move) -> bool {
        let mut next = self.clone();
        next.play(mv);
        next.repetitions() > 0
    }

    /// The outcome by the rules, repetition included.
    pub fn outcome(&self) -> Outcome {
        match self.now.outcome() {
            // A position that came before was not the end of the game then: only the count of plies, which comes after
            // repetition, can have ended it since.
            Outcome::Ongoing | Outcome::Win(_, Reason::Material(_)) | Outcome::Draw(Reason::MoveLimit)
                if self.repetitions() + 1 >= self.now.repetition_limit() =>
            {
                Outcome::Draw(match self.now.repetition_limit() {
                    3 => Reason::ThreefoldRepetition,
                    _ => Reason::Repetition,
                })
            }
            outcome => outcome,
        }
    }
}
