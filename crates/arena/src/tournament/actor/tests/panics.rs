//! Panics in the pairing.

use std::mem;

use zeitnot_pairing::{Bye, NotNow, Pairing, Past};
use zeitnot_testing::until;

use super::*;

/// System that panics in one of its functions.
#[derive(Debug)]
struct Broken(Box<dyn PairingSystem>, &'static str);

impl Broken {
    fn enter_function(&self, name: &str) {
        assert_ne!(name, self.1, "a bug in the pairing");
    }
}

impl PairingSystem for Broken {
    fn enter(&mut self, seat: SeatNo, name: &Name) {
        self.0.enter(seat, name);
    }

    fn takes_late_entries(&self) -> bool {
        self.0.takes_late_entries()
    }

    fn pair(&mut self, free: &[SeatNo]) -> Vec<Pairing> {
        self.enter_function("pair");
        self.0.pair(free)
    }

    fn played(&mut self, pairing: Pairing, result: GameResult) -> bool {
        self.enter_function("played");
        self.0.played(pairing, result)
    }

    fn take_byes(&mut self) -> Vec<Bye> {
        self.enter_function("take_byes");
        self.0.take_byes()
    }

    fn awaits(&self, seats: ByColor<SeatNo>) -> u32 {
        self.0.awaits(seats)
    }

    fn reopen(&mut self, past: Past) -> Result<(), NotNow> {
        self.0.reopen(past)
    }

    fn rescore(&mut self, past: Past, result: GameResult) -> Result<(), NotNow> {
        self.0.rescore(past, result)
    }

    fn pair_by_hand(&mut self, seats: ByColor<SeatNo>, busy: &[Pairing]) -> Result<(), NotNow> {
        self.0.pair_by_hand(seats, busy)
    }

    fn withdraw(&mut self, seat: SeatNo, players: &[SeatNo]) -> Option<Vec<(SeatNo, u32)>> {
        self.0.withdraw(seat, players)
    }

    fn forget(&mut self, seat: SeatNo) {
        self.0.forget(seat);
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }
}

#[test]
async fn a_panic_at_a_result_does_not_lose_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "players = 2", &["ada", "bob"]).await;
    bench.pair();
    let (tag, pairing, _) = bench.actor.boards.iter().next().unwrap();
    let white = bench.actor.players.names(pairing).unwrap()[Color::White].to_string();
    bench.end_game(tag, GameResult::Draw);
    let intact = mem::replace(&mut bench.actor.pairing, bench.actor.config.pairing_system());
    bench.actor.pairing = Box::new(Broken(intact, "played"));
    bench.actor.contain(TournamentActor::conclude_games);
    assert!(bench.actor.progress.is_paused());
    bench.settle().await;
    assert_eq!(bench.score(&white), 0.5);
    bench.close().await;
}

#[test]
async fn a_panic_in_the_pairing_pauses_the_tournament_and_its_games_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 2\npairing_interval = '10ms'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob"]).await;
    bench.pair();
    let intact = mem::replace(&mut bench.actor.pairing, bench.actor.config.pairing_system());
    bench.actor.pairing = Box::new(Broken(intact, "pair"));
    bench.actor.contain(TournamentActor::pair);
    assert!(bench.actor.progress.is_paused());
    let told = bench.actor.reports.refusals().rows();
    assert!(told[0].reason.contains("has paused the tournament"), "{told:?}");
    let [white, black] = bench.games().remove(0);
    bench.end(&white, &black, GameResult::Draw).await;
    assert_eq!(bench.score(&white), 0.5);

    // The task goes on, too, however often that happens.
    bench.order(Command::Resume).await.unwrap();
    let Bench { actor, writer, files, clients, .. } = bench;
    let path = folder.path().join("zeitnot.db");
    let (stop, over) = (CancellationToken::new(), CancellationToken::new());
    let file = GameFile::create(folder.path(), "other", "pgn", time::OffsetDateTime::now_utc()).unwrap();
    let running = tokio::spawn(actor.run(Store::channel(file).1, stop.clone(), over.clone()));
    let pauses = async || {
        let mut reader = Reader::open(&path.clone().into()).await.unwrap();
        let tournament = reader.tournaments().await.unwrap().remove(0);
        let history = reader.history(tournament).await.unwrap();
        history.facts().filter(|fact| **fact == Fact::Paused).count()
    };
    until("the second pause", async || pauses().await == 2).await;
    assert!(!over.is_cancelled());
    stop.cancel();
    let summary = running.await.unwrap();
    assert!(!summary.complete);
    drop(clients);
    writer.join().await;
    files.join().await;
}

#[test]
async fn a_panic_at_the_end_does_not_end_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "players = 2", &["ada", "bob"]).await;
    bench.pair();
    let intact = mem::replace(&mut bench.actor.pairing, bench.actor.config.pairing_system());
    bench.actor.pairing = Box::new(Broken(intact, "take_byes"));
    let Bench { actor, writer, files, clients, .. } = bench;
    let (stop, over) = (CancellationToken::new(), CancellationToken::new());
    stop.cancel();
    let file = GameFile::create(folder.path(), "other", "pgn", time::OffsetDateTime::now_utc()).unwrap();
    let summary = actor.run(Store::channel(file).1, stop, over.clone()).await;
    assert!(!summary.complete && over.is_cancelled());
    drop(clients);
    writer.join().await;
    files.join().await;
}
