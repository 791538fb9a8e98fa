//! Corrections of results, and what follows from them.

use zeitnot_pairing::NotNow;

use super::*;

fn correct(game: &str, result: Option<GameResult>) -> Command {
    Command::Correct { game: game.to_owned(), result, note: note() }
}

#[test]
async fn a_correction_counts_from_its_place_and_a_game_that_does_not_count_is_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 3\ngames_per_pair = 1";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let running = bench.running()[0].to_string();
    assert_eq!(
        bench.order(correct(&running, Some(BLACK))).await,
        Err(CommandError::Running(running.clone()))
    );
    let game = bench.end(&white, &black, WHITE).await;
    assert_eq!(bench.order(correct("none", None)).await, Err(CommandError::UnknownGame("none".into())));
    assert_eq!(bench.order(correct(&game, Some(WHITE))).await, Err(CommandError::Unchanged(game.clone())));
    let mut bench = reopened(bench, folder.path(), settings).await;
    assert_eq!(bench.order(correct(&game, Some(BLACK))).await, Ok(()));
    assert_eq!((bench.score(&white), bench.score(&black)), (0.0, 1.0));
    assert_eq!(bench.order(correct(&game, None)).await, Ok(()));
    assert_eq!((bench.score(&white), bench.score(&black)), (0.0, 0.0));
    let mut bench = reopened(bench, folder.path(), settings).await;
    // The one who has not played is first; then the two meet again.
    let meet =
        |games: &[[String; 2]]| games.iter().any(|game| game.contains(&white) && game.contains(&black));
    while !meet(&bench.games()) {
        bench.pair();
        let [one, other] = bench.games()[0].clone();
        if !meet(&bench.games()) {
            bench.end(&one, &other, GameResult::Draw).await;
        }
    }
    let refused = bench.order(correct(&game, Some(WHITE))).await.unwrap_err();
    assert!(refused.to_string().contains("no game left"), "{refused}");
    bench.close().await;
}

#[test]
async fn whoever_left_after_the_last_game_is_waited_for_if_one_is_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench =
        begun(folder.path(), "players = 2\ngames_per_pair = 1\nabsent_after = '0s'", &["ada", "bob"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let game = bench.end(&white, &black, WHITE).await;
    bench.leave("ada");
    let seat = bench.actor.players.seat_of("ada").unwrap();
    bench.actor.withdraw(seat, Departure::Absence);
    assert_eq!(bench.actor.absent().count(), 0, "all is played");
    assert_eq!(bench.order(correct(&game, None)).await, Ok(()));
    assert_eq!(bench.actor.absent().count(), 1);
    bench.close().await;
}

#[test]
async fn a_complete_tournament_takes_corrections_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "players = 2\ngames_per_pair = 1", &["ada", "bob"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let game = bench.end(&white, &black, WHITE).await;
    bench.actor.close(true).await;
    bench.actor.progress.end();
    assert_eq!(bench.order(correct(&game, Some(BLACK))).await, Ok(()));
    assert_eq!((bench.score(&white), bench.score(&black)), (0.0, 1.0));
    assert_eq!(bench.order(correct(&game, None)).await, Err(CommandError::NotAgain(game)));
    assert_eq!(bench.order(Command::Pause).await, Err(CommandError::Over("class".into())));
    assert!(!bench.join("cyd"));
    bench.close().await;
}

#[test]
async fn a_correction_on_its_way_to_the_disk_keeps_the_seat_of_a_player_who_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "games_per_pair = 2", &["ada", "bob"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let game = bench.end(&white, &black, WHITE).await;
    assert_eq!(bench.order(correct(&game, None)).await, Ok(()));
    let (answer, answered) = oneshot::channel();
    bench.actor.command(correct(&game, Some(BLACK)), answer);
    bench.leave(&white);
    bench.settle().await;
    assert_eq!(answered.await.unwrap(), Ok(()));
    assert_eq!((bench.score(&black), bench.score(&white)), (1.0, 0.0));
    let bench = reopened(bench, folder.path(), "games_per_pair = 2").await;
    assert_eq!((bench.score(&black), bench.score(&white)), (1.0, 0.0));
    bench.close().await;
}

#[test]
async fn a_forfeit_on_its_way_to_the_disk_keeps_the_seat_of_a_player_who_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "games_per_pair = 2", &["ada", "bob"]).await;
    bench.actor.pair();
    let (answer, answered) = oneshot::channel();
    bench.actor.command(Command::Forfeit { player: name("ada"), note: None }, answer);
    bench.leave("ada");
    bench.settle().await;
    assert_eq!(answered.await.unwrap(), Ok(()));
    assert_eq!((bench.score("ada"), bench.score("bob")), (0.0, 1.0));
    let bench = reopened(bench, folder.path(), "games_per_pair = 2").await;
    assert_eq!((bench.score("ada"), bench.score("bob")), (0.0, 1.0));
    bench.close().await;
}

#[test]
async fn a_game_that_has_been_played_again_does_not_count_again() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 2\ngames_per_pair = 2";
    let mut bench = begun(folder.path(), settings, &["ada", "bob"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let first = bench.end(&white, &black, WHITE).await;
    assert_eq!(bench.order(correct(&first, None)).await, Ok(()));
    assert_eq!(bench.order(correct(&first, Some(WHITE))).await, Ok(()), "nobody has played meanwhile");
    assert_eq!(bench.order(correct(&first, None)).await, Ok(()));
    bench.pair();
    assert_eq!(bench.games(), [[white.clone(), black.clone()]], "the colours of the first game");
    let refused =
        |game: &str| Err(CommandError::NotCorrected { game: game.to_owned(), why: NotNow::PlayedAgain });
    assert_eq!(bench.order(correct(&first, Some(WHITE))).await, refused(&first));
    let again = bench.end(&white, &black, BLACK).await;
    assert_eq!(bench.order(correct(&first, Some(WHITE))).await, refused(&first));
    let mut bench = reopened(bench, folder.path(), settings).await;
    bench.pair();
    assert_eq!(bench.games(), [[black.clone(), white.clone()]]);
    // The second time is taken back, and the first one counts.
    assert_eq!(bench.order(correct(&again, None)).await, Ok(()));
    assert_eq!(bench.order(correct(&first, Some(WHITE))).await, Ok(()));
    bench.end(&black, &white, GameResult::Draw).await;
    assert!(bench.actor.is_complete());
    assert_eq!((bench.score(&white), bench.score(&black)), (1.5, 0.5));
    bench.close().await;
}

#[test]
async fn a_game_that_was_forfeited_instead_does_not_count_as_the_next_one_of_its_players() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 3\npairing = 'swiss'\nrounds = 2";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let game = bench.end(&white, &black, WHITE).await;
    assert_eq!(bench.order(correct(&game, None)).await, Ok(()));
    bench.actor.pair();
    assert_eq!(bench.order(Command::Forfeit { player: name(&white), note: None }).await, Ok(()));
    bench.actor.pair();
    let [ada, bob] = [&white, &black].map(|player| name(player));
    assert_eq!(bench.order(Command::Pair { white: ada, black: bob }).await, Ok(()));
    let refused = Err(CommandError::NotCorrected { game: game.clone(), why: NotNow::RoundOver });
    assert_eq!(bench.order(correct(&game, Some(BLACK))).await, refused);
    bench.pair();
    bench.end(&white, &black, WHITE).await;
    assert_eq!((bench.score(&white), bench.score(&black)), (1.0, 1.0));
    let bench = reopened(bench, folder.path(), settings).await;
    assert_eq!((bench.score(&white), bench.score(&black)), (1.0, 1.0));
    bench.close().await;
}

/// The game that a player is in.
fn game_of(bench: &Bench, player: &str) -> [String; 2] {
    bench.games().into_iter().find(|names| names.contains(&player.to_owned())).unwrap()
}

#[test]
async fn a_match_of_draws_is_the_better_seeds_however_its_last_game_came_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\npairing = 'knockout'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    for _ in 0..6 {
        bench.pair();
        let [white, black] = game_of(&bench, "ada");
        bench.end(&white, &black, GameResult::Draw).await;
    }
    bench.pair();
    assert_eq!(game_of(&bench, "ada"), ["ada", "dan"]);
    let last = bench.end("ada", "dan", BLACK).await;
    let points = |bench: &Bench| ["ada", "dan"].map(|player| bench.score(player));
    assert_eq!(points(&bench), [0.0, 1.0]);
    assert_eq!(bench.order(correct(&last, Some(GameResult::Draw))).await, Ok(()));
    assert_eq!(points(&bench), [1.0, 0.0], "the bye of the better seed");
    let mut bench = reopened(bench, folder.path(), settings).await;
    assert_eq!(points(&bench), [1.0, 0.0]);
    assert_eq!(bench.order(correct(&last, Some(BLACK))).await, Ok(()));
    assert_eq!(points(&bench), [0.0, 1.0]);
    let bench = reopened(bench, folder.path(), settings).await;
    assert_eq!(points(&bench), [0.0, 1.0]);
    bench.close().await;
}

#[test]
async fn a_forfeit_in_a_knockout_that_is_corrected_to_a_draw_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\npairing = 'knockout'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    bench.actor.pair();
    assert_eq!(bench.order(Command::Forfeit { player: name("ada"), note: None }).await, Ok(()));
    let forfeit = bench.actor.record.ids().swap_remove(0);
    assert_eq!(bench.order(correct(&forfeit, Some(GameResult::Draw))).await, Ok(()));
    assert_eq!((bench.score("ada"), bench.score("dan")), (0.0, 0.0));
    bench.pair();
    let [white, black] = game_of(&bench, "ada");
    bench.end(&white, &black, WHITE).await;
    assert_eq!((bench.score(&white), bench.score(&black)), (1.0, 0.0));
    let bench = reopened(bench, folder.path(), settings).await;
    bench.close().await;
}

#[test]
async fn a_correction_waits_for_those_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = begun(folder.path(), "players = 2\ngames_per_pair = 2", &["ada", "bob"]).await;
    bench.pair();
    let [white, black] = bench.games()[0].clone();
    let game = bench.end(&white, &black, WHITE).await;
    let (answer, first) = oneshot::channel();
    bench.actor.command(correct(&game, Some(BLACK)), answer);
    let second = correct(&game, Some(GameResult::Draw));
    assert_eq!(bench.order(second.clone()).await, Err(CommandError::Unsettled(game.clone())));
    assert_eq!((first.await.unwrap(), bench.score(&black)), (Ok(()), 1.0));
    assert_eq!(bench.order(second).await, Ok(()));
    assert_eq!((bench.score(&white), bench.score(&black)), (0.5, 0.5));
    bench.close().await;
}

#[test]
async fn a_correction_finds_its_place_among_equal_results_on_their_way_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 3\ngames_per_pair = 3";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd"]).await;
    let mut games = Vec::new();
    while games.len() < 6 {
        bench.pair();
        let [white, black] = bench.games()[0].clone();
        games.push((white.clone(), bench.end(&white, &black, GameResult::Draw).await, black));
    }
    // The same two with the same colours end a game that is not on the disk when the first one is corrected.
    let equal = |games: &[(String, String, String)], [white, black]: &[String; 2]| {
        games.iter().find(|(one, _, other)| one == white && other == black).map(|(_, id, _)| id.clone())
    };
    let first = loop {
        bench.pair();
        let [white, black] = bench.games()[0].clone();
        if let Some(first) = equal(&games, &[white.clone(), black.clone()]) {
            break first;
        }
        games.push((white.clone(), bench.end(&white, &black, GameResult::Draw).await, black));
    };
    let tag = bench.running()[0];
    bench.end_game(tag, GameResult::Draw);
    bench.actor.conclude_games();
    assert_eq!(bench.order(correct(&first, Some(WHITE))).await, Ok(()));
    let bench = reopened(bench, folder.path(), settings).await;
    bench.close().await;
}

/// A Swiss whose only round is played, in a pause, so that results can be corrected; the games, White first, with their
/// ids, and the player who has the bye.
async fn swiss_in_pause(folder: &Path, settings: &str) -> (Bench, [String; 2], String, &'static str) {
    let mut bench = begun(folder, settings, &["ada", "bob", "cyd"]).await;
    bench.pair();
    let [names] = <[_; 1]>::try_from(bench.games()).unwrap();
    assert_eq!(bench.order(Command::Pause).await, Ok(()));
    let game = bench.end(&names[0], &names[1], WHITE).await;
    let bye = ["ada", "bob", "cyd"].into_iter().find(|name| !names.contains(&(*name).to_owned())).unwrap();
    (bench, names, game, bye)
}

const SWISS: &str = "players = 3\npairing = 'swiss'\nrounds = 1";

#[test]
async fn a_game_of_a_player_removed_after_the_last_round_is_not_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let (mut bench, [white, black], game, _) = swiss_in_pause(folder.path(), SWISS).await;
    assert_eq!(bench.order(Command::Remove { player: name(&white), note: None }).await, Ok(()));
    let refused = CommandError::NotCorrected { game: game.clone(), why: NotNow::Withdrawn };
    assert_eq!(bench.order(correct(&game, None)).await, Err(refused));
    assert_eq!(bench.order(correct(&game, Some(BLACK))).await, Ok(()));
    assert_eq!((bench.score(&white), bench.score(&black)), (0.0, 1.0));
    let mut bench = reopened(bench, folder.path(), SWISS).await;
    assert_eq!(bench.order(Command::Resume).await, Ok(()));
    assert!(bench.actor.is_complete());
    bench.close().await;
}

#[test]
async fn a_removed_player_is_not_paired_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let (mut bench, [white, black], game, bye) = swiss_in_pause(folder.path(), SWISS).await;
    assert_eq!(bench.order(Command::Remove { player: name(bye), note: None }).await, Ok(()));
    assert_eq!(bench.order(correct(&game, None)).await, Ok(()));
    let pair = Command::Pair { white: name(bye), black: name(&black) };
    assert_eq!(bench.order(pair).await, Err(CommandError::IsRemoved(name(bye))));
    let mut bench = reopened(bench, folder.path(), SWISS).await;
    assert_eq!(bench.order(Command::Resume).await, Ok(()));
    bench.pair();
    bench.end(&white, &black, WHITE).await;
    assert!(bench.actor.is_complete());
    bench.close().await;
}
