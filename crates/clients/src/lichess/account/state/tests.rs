//! Accounts in outages, short of seats, and while they leave.

use std::{collections::VecDeque, sync::Arc};

use zeitnot_seat::{Opponent, Reservation};
use zeitnot_wire::{
    Message,
    lichess::{Challenge, ChallengeId, GameEvent},
};

use super::*;
use crate::lichess::{challenges::filter::tests::challenge, game::context::GameEnd};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

mod series;

/// An account, the time, and what it wants.
struct Driver {
    state: AccountState,
    now: Instant,
    wanted: VecDeque<Effect>,
}

impl Driver {
    fn new(config: &str, seats: &Seats) -> Driver {
        let now = Instant::now();
        let config: Config = toml::from_str(config).unwrap();
        let setup = AccountSetup {
            players: PlayerLists::new(config.players.clone()),
            config,
            me: "me".parse().unwrap(),
            history: None,
            seats: seats.clone(),
            seed: 7,
            unix_time: 1_800_000_000 * SECOND,
        };
        Driver { state: AccountState::new(setup, now), now, wanted: VecDeque::new() }
    }

    fn tell(&mut self, input: Input) {
        self.wanted.extend(self.state.on(input, self.now));
    }

    fn challenge(&mut self, number: usize) {
        self.tell(Input::Event(Event::Challenge { challenge: challenge_to_us(number), compat: None }));
    }

    fn begin(&mut self, number: usize) {
        self.tell(Input::Event(Event::GameStart { game: Box::new(game(number, "")) }));
    }

    /// Goes on until something is due, and then until `end`.
    fn wait_until(&mut self, end: Instant) {
        while let Some(due) = self.state.due().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.tell(Input::Wake);
        }
        self.now = end;
    }

    /// Takes the requests that are wanted now.
    fn requests(&mut self) -> Vec<Request> {
        self.wanted
            .drain(..)
            .filter_map(|effect| match effect {
                Effect::Send(request) => Some(request),
                _ => None,
            })
            .collect()
    }

    /// Takes what is wanted now, and returns the challenges that are being accepted.
    fn accepted(&mut self) -> Vec<ChallengeId> {
        let accepted = |request| match request {
            Request::Accept { challenge, .. } => Some(challenge),
            _ => None,
        };
        self.requests().into_iter().filter_map(accepted).collect()
    }

    fn seated(&mut self) -> Vec<(GameId, Reservation)> {
        let seat = |effect| match effect {
            Effect::Seat(id, seat) => Some((id, seat)),
            _ => None,
        };
        self.wanted.drain(..).filter_map(seat).collect()
    }

    fn finished(&mut self) -> Vec<GameId> {
        let finished = |effect| match effect {
            Effect::Finish(id, _) => Some(id),
            _ => None,
        };
        self.wanted.drain(..).filter_map(finished).collect()
    }

    fn has_left(&mut self) -> bool {
        self.wanted.drain(..).any(|effect| matches!(effect, Effect::Leave(Ok(()))))
    }

    fn lookup_fails(&mut self) {
        self.tell(Input::Reply(Reply::RunningGames(Err(HttpError::Server(502)))));
    }
}

fn id<I: std::str::FromStr<Err: std::fmt::Debug>>(number: usize) -> I {
    format!("{number:08}").parse().unwrap()
}

fn challenge_to_us(number: usize) -> Box<Challenge> {
    let mut challenge: Challenge = challenge("180+2");
    challenge.id = id(number);
    if let Some(user) = &mut challenge.challenger {
        user.id = format!("them{number}").parse().unwrap();
    }
    Box::new(challenge)
}

fn game(number: usize, more: &str) -> GameEvent {
    let line = format!(r#"{{"type":"gameStart","game":{{"gameId":"{number:08}","color":"white"{more}}}}}"#);
    match Event::parse(&line).unwrap() {
        Event::GameStart { game } => *game,
        other => panic!("{other:?}"),
    }
}

/// Thirty games, whose clocks run out while the server answers 502 for three hours.
#[test]
fn in_an_outage_the_running_games_are_looked_up_about_once_a_minute() {
    let mut account = Driver::new("concurrency = 30", &Seats::new(30));
    account.tell(Input::StreamOpened);
    account.tell(Input::Reply(Reply::RunningGames(Ok(Arc::default()))));
    (0..30).for_each(|number| account.begin(number));
    account.requests();
    let mut asked = Vec::new();
    for minute in 0..180_u32 {
        // Each game is without news, one crashes now and then, and proxies let the stream open in between.
        account.tell(Input::Overdue((0..30).map(id).collect()));
        if minute % 60 == 7 {
            account.tell(Input::GameEnded(id(29), None));
            account.tell(Input::StreamOpened);
        }
        let end = account.now + MINUTE;
        let mut count = 0;
        loop {
            let is_asked = |request: &Request| matches!(request, Request::RunningGames);
            let new = account.requests().iter().filter(|request| is_asked(request)).count();
            assert!(new <= 1, "one at a time");
            count += new;
            if new > 0 {
                account.now += SECOND / 10;
                account.lookup_fails();
            } else if account.state.due().is_some_and(|due| due < end) {
                let due = account.state.due().unwrap_or(end);
                account.wait_until(due);
            } else {
                break account.now = end;
            }
        }
        asked.push(count);
    }
    assert!(asked.iter().all(|count| *count <= 8) && asked.iter().sum::<usize>() < 250, "{asked:?}");
}

#[test]
fn accounts_together_accept_no_more_games_than_the_lobby_has_seats() {
    let seats = Seats::new(3);
    let mut one = Driver::new("", &seats);
    let mut other = Driver::new("", &seats);
    (0..4).for_each(|number| one.challenge(number));
    other.challenge(4);
    assert_eq!(one.accepted(), [id(0), id(1), id(2)]);
    assert_eq!(other.accepted(), []);
    // Accepted games keep their seats.
    (0..3).for_each(|number| one.begin(number));
    let seated = one.seated();
    assert_eq!(seated.len(), 3);
    one.tell(Input::GameEnded(id(1), Some(GameEnd::Over)));
    assert_eq!(one.accepted(), [], "its player is still there");
    drop(seated);
    other.tell(Input::Wake);
    one.tell(Input::Wake);
    assert_eq!(other.accepted(), [id(4)]);
    assert_eq!(one.accepted(), []);
    other.tell(Input::Reply(Reply::Accepted(id(4), Err(HttpError::NotFound))));
    one.tell(Input::Wake);
    assert_eq!(one.accepted(), [id(3)]);
}

#[test]
fn a_game_that_begins_unasked_waits_for_a_seat_before_all_challenges() {
    let seats = Seats::new(1);
    let mut account = Driver::new("", &seats);
    let taken = seats.reserve();
    account.tell(Input::Event(Event::GameStart { game: Box::new(game(1, r#","tournamentId":"ABCDEFGH""#)) }));
    account.challenge(2);
    assert!(account.wanted.iter().any(|effect| matches!(effect, Effect::Begin { .. })));
    assert!(account.accepted().is_empty());
    drop(taken);
    account.challenge(3);
    let seated = account.seated();
    assert!(matches!(seated[..], [(game, _)] if game == id(1)), "{seated:?}");
    drop(seated);
    account.tell(Input::GameEnded(id(1), Some(GameEnd::Over)));
    assert_eq!(account.accepted(), [id(2)]);
}

#[test]
fn a_challenge_takes_the_seat_of_our_own() {
    let seats = Seats::new(1);
    let mut account = Driver::new("", &seats);
    let order = r#"{"opponent":"bob","time_control":"180+2"}"#;
    account.tell(Input::Order(zeitnot_seat::Order::Challenge(serde_json::from_str(order).unwrap())));
    account.tell(Input::Reply(Reply::Created(Ok(id(1)))));
    assert!(!seats.has_free());
    account.requests();
    account.challenge(2);
    let requests = account.requests();
    let is_instead = |request: &Request| {
        matches!(request, Request::Accept { challenge, instead_of: Some(ours) }
            if (*challenge, *ours) == (id(2), id(1)))
    };
    assert!(requests.iter().any(is_instead), "{requests:?}");
    // Without a game the seat is free again.
    account.tell(Input::Reply(Reply::Accepted(id(2), Err(HttpError::NotFound))));
    assert!(seats.has_free());
}

#[test]
fn a_challenge_of_ours_on_its_way_that_gave_its_seat_up_takes_the_next() {
    let seats = Seats::new(1);
    let mut account = Driver::new("", &seats);
    let order = r#"{"opponent":"bob","time_control":"180+2"}"#;
    account.tell(Input::Order(zeitnot_seat::Order::Challenge(serde_json::from_str(order).unwrap())));
    account.challenge(2);
    assert_eq!(account.accepted(), [id(2)]);
    account.tell(Input::Reply(Reply::Accepted(id(2), Err(HttpError::NotFound))));
    assert!(!seats.has_free());
    account.tell(Input::Reply(Reply::Created(Ok(id(1)))));
    account.begin(1);
    assert_eq!(account.seated().len(), 1);
}

#[test]
fn a_challenge_of_ours_that_is_accepted_after_its_end_is_looked_up() {
    let mut account = Driver::new("", &Seats::new(1));
    let order = r#"{"opponent":"bob","time_control":"180+2"}"#;
    account.tell(Input::Order(zeitnot_seat::Order::Challenge(serde_json::from_str(order).unwrap())));
    account.tell(Input::Reply(Reply::Created(Ok(id(1)))));
    account.wait_until(account.now + 3 * MINUTE);
    assert!(account.requests().iter().any(|request| matches!(request, Request::Cancel(_))));
    let accepted = Some(zeitnot_wire::lichess::ChallengeEnd::Accepted);
    account.tell(Input::Reply(Reply::ChallengeEnded(id(1), accepted)));
    account.wait_until(account.now + 3 * SECOND);
    assert!(matches!(account.requests()[..], [Request::RunningGames]));
}

#[test]
fn a_challenge_of_ours_keeps_its_seat_until_its_game_begins() {
    let seats = Seats::new(1);
    let mut account = Driver::new("", &seats);
    let order = r#"{"opponent":"bob","time_control":"180+2"}"#;
    account.tell(Input::Order(zeitnot_seat::Order::Challenge(serde_json::from_str(order).unwrap())));
    account.tell(Input::Reply(Reply::Created(Ok(id(1)))));
    let accepted = Some(zeitnot_wire::lichess::ChallengeEnd::Accepted);
    account.tell(Input::Reply(Reply::ChallengeEnded(id(1), accepted)));
    account.challenge(2);
    assert!(!seats.has_free() && account.accepted().is_empty());
    account.begin(1);
    assert_eq!(account.seated().len(), 1);
    account.tell(Input::OpponentKnown(id(1), Opponent::Bot));
    account.tell(Input::GameEnded(id(1), Some(GameEnd::Over)));
    assert_eq!(account.accepted(), [id(2)]);
}

#[test]
fn a_stop_while_the_server_is_away_gives_up_games_whose_clocks_ran_out() {
    let mut account = Driver::new("", &Seats::new(8));
    account.begin(1);
    account.begin(2);
    account.tell(Input::Overdue(vec![id(1)]));
    // The look-up has failed for an hour, and the next one is a minute away.
    for _ in 0..100 {
        account.lookup_fails();
        let due = account.state.playing.due().unwrap();
        account.wait_until(due);
    }
    account.lookup_fails();
    account.requests();
    account.tell(Input::Stop);
    assert!(matches!(account.requests()[..], [Request::RunningGames]), "at once");
    account.lookup_fails();
    assert_eq!(account.finished(), [id(1)]);
    account.tell(Input::GameEnded(id(1), Some(GameEnd::Over)));
    assert!(!account.has_left(), "a game may be running");
    // Nothing can be said of the other before its clocks have run out.
    account.tell(Input::Overdue(vec![id(2)]));
    let due = account.state.playing.due().unwrap();
    account.wait_until(due);
    account.lookup_fails();
    assert_eq!(account.finished(), [id(2)]);
    account.tell(Input::GameEnded(id(2), Some(GameEnd::Over)));
    assert!(account.has_left());
}

#[test]
fn a_stop_while_the_server_limits_look_ups_gives_up_games_whose_clocks_ran_out() {
    let mut account = Driver::new("concurrency = 4", &Seats::new(4));
    account.tell(Input::StreamOpened);
    account.tell(Input::Reply(Reply::RunningGames(Ok(Arc::new(Vec::new())))));
    account.begin(1);
    account.tell(Input::Stop);
    account.tell(Input::Overdue(vec![id(1)]));
    // The look-up waits for the server's limit.
    account.wait_until(account.now + 9 * SECOND);
    assert_eq!(account.finished(), []);
    account.wait_until(account.now + SECOND);
    assert_eq!(account.finished(), [id(1)]);
    assert_eq!(account.state.due().filter(|due| *due <= account.now), None, "it waits");
}

#[test]
fn a_stop_while_the_server_is_away_waits_seconds_for_an_accepted_challenge() {
    let mut account = Driver::new("", &Seats::new(8));
    account.challenge(1);
    assert_eq!(
        account.state.leaving(),
        "taking no new games; 0 running, and 1 accepted challenge may still become a game"
    );
    account.tell(Input::Stop);
    let began = account.now;
    while !account.has_left() {
        account.now += SECOND;
        account.lookup_fails();
        let due = account.state.playing.due().unwrap_or(account.now);
        account.wait_until(due);
    }
    assert!(account.now - began < 10 * SECOND, "{:?}", account.now - began);
}

#[test]
fn a_token_is_given_up_after_refusals_in_a_row() {
    let mut account = Driver::new("", &Seats::new(8));
    let refused = || Input::Reply(Reply::Token(Err(HttpError::Unauthorized)));
    account.tell(Input::Unauthorized);
    account.tell(Input::Unauthorized);
    assert!(matches!(account.requests()[..], [Request::Token]));
    let next = |account: &mut Driver| {
        let due = account.state.token.due().unwrap();
        account.wait_until(due);
        assert!(account.requests().iter().any(|request| matches!(request, Request::Token)));
    };
    for _ in 0..7 {
        account.tell(refused());
        next(&mut account);
    }
    account.tell(Input::Reply(Reply::Token(Err(HttpError::Server(502)))));
    for _ in 0..8 {
        next(&mut account);
        assert!(account.wanted.is_empty());
        account.tell(refused());
    }
    let left = account.wanted.pop_back();
    assert!(matches!(left, Some(Effect::Leave(Err(HttpError::Unauthorized)))), "{left:?}");
}

#[test]
fn a_challenge_that_is_told_again_while_its_acceptance_waits_is_accepted_once() {
    let mut account = Driver::new("", &Seats::new(2));
    account.challenge(0);
    assert_eq!(account.accepted(), [id(0)]);
    // The request waits for a rate limit.
    account.wait_until(account.now + MINUTE);
    account.challenge(0);
    assert_eq!(account.accepted(), []);
}

#[test]
fn an_acceptance_that_waits_keeps_its_seat_until_its_game_begins_or_never_will() {
    let seats = Seats::new(1);
    let mut account = Driver::new("concurrency = 2", &seats);
    for number in [0, 2] {
        account.challenge(number);
        assert_eq!(account.accepted(), [id(number)]);
        // The request waits for a rate limit.
        account.wait_until(account.now + 10 * MINUTE);
        account.challenge(number + 1);
        account.tell(Input::Reply(Reply::Accepted(id(number), Ok(()))));
        account.wait_until(account.now + ACCEPTANCE_TIMEOUT - SECOND);
        assert!(!seats.has_free() && account.accepted().is_empty());
        if number == 0 {
            account.begin(0);
            assert_eq!(account.seated().len(), 1);
            account.tell(Input::Event(Event::ChallengeCanceled { challenge: challenge_to_us(1) }));
            account.tell(Input::GameEnded(id(0), Some(GameEnd::Over)));
        }
    }
    account.wait_until(account.now + SECOND);
    assert_eq!(account.accepted(), [id(3)]);
}

/// A server, or players who come and go, while no acceptance is answered.
#[test]
fn acceptances_of_challenges_that_are_cancelled_are_bounded() {
    let mut account = Driver::new("concurrency = 4", &Seats::new(4));
    let mut accepted = 0;
    for number in 0..2000 {
        account.challenge(number);
        accepted += account.accepted().len();
        account.tell(Input::Event(Event::ChallengeCanceled { challenge: challenge_to_us(number) }));
    }
    assert_eq!(accepted, 256);
    account.tell(Input::Reply(Reply::Accepted(id(0), Err(HttpError::NotFound))));
    account.challenge(2000);
    assert_eq!(account.accepted(), [id(2000)]);
}
