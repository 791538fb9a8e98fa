//! Links between pages.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::home;

/// All pages: those at the top, those of `docs`, and the `README.md` of each folder.
fn all_pages() -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.collect::<Vec<_>>()
    };
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let top = entries(home());
    let inner = top.iter().filter(|path| path.is_dir()).map(|folder| folder.join("README.md"));
    let docs = entries(&home().join("docs"));
    let mut pages: Vec<_> = top.iter().chain(&docs).filter(|path| is_page(path)).cloned().collect();
    pages.extend(inner.filter(|page| page.exists()));
    pages
}

/// Anchors that GitHub gives the headings of a page: letters, digits, `-` and `_` of the text, spaces as `-`, and a number
/// after the second of the same text.
fn anchors(page: &str) -> Vec<String> {
    let mut known = BTreeMap::new();
    let mut anchors = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let text = line.trim_start_matches('#');
        if is_code || text.len() == line.len() || !text.starts_with(' ') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let anchor =
            shown(text.trim()).to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let count = known.entry(anchor.clone()).or_insert(0);
        anchors.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// A heading without the addresses of its links.
fn shown(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// Targets of the links of a page.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for path in all_pages() {
        let page = fs::read_to_string(&path).unwrap();
        for target in targets(&page).filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let has_heading =
                || anchors(&fs::read_to_string(&linked).unwrap()).iter().any(|known| known == anchor);
            if !linked.exists() || !anchor.is_empty() && !has_heading() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere: {broken:#?}");
}

#[test]
fn anchors_are_those_of_github() {
    let page = "# One: `two_three`, [four](five.md)!\n```sh\n# no heading\n```\n#none\n## Und\n### Und\n";
    assert_eq!(anchors(page), ["one-two_three-four", "und", "und-1"]);
}
