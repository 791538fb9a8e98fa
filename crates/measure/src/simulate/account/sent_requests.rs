//! Requests that the account has sent, counted to check the laws about them.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use zeitnot_clients::lichess::simulation::{Reply, Request};
use zeitnot_wire::lichess::ChallengeId;

use super::{
    super::run::{Checked, Run},
    laws::{ACCEPTS_ONCE, BOUNDED_RATE, ONE_AT_A_TIME},
};

/// Kind of a request, as it is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    RunningGames,
    Token,
    Online,
    Opponents,
    Accept,
    Decline,
    Challenge,
    Cancel,
    Abort,
    Join,
    Withdraw,
    Save,
}

impl Kind {
    pub(super) const COUNT: usize = Kind::Save as usize + 1;

    pub(super) fn of(request: &Request) -> Kind {
        match request {
            Request::RunningGames => Kind::RunningGames,
            Request::Token => Kind::Token,
            Request::Online => Kind::Online,
            Request::Opponents => Kind::Opponents,
            Request::Accept { .. } => Kind::Accept,
            Request::Decline { .. } => Kind::Decline,
            Request::Challenge(..) => Kind::Challenge,
            Request::Cancel(_) => Kind::Cancel,
            Request::Abort(_) => Kind::Abort,
            Request::Join(_) => Kind::Join,
            Request::Withdraw(_) => Kind::Withdraw,
            Request::Save(_) => Kind::Save,
        }
    }

    /// Returns whether a second request beside one of this kind does harm.
    fn is_single(self) -> bool {
        use Kind::{Challenge, Join, Online, Opponents, RunningGames, Save, Token};
        matches!(self, RunningGames | Token | Online | Opponents | Challenge | Join | Save)
    }

    /// Returns how many requests of this kind a minute may have.
    fn bound(self) -> usize {
        match self {
            Kind::RunningGames => 20,
            Kind::Token => 15,
            Kind::Online => 5,
            Kind::Opponents | Kind::Challenge => 10,
            Kind::Join | Kind::Withdraw => 12,
            Kind::Accept | Kind::Cancel | Kind::Abort => 30,
            Kind::Decline | Kind::Save => 60,
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// Reason why a challenge must not be accepted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Closed {
    Accepting,
    Accepted,
    /// The account has received the event.
    Withdrawn,
}

/// Requests that run, and those of the last minute.
#[derive(Debug, Default)]
pub(super) struct SentRequests {
    running: [usize; Kind::COUNT],
    /// Challenges that must not be accepted.
    closed: BTreeMap<ChallengeId, Closed>,
    recent: [VecDeque<Duration>; Kind::COUNT],
    /// The most in a minute.
    pub(super) most: [usize; Kind::COUNT],
}

impl SentRequests {
    /// Notes a request that is sent, and checks the laws about requests.
    pub(super) fn sent(&mut self, request: &Request, run: &mut Run) -> Checked {
        let kind = Kind::of(request);
        let running = &mut self.running[kind as usize];
        *running += 1;
        run.check(&ONE_AT_A_TIME, *running == 1 || !kind.is_single(), || {
            format!("{running} of {kind:?} run")
        })?;
        if let Request::Accept { challenge, .. } = request {
            let closed = self.closed.insert(*challenge, Closed::Accepting);
            run.check(&ACCEPTS_ONCE, closed.is_none(), || format!("{challenge} is accepted: {closed:?}"))?;
        }
        let recent = &mut self.recent[kind as usize];
        while recent.front().is_some_and(|sent| run.now.saturating_sub(*sent) >= MINUTE) {
            recent.pop_front();
        }
        recent.push_back(run.now);
        let (count, most) = (recent.len(), &mut self.most[kind as usize]);
        *most = count.max(*most);
        run.check(&BOUNDED_RATE, count <= kind.bound(), || format!("{count} of {kind:?} in a minute"))
    }

    pub(super) fn ended(&mut self, kind: Option<Kind>, reply: &Reply) {
        if let Some(kind) = kind {
            let running = &mut self.running[kind as usize];
            *running = running.saturating_sub(1);
        }
        if let Reply::Accepted(id, result) = reply
            && self.closed.get(id) == Some(&Closed::Accepting)
        {
            match result {
                Ok(()) => self.closed.insert(*id, Closed::Accepted),
                Err(_) => self.closed.remove(id),
            };
        }
    }

    /// Notes that a challenge is open, as far as the account is told.
    pub(super) fn opened(&mut self, id: ChallengeId) {
        if self.closed.get(&id) == Some(&Closed::Withdrawn) {
            self.closed.remove(&id);
        }
    }

    pub(super) fn withdrawn(&mut self, id: ChallengeId) {
        self.closed.entry(id).or_insert(Closed::Withdrawn);
    }

    /// Notes that the task of a game has ended. If its challenge is told again only now, the account may accept it once
    /// more, which the server refuses.
    pub(super) fn game_ended(&mut self, id: ChallengeId) {
        self.closed.remove(&id);
    }

    /// Forgets the requests that run, as their program was killed. The rates go on.
    pub(super) fn killed(&mut self) {
        self.running = Default::default();
        self.closed.clear();
    }
}
