//! The server's last request for a move, and what became of our answer.

use std::{mem, time::Instant};

/// Number of a request for a move. An answer to an old request is never sent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(pub u32);

impl Turn {
    /// Returns the number of the next request.
    pub fn next(self) -> Turn {
        Turn(self.0.wrapping_add(1))
    }
}

/// The last request for a move. Only [`answer`](OpenRequest::answer) allows a move to be sent: once for each request,
/// and only while it is open. `A` is what a protocol keeps of an answer until the server has confirmed or refused it.
#[derive(Debug)]
pub struct OpenRequest<A = ()> {
    turn: Turn,
    state: State<A>,
}

#[derive(Debug, Default)]
enum State<A> {
    /// No move is requested.
    #[default]
    None,
    /// The player has not answered.
    Open,
    /// The answer was sent; the server has neither taken nor refused it.
    Sent(A),
    /// The server took the answer, but has not told the move as played.
    Taken { at: Instant },
    /// The server refused the answer, but may have it by another way.
    Doubtful { why: String, since: Instant },
}

impl<A> Default for OpenRequest<A> {
    fn default() -> Self {
        OpenRequest { turn: Turn::default(), state: State::None }
    }
}

impl<A> OpenRequest<A> {
    /// Opens the next request, which makes answers to earlier ones void.
    pub fn open(&mut self) -> Turn {
        self.turn = self.turn.next();
        self.state = State::Open;
        self.turn
    }

    /// Ends the request: its move was played, or the board has changed.
    pub fn clear(&mut self) {
        self.state = State::None;
    }

    /// Returns whether this is the last request, open or not.
    pub fn is_latest(&self, turn: Turn) -> bool {
        turn == self.turn
    }

    /// Returns whether this request waits for the player's answer.
    pub fn awaits(&self, turn: Turn) -> bool {
        self.is_latest(turn) && self.is_open()
    }

    /// Returns whether the last request waits for the player's answer.
    pub fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Returns whether no move is requested, and none is on its way.
    pub fn is_none(&self) -> bool {
        matches!(self.state, State::None)
    }

    /// Accepts the answer to a request. Returns whether its move is to be sent; otherwise it comes too late.
    #[must_use]
    pub fn answer(&mut self, turn: Turn, answer: A) -> bool {
        let is_awaited = self.awaits(turn);
        if is_awaited {
            self.state = State::Sent(answer);
        }
        is_awaited
    }

    /// Returns the answer that was sent, while the server has neither taken nor refused it.
    pub fn sent(&self) -> Option<&A> {
        match &self.state {
            State::Sent(answer) => Some(answer),
            _ => None,
        }
    }

    /// Returns the answer that was sent, to be changed.
    pub fn sent_mut(&mut self) -> Option<&mut A> {
        match &mut self.state {
            State::Sent(answer) => Some(answer),
            _ => None,
        }
    }

    /// Ends a request whose answer was sent: the server has played or refused it.
    pub fn take_sent(&mut self) -> Option<(Turn, A)> {
        match mem::take(&mut self.state) {
            State::Sent(answer) => Some((self.turn, answer)),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// Notes that the server took the answer to a request; it will tell the move as played.
    pub fn taken(&mut self, turn: Turn, at: Instant) {
        if self.is_latest(turn) && self.sent().is_some() {
            self.state = State::Taken { at };
        }
    }

    /// Notes that the server refused the answer to a request, or has it already. Returns whether it must be asked
    /// which; not if the request is an old one.
    pub fn refused(&mut self, turn: Turn, why: &str, since: Instant) -> bool {
        let is_awaited = self.is_latest(turn) && self.sent().is_some();
        if is_awaited {
            self.state = State::Doubtful { why: why.to_owned(), since };
        }
        is_awaited
    }

    /// Notes that the server will tell the game in full, and with it what became of an answer before `opened`. Returns
    /// the turn and the reason of a refusal.
    pub fn reopened(&mut self, opened: Instant) -> Option<(Turn, String)> {
        match mem::take(&mut self.state) {
            State::Doubtful { why, since } if since <= opened => Some((self.turn, why)),
            State::Taken { at } if at <= opened => None,
            other => {
                self.state = other;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Duration};

    use proptest::prelude::*;

    use super::*;

    /// Events of a request, in any order. Turns count back from the last one.
    #[derive(Copy, Clone, Debug)]
    enum Step {
        Open,
        Clear,
        Answer(u32),
        TakeSent,
        Taken(u32),
        Refused(u32),
        Reopened,
    }

    fn step() -> impl Strategy<Value = Step> {
        let back = 0..3_u32;
        prop_oneof![
            3 => Just(Step::Open),
            1 => Just(Step::Clear),
            6 => back.clone().prop_map(Step::Answer),
            1 => Just(Step::TakeSent),
            1 => back.clone().prop_map(Step::Taken),
            1 => back.prop_map(Step::Refused),
            1 => Just(Step::Reopened),
        ]
    }

    proptest! {
        /// The law of the type.
        #[test]
        fn an_answer_to_an_old_request_is_never_sent_and_none_is_sent_twice(
            steps in prop::collection::vec(step(), 1..60),
        ) {
            let start = Instant::now();
            let mut request = OpenRequest::default();
            // The requests that were made, whether the last one was cleared, and the answers that were sent.
            let (mut last, mut is_void, mut sent) = (Turn(0), true, BTreeSet::new());
            for (number, step) in (0..).zip(steps) {
                let at = start + Duration::from_secs(number);
                let turn = |back| Turn(last.0.wrapping_sub(back));
                match step {
                    Step::Open => {
                        let opened = request.open();
                        prop_assert!(opened > last);
                        (last, is_void) = (opened, false);
                    }
                    Step::Clear => {
                        request.clear();
                        is_void = true;
                        prop_assert!(request.is_none());
                    }
                    Step::Answer(back) => {
                        let turn = turn(back);
                        let is_due = turn == last && !is_void && !sent.contains(&turn);
                        prop_assert_eq!(request.awaits(turn), is_due);
                        prop_assert_eq!(request.answer(turn, number), is_due);
                        if is_due {
                            sent.insert(turn);
                        }
                    }
                    Step::TakeSent => {
                        let was_sent = request.sent().copied();
                        prop_assert_eq!(request.take_sent(), was_sent.map(|answer| (last, answer)));
                        is_void |= was_sent.is_some();
                    }
                    Step::Taken(back) => request.taken(turn(back), at),
                    Step::Refused(back) => {
                        let is_news = back == 0 && request.sent().is_some();
                        prop_assert_eq!(request.refused(turn(back), "why", at), is_news);
                    }
                    Step::Reopened => {
                        let refused = request.reopened(at);
                        prop_assert!(refused.is_none_or(|(turn, _)| sent.contains(&turn)));
                    }
                }
                prop_assert_eq!(request.is_open(), !is_void && !sent.contains(&last));
            }
        }
    }

    #[test]
    fn only_a_game_told_after_the_answer_says_what_became_of_it() {
        let before = Instant::now();
        let after = before + Duration::from_secs(2);
        let at = before + Duration::from_secs(1);
        let mut request = OpenRequest::default();
        let turn = request.open();
        assert!(request.answer(turn, ()) && request.refused(turn, "not legal", at));
        assert_eq!(request.reopened(before), None);
        assert!(!request.is_none());
        assert_eq!(request.reopened(after), Some((turn, "not legal".to_owned())));
        assert!(request.is_none());
        let turn = request.open();
        assert!(request.answer(turn, ()));
        request.taken(turn, at);
        assert!(request.reopened(before).is_none() && !request.is_none());
        assert!(request.reopened(after).is_none() && request.is_none());
    }
}
