//! The pages name only subcommands, keys, files and links that exist; their commands, samples and figures hold.

#[cfg(unix)]
mod cluster;
mod configuration;
mod figures;
mod links;
mod openbench;
mod protocols;
mod samples;

use std::{collections::BTreeSet, fs, path::Path};

use clap::CommandFactory;
use zeitnot::cli::{
    Cli,
    config::{Config, schema},
    import::{SOURCES, convert},
};
use zeitnot_wire::lichess::DeclineReason;

/// The pages for readers.
fn pages() -> impl Iterator<Item = (String, String)> {
    let shelves = fs::read_dir(home().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let shelves = shelves.filter_map(|name| Some(format!("docs/{}", name.to_str()?)));
    let shelves = shelves.filter(|name| name.ends_with(".md"));
    let others = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(String::from);
    others.into_iter().chain(shelves).map(|name| {
        let text = page(&name);
        (name, text)
    })
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    fs::read_to_string(home().join(name)).unwrap()
}

/// The words after each `mark`.
fn words_after<'p>(page: &'p str, mark: &str) -> BTreeSet<&'p str> {
    let word =
        |rest: &'p str| rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().unwrap_or_default();
    page.match_indices(mark)
        .map(|(at, _)| word(&page[at + mark.len()..]))
        .filter(|word| !word.is_empty() && !word.starts_with('-'))
        .collect()
}

#[test]
fn subcommands_exist_and_the_readme_names_all() {
    let cli = Cli::command();
    let known: BTreeSet<_> = cli.get_subcommands().map(|command| command.get_name()).collect();
    for (name, page) in pages() {
        let marks = ["`zeitnot ", "\nzeitnot ", "| zeitnot "];
        let told: BTreeSet<_> = marks.iter().flat_map(|mark| words_after(&page, mark)).collect();
        let strange: Vec<_> = told.difference(&known).filter(|word| **word != "help").collect();
        assert!(strange.is_empty(), "{name}: no such subcommand: {strange:?}");
        if name == "README.md" {
            let untold: Vec<_> = known.difference(&told).collect();
            assert!(untold.is_empty(), "{name} says nothing of {untold:?}");
        }
    }
}

#[test]
fn the_index_lists_every_page() {
    let index = page("docs/README.md");
    for (name, _) in pages() {
        let link = name.strip_prefix("docs/").filter(|name| *name != "README.md");
        assert!(link.is_none_or(|link| index.contains(&format!("({link})"))), "{name} is not in the index");
    }
}

/// Keys of the configuration by their table.
fn documented() -> BTreeSet<(String, String)> {
    let tables = zeitnot_settings::tables(schema());
    let keys =
        tables.iter().flat_map(|table| table.keys.iter().map(|key| (table.label(), key.name.to_owned())));
    keys.collect()
}

/// The parts of a page that are of the configuration.
fn shown(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("```toml") else { continue };
        let inside = lines.by_ref().take_while(|line| line.trim() != "```");
        blocks.push(inside.map(|line| line.strip_prefix(indent).unwrap_or(line).to_owned() + "\n").collect());
    }
    blocks
}

#[test]
fn samples_of_the_configuration_are_valid() {
    let wrong = |name: &str, text: &str| {
        let errors = Config::parse(name, text).err()?.to_string();
        // Servers of features that are off by default.
        let is_lack = |line: &&str| line.contains("this program was built without");
        let wrong: Vec<_> = errors.lines().filter(|line| !is_lack(line)).collect();
        (!wrong.is_empty()).then(|| wrong.join("\n"))
    };
    for (name, page) in pages() {
        let blocks = shown(&page);
        let alone: Vec<_> = blocks.iter().filter_map(|block| wrong(&name, block)).collect();
        // A page may go on with what it has begun.
        let is_sound = alone.is_empty() || wrong(&name, &blocks.concat()).is_none();
        assert!(is_sound, "{name}: {alone:?}");
    }
    assert!(shown(&page("docs/lichess.md")).len() > 4);
}

/// The texts between backticks.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The part of the page that is about a bot's keys.
fn keys_of<'p>(page: &'p str, bot: &str) -> &'p str {
    page.split_once(&format!("| {bot} | Zeitnot |\n")).unwrap().1
}

#[test]
fn keys_of_other_bots_have_the_documented_counterparts() {
    let samples = [include_str!("data/lichess-bot.yml"), include_str!("data/botli.yml")];
    for (source, sample) in SOURCES.into_iter().zip(samples) {
        let page = page("docs/lichess.md");
        let told = documented_counterparts(&page, source.name);
        let untold: Vec<_> =
            source.rows.iter().map(|row| row.theirs).filter(|key| !told.contains(key)).collect();
        assert!(untold.is_empty(), "docs/lichess.md says nothing of {untold:?}");
        let converted = convert(sample, Path::new(""), None).unwrap();
        for key in told {
            let is_left = |line: &&String| line.starts_with(&format!("{key} ("));
            assert!(converted.left.iter().find(is_left).is_none(), "{key} is not converted");
        }
    }
}

/// The keys of a bot that the page maps. Their counterparts exist.
fn documented_counterparts<'p>(page: &'p str, bot: &str) -> BTreeSet<&'p str> {
    let documented = documented();
    let mut told = BTreeSet::new();
    let rows = keys_of(page, bot).lines().take_while(|line| line.starts_with('|'));
    for row in rows.filter(|line| line.starts_with("| `")) {
        let [_, theirs, ours, _] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        told.extend(codes(theirs));
        let mut table = "";
        for code in codes(ours) {
            let is_key = code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            match code {
                "[[server]]" => table = "[[server]] lichess",
                // It has the same keys.
                "[server.challenge.bot]" => table = "[server.challenge.human]",
                code if code.starts_with('[') => table = code,
                _ => {}
            }
            let key = (table.to_owned(), code.to_owned());
            assert!(!is_key || documented.contains(&key), "there is no {key:?}: {row}");
        }
    }
    told
}

#[test]
fn keys_of_other_bots_without_a_counterpart_have_the_documented_reasons() {
    for source in SOURCES {
        let page = page("docs/lichess.md");
        let known: BTreeSet<_> = source.reasons.iter().map(|(key, why)| (*key, (*why).to_owned())).collect();
        assert_eq!(documented_reasons(&page, source.name), known);
    }
}

fn documented_reasons<'p>(page: &'p str, bot: &str) -> BTreeSet<(&'p str, String)> {
    let (_, list) = keys_of(page, bot).split_once("What has no counterpart here").unwrap();
    let (_, list) = list.split_once("\n\n- ").unwrap();
    let list = list.split("\n\n").next().unwrap_or_default().trim_end();
    let mut told = BTreeSet::new();
    for item in list.split("\n- ") {
        let (keys, why) = item.split_once(": ").unwrap_or_else(|| panic!("{item}"));
        let why: Vec<_> = why.trim_end_matches('.').split_whitespace().collect();
        told.extend(codes(keys).map(|key| (key, why.join(" "))));
    }
    told
}

#[test]
fn the_reasons_for_declining_a_challenge_are_documented() {
    let page = page("docs/lichess.md");
    let (_, reasons) = page.split_once("The bot declines a challenge with a reason:").unwrap();
    let told: BTreeSet<_> = codes(reasons.split("\n\n").next().unwrap()).collect();
    assert_eq!(told, DeclineReason::KNOWN.iter().map(DeclineReason::as_str).collect());
}

/// Paths in the text, such as `crates/engine/src/mind.rs`, also with a line: `crates/rules/src/lib.rs:313`.
#[test]
fn named_files_exist() {
    for (name, page) in pages() {
        for word in page.split('`').skip(1).step_by(2) {
            let path = word.split(':').next().unwrap_or_default();
            let is_path =
                ["crates/", "src/", "tests/", "scripts/", ".ci/"].iter().any(|top| path.starts_with(top));
            let plain = !path.contains([' ', '*', '<', '{', '…']);
            assert!(!is_path || !plain || home().join(path).exists(), "{name}: `{word}`");
        }
    }
}
