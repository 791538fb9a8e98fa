//! Plays the games of a match.

use std::{
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
use zeitnot_rules::{ByColor, DynGame, GameKind};

use super::{
    entry::{Entry, MatchError},
    game::{self, Seat},
    player::{self, Player},
};
use crate::referee::{Adjudication, GameRecord, Referee, RefereeRules};

/// Starts of an engine before its match is given up.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// Time that a move read before the flag fell may take to reach the referee.
const TRANSIT: Duration = Duration::from_millis(100);

/// Match of two engines.
#[derive(Debug)]
pub struct Match {
    /// The players; the first one begins each pair with White.
    pub entries: [Entry; 2],
    /// The game that is played.
    pub variant: GameKind,
    /// Each is played twice in a row; after the last one, the first comes again.
    pub openings: Vec<DynGame>,
    /// Number of games, if nothing ends the match sooner.
    pub games: usize,
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
    /// A game is over.
    Over(Played),
    /// The match cannot go on.
    Failed(MatchError),
}

/// Finished game of a match.
#[derive(Debug)]
pub struct Played {
    /// Number from 0; games 2n and 2n + 1 are a pair.
    pub number: usize,
    /// The game itself.
    pub record: GameRecord,
    /// Faults of the engine of each entry.
    pub faults: [Option<String>; 2],
}

impl Played {
    /// Returns which entry has White.
    pub fn white(&self) -> usize {
        white(self.number)
    }
}

fn white(number: usize) -> usize {
    number % 2
}

impl Match {
    /// Plays all games, or until `stop`, which aborts the running ones without news.
    pub async fn run(self, news: mpsc::Sender<News>, stop: CancellationToken) {
        let (whole, next) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let mut slots = JoinSet::new();
        for _ in 0..whole.concurrency.min(whole.games) {
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
        let mut players = [None, None];
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= self.games || stop.is_cancelled() {
                return Ok(());
            }
            let [first, second] = &mut players;
            let (first, second) = tokio::join!(self.ready(0, first.take()), self.ready(1, second.take()));
            let seated = [first?, second?];
            let (played, seated) = self.play(number, seated, &stop).await;
            players = seated;
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
        number: usize,
        players: [Box<dyn Player>; 2],
        stop: &CancellationToken,
    ) -> (Played, [Option<Box<dyn Player>>; 2]) {
        let white = white(number);
        let board = self.openings[number / 2 % self.openings.len()].again();
        let allowance = |entry: usize| self.entries[entry].effort.allowance(self.patience);
        let allowances = ByColor([allowance(white), allowance(1 - white)]);
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
        seats.rotate_left(white);
        let mut seats = ByColor(seats);
        game::play(&mut referee, &mut seats, stop).await;
        let mut seats = seats.0;
        seats.rotate_left(white);
        let [first, second] = seats;
        let faults = [first.fault, second.fault];
        (Played { number, record: GameRecord::new(referee, began), faults }, [first.player, second.player])
    }
}
