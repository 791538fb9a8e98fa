//! A small configuration, and its documents.

#![allow(unreachable_pub)] // The macro declares public tables.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;

settings! {
    /// An engine.
    #[derive(PartialEq)]
    pub struct Engine {
        /// Algorithm.
        kind: Kind = Kind::Search,
        /// Depth in plies.
        #[schemars(range(min = 1, max = 48))]
        depth: u16 = 48,
        /// Share.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        share: f64 = 1.0,
        /// Strength as Elo, for games against people and for all who want to see a description that does not fit into
        /// one line.
        #[schemars(range(min = 1000, max = 2800), example = 1500)]
        elo: Option<u16> = None,
        /// Pause between two moves.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "1s", "x-max" = "1h", "x-reload" = true))]
        pause: Duration = Duration::from_secs(90),
        /// Names.
        names: Vec<String> = Vec::new(),
        /// Draws.
        #[schemars(extend("x-reload" = true))]
        draw: Draw = Draw::default(),
        /// Rules.
        rule: Vec<Rule> = Vec::new(),
        /// Others.
        #[schemars(extend("x-name" = "second"))]
        others: BTreeMap<String, Rule> = BTreeMap::new(),
        /// A page.
        web: Option<Rule> = None,
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The strongest.
    Search,
    /// For tests.
    Random,
}

settings! {
    #[derive(PartialEq)]
    pub struct Draw {
        /// Moves in a row.
        moves: usize = 0,
        /// File.
        #[schemars(extend("x-reload" = false))]
        file: String = String::new(),
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Rule {
    /// Its engine.
    #[schemars(example = &"stockfish")]
    engine: String,
    #[serde(default)]
    rated: bool,
}

const HEAD: &str = "# A sample.\n";

#[test]
fn a_sample_shows_defaults_and_examples_apart() {
    let schema = schema_of::<Engine>();
    let shown = sample(&schema, &Sample { head: HEAD, tables: &[], active: &[("[[rule]]", &[])] });
    let expected = "\
# A sample.

# kind = \"search\"                 # Algorithm. One of \"search\", \"random\".
# depth = 48                      # Depth in plies. From 1 to 48.
# share = 1.0                     # Share. Above 0, up to 1.
# Strength as Elo, for games against people and for all who want to see a description that does not fit into one line. From
# 1000 to 2800.
# Example: elo = 1500
# pause = \"1m 30s\"                # Pause between two moves. From \"1s\" to \"1h\".
# names = []                      # Names.

# Draws.
[draw]
# moves = 0                       # Moves in a row.
# file = \"\"                       # File.

# Rules.
[[rule]]
engine = \"stockfish\"              # Its engine.
# rated = false

# Others.
# [others.second]
# Example: engine = \"stockfish\"   # Its engine.
# rated = false

# A page.
# [web]
# Example: engine = \"stockfish\"   # Its engine.
# rated = false
";
    assert_eq!(shown, expected);
    let drawn = sample(&schema, &Sample { head: "", tables: &["draw"], active: &[] });
    assert!(drawn.starts_with("\n# Draws.\n[draw]\n") && !drawn.contains("rule"), "{drawn}");
}

#[test]
fn the_page_has_a_row_for_each_key() {
    let page = page(&schema_of::<Engine>());
    for row in [
        "| `kind` | \"search\", \"random\" | `\"search\"` |  |  | Algorithm. |",
        "| `depth` | whole number | `48` | from 1 to 48 |  | Depth in plies. |",
        "| `share` | number | `1.0` | above 0, up to 1 |  | Share. |",
        "| `pause` | duration | `\"1m 30s\"` | from \"1s\" to \"1h\" | yes | Pause between two moves. |",
        "| `moves` | whole number | `0` |  | yes | Moves in a row. |",
        "| `engine` | text | required |  |  | Its engine. |",
    ] {
        assert!(page.contains(row), "{row}\n{page}");
    }
}

#[test]
fn keys_that_take_effect_at_once() {
    let schema = schema_of::<Engine>();
    for (key, expected) in [
        ("pause", true),
        ("draw", true),
        ("draw.moves", true),
        ("draw.file", false),
        ("draw.unknown", false),
        ("pauses", false),
        ("depth", false),
        ("rule[0].engine", false),
        ("others.x.rated", false),
    ] {
        assert_eq!(is_reloadable(&schema, key), expected, "{key}");
    }
}

#[test]
fn values_that_do_not_fit_are_named() {
    let schema = schema_of::<Engine>();
    let told = |key: &str, got| fault(&schema["properties"][key], &got);
    for (key, got) in [
        ("depth", Got::Integer(48)),
        ("share", Got::Integer(1)),
        ("share", Got::Float(0.5)),
        ("pause", Got::Text("1m")),
        ("kind", Got::Text("random")),
        ("names", Got::List),
    ] {
        assert_eq!(told(key, got), None, "{key}");
    }
    for (key, got, expected) in [
        ("depth", Got::Integer(0), "expected a whole number from 1 to 48, got 0"),
        ("depth", Got::Float(1.0), "expected a whole number from 1 to 48, got 1.0"),
        ("depth", Got::Text("5"), "expected a whole number from 1 to 48, got \"5\""),
        ("depth", Got::Date, "expected a whole number from 1 to 48, got a date"),
        ("share", Got::Integer(0), "expected a number above 0, up to 1, got 0"),
        ("share", Got::Float(f64::NAN), "expected a number above 0, up to 1, got NaN"),
        ("pause", Got::Text("0s"), "expected a duration from \"1s\" to \"1h\", got \"0s\""),
        ("pause", Got::Integer(5), "expected a duration from \"1s\" to \"1h\", got 5"),
        ("pause", Got::Text("5"), "expected a duration from \"1s\" to \"1h\", got \"5\""),
        ("kind", Got::Flag(true), "expected \"search\" or \"random\", got true"),
        (
            "kind",
            Got::Text("serch"),
            "expected \"search\" or \"random\", got \"serch\" (did you mean \"search\"?)",
        ),
        ("names", Got::Text("a"), "expected a list in [brackets], got \"a\""),
        ("draw", Got::Flag(true), "expected a table, got true"),
    ] {
        assert_eq!(told(key, got).as_deref(), Some(expected));
    }
    let game = json!({ "enum": ["chess", "tuc"], "x-hints": { "chess960": "chess960 = true" } });
    for (word, meant) in [("Chess960", "`chess960 = true`"), ("ches", "\"chess\"")] {
        let expected = format!("expected \"chess\" or \"tuc\", got \"{word}\" (did you mean {meant}?)");
        assert_eq!(fault(&game, &Got::Text(word)), Some(expected));
    }
    let inner = |table: &str, key: &str, got| fault(&schema["properties"][table]["properties"][key], &got);
    let below = inner("draw", "moves", Got::Integer(-1));
    assert_eq!(below.as_deref(), Some("expected a whole number from 0, got -1"));
    // It may be a secret.
    let secret = inner("draw", "file", Got::Integer(4711));
    assert_eq!(secret.as_deref(), Some("expected text in quotes, got a number"));
}

settings! {
    #[derive(PartialEq, Serialize)]
    pub struct Base {
        /// Own.
        own: usize = 1,
    }
    overridden by
    #[derive(PartialEq)]
    pub struct Change {
        /// Both.
        both: usize = 2,
        /// Perhaps.
        perhaps: Option<u16> = None,
    }
}

#[test]
fn keys_of_another_table_replace_those_of_the_first() {
    let base: Base = toml::from_str("own = 7\nperhaps = 3").unwrap();
    let change = |text: &str| toml::from_str::<Change>(text).map(|change| change.over(&base));
    assert_eq!(change(""), Ok(base.clone()));
    assert_eq!(change("both = 5"), Ok(Base { both: 5, ..base.clone() }));
    assert_eq!(change("perhaps = 4"), Ok(Base { perhaps: Some(4), ..base.clone() }));
    assert!(change("own = 5").is_err());
    assert_eq!(changed(&base, &[]), ["perhaps = 3", "own = 7"]);
    assert_eq!(changed(&base, &["own"]), ["perhaps = 3"]);
    assert_eq!(changed(&Base::default(), &[]), [""; 0]);
}
