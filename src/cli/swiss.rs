//! `zeitnot arena pair` and `zeitnot arena check`: Swiss tournaments in FIDE's report files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use zeitnot_arena::{self as arena, CheckedRound, NextRound};
use zeitnot_wire::trf::{Trf, TrfError};

use super::{CliError, print, usage};

/// Prints the next round: the number of its games, then White and Black of each by their numbers, as other pairing
/// programs do; a 0 stands for the bye.
pub(super) fn pair(file: &Path) -> Result<(), CliError> {
    let NextRound { games, bye, .. } =
        arena::pair_next(&read(file)?).map_err(|error| usage(format!("{}: {error}", file.display())))?;
    print(|out| {
        writeln!(out, "{}", games.len() + usize::from(bye.is_some()))?;
        games.iter().try_for_each(|[white, black]| writeln!(out, "{white} {black}"))?;
        bye.map_or(Ok(()), |bye| writeln!(out, "{bye} 0"))
    })
}

/// Compares the rounds of tournaments with the Dutch rules, and prints what differs.
pub(super) fn check(files: &[PathBuf]) -> Result<(), CliError> {
    let (mut rounds, mut differing) = (0, 0);
    for file in files {
        for round in arena::check_rounds(&read(file)?) {
            rounds += 1;
            if !round.agrees() {
                differing += 1;
                report(file, &round)?;
            }
        }
    }
    print(|out| writeln!(out, "{} files, {rounds} rounds, {differing} differ", files.len()))?;
    if differing == 0 { Ok(()) } else { Err(CliError::Differ(differing)) }
}

fn read(file: &Path) -> Result<Trf, CliError> {
    let fault = |fault: String| usage(format!("{}: {fault}", file.display()));
    let bytes = fs::read(file).map_err(|error| {
        let file = file.display();
        usage(format!("cannot read {file}: {error}; give a report file, such as `zeitnot arena results NAME --trf` writes"))
    })?;
    // Names may be in any of the old encodings; all else is ASCII.
    let text: String = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
    };
    text.parse().map_err(|error: TrfError| fault(format!("{error}; expected a report file (TRF16)")))
}

fn report(file: &Path, CheckedRound { file: played, rules }: &CheckedRound) -> Result<(), CliError> {
    print(|out| {
        writeln!(out, "{}: round {} differs", file.display(), played.round)?;
        let Some(rules) = rules else {
            return writeln!(out, "  by the rules no pairing is possible");
        };
        for (name, round, other) in [("file ", played, rules), ("rules", rules, played)] {
            let games = round.games.iter().filter(|game| !other.games.contains(game));
            let games = games.map(|[white, black]| format!("{white}-{black}"));
            let bye = round.bye.filter(|_| round.bye != other.bye).map(|bye| format!("bye {bye}"));
            writeln!(out, "  {name}: {}", games.chain(bye).collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    })
}
