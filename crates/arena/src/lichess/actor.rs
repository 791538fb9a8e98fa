//! The task that owns the server's state: requests are jobs, which it runs one by one. Moves go first, and what is no
//! move gets a part of the time only, a short job at a time: other tasks of the thread carry moves, too.

use std::time::Duration;

use tokio::{
    select,
    task::{JoinError, JoinSet, yield_now},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    database::{Change, Database, GameRow},
    jobs::{self, Handle, Job, Jobs},
    panic_guard, pgn,
    store::Store,
};
use zeitnot_net::wait::until;
use zeitnot_wire::lichess::GameId;

use super::server::LichessServer;

/// Interval of checks for what time alone does.
const SWEEP: Duration = Duration::from_millis(50);

/// Time for jobs that are no moves, after which they pause …
const SLICE: Duration = Duration::from_millis(1);
/// … for this many times as long.
const PAUSE: u32 = 2;

/// Access to the server for callers of one kind.
#[derive(Clone, Debug)]
pub(super) struct ServerHandle {
    moves: Handle<LichessServer>,
    others: Handle<LichessServer>,
}

impl ServerHandle {
    /// Runs what concerns a running game. Strangers have no such jobs.
    pub(super) async fn call_first<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut LichessServer) -> T + Send + 'static,
    ) -> Option<T> {
        self.moves.call(job).await
    }

    /// Runs a job behind all moves; `None` if the server is gone, or the job has failed.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut LichessServer) -> T + Send + 'static,
    ) -> Option<T> {
        self.others.call(job).await
    }
}

/// The jobs that wait.
#[derive(Debug)]
pub(super) struct Queues {
    moves: Jobs<LichessServer>,
    members: Jobs<LichessServer>,
    strangers: Jobs<LichessServer>,
}

/// Creates the access for callers with a token, that for strangers, and the queues of both.
pub(super) fn channel() -> (ServerHandle, ServerHandle, Queues) {
    let [(first, moves), (second, members), (third, strangers)] = [(); 3].map(|()| jobs::channel());
    let for_strangers = ServerHandle { moves: third.clone(), others: third };
    (ServerHandle { moves: first, others: second }, for_strangers, Queues { moves, members, strangers })
}

#[derive(Debug)]
pub(super) struct ServerActor {
    pub(super) server: LichessServer,
    pub(super) queues: Queues,
    /// Way to the file of games.
    pub(super) store: Store,
    /// The write in progress, if any; it returns the games whose ends can then be told. Later changes wait for the next
    /// write.
    pub(super) writing: JoinSet<Vec<GameId>>,
}

/// Returns the next job that is no move. Cancel safe.
async fn next(
    members: &mut Jobs<LichessServer>,
    strangers: &mut Jobs<LichessServer>,
) -> Option<Job<LichessServer>> {
    select! {
        biased;
        Some(job) = members.recv() => Some(job),
        Some(job) = strangers.recv() => Some(job),
        else => None,
    }
}

/// Writes changes and ended games; returns the games.
async fn write(
    database: Option<Database>,
    store: Store,
    mut changes: Vec<Change>,
    ended: Vec<(GameId, GameRow)>,
) -> Vec<GameId> {
    changes.extend(ended.iter().map(|(_, game)| Change::Game(game.clone())));
    if let Some(database) = database {
        database.commit(changes).await;
    }
    let mut ids = Vec::new();
    for (id, game) in ended {
        ids.push(id);
        // Games without moves are not written to the file.
        if game.moves.iter().next().is_some() {
            store.write(move || pgn::print_or_explain(None, &game));
        }
    }
    ids
}

impl ServerActor {
    /// Serves until `stop`. All streams end with it.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut sweep = interval(SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut spent, mut pause) = (Duration::ZERO, None);
        loop {
            let is_move = select! {
                // Moves that have arrived are played before a flag falls.
                biased;
                () = stop.cancelled() => break,
                Some(job) = self.queues.moves.recv() => {
                    self.contain(job);
                    true
                }
                Some(written) = self.writing.join_next() => {
                    self.tell_ends(written);
                    true
                }
                _ = sweep.tick() => {
                    self.contain(|server| server.sweep(Instant::now()));
                    true
                }
                () = until(pause), if pause.is_some() => {
                    pause = None;
                    continue;
                }
                Some(job) = next(&mut self.queues.members, &mut self.queues.strangers), if pause.is_none() => {
                    let began = std::time::Instant::now();
                    self.contain(job);
                    spent += began.elapsed();
                    false
                }
            };
            self.save();
            if spent >= SLICE {
                pause = Some(Instant::now() + PAUSE * spent);
                spent = Duration::ZERO;
            }
            if !is_move {
                yield_now().await;
            }
        }
        let now = Instant::now();
        self.contain(|server| server.games.stop(now));
        loop {
            self.save();
            let Some(written) = self.writing.join_next().await else { break };
            self.tell_ends(written);
        }
    }

    fn tell_ends(&mut self, written: Result<Vec<GameId>, JoinError>) {
        self.contain(|server| server.tell_ends(written.unwrap_or_default(), Instant::now()));
    }

    /// Begins to write the changes.
    fn save(&mut self) {
        if !self.writing.is_empty() {
            return;
        }
        let ServerActor { server, store, writing, .. } = self;
        match panic_guard::contain(|| server.changes(Instant::now())) {
            Ok((changes, ended)) if changes.is_empty() && ended.is_empty() => {}
            Ok((changes, ended)) => {
                writing.spawn(write(server.games.database(), store.clone(), changes, ended));
            }
            Err(_) => tracing::error!("Lichess: a change could not be saved; please report it"),
        }
    }

    /// Runs a job. If it panics, its caller gets no answer; the server goes on.
    fn contain(&mut self, job: impl FnOnce(&mut LichessServer)) {
        if let Err(panic) = panic_guard::contain(|| job(&mut self.server)) {
            tracing::error!("Lichess: a request failed inside the server: {panic}; please report it");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::{join, sync::mpsc};

    use super::{
        super::{
            accounts::Accounts,
            config::{AccountConfig, Config},
        },
        *,
    };

    /// A server without accounts, and the access for both kinds of callers.
    fn actor() -> (ServerHandle, ServerHandle, ServerActor) {
        let config: Config = toml::from_str("listen = '127.0.0.1:0'").unwrap();
        let server =
            LichessServer::new(config, Accounts::default(), None, zeitnot_host::hosted_game::Host::default());
        let (members, strangers, queues) = channel();
        let store = Store::Queue(mpsc::channel(1).0);
        (members, strangers, ServerActor { server, queues, store, writing: JoinSet::new() })
    }

    #[test]
    async fn without_a_database_there_are_no_rows() {
        let (_, _, mut actor) = actor();
        let account = AccountConfig::new("Alice".to_owned());
        actor.server.accounts.add(account).unwrap();
        assert!(actor.server.changes(Instant::now()).0.is_empty());
        assert_eq!(actor.server.accounts.map.take_dirty().count(), 0, "nothing piles up");
    }

    #[test(start_paused = true)]
    async fn moves_go_first_and_a_panic_is_that_of_its_job() {
        let ((members, strangers, actor), stop) = (actor(), CancellationToken::new());
        let actor = tokio::spawn(actor.run(stop.clone()));
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |name: &'static str| {
            let order = order.clone();
            move |_: &mut LichessServer| order.lock().unwrap().push(name)
        };
        let answers = join!(
            strangers.call(note("stranger")),
            members.call(|_| panic!("a bug")),
            members.call(note("member")),
            members.call_first(note("move")),
        );
        assert_eq!(answers, (Some(()), None::<()>, Some(()), Some(())));
        assert_eq!(*order.lock().unwrap(), ["move", "member", "stranger"]);
        stop.cancel();
        actor.await.unwrap();
    }

    /// The jobs of a flood leave most of the time to others.
    #[test(start_paused = true)]
    async fn what_is_no_move_pauses() {
        let ((members, _strangers, actor), stop) = (actor(), CancellationToken::new());
        let actor = tokio::spawn(actor.run(stop.clone()));
        let since = Instant::now();
        let costly = || members.call(|_| std::thread::sleep(2 * SLICE));
        costly().await;
        costly().await;
        // Time is paused: what passes is the pause between the two.
        assert!(since.elapsed() >= PAUSE * 2 * SLICE, "{:?}", since.elapsed());
        members.call_first(|_| ()).await;
        stop.cancel();
        actor.await.unwrap();
    }
}
