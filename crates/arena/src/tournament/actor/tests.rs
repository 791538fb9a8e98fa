//! Random orders, results, joins and restarts: the history leads to the state that was left.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use zeitnot_pairing::format::PairingKind;
use zeitnot_rules::{ByColor, Color, GameResult};

use super::*;
use crate::{
    client::Outbox,
    news,
    tournament::{
        admission::{Applicant, JoinError, Proof},
        boards::TournamentGame,
        command::{Command, CommandError},
        refusals::Refusals,
        restore,
    },
};
use zeitnot_host::{
    database::{Reader, WriterThread},
    live::Feed,
    note::Note,
    store::{GameFile, StoreThread},
};

mod corrections;
mod panics;
mod returns;

const NAMES: [&str; 9] = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus", "hal", "ivy"];

fn name(text: &str) -> Name {
    Name::try_from(text).unwrap()
}

fn note() -> Note {
    Note::try_from("a test").unwrap()
}

/// An actor without its task, whose clients do nothing.
struct Bench {
    actor: TournamentActor,
    writer: WriterThread,
    files: StoreThread,
    clients: BTreeMap<&'static str, (SeatNo, Client, Outbox)>,
    /// The organiser has paired somebody.
    is_by_hand: bool,
}

impl Bench {
    async fn open(folder: &Path, settings: &str) -> Bench {
        let config: TournamentConfig =
            toml::from_str(&format!("name = 'class'\ntime = '60'\npause = '0s'\n{settings}")).unwrap();
        config.check().unwrap();
        let (database, writer) = Database::open(folder.join("zeitnot.db").into(), || ()).await.unwrap();
        let opened = database.open_tournament(config.opening(None)).await.unwrap();
        let now = time::OffsetDateTime::now_utc();
        let file = GameFile::create(folder, "class", "pgn", now).unwrap();
        let (store, file) = Store::channel(file);
        let files = file.spawn(|| ());
        let refusals = Refusals::of_tournament("class".to_owned(), Feed::default(), None, Vec::new());
        let reports = Reports::new(news::channel(), Feed::default(), refusals, 1, Vec::new());
        let opened = Some((database, opened));
        let starts = Starts::open(&config).unwrap();
        let (_, actor) =
            TournamentActor::channel(config, Admission::default(), 99, starts, store, reports, opened);
        Bench { actor, writer, files, clients: BTreeMap::new(), is_by_hand: false }
    }

    /// Ends as a kill does, except that what was handed over is on the disk.
    async fn close(self) {
        let Bench { actor, writer, files, .. } = self;
        drop(actor);
        writer.join().await;
        files.join().await;
    }

    fn join(&mut self, player: &'static str) -> bool {
        let (client, outbox) = Client::channel(CancellationToken::new());
        let applicant = Applicant { name: name(player), proof: Proof::Account, client: client.clone() };
        let joined = self.actor.join(applicant);
        joined.map(|seat| self.clients.insert(player, (seat, client, outbox))).is_ok()
    }

    fn leave(&mut self, player: &str) {
        if let Some((seat, client, _)) = self.clients.remove(player) {
            self.actor.leave(seat, &client);
        }
    }

    /// Gives an order and waits until it is answered.
    async fn order(&mut self, command: Command) -> Result<(), CommandError> {
        let is_by_hand = matches!(command, Command::Pair { .. });
        let (answer, answered) = oneshot::channel();
        self.actor.command(command, answer);
        self.settle().await;
        let answer = answered.await.unwrap();
        self.is_by_hand |= is_by_hand && answer.is_ok();
        answer
    }

    /// Lets everything come to the disk.
    async fn settle(&mut self) {
        self.actor.conclude_games();
        while let Some(settled) = self.actor.journal.settled().await {
            self.actor.settle(settled);
        }
        self.clients.retain(|_, (seat, client, outbox)| {
            outbox.drain();
            self.actor.players.seated(*seat, client).is_some()
        });
    }

    /// Pairs whoever is free, and begins all games.
    fn pair(&mut self) {
        self.actor.pair();
        for (tag, _) in self.actor.invitations.iter().collect::<Vec<_>>() {
            self.begin(tag);
        }
    }

    fn begin(&mut self, tag: GameTag) {
        for seat in self.actor.invitations.get(tag).unwrap().seats.0 {
            self.actor.accept(tag, seat);
        }
    }

    fn running(&self) -> Vec<GameTag> {
        self.actor.boards.iter().filter(|(_, _, game)| !game.is_over()).map(|(tag, ..)| tag).collect()
    }

    /// Ends the game between these two; returns its id.
    async fn end(&mut self, white: &str, black: &str, result: GameResult) -> String {
        let is_theirs = |game: &TournamentGame| game.names().0 == [white, black];
        let (tag, ..) = self.actor.boards.iter().find(|(_, _, game)| is_theirs(game)).unwrap();
        self.end_game(tag, result);
        self.settle().await;
        tag.to_string()
    }

    fn end_game(&mut self, tag: GameTag, result: GameResult) {
        let (_, pairing, _) = self.actor.boards.iter().find(|(known, ..)| *known == tag).unwrap();
        self.actor.boards.game(tag, pairing.seats[Color::White]).unwrap().0.end(result);
    }

    fn games(&self) -> Vec<[String; 2]> {
        let mut games: Vec<_> = self.actor.boards.iter().map(|(_, _, game)| game.names().0).collect();
        games.sort();
        games
    }

    /// Score by name.
    fn score(&self, player: &str) -> f64 {
        let rows = self.actor.record.standings().rows();
        rows.iter().find(|row| row.name.as_str() == player).unwrap().score.points()
    }

    /// All that a restart must bring back.
    fn state(&self) -> String {
        let TournamentActor { progress, players, pairing, record, .. } = &self.actor;
        state(progress, players, pairing.as_ref(), record)
    }
}

fn state(progress: &Progress, players: &Players, pairing: &dyn PairingSystem, record: &Record) -> String {
    let seat = |(seat, player): (SeatNo, &super::super::players::Player)| {
        (seat, player.name.clone(), player.is_withdrawn)
    };
    let seats: Vec<_> = players.iter().map(seat).collect();
    format!("{progress:?}\n{seats:?}\n{pairing:?}\n{record:?}").replace("},", "},\n")
}

/// The state that the history on the disk leads to.
async fn replayed(folder: &Path, config: &TournamentConfig) -> String {
    let mut reader = Reader::open(&folder.join("zeitnot.db").into()).await.unwrap();
    let tournament = reader.tournaments().await.unwrap().swap_remove(0);
    let history = reader.history(tournament).await.unwrap();
    let limits = SeatLimits { seats: MAX_PLAYERS, per_address: 99, hold: config.name_held };
    let mut restored = Restored::new(config, limits);
    restored.replay(&history);
    let Restored { progress, players, pairing, record, lost_byes, .. } = restored;
    assert_eq!(lost_byes, []);
    assert_eq!(restore::standings(&history), *record.standings(), "as `arena results` tells it");
    state(&progress, &players, pairing.as_ref(), &record)
}

const SYSTEMS: [&str; 5] = [
    "start = 'organiser'\ngames_per_pair = 2\nlate_entries = true",
    "start = 'organiser'\npairing = 'swiss'\nrounds = 4\nlate_entries = true",
    "start = 'organiser'\npairing = 'gauntlet'\ngauntlet = ['ada', 'eve']",
    "players = 6\npairing = 'knockout'",
    "games_per_pair = 3",
];

fn random_result(random: &mut fastrand::Rng) -> GameResult {
    let results = [GameResult::Won(Color::White), GameResult::Won(Color::Black), GameResult::Draw];
    results[random.usize(..3)]
}

fn random_order(bench: &Bench, random: &mut fastrand::Rng) -> Command {
    let mut player = || name(NAMES[random.usize(..NAMES.len())]);
    let (one, other) = (player(), player());
    let note = random.bool().then(note);
    match random.u8(..20) {
        0 | 1 => Command::Start,
        2 => Command::Pause,
        3..6 => Command::Resume,
        6 => Command::LateEntries(random.bool()),
        7 => Command::Remove { player: one, note },
        8..10 => Command::Forfeit { player: one, note },
        10..14 => Command::Pair { white: one, black: other },
        _ => {
            let games = bench.actor.record.ids();
            let game = games.get(random.usize(..games.len().max(1))).cloned().unwrap_or_default();
            let result = (random.u8(..4) > 0).then(|| random_result(random));
            Command::Correct { game, result, note: self::note() }
        }
    }
}

/// One random step.
async fn step(bench: &mut Bench, random: &mut fastrand::Rng) {
    let player = NAMES[random.usize(..NAMES.len())];
    match random.u8(..24) {
        0..4 => drop(bench.join(player)),
        4 => bench.leave(player),
        5..9 => bench.pair(),
        9 => bench.actor.pair(),
        10..18 => {
            let running = bench.running();
            if !running.is_empty() {
                let tag = running[random.usize(..running.len())];
                let result = random_result(random);
                bench.end_game(tag, result);
                bench.actor.conclude_games();
            }
        }
        18 => {
            if let Some(seat) = bench.actor.players.seat_of(player)
                && bench.actor.progress.has_begun()
                && !bench.clients.contains_key(player)
            {
                bench.actor.withdraw(seat, Departure::Absence);
            }
        }
        19 => bench.settle().await,
        _ => {
            let order = random_order(bench, random);
            drop(bench.order(order).await);
        }
    }
}

/// The absolute rules of a Swiss: nobody meets twice, nobody has two byes.
fn check_swiss(bench: &Bench) {
    let mut met = BTreeSet::new();
    for (names, round) in bench.actor.record.meetings() {
        let mut names = names.0.clone();
        names.sort();
        met.insert((names, round));
    }
    let pairs: BTreeSet<_> = met.iter().map(|(names, _)| names).collect();
    assert_eq!(pairs.len(), met.len(), "somebody has met somebody twice: {met:?}");
    for row in bench.actor.record.standings().rows() {
        assert!(row.tally.byes <= 1, "{row:?}");
    }
}

async fn play(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let settings = SYSTEMS[seed as usize % SYSTEMS.len()];
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::open(folder.path(), settings).await;
    for at in 0..120 {
        step(&mut bench, &mut random).await;
        if bench.actor.progress.has_begun() && bench.actor.pairing.is_complete() {
            break;
        }
        if at % 30 == 29 {
            bench.settle().await;
            let (state, config) = (bench.state(), bench.actor.config.clone());
            let is_by_hand = bench.is_by_hand;
            bench.close().await;
            let replayed = replayed(folder.path(), &config).await;
            for (was, is) in state.lines().zip(replayed.lines()) {
                assert_eq!(is, was, "seed {seed}, step {at}, {settings}");
            }
            bench = Bench { is_by_hand, ..Bench::open(folder.path(), settings).await };
            for player in NAMES {
                bench.join(player);
            }
        }
    }
    if bench.actor.config.pairing == PairingKind::Swiss && !bench.is_by_hand {
        check_swiss(&bench);
    }
    bench.close().await;
}

#[test]
async fn the_history_leads_to_the_state_that_was_left() {
    // `ORDERS_CASES=2000 cargo test -p zeitnot -p zeitnot-arena --lib the_history_leads` tries more.
    let cases = std::env::var("ORDERS_CASES").map_or(25, |cases| cases.parse().unwrap());
    for seed in 0..cases {
        play(seed).await;
    }
}

const WHITE: GameResult = GameResult::Won(Color::White);
const BLACK: GameResult = GameResult::Won(Color::Black);

/// A tournament with these players.
async fn begun(folder: &Path, settings: &str, players: &[&'static str]) -> Bench {
    let mut bench = Bench::open(folder, settings).await;
    players.iter().for_each(|player| assert!(bench.join(player)));
    if bench.actor.progress.is_waiting() {
        assert_eq!(bench.order(Command::Start).await, Ok(()));
    }
    bench
}

/// Closes the arena, and opens it again with all players there.
async fn reopened(bench: Bench, folder: &Path, settings: &str) -> Bench {
    let (state, config) = (bench.state(), bench.actor.config.clone());
    let players: Vec<_> = bench.clients.keys().copied().collect();
    bench.close().await;
    assert_eq!(replayed(folder, &config).await, state);
    let mut bench = Bench::open(folder, settings).await;
    players.iter().for_each(|player| assert!(bench.join(player)));
    bench
}

#[test]
async fn a_pause_keeps_the_running_game_and_pairs_nobody_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\ngames_per_pair = 1";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    assert!(matches!(bench.order(Command::Start).await, Err(CommandError::HasBegun(_))));
    assert!(matches!(bench.order(Command::Resume).await, Err(CommandError::NotPaused(_))));
    bench.actor.pair();
    let first = bench.actor.invitations.iter().next().unwrap().0;
    bench.begin(first);
    assert_eq!(bench.order(Command::Pause).await, Ok(()));
    assert_eq!((bench.actor.invitations.iter().count(), bench.games().len()), (0, 1));
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    bench.end(&white, &black, WHITE).await;
    assert_eq!((bench.score(&white), bench.games().len()), (1.0, 0));
    let mut bench = reopened(bench, folder.path(), settings).await;
    bench.pair();
    assert_eq!(bench.games().len(), 0);
    assert_eq!(bench.order(Command::Resume).await, Ok(()));
    bench.pair();
    assert_eq!(bench.games().len(), 1);
    bench.close().await;
}

#[test]
async fn whoever_is_removed_loses_forfeits_and_stays_out() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 3\ngames_per_pair = 2";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd"]).await;
    bench.pair();
    let [white, _] = bench.games()[0].clone();
    let remove = |player: &str| Command::Remove { player: name(player), note: Some(note()) };
    assert_eq!(bench.order(remove(&white)).await, Ok(()));
    assert_eq!(bench.order(remove(&white)).await, Err(CommandError::IsRemoved(name(&white))));
    assert_eq!(bench.order(remove("nobody")).await, Err(CommandError::UnknownPlayer(name("nobody"))));
    let row = bench.actor.record.standings().rows().into_iter().find(|row| row.name == name(&white)).unwrap();
    assert_eq!((row.tally.losses, row.tally.forfeits), (4, 3), "one at the board");
    let white = NAMES.into_iter().find(|known| *known == white).unwrap();
    assert!(!bench.clients.contains_key(white), "the connection is closed");
    let mut bench = reopened(bench, folder.path(), settings).await;
    let (client, _outbox) = Client::channel(CancellationToken::new());
    let refused = bench.actor.join(Applicant { name: name(white), proof: Proof::Account, client });
    assert_eq!(refused, Err(JoinError::Removed { name: name(white), note: Some(note()) }));
    // The other two go on.
    for _ in 0..2 {
        bench.pair();
        let [white, black] = bench.games()[0].clone();
        bench.end(&white, &black, GameResult::Draw).await;
    }
    assert!(bench.actor.is_complete());
    bench.close().await;
}

#[test]
async fn a_forfeit_decides_a_game_that_runs_or_waits() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\npairing = 'swiss'\nrounds = 2";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    let forfeit = |player: &str| Command::Forfeit { player: name(player), note: Some(note()) };
    let nothing = Err(CommandError::NothingToForfeit(name("ada")));
    assert_eq!(bench.order(forfeit("ada")).await, nothing, "nothing is paired");
    bench.actor.pair();
    let first = bench.actor.invitations.iter().next().unwrap().0;
    bench.begin(first);
    let [running, _] = bench.games()[0].clone();
    let waiting = NAMES.into_iter().find(|name| !bench.games()[0].contains(&(*name).to_owned())).unwrap();
    assert_eq!(bench.order(forfeit(&running)).await, Ok(()));
    assert_eq!(bench.order(forfeit(waiting)).await, Ok(()));
    assert_eq!(bench.score(&running) + bench.score(waiting), 0.0);
    let forfeits: u32 = bench.actor.record.standings().rows().iter().map(|row| row.tally.forfeits).sum();
    assert_eq!(forfeits, 1, "the other was lost at the board");
    let mut bench = reopened(bench, folder.path(), settings).await;
    bench.actor.pair();
    assert_eq!(bench.actor.pairing.round(), Some(2));
    bench.close().await;
}

#[test]
async fn fewer_players_than_had_joined_do_not_begin_a_tournament_at_its_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::open(folder.path(), "players = 4").await;
    for player in ["ada", "bob", "cyd"] {
        assert!(bench.join(player));
    }
    bench.leave("cyd");
    bench.close().await;
    let bench = Bench::open(folder.path(), "players = 3").await;
    assert!(bench.actor.progress.is_waiting());
    bench.close().await;
}

#[test]
async fn a_late_one_comes_into_the_next_round_of_a_swiss_and_the_organiser_pairs_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "start = 'organiser'\npairing = 'swiss'\nrounds = 2\nplayers = 6\nacceleration = 'baku'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    bench.pair();
    assert!(!bench.join("eve"), "nobody is let in");
    assert_eq!(bench.order(Command::LateEntries(true)).await, Ok(()));
    assert!(bench.join("eve"));
    assert_eq!(bench.order(Command::Pause).await, Ok(()));
    for [white, black] in bench.games() {
        bench.end(&white, &black, GameResult::Draw).await;
    }
    let mut bench = reopened(bench, folder.path(), settings).await;
    // The next round is paired for it.
    let pair = |white: &str, black: &str| Command::Pair { white: name(white), black: name(black) };
    assert_eq!(bench.order(pair("eve", "ada")).await, Ok(()));
    assert!(matches!(bench.order(pair("eve", "ada")).await, Err(CommandError::NotPaired { .. })));
    assert!(!bench.join("fay"), "the last round is paired");
    let mut bench = reopened(bench, folder.path(), settings).await;
    assert_eq!(bench.order(Command::Resume).await, Ok(()));
    bench.pair();
    assert!(bench.games().contains(&["eve".to_owned(), "ada".to_owned()]), "{:?}", bench.games());
    for [white, black] in bench.games() {
        bench.end(&white, &black, WHITE).await;
    }
    assert!(bench.actor.is_complete());
    assert_eq!(bench.score("eve"), 1.0, "nothing for the round before");
    let report = bench.actor.record.standings().trf("class").unwrap();
    let accelerated = report.lines().filter(|line| line.starts_with("XXA"));
    assert_eq!(accelerated.count(), 2, "half of those of the first round");
    bench.close().await;
}
