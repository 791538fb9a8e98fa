//! `zeitnot kit`: starter kits for students.
//!
//! A kit is a folder below `kits/`, on top of the folders that it shares with others. A new kit is such a folder and a row of
//! [`KITS`].

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser};
use rust_embed::Embed;

use zeitnot_net::Address;
use zeitnot_pairing::{BadName, Name};

use super::{CliError, print, unwritten, usage};

/// Write a starter kit: a folder in which a student writes one function that chooses a move
///
/// The kit holds a client for the arena, which guards the function: a late, failing or illegal answer is replaced by a legal
/// move, and the student sees why. It also holds a local opponent, a README and, except `homemade`, a test with ten positions.
/// Without arguments the command lists the kits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot kit
  zeitnot kit python my-bot
  zeitnot kit python my-bot --arena arena.school.example:8000 --tournament course
  zeitnot kit homemade my-bot              run the homemade.py of lichess-bot")]
pub(super) struct Args {
    /// Kit to write
    #[arg(requires = "folder", value_parser = kits())]
    kit: Option<String>,
    /// Folder to write it into; created if it does not exist, and refused if it is not empty
    folder: Option<PathBuf>,
    /// Address of the arena, for the kit's settings
    #[arg(long, value_name = "HOST:PORT", default_value = "localhost:8000", value_parser = authority)]
    arena: String,
    /// Tournament to join, for the kit's settings
    #[arg(long, value_name = "NAME", default_value = "class", value_parser = tournament)]
    tournament: Name,
}

/// A kit.
struct Kit {
    name: &'static str,
    needs: &'static str,
    /// Folders and files below `kits/`, each on top of those before.
    parts: &'static [&'static str],
    /// Commands that lead to the first game.
    commands: &'static [&'static str],
}

const KITS: &[Kit] = &[
    Kit {
        name: "python",
        needs: "Python 3.8 or newer",
        parts: &["shared", "python"],
        commands: &[
            "python3 -m pip install chess",
            "python3 test_my_bot.py",
            "python3 play_local.py",
            "python3 client.py NAME",
        ],
    },
    Kit {
        name: "java",
        needs: "JDK 17 or newer",
        parts: &["shared", "java"],
        commands: &["javac *.java", "java TestMyBot", "java PlayLocal", "java Client NAME"],
    },
    Kit {
        name: "cpp",
        needs: "g++ or clang++ with C++17, on Linux, macOS or WSL",
        parts: &["shared", "cpp"],
        commands: &[
            "g++ -std=c++17 -O2 -g -Wall -o my_bot *.cpp",
            "./my_bot test",
            "./my_bot local",
            "./my_bot client NAME",
        ],
    },
    Kit {
        name: "javascript",
        needs: "Node.js 20 or newer",
        parts: &["shared", "javascript"],
        commands: &["npm install", "node test_my_bot.js", "node play_local.js", "node client.js NAME"],
    },
    Kit {
        name: "rust",
        needs: "Rust 1.88 or newer",
        parts: &["shared", "rust"],
        commands: &[
            "cargo run --release test",
            "cargo run --release local",
            "cargo run --release client NAME",
        ],
    },
    Kit {
        name: "csharp",
        needs: "Mono 6 or newer, or .NET 8 or newer",
        parts: &["shared", "csharp"],
        commands: &[
            "mcs -debug -out:my_bot.exe *.cs",
            "mono --debug my_bot.exe test",
            "mono --debug my_bot.exe local",
            "mono --debug my_bot.exe client NAME",
        ],
    },
    Kit {
        name: "homemade",
        needs: "Python 3.8 or newer, and a homemade.py of lichess-bot",
        parts: &[
            "shared/LICENSE",
            "shared/settings.txt",
            "python/client.py",
            "python/guard.py",
            "python/play_local.py",
            "python/worker.py",
            "python/requirements.txt",
            "homemade",
        ],
        commands: &["python3 -m pip install chess", "python3 play_local.py", "python3 client.py NAME"],
    },
];

#[derive(Embed)]
#[folder = "kits/"]
struct Files;

/// Line of the settings that names the arena, as the repository has it.
const ARENA: &str = "arena = localhost:8000\n";
const TOURNAMENT: &str = "tournament = class\n";
const SETTINGS: &str = "settings.txt";
/// End of the names of files that would otherwise make a part of this repository a project of its own.
const TEMPLATE: &str = ".in";
/// Folders and files that toolchains leave where a kit was tried, and endings of such files.
const BUILT: &[&str] =
    &["__pycache__", "node_modules", "package-lock.json", "my_bot", "bin", "obj", "target", "Cargo.lock"];
const BUILT_ENDINGS: &[&str] = &[".class", ".exe", ".mdb", ".pdb"];

/// Returns whether a file below `kits/` is one that a toolchain left there, where a kit was tried.
fn is_built(path: &str) -> bool {
    path.split('/').any(|name| BUILT.contains(&name)) || BUILT_ENDINGS.iter().any(|end| path.ends_with(end))
}

fn kits() -> PossibleValuesParser {
    PossibleValuesParser::new(KITS.iter().map(|kit| PossibleValue::new(kit.name).help(kit.needs)))
}

fn authority(text: &str) -> Result<String, String> {
    let text = text.strip_prefix("tcp://").unwrap_or(text);
    let address = format!("tcp://{text}").parse::<Address>();
    address.map(|_| text.to_owned()).map_err(|_| "expected HOST:PORT, such as localhost:8000".to_owned())
}

fn tournament(text: &str) -> Result<Name, BadName> {
    text.try_into()
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let kit = KITS.iter().find(|kit| args.kit.as_deref() == Some(kit.name));
    let (Some(kit), Some(folder)) = (kit, &args.folder) else { return list() };
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file() {
        return Err(usage(format!("{}: exists and is not empty; name a new folder", folder.display())));
    }
    for (name, content) in kit.files() {
        let file = folder.join(&name);
        write(&file, &args.filled_in(&name, content)).map_err(unwritten(&file))?;
    }
    print(|out| {
        writeln!(
            out,
            "{}: the {} kit; its README.md explains it. It needs {}.",
            folder.display(),
            kit.name,
            kit.needs
        )?;
        writeln!(out, "\n  cd {}", folder.display())?;
        kit.commands.iter().try_for_each(|command| writeln!(out, "  {command}"))
    })
}

fn list() -> Result<(), CliError> {
    print(|out| {
        KITS.iter().try_for_each(|kit| writeln!(out, "{:<12}{}", kit.name, kit.needs))?;
        writeln!(out, "\nzeitnot kit KIT FOLDER writes one.")
    })
}

fn write(file: &Path, content: &[u8]) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, content)
}

impl Kit {
    /// Returns its files by their paths in the kit.
    fn files(&self) -> BTreeMap<String, Cow<'static, [u8]>> {
        let mut files = BTreeMap::new();
        for part in self.parts {
            for path in Files::iter() {
                let below = path.strip_prefix(part).filter(|_| !is_built(&path));
                let name = match below {
                    // The part is this file, or a folder with it.
                    Some("") => path.rsplit('/').next(),
                    Some(below) => below.strip_prefix('/'),
                    None => None,
                };
                if let Some((name, file)) = name.zip(Files::get(&path)) {
                    files.insert(name.strip_suffix(TEMPLATE).unwrap_or(name).to_owned(), file.data);
                }
            }
        }
        files
    }
}

impl Args {
    /// Returns a file's content with what the command line says.
    fn filled_in<'c>(&self, name: &str, content: Cow<'c, [u8]>) -> Cow<'c, [u8]> {
        match std::str::from_utf8(&content) {
            Ok(text) if name == SETTINGS => {
                let text = text.replace(ARENA, &format!("arena = {}\n", self.arena));
                text.replace(TOURNAMENT, &format!("tournament = {}\n", self.tournament.as_str()))
                    .into_bytes()
                    .into()
            }
            _ => content,
        }
    }
}
