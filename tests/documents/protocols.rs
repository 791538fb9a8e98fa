//! The description of the contest protocol.

use zeitnot_rules::GameResult;
use zeitnot_wire::contest::{NAMES, result_text};

use super::page;

#[test]
fn every_message_and_result_of_the_contest_protocol_is_described() {
    let page = page("docs/arena.md");
    let (_, section) = page.split_once("\n## The contest protocol\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let words: Vec<_> = section.split(|c: char| !c.is_ascii_alphanumeric() && !"_-.".contains(c)).collect();
    let results = [result_text(GameResult::Draw), "1-0", "0-1"];
    let untold: Vec<_> = NAMES.split(' ').chain(results).filter(|word| !words.contains(word)).collect();
    assert!(untold.is_empty(), "docs/arena.md says nothing of {untold:?}");
}
