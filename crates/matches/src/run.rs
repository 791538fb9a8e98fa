//! Plays the games of a match.

use std::{
    collections::HashSet,
    mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use time::OffsetDateTime;
use tokio::{
    sync::mpsc,
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use zeitnot_rules::{ByColor, Color, DynGame, GameKind};

use crate::{
    entry::{Entry, MatchError},
    game::{self, Seat},
    player::{self, Player},
    schedule::{Fixture, Schedule},
};
use zeitnot_referee::{Adjudication, GameRecord, Referee, RefereeRules, TRANSIT};

/// Starts of an engine before its match is given up.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);

/// Match of two engines or more.
#[derive(Debug)]
pub struct Match {
    pub entries: Vec<Entry>,
    /// Their games.
    pub schedule: Schedule,
    /// Numbers of the games that are played already.
    pub done: HashSet<usize>,
    pub variant: GameKind,
    /// One for each round; after the last one, the first comes again.
    pub openings: Vec<DynGame>,
    /// Games at once.
    pub concurrency: usize,
    /// Lateness at which a move still counts.
    pub margin: Duration,
    /// When a game ends before its rules end it.
    pub adjudication: Adjudication,
    /// Time for a move without a time of its own.
    pub patience: Duration,
}

/// News of a running match.
#[derive(Debug)]
pub enum News {
    Over(Played),
    /// The match cannot go on.
    Failed(MatchError),
}

/// Finished game of a match.
#[derive(Debug)]
pub struct Played {
    /// Its place on the schedule.
    pub fixture: Fixture,
    pub record: GameRecord,
    /// Faults of the engines of both entries.
    pub faults: [Option<String>; 2],
}

/// Engines that a slot keeps for its next game, with their entries.
type Idle = Vec<(usize, Box<dyn Player>)>;

impl Match {
    /// Plays all games, or until `stop`, which aborts the running ones without news.
    pub async fn run(self, news: mpsc::Sender<News>, stop: CancellationToken) {
        let (whole, next) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let mut slots = JoinSet::new();
        for _ in 0..whole.concurrency.min(whole.schedule.games()) {
            slots.spawn(whole.clone().slot(next.clone(), news.clone(), stop.clone()));
        }
        while let Some(ended) = slots.join_next().await {
            if let Err(error) = ended.map_err(MatchError::from).flatten() {
                stop.cancel();
                // Without a receiver nobody needs to know.
                let _ = news.send(News::Failed(error)).await;
            }
        }
    }

    /// Plays one game after the other while there are any.
    async fn slot(
        self: Arc<Self>,
        next: Arc<AtomicUsize>,
        news: mpsc::Sender<News>,
        stop: CancellationToken,
    ) -> Result<(), MatchError> {
        let mut idle = Idle::new();
        loop {
            let Some(fixture) = self.schedule.fixture(next.fetch_add(1, Relaxed)) else { return Ok(()) };
            if stop.is_cancelled() {
                return Ok(());
            }
            if self.done.contains(&fixture.number) {
                continue;
            }
            let [first, second] = fixture
                .entries
                .map(|entry| idle.iter().position(|(at, _)| *at == entry).map(|at| idle.swap_remove(at).1));
            // Engines that do not play now end, which may take them a moment.
            let leaving = mem::take(&mut idle);
            if !leaving.is_empty() {
                spawn_blocking(|| drop(leaving)).await?;
            }
            let [one, other] = fixture.entries;
            let (first, second) = tokio::join!(self.ready(one, first), self.ready(other, second));
            let (played, players) = self.play(fixture, [first?, second?], &stop).await;
            idle.extend(
                fixture.entries.into_iter().zip(players).filter_map(|(at, player)| Some((at, player?))),
            );
            if played.record.ending.result.is_none() {
                return Ok(());
            }
            if news.send(News::Over(played)).await.is_err() {
                return Ok(());
            }
        }
    }

    /// Returns the player of an entry, ready for a new game.
    async fn ready(
        &self,
        entry: usize,
        mut player: Option<Box<dyn Player>>,
    ) -> Result<Box<dyn Player>, MatchError> {
        let mut attempts = 0;
        loop {
            let (entry, variant) = (self.entries[entry].clone(), self.variant);
            let (name, former) = (entry.name.clone(), player.take());
            let ready = spawn_blocking(move || -> Result<_, MatchError> {
                let mut player = former.map_or_else(|| player::open(&entry, variant), Ok)?;
                Ok(player.prepare(entry.restart).map(|()| player))
            });
            match ready.await?? {
                Ok(player) => return Ok(player),
                Err(fault) => {
                    attempts += 1;
                    tracing::warn!("{name} {fault}");
                    if attempts == ATTEMPTS {
                        return Err(MatchError::Lost(name, fault.to_string()));
                    }
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Plays one game; the players come back as far as they are still sound.
    async fn play(
        &self,
        fixture: Fixture,
        players: [Box<dyn Player>; 2],
        stop: &CancellationToken,
    ) -> (Played, [Option<Box<dyn Player>>; 2]) {
        let board = self.openings[fixture.round % self.openings.len()].again();
        let allowance = |color| self.entries[fixture.entry(color)].effort.allowance(self.patience);
        let allowances = ByColor(Color::BOTH.map(allowance));
        let began = OffsetDateTime::now_utc();
        let rules = RefereeRules {
            illegal_move_loses: true,
            margin: self.margin,
            transit: TRANSIT,
            adjudication: self.adjudication,
            ..RefereeRules::default()
        };
        let mut referee = Referee::new(board, allowances, rules, Instant::now());
        let mut seats = players.map(|player| Seat { player: Some(player), fault: None });
        seats.rotate_left(fixture.half);
        let mut seats = ByColor(seats);
        game::play(&mut referee, &mut seats, stop).await;
        let mut seats = seats.0;
        seats.rotate_left(fixture.half);
        let [first, second] = seats;
        let faults = [first.fault, second.fault];
        (Played { fixture, record: GameRecord::new(referee, began), faults }, [first.player, second.player])
    }
}
