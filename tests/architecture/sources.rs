//! Source files of a crate, as modules, and their imports.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// All Rust files below a folder.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The code of a file without comments, and without the test module at its end.
pub fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.fold(String::new(), |code, line| code + line + "\n")
}

/// Segments of a path, as in `crate::a::b`.
pub type Segments = Vec<String>;

/// One import: its path, the name that it has here, and whether others may import it from here.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    pub path: Segments,
    pub name: String,
    pub is_public: bool,
}

/// Expands `a::{b, c::{d as e, self}}` into its leaves.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(Segments, String)>) {
    let tree = tree.trim();
    let mut path = before.to_vec();
    if let Some((head, group)) = tree.split_once('{') {
        path.extend(head.split("::").map(str::trim).filter(|segment| !segment.is_empty()).map(str::to_owned));
        let group = group.trim_end().strip_suffix('}').unwrap_or(group);
        let mut depth = 0;
        let mut begin = 0;
        for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    if !group[begin..at].trim().is_empty() {
                        leaves(&group[begin..at], &path, found);
                    }
                    begin = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (tree, alias) = tree.split_once(" as ").map_or((tree, None), |(tree, alias)| (tree, Some(alias)));
    path.extend(tree.split("::").map(|segment| segment.trim().to_owned()));
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name =
        alias.map_or_else(|| path.last().cloned().unwrap_or_default(), |alias| alias.trim().to_owned());
    found.push((path, name));
}

/// The imports of a file: `use` items, and paths in the code that begin with `crate`, `super` or `self`.
pub fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut item: Option<(bool, String)> = None;
    for line in code.lines() {
        if item.is_none() {
            let declared = line.trim_start();
            let (is_public, declared) = match declared.strip_prefix("pub") {
                Some(declared) => (true, declared.trim_start_matches(|c| c != ' ').trim_start()),
                None => (false, declared),
            };
            match declared.strip_prefix("use ") {
                Some(tree) => item = Some((is_public, tree.to_owned())),
                None => rest += line,
            }
            rest.push('\n');
        } else if let Some((_, tree)) = &mut item {
            tree.push_str(line);
        }
        if let Some((is_public, tree)) = item.take() {
            let Some((tree, _)) = tree.split_once(';') else {
                item = Some((is_public, tree));
                continue;
            };
            let mut paths = Vec::new();
            leaves(tree, &[], &mut paths);
            found.extend(paths.into_iter().map(|(path, name)| Import { path, name, is_public }));
        }
    }
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in rest.match_indices(start) {
            let is_whole = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$\"".contains(c));
            let end = rest[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(0);
            let path = rest[at..at + end].trim_end_matches(':');
            let path: Segments = path.split("::").map(str::to_owned).collect();
            if is_whole && path.len() > 1 {
                found.push(Import { name: path[path.len() - 1].clone(), path, is_public: false });
            }
        }
    }
    found
}

/// A crate's modules by their paths below its root, which is empty.
pub struct Crate {
    modules: BTreeMap<Segments, Module>,
}

struct Module {
    file: String,
    imports: Vec<Import>,
    items: BTreeSet<String>,
}

/// Names that a file defines at its outermost level.
fn items(code: &str) -> BTreeSet<String> {
    const KINDS: [&str; 9] =
        ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules!"];
    let mut found = BTreeSet::new();
    for line in code.lines().filter(|line| !line.starts_with([' ', '}', ')', '#'])) {
        let mut words = line.split([' ', '(', '<', ':', ';', '{', '=']).filter(|word| !word.is_empty());
        if words.any(|word| KINDS.contains(&word)) {
            found.extend(words.find(|word| !["fn", "unsafe", "mut"].contains(word)).map(str::to_owned));
        }
    }
    found
}

impl Crate {
    /// Reads a crate's `src`. Test modules are left out: they may look at everything.
    pub fn read(src: &Path) -> Crate {
        let mut modules = BTreeMap::new();
        for file in rust_files(src) {
            let name = file.strip_prefix(src).unwrap().display().to_string().replace('\\', "/");
            let mut path: Segments = name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if path.iter().any(|segment| segment == "tests") || name == "main.rs" {
                continue;
            }
            if ["mod", "lib"].contains(&path[path.len() - 1].as_str()) {
                path.pop();
            }
            let code = code(&fs::read_to_string(&file).unwrap());
            modules.insert(path, Module { file: name, imports: imports(&code), items: items(&code) });
        }
        Crate { modules }
    }

    /// The file that each imported item stands in, by the file that imports it.
    ///
    /// A re-exported item counts as one of its origin. A module's use of its own descendants is no edge: it puts
    /// them together.
    pub fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let to = edges.entry(&module.file).or_default();
            for import in &module.imports {
                let Some(origin) = self.origin(path, &import.path, 0) else { continue };
                if !origin.starts_with(path) {
                    to.insert(&self.modules[origin].file);
                }
            }
        }
        edges
    }

    /// The module that defines what this path means in a module; `None` for one of another crate.
    fn origin<'c>(&'c self, module: &[String], path: &[String], depth: usize) -> Option<&'c Segments> {
        let mut at: Segments = match path.first()?.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => module.to_vec(),
            child => {
                let below = [module, &[child.to_owned()]].concat();
                self.modules.contains_key(&below).then(|| module.to_vec())?
            }
        };
        let mut rest = path;
        while let Some((first, others)) = rest.split_first().filter(|(first, _)| is_relative(first)) {
            if first == "super" {
                at.pop();
            }
            rest = others;
        }
        while let Some((first, others)) = rest.split_first() {
            let below = [&at[..], std::slice::from_ref(first)].concat();
            if self.modules.contains_key(&below) {
                (at, rest) = (below, others);
                continue;
            }
            return self.reexported(&at, first, depth).or_else(|| self.key(&at));
        }
        self.key(&at)
    }

    /// The origin of a name that a module re-exports.
    fn reexported<'c>(&'c self, at: &Segments, name: &str, depth: usize) -> Option<&'c Segments> {
        let module = self.modules.get(at)?;
        if module.items.contains(name) || depth > 8 {
            return None;
        }
        let named = module.imports.iter().filter(|import| import.name == name && import.path.len() > 1);
        let named =
            named.filter_map(|import| self.origin(at, &import.path, depth + 1)).find(|found| *found != at);
        named.or_else(|| {
            let globs = module.imports.iter().filter(|import| import.is_public && import.name == "*");
            let mut origins =
                globs.filter_map(|import| self.origin(at, &import.path[..import.path.len() - 1], depth + 1));
            origins.find_map(|origin| match self.modules[origin].items.contains(name) {
                true => Some(origin),
                false if origin != at => self.reexported(origin, name, depth + 1),
                false => None,
            })
        })
    }

    fn key(&self, at: &Segments) -> Option<&Segments> {
        self.modules.get_key_value(at).map(|(key, _)| key)
    }
}

fn is_relative(segment: &str) -> bool {
    ["crate", "self", "super"].contains(&segment)
}

/// Groups of files that reach one another by their imports.
pub fn circles<'f>(edges: &BTreeMap<&'f str, BTreeSet<&'f str>>) -> Vec<Vec<&'f str>> {
    let reach = |from: &'f str| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            next.extend(edges.get(file).into_iter().flatten().filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reached: BTreeMap<_, _> = edges.keys().map(|file| (*file, reach(file))).collect();
    let mut found: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, reaches) in &reached {
        if reaches.contains(file) {
            found.insert(reaches.iter().filter(|other| reached[**other].contains(file)).copied().collect());
        }
    }
    found.into_iter().collect()
}

#[test]
fn imports_are_found_in_every_form() {
    let code = "use super::a;\npub use crate::b::{self, C as D, e::{F, g::*}};\nfn f(x: crate::net::X) {}\n";
    let found = imports(code);
    let shown: Vec<_> = found.iter().map(|import| (import.path.join("::"), import.name.as_str())).collect();
    let expected = [
        ("super::a", "a"),
        ("crate::b", "b"),
        ("crate::b::C", "D"),
        ("crate::b::e::F", "F"),
        ("crate::b::e::g::*", "*"),
        ("crate::net::X", "X"),
    ];
    assert_eq!(shown, expected.map(|(path, name)| (path.to_owned(), name)));
    assert_eq!(found.iter().filter(|import| import.is_public).count(), 4);
    assert_eq!(self::code("use a;\n// crate::b\n\n#[cfg(test)]\nmod tests {\n    use d;\n}\n"), "use a;\n");
}

#[test]
fn circles_are_found_through_reexports_and_parents_put_their_children_together() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\npub use b::B;\n");
    write("a.rs", "use crate::B;\npub struct A;\n");
    write("b/mod.rs", "mod c;\npub use c::{B, run};\npub struct Config;\n");
    write("b/c.rs", "use super::Config;\npub struct B(Config);\npub fn run() {}\n");
    let read = Crate::read(folder.path());
    let edges = read.edges();
    assert_eq!(edges["a.rs"], BTreeSet::from(["b/c.rs"]));
    assert_eq!(edges["b/c.rs"], BTreeSet::from(["b/mod.rs"]));
    assert_eq!(circles(&edges), Vec::<Vec<&str>>::new());
    write("b/c.rs", "use super::Config;\npub struct B(crate::a::A, Config);\npub fn run() {}\n");
    let read = Crate::read(folder.path());
    assert_eq!(circles(&read.edges()), [["a.rs", "b/c.rs"]]);
}
