//! Laws of the Lichess account, and what is counted to check them.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use zeitnot_clients::lichess::simulation::Request;
use zeitnot_wire::lichess::ChallengeId;

use super::super::{
    history::{Broken, History},
    law::Law,
};

pub(super) const ONE_AT_A_TIME: Law =
    Law { name: "one-at-a-time", text: "no request of a kind is sent while one of that kind runs" };
pub(super) const ACCEPTS_ONCE: Law = Law {
    name: "accepts-once",
    text: "a challenge is accepted once, and only while it is open as far as we know",
};
pub(super) const BOUNDED_RATE: Law =
    Law { name: "bounded-rate", text: "requests of each kind in a minute are bounded, in every outage" };
pub(super) const CAPACITY: Law = Law {
    name: "capacity",
    text: "no more games are agreed on than `concurrency` and the lobby have places for",
};
pub(super) const PLAYED: Law =
    Law { name: "played", text: "each game that we know of, and have a place for, is played or given up" };
pub(super) const BEGINS_ONCE: Law =
    Law { name: "begins-once", text: "a game is begun once at a time, and only if it was told" };
pub(super) const RESULT: Law = Law {
    name: "result",
    text: "the end of a game is told once, with the server's result, and only if it is over",
};
pub(super) const QUIET: Law =
    Law { name: "quiet", text: "no game is agreed on or begun after the order to stop" };
pub(super) const LEAVES: Law =
    Law { name: "leaves", text: "the account leaves soon after its games, in outages as well" };
pub(super) const STAYS: Law = Law {
    name: "stays",
    text: "the account leaves only by order, after its last game, or when the server refuses it",
};
pub(super) const ONLINE: Law =
    Law { name: "online", text: "the account is seen online again after every fault" };
pub(super) const ANSWERED: Law = Law {
    name: "answered",
    text: "each challenge is answered while there is a place, and each of ours that waits ends",
};
pub(super) const ORDERS: Law = Law { name: "orders", text: "an order is answered once, and at once" };
pub(super) const CALM: Law =
    Law { name: "calm", text: "the account does not wake again and again for nothing" };

pub(super) const ALL: &[&Law] = &[
    &ONE_AT_A_TIME,
    &ACCEPTS_ONCE,
    &BOUNDED_RATE,
    &CAPACITY,
    &PLAYED,
    &BEGINS_ONCE,
    &RESULT,
    &QUIET,
    &LEAVES,
    &STAYS,
    &ONLINE,
    &ANSWERED,
    &ORDERS,
    &CALM,
];

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

/// Requests that run, and those of the last minute.
#[derive(Debug, Default)]
pub(super) struct Requests {
    running: [usize; Kind::COUNT],
    accepting: BTreeSet<ChallengeId>,
    recent: [VecDeque<Duration>; Kind::COUNT],
    /// All that were sent.
    pub(super) all: Vec<(Duration, Kind)>,
}

impl Requests {
    /// Notes a request that is sent, and checks the laws about requests.
    pub(super) fn sent(
        &mut self,
        request: &Request,
        now: Duration,
        history: &mut History,
    ) -> Result<(), Broken> {
        let kind = Kind::of(request);
        self.all.push((now, kind));
        let running = &mut self.running[kind as usize];
        *running += 1;
        history.check(&ONE_AT_A_TIME, *running == 1 || !kind.is_single(), || {
            format!("{running} of {kind:?} run")
        })?;
        if let Request::Accept { challenge, .. } = request {
            let is_first = self.accepting.insert(*challenge);
            history.check(&ACCEPTS_ONCE, is_first, || format!("{challenge} is being accepted already"))?;
        }
        let recent = &mut self.recent[kind as usize];
        while recent.front().is_some_and(|sent| now.saturating_sub(*sent) >= MINUTE) {
            recent.pop_front();
        }
        recent.push_back(now);
        let count = recent.len();
        history.check(&BOUNDED_RATE, count <= kind.bound(), || format!("{count} of {kind:?} in a minute"))
    }

    pub(super) fn ended(&mut self, kind: Kind, accepted: Option<ChallengeId>) {
        let running = &mut self.running[kind as usize];
        *running = running.saturating_sub(1);
        accepted.iter().for_each(|id| _ = self.accepting.remove(id));
    }

    /// Forgets the requests that run, as their program was killed. The rates go on.
    pub(super) fn killed(&mut self) {
        self.running = Default::default();
        self.accepting.clear();
    }
}
