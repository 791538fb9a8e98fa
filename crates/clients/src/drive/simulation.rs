//! The world of a machine, from a seed: its server, the network and its player at their worst, in virtual time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use fastrand::Rng;
use tokio::time::{sleep, timeout};
use zeitnot_rules::MoveText;
use zeitnot_seat::{Event, Lobby, Turn};

use super::{Effect, Effects, Input, KeptSeat, Machine, drive};

mod network;
mod player;

use network::Network;
use player::seat_players;

/// Seeds of each protocol.
const SEEDS: u32 = 2000;
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Server of a protocol, without faults of its own.
pub(crate) trait Server<M: Machine>: Send {
    /// Answers a command. Without one it may speak by itself.
    fn hear(&mut self, command: Option<&M::Command>, random: &mut Rng) -> Vec<M::Message>;

    /// Returns the error of a socket that is closed.
    fn closed() -> M::Lost;
}

/// Fault that is planted between a machine and its driver, and that some seed must find.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Sends each answer twice.
    SendsTwice,
    /// Sends the last answer again, when the next move is requested.
    SendsOld,
    /// Does not tell the end of a game.
    EndsSilently,
    /// Has no time limits.
    WaitsForever,
}

/// History of a run, and the broken laws in it.
#[derive(Debug, Default)]
struct Log {
    games: u32,
    ended: u32,
    offences: Vec<String>,
}

type SharedLog = Arc<Mutex<Log>>;

fn note(log: &SharedLog, change: impl FnOnce(&mut Log)) {
    change(&mut log.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A machine whose effects are watched, after a mutant has changed them.
struct Watched<M: Machine> {
    machine: M,
    mutant: Option<Mutant>,
    effects: Effects<M::Command>,
    last_answer: Option<(M::Command, Turn)>,
    asked: Option<Turn>,
    answered: BTreeSet<Turn>,
    last_result: String,
    log: SharedLog,
}

impl<M: Machine<Command: Clone>> Watched<M> {
    fn mutate(&mut self, effect: Effect<M::Command>) -> Vec<Effect<M::Command>> {
        match (self.mutant, effect) {
            (Some(Mutant::SendsTwice), Effect::Send(command, Some(turn))) => {
                vec![Effect::Send(command.clone(), Some(turn)), Effect::Send(command, Some(turn))]
            }
            (Some(Mutant::SendsOld), effect @ Effect::Tell(Event::YourTurn { .. })) => {
                let old = self.last_answer.take();
                old.map(|(command, turn)| Effect::Send(command, Some(turn)))
                    .into_iter()
                    .chain([effect])
                    .collect()
            }
            (Some(Mutant::EndsSilently), Effect::Tell(Event::Ended { .. })) => Vec::new(),
            (_, effect) => vec![effect],
        }
    }

    fn watch(&mut self, effect: &Effect<M::Command>) {
        match effect {
            Effect::Send(command, Some(turn)) => {
                self.last_answer = Some((command.clone(), *turn));
                let is_due = self.asked == Some(*turn) && self.answered.insert(*turn);
                if !is_due {
                    note(&self.log, |log| {
                        log.offences.push(format!("the answer to {turn:?} was sent again"))
                    });
                }
            }
            Effect::Tell(Event::YourTurn { turn, .. }) => self.asked = Some(*turn),
            Effect::Tell(Event::Ended { result, .. }) => self.last_result.clone_from(result),
            // The turns of a game count from its beginning.
            Effect::Open(_) => (self.asked, self.answered) = (None, BTreeSet::new()),
            Effect::Send(_, None) | Effect::Tell(_) => {}
        }
    }
}

impl<M: Machine<Command: Clone>> Machine for Watched<M> {
    type Message = M::Message;
    type Command = M::Command;
    type End = M::End;
    type Lost = M::Lost;
    type Error = M::Error;

    fn on(&mut self, input: Input<M::Message>, now: Instant) -> Result<Option<M::End>, M::Error> {
        let end = self.machine.on(input, now)?;
        while let Some(effect) = self.machine.effects().pop_front() {
            for effect in self.mutate(effect) {
                self.watch(&effect);
                self.effects.push_back(effect);
            }
        }
        if end.is_some() && self.last_result.is_empty() {
            note(&self.log, |log| log.offences.push("the result was not told".into()));
        }
        Ok(end)
    }

    fn effects(&mut self) -> &mut Effects<M::Command> {
        &mut self.effects
    }

    fn due(&self) -> Option<Instant> {
        self.machine.due().filter(|_| self.mutant != Some(Mutant::WaitsForever))
    }

    fn lost(&mut self, error: M::Lost, now: Instant) -> M::Error {
        self.machine.lost(error, now)
    }

    fn may_stop(&self) -> bool {
        self.machine.may_stop()
    }

    fn needs_free_seat(&self) -> bool {
        self.machine.needs_free_seat()
    }
}

/// Runs a machine through the seed's world. Returns what was against the laws.
async fn run<M, S>(seed: u32, machine: M, server: S, mv: MoveText, mutant: Option<Mutant>) -> Vec<String>
where
    M: Machine<Message: Clone, Command: Clone>,
    S: Server<M>,
{
    let mut random = Rng::with_seed(seed.into());
    let log = SharedLog::default();
    let (lobby, seats) = Lobby::channel(1);
    let players = tokio::spawn(seat_players(seats, mv, random.fork(), Arc::clone(&log)));
    let mut network = Network::new(server, random);
    let mut machine = Watched {
        machine,
        mutant,
        effects: Effects::new(),
        last_answer: None,
        asked: None,
        answered: BTreeSet::new(),
        last_result: String::new(),
        log: Arc::clone(&log),
    };
    let seat = &mut KeptSeat::default();
    if timeout(2 * DAY, drive(&mut machine, &mut network, &lobby, seat, sleep(DAY))).await.is_err() {
        return vec!["it never ended".to_owned()];
    }
    drop(lobby);
    let _ = players.await;
    let mut offences = Vec::new();
    note(&log, |log| {
        offences.append(&mut log.offences);
        if log.games != log.ended {
            offences.push(format!("{} of {} games were ended", log.ended, log.games));
        }
    });
    offences
}

/// Checks the laws: no answer is sent twice or for an old position, each game is ended once for its player, and each
/// connection comes to an end. Some seed finds each mutant.
pub(crate) async fn check<M, S>(mv: &str, make: impl Fn(u32) -> (M, S))
where
    M: Machine<Message: Clone, Command: Clone>,
    S: Server<M>,
{
    let mv = MoveText::new(mv).unwrap();
    for seed in 0..SEEDS {
        let (machine, server) = make(seed);
        let offences = run(seed, machine, server, mv, None).await;
        assert!(offences.is_empty(), "seed {seed}: {offences:?}");
    }
    for mutant in [Mutant::SendsTwice, Mutant::SendsOld, Mutant::EndsSilently, Mutant::WaitsForever] {
        let mut seeds = 0..SEEDS;
        let is_found = loop {
            let Some(seed) = seeds.next() else { break false };
            let (machine, server) = make(seed);
            if !run(seed, machine, server, mv, Some(mutant)).await.is_empty() {
                break true;
            }
        };
        assert!(is_found, "no seed finds the mutant {mutant:?}");
    }
}
