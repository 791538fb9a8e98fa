//! Any message of this API, for property tests.

use std::time::Duration;
use zeitnot_rules::Color;

use proptest::{collection::vec, option::of, prelude::*, sample::select};

use zeitnot_rules as game;

use super::*;

type Any<T> = BoxedStrategy<T>;

macro_rules! known_or_new {
    ($($fun:ident -> $ty:ident),* $(,)?) => {$(
        pub fn $fun() -> Any<$ty> {
            prop_oneof![4 => select($ty::KNOWN.to_vec()), 1 => "new[A-Z]{1,5}".prop_map($ty::from)].boxed()
        }
    )*};
}

known_or_new! {
    challenge_status -> ChallengeStatus, challenge_end -> ChallengeEnd, color_wish -> ColorWish,
    direction -> Direction, game_rule -> GameRule, perf_key -> PerfKey, room -> Room, scope -> Scope,
    source -> Source, speed -> Speed, status -> Status, title -> Title, variant_key -> VariantKey,
}

/// What is told in lower case is known again only if it is known at all.
pub fn decline_reason() -> Any<DeclineReason> {
    select(DeclineReason::KNOWN.to_vec()).boxed()
}

fn id<T: std::str::FromStr<Err = BadId> + std::fmt::Debug + 'static>() -> Any<T> {
    "[A-Za-z0-9]{8}".prop_map(|text| text.parse().unwrap()).boxed()
}

fn user_id() -> Any<UserId> {
    "[A-Za-z0-9_-]{1,30}".prop_map(|text| text.parse().unwrap()).boxed()
}

fn color() -> Any<Color> {
    select(vec![Color::White, Color::Black]).boxed()
}

fn seconds() -> Any<Duration> {
    any::<u32>().prop_map(|seconds| Duration::from_secs(seconds.into())).boxed()
}

fn millis() -> Any<Duration> {
    any::<u64>().prop_map(Duration::from_millis).boxed()
}

fn text() -> Any<String> {
    prop_oneof!["[ -~]{0,12}", ".{0,8}"].boxed()
}

fn variant() -> Any<Variant> {
    prop_oneof![
        variant_key().prop_map(Variant::from),
        (variant_key(), text(), of(text())).prop_map(|(key, name, short)| Variant { key, name, short }),
    ]
    .boxed()
}

fn perf_name() -> Any<PerfName> {
    (of(text()), text()).prop_map(|(icon, name)| PerfName { icon, name }).boxed()
}

fn compat() -> Any<Compat> {
    any::<(bool, bool)>().prop_map(|(bot, board)| Compat { bot, board }).boxed()
}

pub fn time_control() -> Any<TimeControl> {
    prop_oneof![
        (seconds(), seconds())
            .prop_map(|(initial, increment)| TimeControl::Clock(game::TimeControl { initial, increment })),
        any::<u32>().prop_map(|days| TimeControl::Correspondence { days }),
        Just(TimeControl::Unlimited),
    ]
    .boxed()
}

fn opponent() -> Any<Opponent> {
    (of(user_id()), text(), any::<(Option<i32>, Option<i32>, Option<u8>)>())
        .prop_map(|(id, username, (rating, rating_diff, ai))| Opponent {
            id,
            username,
            rating,
            rating_diff,
            ai,
        })
        .boxed()
}

pub fn game_event() -> Any<GameEvent> {
    let names = (of(source()), status(), variant(), of(speed()), of(perf_key()));
    let ids = (of(id()), id(), of(id()), of(id()), of(id()));
    let texts = (text(), text(), opponent(), of(compat()), of(seconds()));
    let rest = (any::<(bool, bool, bool, Option<i32>, Option<i32>)>(), color(), of(color()));
    (names, ids, texts, rest)
        .prop_map(|(names, ids, texts, (numbers, color, winner))| {
            let (source, status, variant, speed, perf) = names;
            let (full_id, game_id, id, tournament_id, swiss_id) = ids;
            let (fen, last_move, opponent, compat, seconds_left) = texts;
            let (rated, has_moved, is_my_turn, rating, rating_diff) = numbers;
            GameEvent {
                full_id,
                game_id,
                id,
                fen,
                color,
                last_move,
                source,
                status,
                variant,
                speed,
                perf,
                rating,
                rated,
                has_moved,
                opponent,
                is_my_turn,
                seconds_left,
                winner,
                rating_diff,
                tournament_id,
                swiss_id,
                compat,
            }
        })
        .boxed()
}

fn challenge_user() -> Any<ChallengeUser> {
    (user_id(), text(), of(title()), any::<(Option<i32>, bool, bool, Option<u8>)>())
        .prop_map(|(id, name, title, (rating, provisional, online, lag))| ChallengeUser {
            id,
            name,
            title,
            rating,
            provisional,
            online,
            lag,
        })
        .boxed()
}

pub fn challenge() -> Any<Challenge> {
    let names = (of(challenge_status()), variant(), of(speed()), time_control(), of(color_wish()));
    let users = (id(), of(challenge_user()), of(challenge_user()), of(color()), of(perf_name()));
    let texts = (text(), of(direction()), of(text()), of(id()), of(text()));
    let rest = (of(decline_reason()), vec(game_rule(), 0..3), any::<bool>());
    (names, users, texts, rest)
        .prop_map(|(names, users, texts, (decline_reason_key, rules, rated))| {
            let (status, variant, speed, time_control, color) = names;
            let (id, challenger, dest_user, final_color, perf) = users;
            let (url, direction, initial_fen, rematch_of, decline_reason) = texts;
            Challenge {
                id,
                url,
                status,
                challenger,
                dest_user,
                variant,
                rated,
                speed,
                time_control,
                color,
                final_color,
                perf,
                direction,
                initial_fen,
                rematch_of,
                decline_reason,
                decline_reason_key,
                rules,
            }
        })
        .boxed()
}

fn unknown() -> Any<Unknown> {
    "new[A-Za-z]{0,8}".prop_map(|kind| Unknown { kind }).boxed()
}

pub fn event() -> Any<Event> {
    let challenge = || challenge().prop_map(Box::new);
    let game = || game_event().prop_map(Box::new);
    prop_oneof![
        game().prop_map(|game| Event::GameStart { game }),
        game().prop_map(|game| Event::GameFinish { game }),
        (challenge(), of(compat())).prop_map(|(challenge, compat)| Event::Challenge { challenge, compat }),
        challenge().prop_map(|challenge| Event::ChallengeCanceled { challenge }),
        challenge().prop_map(|challenge| Event::ChallengeDeclined { challenge }),
        unknown().prop_map(Event::Other),
    ]
    .boxed()
}

fn player() -> Any<Player> {
    (of(user_id()), text(), of(title()), any::<(Option<i32>, bool, Option<u8>)>())
        .prop_map(|(id, name, title, (rating, provisional, ai_level))| Player {
            id,
            name,
            title,
            rating,
            provisional,
            ai_level,
        })
        .boxed()
}

fn game_state() -> Any<GameState> {
    let expiration = (millis(), millis()).prop_map(|(idle, left)| Expiration { idle, left });
    let clocks = (of(millis()), of(millis()), millis(), millis());
    let rest = (vec("[a-h][1-8][a-h][1-8][qrbn]?", 0..6), status(), of(color()), of(expiration), of(id()));
    (clocks, any::<[bool; 4]>(), rest)
        .prop_map(|((wtime, btime, winc, binc), [wdraw, bdraw, wtakeback, btakeback], rest)| {
            let (moves, status, winner, expiration, rematch) = rest;
            GameState {
                moves: moves.join(" "),
                wtime,
                btime,
                winc,
                binc,
                status,
                winner,
                wdraw,
                bdraw,
                wtakeback,
                btakeback,
                expiration,
                rematch,
            }
        })
        .boxed()
}

fn game_full() -> Any<GameFull> {
    let clock =
        (millis(), millis()).prop_map(|(initial, increment)| game::TimeControl { initial, increment });
    let kind = (id(), variant(), of(clock), of(any::<u32>()), of(speed()), of(perf_name()));
    (kind, any::<bool>(), of(millis()), player(), player(), text(), of(id()), game_state())
        .prop_map(|(kind, rated, created_at, white, black, initial_fen, tournament_id, state)| {
            let (id, variant, clock, days_per_turn, speed, perf) = kind;
            GameFull {
                id,
                variant,
                clock,
                days_per_turn,
                speed,
                perf,
                rated,
                created_at,
                white,
                black,
                initial_fen,
                tournament_id,
                state,
            }
        })
        .boxed()
}

pub fn game_message() -> Any<GameMessage> {
    prop_oneof![
        game_full().prop_map(|full| GameMessage::GameFull(Box::new(full))),
        game_state().prop_map(GameMessage::GameState),
        (room(), text(), text()).prop_map(|(room, username, text)| GameMessage::ChatLine(ChatLine {
            room,
            username,
            text
        })),
        (any::<bool>(), of(seconds()))
            .prop_map(|(gone, claim_win_in)| GameMessage::OpponentGone(OpponentGone { gone, claim_win_in })),
        unknown().prop_map(GameMessage::Other),
    ]
    .boxed()
}

pub fn user() -> Any<User> {
    let perf = any::<(u32, Option<i32>, Option<i32>, Option<i32>, bool)>()
        .prop_map(|(games, rating, rd, prog, prov)| Perf { games, rating, rd, prog, prov });
    let perfs = prop::collection::btree_map(perf_key(), perf, 0..4);
    let count = any::<[u32; 5]>();
    let count = count.prop_map(|[all, rated, win, loss, draw]| GameCount { all, rated, win, loss, draw });
    let since = (of(millis()), of(millis()), of(text()), of(count));
    (user_id(), text(), of(title()), perfs, any::<(bool, bool)>(), since)
        .prop_map(|(id, username, title, perfs, (disabled, tos_violation), since)| {
            let (created_at, seen_at, url, count) = since;
            User { id, username, title, perfs, disabled, tos_violation, created_at, seen_at, url, count }
        })
        .boxed()
}

pub fn user_status() -> Any<UserStatus> {
    (user_id(), text(), of(title()), any::<(bool, bool)>(), of(id()))
        .prop_map(|(id, name, title, (online, playing), playing_id)| UserStatus {
            id,
            name,
            title,
            online,
            playing,
            playing_id,
        })
        .boxed()
}

pub fn token_test() -> Any<TokenTest> {
    let token = "[A-Za-z0-9_]{1,40}".prop_map(|text| text.parse().unwrap());
    let info = (user_id(), vec(scope(), 0..3), of(millis()))
        .prop_map(|(user_id, scopes, expires)| TokenInfo { user_id, scopes: Scopes(scopes), expires });
    prop::collection::btree_map(token, of(info), 0..4).prop_map(TokenTest).boxed()
}

pub fn failure() -> Any<Failure> {
    let limit = (text(), seconds()).prop_map(|(key, wait)| RateLimit { key, wait });
    let fields = prop::collection::btree_map(text(), vec(text(), 0..3), 0..3);
    let error = prop_oneof![text().prop_map(FailureText::Text), fields.prop_map(FailureText::Fields)];
    (error, of(limit)).prop_map(|(error, ratelimit)| Failure { error, ratelimit }).boxed()
}

/// What is trimmed on reading has nothing to trim.
fn field() -> Any<Option<String>> {
    of("[!-~é]([ -~é&=%+]{0,20}[!-~é])?").boxed()
}

pub fn new_challenge() -> Any<NewChallenge> {
    let kind = (time_control(), color_wish(), variant_key(), field(), vec(game_rule(), 0..3));
    (kind, any::<(bool, bool)>())
        .prop_map(|((time, color, variant, fen, rules), (rated, keep_alive_stream))| NewChallenge {
            rated,
            time,
            color,
            variant,
            fen,
            keep_alive_stream,
            rules,
        })
        .boxed()
}

pub fn chat() -> Any<Chat> {
    (room(), text()).prop_map(|(room, text)| Chat { room, text }).boxed()
}

pub fn join_tournament() -> Any<JoinTournament> {
    (field(), field(), any::<bool>())
        .prop_map(|(password, team, pair_me_asap)| JoinTournament { password, team, pair_me_asap })
        .boxed()
}
