//! The sample, the page and the JSON schema of the configuration are generated from the declared keys, and true.

use std::{collections::BTreeSet, fmt::Debug, fs};

use serde_json::Value;
use zeitnot::cli::config::{Audience, Config, key_tables, sample_for, schema, schema_file};
use zeitnot_clients::{
    Protocol, Server, cerveau::Cerveau, contest::Contest, imcs::Imcs, lichess::Lichess, tuc::TucChess,
};
use zeitnot_settings::tables;

use super::{home, page, pages, shown};

const BEGIN: &str = "<!-- Generated: the keys. -->\n";
const END: &str = "<!-- The end of what is generated. -->\n";

/// The generated files, each with what it should be.
fn generated() -> [(&'static str, String); 3] {
    let page = page("docs/configuration.md");
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let page = format!("{before}{BEGIN}\n{}{END}{after}", key_tables());
    [
        ("config.toml", sample_for(Audience::All)),
        ("config.schema.json", schema_file()),
        ("docs/configuration.md", page),
    ]
}

#[test]
fn the_documents_of_the_configuration_are_as_generated() {
    for (name, expected) in generated() {
        let is_same = fs::read_to_string(home().join(name)).is_ok_and(|text| text == expected);
        assert!(is_same, "{name} is not what the declared keys give: write it with `just config`");
    }
}

#[test]
#[ignore = "writes the generated files: `just config`"]
fn write_the_documents_of_the_configuration() {
    for (name, text) in generated() {
        fs::write(home().join(name), text).unwrap();
    }
}

const AUDIENCES: [Audience; 8] = [
    Audience::All,
    Audience::Lichess,
    Audience::Contest,
    Audience::Tuc,
    Audience::Imcs,
    Audience::Cerveau,
    Audience::Arena,
    Audience::Match,
];

#[test]
fn samples_are_valid_and_no_line_is_too_long() {
    for audience in AUDIENCES {
        let sample = sample_for(audience);
        Config::parse("sample.toml", &sample).unwrap_or_else(|error| panic!("{audience:?}: {error}"));
        // A list of values may be longer.
        let long = sample.lines().find(|line| line.chars().count() > 125 && !line.contains(" = ["));
        assert_eq!(long, None, "{audience:?}");
    }
    // The keys that somebody needs stand on the first screen.
    for (audience, table) in [(Audience::Lichess, "protocol = \"lichess\""), (Audience::Arena, "[arena]")] {
        let sample = sample_for(audience);
        let at = sample.lines().position(|line| line.starts_with(table)).unwrap();
        assert!(at < 15, "{audience:?}: line {at}");
    }
}

/// What the program makes of a configuration.
fn read(text: &str) -> String {
    let config = Config::parse("sample.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let Config { engine, engines, bot, online_moves, cache, log, web, metrics, arena, servers, .. } = &config;
    let servers: Vec<_> = servers.iter().map(table).collect();
    format!(
        "{engine:?} {engines:?} {bot:?} {online_moves:?} {cache:?} {log:?} {web:?} {metrics:?} {arena:?} {servers:?}"
    )
}

/// All values of a server's table, of which itself shows some only.
fn table(server: &Server) -> String {
    fn of<P: Protocol<Config: Debug> + 'static>(server: &Server) -> Option<String> {
        server.config_of::<P>().map(|config| format!("{config:?}"))
    }
    let table = of::<Contest>(server).or_else(|| of::<TucChess>(server));
    let table = table.or_else(|| of::<Imcs>(server)).or_else(|| of::<Cerveau>(server));
    table.or_else(|| of::<Lichess>(server)).unwrap()
}

/// The sample with all of its tables and the keys that they need, and with or without its commented defaults.
fn uncommented(sample: &str, with_defaults: bool) -> String {
    let all = tables(schema());
    let required = all.iter().flat_map(|table| &table.keys).filter(|key| key.is_required).map(|key| key.name);
    // Without these, the table would be another one, or is refused.
    let needed: BTreeSet<_> = required.chain(["command", "password"]).collect();
    let line = |line: &str| {
        let inner = line.strip_prefix("# ").unwrap_or(line);
        let (inner, is_example) =
            inner.strip_prefix("Example: ").map_or((inner, false), |inner| (inner, true));
        let is_header = inner.starts_with('[') && inner.ends_with(']');
        let key = inner.split_once(" = ").map(|(key, _)| key).filter(|key| !key.contains(' '));
        let is_wanted = match (is_header, key) {
            (true, _) => true,
            (false, Some(key)) if needed.contains(key) || !line.starts_with('#') => true,
            (false, Some(_)) => with_defaults && !is_example,
            (false, None) => false,
        };
        is_wanted.then(|| format!("{inner}\n"))
    };
    sample.lines().filter_map(line).collect()
}

#[test]
fn each_commented_line_of_the_sample_is_the_default() {
    let sample = sample_for(Audience::All);
    let [with, without] = [true, false].map(|with_defaults| uncommented(&sample, with_defaults));
    assert!(with.lines().count() > without.lines().count() + 150, "{with}");
    assert_eq!(read(&with), read(&without));
    // Every protocol has its table in it.
    for protocol in zeitnot_clients::PROTOCOLS {
        assert!(without.contains(&format!("protocol = \"{}\"", protocol.name)), "{}", protocol.name);
    }
    let [sample, empty] = [with.as_str(), ""].map(|text| Config::parse("sample.toml", text).unwrap());
    assert_eq!(
        (sample.engine, sample.online_moves, sample.log),
        (empty.engine, empty.online_moves, empty.log)
    );
    assert_eq!(zeitnot_bot::Config { choose: Vec::new(), books: Vec::new(), ..sample.bot }, empty.bot);
    assert_eq!(format!("{:?}", sample.cache), format!("{:?}", empty.cache));
}

/// Each key says what it is, and is required, optional or has a default.
#[test]
fn each_key_is_described() {
    for table in tables(schema()) {
        assert!(!table.description.is_empty(), "{}", table.label());
        for key in &table.keys {
            let name = format!("{} {}", table.label(), key.name);
            assert!(!key.description().is_empty(), "{name} has no description");
            assert!(key.default().is_some() || key.example().is_some(), "{name}: no default and no example");
        }
    }
}

fn json(name: &str, text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::to_value(table).unwrap()
}

#[test]
fn the_json_schema_accepts_the_samples_and_refuses_mistakes() {
    let validator = jsonschema::validator_for(schema()).unwrap();
    let fault = |text: &str| validator.iter_errors(&json(text, text)).next().map(|error| error.to_string());
    for audience in AUDIENCES {
        assert_eq!(fault(&sample_for(audience)), None, "{audience:?}");
    }
    for file in ["packaging/debian/config.toml", "packaging/debian/arena.toml", "tests/data/lichess-bot.toml"]
    {
        assert_eq!(fault(&page(file)), None, "{file}");
    }
    for (name, page) in pages() {
        for block in shown(&page).iter().filter(|block| Config::parse(&name, block).is_ok()) {
            assert_eq!(fault(block), None, "{name}: {block}");
        }
    }
    for wrong in [
        "[engine]\nhash = 5",
        "[engine]\nhash_mib = '64'",
        "[engine]\ndepth = 49",
        "[bot]\nmove_overhead = 50",
        "[bot]\nmove_overhead = '5'",
        "[bot]\ntime_share = 0",
        "[log]\nformat = 'xml'",
        "[[server]]\nplayer = 'a'",
        "[[server]]\nprotocol = 'tuc'\nplayer = 'a'\nkey = 'b'",
        "[[arena.tournament]]\nname = 'a'",
        "[engin]",
    ] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}
