//! Players who come back after they were out.

use super::*;

#[test]
async fn whoever_stayed_away_from_a_swiss_joins_again_for_the_next_round() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 6\npairing = 'swiss'\nrounds = 4";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan", "eve", "fay"]).await;
    bench.pair();
    bench.leave("dan");
    bench.settle().await;
    let seat = bench.actor.players.seat_of("dan").unwrap();
    bench.actor.withdraw(seat, Departure::Absence);
    let plays = |bench: &Bench| bench.games().concat().contains(&"dan".to_owned());
    let end_round = async |bench: &mut Bench| {
        for [white, black] in bench.games() {
            bench.end(&white, &black, GameResult::Draw).await;
        }
        bench.pair();
    };
    end_round(&mut bench).await;
    assert!(!plays(&bench) && bench.actor.players.seats[&seat].is_withdrawn);
    assert!(bench.join("dan"));
    assert!(!bench.actor.players.seats[&seat].is_withdrawn);
    let mut bench = reopened(bench, folder.path(), settings).await;
    bench.pair();
    assert!(!plays(&bench), "the round is paired");
    end_round(&mut bench).await;
    assert!(plays(&bench));
    // Once more, and back before the withdrawal is on the disk.
    bench.leave("dan");
    bench.actor.conclude_games();
    bench.settle().await;
    bench.actor.withdraw(seat, Departure::Absence);
    assert!(bench.join("dan"));
    bench.settle().await;
    end_round(&mut bench).await;
    assert!(plays(&bench));
    // No round is left to come back for.
    bench.leave("dan");
    bench.settle().await;
    bench.actor.withdraw(seat, Departure::Absence);
    bench.settle().await;
    assert!(bench.join("dan") && bench.actor.players.seats[&seat].is_withdrawn);
    let bench = reopened(bench, folder.path(), settings).await;
    bench.close().await;
}
