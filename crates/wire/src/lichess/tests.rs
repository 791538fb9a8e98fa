//! Round trips, odd input, and examples of each message.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use zeitnot_rules::{ByColor, Color};

use super::{examples::*, *};

#[test]
fn examples_are_parsed() {
    for (round_trip, example) in examples() {
        assert!(round_trip(&example.to_string()).unwrap().is_some(), "{example}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn printed_messages_are_parsed_back((round_trip, example) in changed()) {
        round_trip(&example.to_string())?;
    }

    #[test]
    fn unknown_fields_are_ignored((round_trip, example) in changed()) {
        // Only messages with a type have no maps, where a new key is not an unknown field.
        if example.get("type").is_some() {
            let example = example.to_string();
            prop_assert_eq!(round_trip(&with_news(&example))?, round_trip(&example)?);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in ".*", (round_trip, _) in changed()) {
        round_trip(&text)?;
        prop_assert!(Failure::parse(&text).is_ok());
    }

    /// Truncated lines, and lines with garbage in the middle.
    #[test]
    fn broken_lines_are_parsed_or_refused(
        (round_trip, example) in changed(), at: prop::sample::Index,
        garbage in prop_oneof![Just(String::new()), Just("null".into()), "[0-9\"{}\\[\\],:e-]{1,9}", ".{0,3}"],
    ) {
        let text = example.to_string();
        let at = (0..=at.index(text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        round_trip(&text[..at])?;
        round_trip(&format!("{}{garbage}{}", &text[..at], &text[at..]))?;
    }
}

/// Adds an unknown field to each object.
fn with_news(line: &str) -> String {
    fn news(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.values_mut().for_each(news);
            fields.insert("brandNew".into(), json!([{ "deep": null }, 1.5e300]));
        }
    }
    let mut value = serde_json::from_str(line).unwrap();
    news(&mut value);
    value.to_string()
}

#[test]
fn a_game_begins() {
    let line = r#"{"type":"gameStart","game":{"fullId":"Zn4tQw8e1abc","gameId":"Zn4tQw8e",
        "fen":"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1","color":"black","lastMove":"e2e4",
        "source":"friend","status":{"id":20,"name":"started"},
        "variant":{"key":"standard","name":"Standard"},"speed":"blitz","perf":"blitz","rating":2101,
        "rated":true,"hasMoved":false,"opponent":{"id":"some_bot","username":"Some_Bot","rating":1999},
        "isMyTurn":true,"secondsLeft":180,"compat":{"bot":true,"board":true},"id":"Zn4tQw8e"}}"#;
    let Ok(Event::GameStart { game }) = Event::parse(line) else { panic!() };
    assert_eq!(game.game_id.as_str(), "Zn4tQw8e");
    assert_eq!((game.color, game.status.clone()), (Color::Black, Status::Started));
    assert_eq!(game.opponent.id, Some("SOME_BOT".parse().unwrap()));
    assert_eq!(game.seconds_left, Some(Duration::from_secs(180)));

    let machine = line.replace(r#""id":"some_bot""#, r#""id":null,"ai":3"#).replace("180", "null");
    let Ok(Event::GameStart { game }) = Event::parse(&machine) else { panic!() };
    assert_eq!((game.opponent.id, game.opponent.ai, game.seconds_left), (None, Some(3), None));
}

#[test]
fn challenges_come_and_go() {
    let challenge = r#"{"id":"H9fIRZUk","url":"http://127.0.0.1/H9fIRZUk","status":"created",
        "challenger":{"id":"bot1","name":"Bot1","title":"BOT","rating":1500,"provisional":true,"online":true,"lag":4,
        "flair":"x","patronColor":2},"destUser":null,"variant":{"key":"chess960","name":"Chess960","short":"960"},
        "rated":false,"speed":"rapid","timeControl":{"type":"clock","limit":600,"increment":5,"show":"10+5"},
        "color":"random","finalColor":"white","perf":{"icon":"r","name":"Rapid"},"direction":"in",
        "declineReason":"Too fast for me","declineReasonKey":"toofast"}"#;
    let read = Challenge::parse(challenge).unwrap();
    assert_eq!(read.time_control.clock(), Some("600+5".parse().unwrap()));
    assert_eq!((read.time_control.to_string(), read.time_control.speed()), ("10+5".into(), Speed::Rapid));
    assert!(read.challenger.as_ref().unwrap().is_bot() && read.dest_user.is_none());
    assert_eq!(read.decline_reason_key, Some(DeclineReason::TooFast));
    assert!(read.to_line().contains(r#""declineReasonKey":"toofast""#), "{}", read.to_line());
    assert!(read.to_line().contains(r#""show":"10+5""#) && read.to_line().contains(r#""destUser":null"#));
    assert_eq!(Decline { reason: DeclineReason::TooFast }.to_form(), "reason=tooFast");

    for (kind, wrapped) in [("clock", true), ("correspondence", true), ("unlimited", false), ("new", false)] {
        let json = challenge.replace(r#""type":"clock","limit":600"#, &format!(r#""type":"{kind}""#));
        assert_eq!(Challenge::parse(&json).is_err(), wrapped, "{kind} without its numbers");
    }
}

#[test]
fn a_game_goes_on() {
    let full = r#"{"type":"gameFull","id":"5IrD6Gzz","variant":{"key":"standard","name":"Standard","short":"Std"},
        "clock":{"initial":180000,"increment":2000},"speed":"blitz","perf":{"name":"Blitz"},"rated":false,
        "createdAt":1790000000000,"white":{"id":"we","name":"We","title":"BOT","rating":2000},
        "black":{"aiLevel":2},"initialFen":"startpos",
        "state":{"type":"gameState","moves":"e2e4 e7e5  e1h1","wtime":-40,"btime":179999.0,"winc":2000,"binc":2000,
        "status":"started","wdraw":null,"expiration":{"idleMillis":20,"millisToMove":30000}}}"#;
    let Ok(GameMessage::GameFull(full)) = GameMessage::parse(full) else { panic!() };
    assert_eq!((full.start(), full.clock), (None, Some("180+2".parse().unwrap())));
    assert_eq!(full.players()[Color::Black].ai_level, Some(2));
    let state = &full.state;
    assert_eq!(state.left(), ByColor([Some(Duration::ZERO), Some(Duration::from_millis(179_999))]));
    assert_eq!(state.draw_offers(), ByColor::both(false));
    let moves: Vec<_> = state.played().map(|mv| mv.unwrap().to_string()).collect();
    assert_eq!(moves, ["e2e4", "e7e5", "e1h1"]);
    assert!(GameMessage::GameFull(full).to_line().contains(r#""state":{"type":"gameState","#));

    let over = r#"{"type":"gameState","moves":"x-very-long-move","status":"plugged","bdraw":true}"#;
    let Ok(GameMessage::GameState(over)) = GameMessage::parse(over) else { panic!() };
    assert!(over.status.is_over() && over.draw_offers()[Color::Black]);
    assert!(over.played().any(|mv| mv.is_err()) && over.left() == ByColor::both(None));

    let gone = r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":8}"#;
    assert_eq!(GameMessage::parse(gone).unwrap().to_line(), gone);
    let chat = r#"{"type":"chatLine","room":"player","username":"lichess","text":"Takeback sent"}"#;
    assert_eq!(GameMessage::parse(chat).unwrap().to_line(), chat);
}

#[test]
fn statuses_have_names_and_numbers() {
    for status in Status::KNOWN {
        assert_eq!(status.is_over(), status.id() > Some(20));
    }
    assert!(Status::from("brandNew").is_over() && Status::from("brandNew").id().is_none());
}

#[test]
fn failures_are_shown_shortened() {
    let shown = |body: &str| Failure::parse(body).unwrap().to_string();
    assert_eq!(
        shown(r#"{"error":"Not your turn, or game already over"}"#),
        "Not your turn, or game already over"
    );
    let form = r#"{"error":{"clock.limit":["Invalid","Too long"],"days":["No"]}}"#;
    assert_eq!(shown(form), "clock.limit: Invalid, Too long; days: No");
    assert_eq!(shown(r#"{"clock.limit":["Invalid"]}"#), "clock.limit: Invalid");
    assert_eq!(shown("<html>\x1b[2J504</html>"), "<html>[2J504</html>");
    assert!(shown(&"x".repeat(100_000)).len() < 100);
    let long = "This account has already played games and cannot be upgraded to a bot account any more";
    assert_eq!(shown(&format!(r#"{{"error":"{long}"}}"#)), long);
    assert_eq!(shown(&format!(r#"{{"error":"{}"}}"#, "x".repeat(100_000))).len(), 500);

    let limit = r#"{"error":"Too many games","ratelimit":{"key":"bot.vsBot.day","seconds":3600}}"#;
    let limit = Failure::parse(limit).unwrap().ratelimit.unwrap();
    assert_eq!((limit.key.as_str(), limit.wait), (RateLimit::BOT_VS_BOT, Duration::from_secs(3600)));
    assert_eq!(Done::OK.to_line(), r#"{"ok":true}"#);
}

#[test]
fn a_challenge_as_clients_write_it() {
    let clock = TimeControl::Clock("180+2".parse().unwrap());
    let mut form = NewChallenge { rated: true, ..NewChallenge::new(clock) };
    let text = "clock.increment=2&clock.limit=180&color=random&rated=true&variant=standard";
    assert_eq!(form.to_form(), text);
    assert_eq!(NewChallenge::from_form(&format!("{text}&days=&fen=&new=1")).as_ref(), Ok(&form));
    form.rules = vec![GameRule::NoAbort, GameRule::NoRematch];
    let json =
        r#"{"rated":true,"clock.limit":180,"clock.increment":"2","rules":"noAbort,noRematch","fen":null}"#;
    assert_eq!(NewChallenge::from_json(json), Ok(form));
    assert_eq!(NewChallenge::from_form("").unwrap().time, TimeControl::Unlimited);
    let refused = NewChallenge::from_form("clock.limit=-1").unwrap_err().to_string();
    assert!(refused.contains("expected seconds, got '-1'"), "{refused}");
    assert_eq!(MoveQuery::from_form(""), Ok(MoveQuery::default()));
    assert!(MoveQuery::from_form("offeringDraw=true").unwrap().offering_draw);
}

#[test]
fn tokens_are_never_shown() {
    let body =
        r#"{"lip_secret1":{"userId":"we","scopes":"bot:play,team:write,new","expires":null},"bad":null}"#;
    let test = TokenTest::parse(body).unwrap();
    assert!(!format!("{test:?}").contains("secret1"));
    let info = test.0[&"lip_secret1".parse::<Token>().unwrap()].as_ref().unwrap();
    assert_eq!(info.scopes.0, [Scope::BotPlay, Scope::TeamWrite, Scope::from("new")]);
    assert_eq!(test.0[&"bad".parse::<Token>().unwrap()], None);
    let odd = TokenTest::parse(r#"{"lip secret1":null}"#).unwrap_err();
    assert!(!odd.to_string().contains("secret1"));
}

#[test]
fn passwords_are_never_shown() {
    for form in ["password=hush+hush&team=t", "password=hush+hush&message=hi"] {
        let (tournament, team) = (JoinTournament::from_form(form), JoinTeam::from_form(form));
        let shown = format!("{tournament:?} {team:?}");
        assert!(!shown.contains("hush"), "{shown}");
        assert_eq!(tournament.unwrap().password.unwrap().expose(), "hush hush");
        assert!(team.unwrap().to_form().contains("password=hush+hush"));
    }
}

#[test]
fn errors_are_short_and_say_what_is_wrong() {
    let huge = format!(r#"{{"type":"gameStart","game":{{"gameId":"{}"}}}}"#, "y\u{1b}".repeat(50_000));
    let error = Event::parse(&huge).unwrap_err().to_string();
    assert!(error.len() < 300 && !error.contains('\u{1b}'), "{error}");
    let poll = Event::parse(r#"{"error":"Please don't poll this endpoint"}"#).unwrap_err().to_string();
    assert!(poll.starts_with("event: missing field `type`"), "{poll}");
    assert!("../../x".parse::<GameId>().is_err() && "".parse::<FullId>().is_err());
    assert!(line::<Event>(&"[".repeat(10_000)).is_err());
}
