//! Players who come back after they were out.

use std::time::Duration;

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
    assert!(!plays(&bench) && bench.actor.players.get(seat).unwrap().is_withdrawn);
    assert!(bench.join("dan"));
    assert!(!bench.actor.players.get(seat).unwrap().is_withdrawn);
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
    assert!(bench.join("dan") && bench.actor.players.get(seat).unwrap().is_withdrawn);
    let bench = reopened(bench, folder.path(), settings).await;
    bench.close().await;
}

/// Pairs; everybody but this player acknowledges. Returns the opponent's name.
fn pair_in_silence(bench: &mut Bench, player: &str) -> String {
    bench.actor.pair();
    let silent = bench.actor.players.seat_of(player).unwrap();
    let mut opponent = None;
    for (tag, pairing) in bench.actor.invitations.iter() {
        let seats = pairing.seats.0;
        if seats.contains(&silent) {
            opponent = seats.into_iter().find(|seat| *seat != silent).map(|seat| (tag, seat));
        }
    }
    let (tag, opponent) = opponent.unwrap();
    let others = bench.actor.invitations.iter().map(|(other, _)| other).filter(|other| *other != tag);
    others.collect::<Vec<_>>().into_iter().for_each(|other| bench.begin(other));
    bench.actor.accept(tag, opponent);
    bench.actor.players.get(opponent).unwrap().name.to_string()
}

#[test]
async fn a_silent_player_of_a_swiss_costs_its_own_game_and_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\npairing = 'swiss'\nrounds = 3\nack_timeout = '20s'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    // It joins again each time, as bots do, and has less time then.
    for seconds in [20, 2] {
        let opponent = pair_in_silence(&mut bench, "dan");
        let before = bench.score(&opponent);
        bench.actor.expire(Instant::now() + Duration::from_secs(seconds));
        bench.settle().await;
        assert_eq!((bench.score(&opponent), bench.score("dan")), (before + 1.0, 0.0), "within {seconds} s");
        assert!(!bench.clients.contains_key("dan"), "the connection is closed");
        assert!(bench.join("dan"));
        let [[white, black]] = <[_; 1]>::try_from(bench.games()).unwrap();
        bench.end(&white, &black, GameResult::Draw).await;
    }
    bench.pair();
    assert!(bench.games().concat().contains(&"dan".to_owned()), "the last round");
    let seat = bench.actor.players.seat_of("dan").unwrap();
    assert!(!bench.actor.players.get(seat).unwrap().is_silent);
    bench.close().await;
}

#[test]
async fn two_silent_players_of_a_swiss_are_paired_again_without_a_point() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 2\npairing = 'swiss'\nrounds = 1\nack_timeout = '20s'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob"]).await;
    bench.actor.pair();
    bench.actor.expire(Instant::now() + Duration::from_secs(20));
    bench.settle().await;
    assert!(bench.clients.is_empty(), "both connections are closed");
    assert!(bench.join("ada") && bench.join("bob"));
    assert_eq!((bench.score("ada"), bench.score("bob")), (0.0, 0.0));
    bench.pair();
    let [[white, black]] = <[_; 1]>::try_from(bench.games()).unwrap();
    bench.end(&white, &black, GameResult::Draw).await;
    assert_eq!((bench.score("ada"), bench.score("bob")), (0.5, 0.5));
    bench.close().await;
}

#[test]
async fn the_reason_of_an_earlier_withdrawal_is_not_told_again() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 4\npairing = 'swiss'\nrounds = 3\nack_timeout = '20s'";
    let mut bench = begun(folder.path(), settings, &["ada", "bob", "cyd", "dan"]).await;
    pair_in_silence(&mut bench, "dan");
    bench.actor.expire(Instant::now() + Duration::from_secs(20));
    bench.settle().await;
    let out = async || {
        let mut reader = Reader::open(&folder.path().join("zeitnot.db").into()).await.unwrap();
        let tournament = reader.tournaments().await.unwrap().remove(0);
        restore::out(&reader.history(tournament).await.unwrap())
    };
    assert_eq!(out().await, [(name("dan"), "No acknowledgement".to_owned())].into());
    assert!(bench.join("dan"));
    let [[white, black]] = <[_; 1]>::try_from(bench.games()).unwrap();
    bench.end(&white, &black, GameResult::Draw).await;
    bench.leave("dan");
    let seat = bench.actor.players.seat_of("dan").unwrap();
    bench.actor.withdraw(seat, Departure::Absence);
    bench.settle().await;
    // There was no game to forfeit.
    assert_eq!(out().await, [(name("dan"), "Withdrawn".to_owned())].into());
    bench.close().await;
}

#[test]
async fn an_open_tournament_whose_names_are_all_taken_gives_away_the_seats_of_those_who_have_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = Bench::open(folder.path(), "name_held = '0s'").await;
    for number in 0..MAX_PLAYERS {
        assert!(bench.join(format!("p{number}").leak()), "{number}");
    }
    assert!(!bench.join("late"));
    bench.leave("p7");
    assert!(bench.join("late"));
    bench.close().await;
}

#[test]
async fn nobody_joins_late_if_the_games_would_be_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "players = 2\nlate_entries = true\ngames_per_pair = 25000";
    let mut bench = begun(folder.path(), settings, &["ada", "bob"]).await;
    assert!(bench.join("cyd"));
    assert!(!bench.join("dan"));
    bench.close().await;
}
