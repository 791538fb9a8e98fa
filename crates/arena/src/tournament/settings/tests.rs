//! Settings of the API and of the database, with their mistakes.

use std::time::Duration;

use serde_json::json;
use zeitnot_pairing::format::{PairingKind, TieBreak};
use zeitnot_rules::GameKind;

use super::*;

fn asked(fields: Value) -> Result<(TournamentConfig, AskedAccess), String> {
    let settings = serde_json::from_value::<Settings<AskedAccess>>(fields).map_err(|e| e.to_string())?;
    settings.checked().map_err(|error| error.to_string())
}

fn from_stored(text: &str) -> Result<(TournamentConfig, Access), SettingsError> {
    Settings::from_stored(&name("class"), text)
}

fn name(text: &str) -> Name {
    Name::try_from(text).unwrap()
}

#[test]
fn settings_are_kept_with_their_secrets_and_shown_without() {
    let names = json!({"keys": ["alice", "bob"]});
    let fields = json!({"name": "class", "time_control": "3+0.05", "players": 6, "pairing": "swiss",
        "rounds": 3, "acceleration": "baku", "tie_breaks": ["buchholz", "wins"], "pause": "0s", "access": names});
    let (config, access) = asked(fields).unwrap();
    let access = Access::default().grant(access).unwrap();
    let stored = Settings::to_stored(&config, &access);
    assert_eq!(from_stored(&stored), Ok((config.clone(), access.clone())));
    let key = access.keys().unwrap()[&name("alice")].expose().to_owned();
    assert!(stored.contains(&key));
    let shown = serde_json::to_string(&Settings::new(&config, access.kind())).unwrap();
    assert!(shown.contains(r#""access":"keys""#) && !shown.contains(&key), "{shown}");
    assert!(!format!("{access:?}").contains(&key));
}

#[test]
fn damaged_settings_of_the_database_are_told_without_secrets() {
    let (config, _) = asked(json!({"name": "class", "time_control": "3", "players": 6})).unwrap();
    let access = Access::Password(Secret::try_from("sesame").unwrap());
    let stored = Settings::to_stored(&config, &access);
    for (from, to, why) in [
        ("round-robin", "danish", "unknown variant `danish`"),
        (r#""players":6"#, r#""players":1"#, "players: expected"),
        (r#""players":6"#, r#""players":"six""#, "invalid type"),
        (r#""players":6"#, r#""players":6,"players":7"#, "duplicate field `players`"),
        (r#""players":6"#, r#""stake":6"#, "unknown field `stake`"),
        (r#""name":"class""#, r#""name":"other""#, "those of other"),
        (r#""time_control":"3+0","#, "", "missing field `time_control`"),
        (r#","access":{"password":"sesame"}"#, "", "missing field `access`"),
        (r#"{"password":"sesame"}"#, r#""sesame""#, "`access` is damaged"),
        (r#"{"password":"sesame"}"#, r#"{"pass":"sesame"}"#, "`access` is damaged"),
        (&stored, &stored[..stored.len() / 2], "EOF"),
        (&stored, "", "EOF"),
    ] {
        assert!(stored.contains(from), "{from}: {stored}");
        let told = from_stored(&stored.replace(from, to)).unwrap_err().to_string();
        assert!(told.contains(why) && !told.contains("sesame"), "{to}: {told}");
    }
    let none = stored.replace(r#""late_entries":false,"#, "");
    assert_eq!(from_stored(&none), Ok((config, access)), "a key that an earlier arena did not have");
}

#[test]
fn mistakes_are_told() {
    for (field, value, why) in [
        ("name", json!("a b"), "is not a name"),
        ("name", json!(".."), "stands for a folder"),
        ("game", json!("go"), "unknown variant"),
        ("chess960", json!("yes"), "expected a boolean"),
        ("openings", json!(["8/8"]), "openings: line 1: "),
        ("openings", json!([[1]]), "expected a file of positions"),
        ("time_control", json!("fast"), "time"),
        ("pairing", json!("swiss"), "needs rounds"),
        ("games_per_pair", json!(1_000_001), "from 1 to 1000000, got 1000001"),
        ("games_per_pair", json!(10_001), "nobody has more than 50000 games"),
        ("tie_breaks", json!(["buchholz"]), "only with pairing"),
        ("players", json!(1025), "from 2 to 1024, got 1025"),
        ("players", json!(-1), "invalid value"),
        ("pause", json!("1year"), "expected a duration up to \"7days\""),
        ("pairing_interval", json!("0s"), "expected a duration from \"1ms\""),
        ("max_illegal_moves", json!(0), "expected a whole number from 1, got 0"),
        ("openings", json!("/etc/passwd"), "expected a list of positions"),
        ("engines", json!(["level-3", "level-3"]), "engines: level-3 is there twice"),
        ("engines", json!(["a", "b", "c", "d", "e", "f", "g"]), "engines: 7 do not fit"),
        ("keys", json!("class.keys"), "unknown field"),
        ("password", json!("hush"), "unknown field"),
        ("name_held", json!("1m"), "unknown field"),
        ("time", json!("3"), "unknown field"),
        ("acces", json!("open"), "`time_control`, `access`"),
        (&"x".repeat(1000), json!(1), "unknown field `xxxxx"),
        ("access", json!({"password": "two words"}), "without spaces"),
        ("access", json!({"password": "word", "keys": []}), "expected"),
    ] {
        let mut fields = json!({"name": "class", "time_control": "3", "players": 6});
        fields[field] = value;
        let told = asked(fields).unwrap_err();
        assert!(told.contains(why) && told.len() < 500, "{field}: {told}");
    }
    let told = |fields: &str| serde_json::from_str::<Settings<AskedAccess>>(fields).unwrap_err().to_string();
    for field in [r#""name":"a""#, r#""players":6"#, r#""kind":"chess""#, r#""access":"open""#] {
        let key = field.split('"').nth(1).unwrap();
        let told = told(&format!("{{{field},\"time_control\":\"3\",{field}}}"));
        assert!(told.contains(&format!("duplicate field `{key}`")), "{told}");
    }
}

#[test]
fn many_games_are_possible() {
    for (games, more) in [
        (50_000, json!({"players": 2})),
        (10_000, json!({"players": 6})),
        (10_000, json!({})),
        (1_000_000, json!({"start": "at-once"})),
        (2, json!({"players": 1024, "start": "full"})),
    ] {
        let mut fields = json!({"name": "class", "time_control": "3", "games_per_pair": games});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked(fields.clone()).unwrap_or_else(|error| panic!("{fields}: {error}"));
    }
}

#[test]
fn a_tournament_of_any_game_keeps_it_and_its_openings() {
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let fields = json!({"name": "class", "time_control": "3", "game": "atomic", "openings": [fen]});
    let (config, _) = asked(fields).unwrap();
    assert_eq!(
        config.to_string(),
        "class at 3+0: atomic, round-robin, games per pair: 2, with openings, open to all"
    );
    let stored = Settings::to_stored(&config, &Access::Open);
    assert_eq!(from_stored(&stored).unwrap().0, config);
    let (none, engines) = ([String::new(), format!("# {}", "ö".repeat(198))], ["random", "level-3"]);
    let change = json!({"game": "chess", "openings": none, "chess960": true, "engines": engines});
    let change = serde_json::from_value(change).unwrap();
    let (changed, _) = Settings::changed(&config, change).unwrap().checked().unwrap();
    assert_eq!((changed.game, changed.chess960), (GameKind::Chess, true));
    let shown =
        "class at 3+0: chess960, round-robin, games per pair: 2, engines (random, level-3), open to all";
    assert_eq!(changed.to_string(), shown);
    for (fields, why) in [
        (json!({"game": "atomic", "chess960": true}), "only with game = \"chess\""),
        (json!({"chess960": true, "openings": [fen]}), "chess960: not beside openings"),
        (json!({"game": "minichess-2026", "openings": ["# from chess", "", fen]}), "openings: line 3: "),
        (json!({"openings": vec![fen; 1001]}), "at most 1000"),
        (json!({"openings": ["8".repeat(201)]}), "more than 200 characters"),
        (json!({"kind": "chess"}), "unknown field `kind`"),
    ] {
        let mut all = json!({"name": "class", "time_control": "3"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let told = asked(all).unwrap_err();
        assert!(told.contains(why) && told.len() < 500, "{fields}: {told}");
    }
}

#[test]
fn settings_of_an_earlier_database_are_read() {
    let stored = r#"{"name":"club","kind":"chess","time_control":"60+0","pairing":"gauntlet","rounds":null,
        "acceleration":null,"tie_breaks":["wins"],"gauntlet":["alice"],"games_per_pair":4,"players":6,"start":"full",
        "late_entries":true,"ack_timeout":"20s","pairing_interval":"20ms","pause":"0s","absent_after":"2m",
        "access":{"password":"sesame"}}"#;
    let (config, access) = Settings::from_stored(&name("club"), stored).unwrap();
    let expected = TournamentConfig {
        pairing: PairingKind::Gauntlet,
        tie_breaks: vec![TieBreak::Wins],
        gauntlet: vec![name("alice")],
        games_per_pair: 4,
        players: Some(6),
        start: Some(StartKind::Full),
        late_entries: true,
        pairing_interval: Duration::from_millis(20),
        pause: Duration::ZERO,
        absent_after: Duration::from_secs(120),
        ..TournamentConfig::new("club", "60").unwrap()
    };
    assert_eq!(config, expected);
    assert_eq!(access, Access::Password(Secret::try_from("sesame").unwrap()));
}

#[test]
fn the_schema_has_the_fields_that_are_shown() {
    let (config, _) = asked(json!({"name": "class", "time_control": "3"})).unwrap();
    let shown = json!(Settings::new(&config, AccessKind::Open));
    let schema = TournamentConfig::api_schema();
    let fields = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let own = ["access".to_owned()];
    assert_eq!(fields(&shown), fields(&schema["properties"]).into_iter().chain(own).collect());
    assert_eq!(schema["required"], json!(["name", "time_control"]));
    assert_eq!(shown["start"], json!("organiser"));
    // One of the file has another default.
    let of_file = TournamentConfig::new("class", "3").unwrap();
    assert_eq!(json!(Settings::new(&of_file, AccessKind::Open))["start"], json!("at-once"));
}

#[test]
fn a_change_keeps_the_rest() {
    let (config, _) = asked(json!({"name": "class", "time_control": "3", "players": 6})).unwrap();
    let change = |change: Value| Settings::changed(&config, serde_json::from_value(change).unwrap());
    let (changed, access) =
        change(json!({"players": null, "access": {"password": "hush"}})).unwrap().checked().unwrap();
    assert_eq!(changed, TournamentConfig { players: None, ..config.clone() });
    assert!(matches!(access, Some(AskedAccess::Password(_))));
    let (same, access) = change(json!({})).unwrap().checked().unwrap();
    assert_eq!((same, access), (config.clone(), None));
    assert_eq!(change(json!({"name": "other"})), Err(SettingsError::Renamed(name("other"))));
    assert!(matches!(change(json!({"time": "3"})), Err(SettingsError::Invalid(_))));
}

#[test]
fn keys_are_drawn_anew_when_asked_and_kept_otherwise() {
    let names = |names: &[&str]| names.iter().map(|it| name(it)).collect::<BTreeSet<_>>();
    let first = Access::Open.grant(AskedAccess::Keys(names(&["alice", "bob"]))).unwrap();
    let second = first.grant(AskedAccess::Keys(names(&["alice", "carol"]))).unwrap();
    let key = |access: &Access, player: &str| access.keys().unwrap().get(&name(player)).cloned();
    assert_eq!(key(&second, "alice"), key(&first, "alice"));
    assert!(key(&second, "carol").is_some() && key(&second, "bob").is_none());
    let drawn = second.draw_keys(names(&["alice", "dave"])).unwrap().unwrap();
    assert_ne!(key(&drawn.access, "alice"), key(&first, "alice"));
    assert_eq!(drawn.new.len(), 2);
    assert_eq!(drawn.access.keys().unwrap().len(), 3);
    assert!(Access::Open.draw_keys(names(&["alice"])).unwrap().is_none());
    let plus = AskedAccess::Password(Secret::try_from("+moves").unwrap());
    assert!(Access::Open.grant(plus).unwrap_err().to_string().contains("begins with +"));
    let many = (0..=MAX_PLAYERS).map(|n| name(&format!("p{n}"))).collect();
    assert!(second.draw_keys(many).is_err());
}
