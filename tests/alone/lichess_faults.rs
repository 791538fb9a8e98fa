//! Eight games of the program itself through faults between it and its server: none is lost or broken off, no move is
//! played twice, nothing crashes, and the user reads a line, not a thousand.

use std::time::Duration;

use tokio::time::sleep;
use zeitnot_engine::Kind;
use zeitnot_testing::{LONG, until};

use crate::lichess_proxy::{Faults, Proxy, Sent};
use crate::support::{
    lichess_arena::{self, Bot},
    lichess_client::{Client, PATIENT, start_with},
    program::Program,
};

const GAMES: usize = 8;
/// Time-outs of the program here: seconds instead of half a minute.
const HURRY: &str = "concurrency = 8\n[server.timeouts]\nsilence = '3s'\nreply = '3s'\nrate_limited = '300ms'\n\
                     reconnect = { min_delay = '30ms', max_delay = '300ms', stable_after = '10s' }";
/// Look-up of all running games, which follows each opening of the event stream.
const LOOK: &str = "/api/account/playing?nb=50";
/// Each move takes at least this while a test waits for the middle of its games.
const SLOWLY: Duration = Duration::from_millis(50);

/// Alice is the program, behind a bad connection; Bob plays from here, over a good one.
struct Match {
    arena: lichess_arena::Lichess,
    proxy: Proxy,
    alice: Bot,
    bob: Client,
    games: Vec<String>,
}

impl Match {
    /// Starts eight games.
    async fn start(faults: Faults) -> (Match, Program) {
        Match::with(GAMES, HURRY, faults).await
    }

    /// Starts this many games with these settings of the program.
    async fn with(count: usize, timeouts: &str, faults: Faults) -> (Match, Program) {
        let settings =
            "event_keep_alive = '200ms'\ngame_keep_alive = '200ms'\n[lichess.limits]\nmoves = 100000";
        let arena = lichess_arena::Lichess::start(settings).await;
        let proxy = Proxy::start(arena.address).await;
        proxy.set(faults);
        let program = Program::start(arena.arena.folder.path(), &proxy.url, "lip_alice", timeouts);
        let bob = start_with(&arena.url(), "lip_bob", Kind::Random, &format!("concurrency = 8\n{PATIENT}"));
        let mut this = Match { alice: arena.bot("alice"), arena, proxy, bob, games: Vec::new() };
        this.alice.sees_online("alice,bob").await;
        for _ in 0..count {
            // Games that end soon, whoever plays them.
            let form = "variant=antichess&clock.limit=60&clock.increment=1";
            let challenge = this.alice.challenge("bob", form).await;
            this.games.push(challenge["id"].as_str().unwrap().to_owned());
        }
        (this, program)
    }

    async fn running(&self) -> usize {
        self.alice.playing().await.len()
    }

    /// Waits until Alice has sent this many moves in each game.
    async fn are_amid(&self, moves: usize) {
        let amid = async || self.games.iter().all(|game| self.proxy.sent(game).len() >= moves);
        until("the games get going", amid).await;
        assert!(self.running().await > GAMES / 2, "most games run when it happens");
    }

    /// Waits for the end of all games, and checks that each ended by the rules and had no move too many.
    async fn ends(self) {
        self.ends_after(0).await;
    }

    /// The same, where the bot could not know this often in each game that its last move had arrived.
    async fn ends_after(self, unknown: usize) {
        until("the games end", async || self.running().await == 0).await;
        for game in &self.games {
            let full = self.alice.watch(game).await.expect("gameFull").await;
            let moves = full["state"]["moves"].as_str().unwrap();
            let status = &full["state"]["status"];
            let by_rule = ["mate", "variantEnd", "stalemate", "draw"].contains(&status.as_str().unwrap());
            assert!(by_rule, "{game} ended with {status}: {moves}");
            let is_black = usize::from(full["black"]["id"] == "alice");
            let played: Vec<_> = moves.split(' ').skip(is_black).step_by(2).collect();
            let mut sent = self.proxy.sent(game);
            once(&sent);
            sent.retain(|sent| sent.answered.is_some());
            let (good, bad): (Vec<_>, Vec<_>) = sent.into_iter().partition(|sent| sent.answered == Some(200));
            assert_eq!(good.iter().map(|sent| sent.mv.as_str()).collect::<Vec<_>>(), played);
            assert!(bad.len() <= unknown, "{game}: the server refused {bad:?} of {moves}");
        }
        self.bob.shutdown.now.cancel();
        self.bob.ends().await;
        // The program does not hear the end of the arena, which it would warn of.
        self.proxy.silence();
        self.arena.stop().await;
    }
}

/// A move that the bot knew to be played was not sent again.
fn once(sent: &[Sent]) {
    for tries in sent.chunk_by(|one, next| one.mv == next.mv) {
        let (_, before) = tries.split_last().unwrap();
        assert!(before.iter().all(|one| one.told != Some(200)), "sent again: {tries:?}");
    }
}

/// At most this many warnings, each of which contains one of these.
fn warned(program: &Program, most: usize, of: &[&str]) {
    let warnings = program.warnings();
    let expected = |line: &&String| of.iter().any(|of| line.contains(of));
    assert!(warnings.len() <= most && warnings.iter().all(|line| expected(&line)), "{warnings:#?}");
}

#[test(limit = LONG)]
async fn refused_moves_and_lost_answers_cost_no_game() {
    let faults = Faults { refused: vec![(14, 429), (4, 503)], lost: Some(5), ..Faults::default() };
    let hurry = HURRY.replace("300ms", "60ms");
    let (games, program) = Match::with(GAMES / 2, &hurry, faults).await;
    // Of about six moves a game whose answer is lost, the stream tells in time; on a busy machine nearly always.
    games.ends_after(2).await;
    let lines = ["on purpose", "server error", "network", "too many"];
    warned(&program, 2, &lines);
    assert!(!program.warnings().is_empty());
}

#[test(limit = LONG)]
async fn streams_that_close_after_each_line_cost_no_game() {
    let (games, program) = Match::start(Faults { close_streams: true, ..Faults::default() }).await;
    games.ends().await;
    warned(&program, 0, &[]);
}

#[test(limit = LONG)]
async fn invalid_and_split_lines_cost_no_game() {
    let (games, program) = Match::start(Faults { garbage: true, ..Faults::default() }).await;
    games.ends().await;
    warned(&program, 1, &["skipped a line"]);
    assert!(!program.warnings().is_empty());
}

#[test(limit = LONG)]
async fn silent_streams_cost_no_game() {
    let slow = Faults { delay: SLOWLY, ..Faults::default() };
    let (games, program) = Match::start(slow).await;
    games.are_amid(3).await;
    games.proxy.silence();
    games.proxy.set(Faults::default());
    let looked = games.proxy.asked(LOOK);
    until("the running games are looked up again", async || games.proxy.asked(LOOK) > looked).await;
    games.ends().await;
    warned(&program, 1, &["no data for 3.0 s"]);
    assert!(!program.warnings().is_empty());
}

/// The same with the settings that users have, and a server that says nothing on new streams either.
#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: a minute"]
async fn half_a_minute_of_silence_costs_no_game() {
    let (games, program) =
        Match::with(GAMES, "concurrency = 8", Faults { delay: SLOWLY, ..Faults::default() }).await;
    games.are_amid(3).await;
    games.proxy.silence();
    games.proxy.set(Faults { mute: true, ..Faults::default() });
    sleep(Duration::from_secs(30)).await;
    games.proxy.set(Faults::default());
    games.ends().await;
    warned(&program, 1, &["no data for"]);
    assert!(!program.warnings().is_empty());
}

#[test(limit = LONG)]
async fn refused_streams_cost_no_game() {
    let (games, program) = Match::start(Faults { delay: SLOWLY, ..Faults::default() }).await;
    games.are_amid(3).await;
    for status in [429, 502] {
        games.proxy.set(Faults { no_streams: Some(status), ..Faults::default() });
        games.proxy.cut();
        sleep(Duration::from_millis(700)).await;
    }
    games.proxy.set(Faults::default());
    // Moves were on their way when the connections broke, and no stream could tell of them: once for each cut.
    games.ends_after(2).await;
    warned(&program, 2, &["too many requests (on purpose)", "reconnecting in", "sending it again in"]);
    assert!(!program.warnings().is_empty());
}

#[test]
async fn an_outage_costs_no_game() {
    let (games, program) = Match::start(Faults { delay: SLOWLY, ..Faults::default() }).await;
    games.are_amid(3).await;
    games.proxy.set(Faults { away: true, ..Faults::default() });
    games.proxy.cut();
    sleep(Duration::from_secs(2)).await;
    games.proxy.set(Faults::default());
    games.ends_after(1).await;
    warned(&program, 1, &["reconnecting in", "sending it again in"]);
    assert!(!program.warnings().is_empty());
}

#[test(limit = LONG)]
async fn a_program_that_was_killed_takes_its_games_up_again() {
    let (games, program) = Match::start(Faults { delay: SLOWLY, ..Faults::default() }).await;
    games.are_amid(3).await;
    program.kill().await;
    games.proxy.set(Faults::default());
    assert_eq!(games.proxy.asked(LOOK), 1);
    // A move of the killed program that arrives after one of the next would be played as well.
    let arrived = |game: &String| games.proxy.sent(game).iter().all(|sent| sent.answered.is_some());
    until("the last moves arrive", async || games.games.iter().all(arrived)).await;
    let program = Program::start(games.arena.arena.folder.path(), &games.proxy.url, "lip_alice", HURRY);
    until("the running games are looked up", async || games.proxy.asked(LOOK) == 2).await;
    games.ends_after(1).await;
    warned(&program, 0, &[]);
}

#[test(limit = LONG)]
async fn a_token_revoked_amid_the_games_ends_the_program_with_one_line() {
    let (games, program) = Match::start(Faults { delay: SLOWLY, ..Faults::default() }).await;
    games.are_amid(2).await;
    assert_eq!(games.alice.text("DELETE", "/api/token", "", "").await.0, 204);
    let (code, told) = program.ends().await;
    assert_eq!(code, Some(1), "{told:#?}");
    let last: Vec<_> = told.iter().filter(|line| !line.contains(" INFO ")).collect();
    let [error] = last[..] else { panic!("{told:#?}") };
    assert!(error.starts_with("error: ") && error.contains("the token is not accepted"), "{error}");
    assert!(error.contains("make a new one with the scope bot:play"), "{error}");
    games.bob.shutdown.now.cancel();
    games.bob.ends().await;
    games.arena.stop().await;
}
