//! `zeitnot-measure simulate`: runs state machines against scripted worlds in virtual time, without sockets, and checks
//! laws over the whole history. A seed determines the whole run, so that a failing one can be replayed.
//!
//! [`subject`] says what a simulation is made of, [`law`] what it checks, [`runner`] runs seeds, [`history`] holds the steps of one. Each
//! subject is a file or folder of its own, and a row in [`SUBJECTS`].

use std::time::Instant;

use crate::output::{Error, print_row};

mod account;
mod disk;
mod event_queue;
mod history;
mod hosted;
mod law;
mod runner;
mod subject;
mod tournament;
mod virtual_time;

use history::{Broken, History};
use law::Mutant;
use runner::{run_seed, run_seeds};
use subject::Entry;

/// All subjects.
const SUBJECTS: &[Entry] =
    &[Entry::of::<account::Account>(), Entry::of::<hosted::Hosted>(), Entry::of::<tournament::Tournament>()];

/// Lines of a history that a broken law shows.
const LAST_LINES: usize = 40;

/// Run state machines against scripted worlds from seeds, and check their laws
///
/// Each seed is a world of its own, with faults: lost, late, repeated and reordered answers, outages, streams that end,
/// restarts. Time is virtual, and there are no sockets. If a law is broken, the seed, the law and the end of the history
/// are printed; --seed replays that seed with its whole history.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure simulate                               100,000 seeds of each subject
  zeitnot-measure simulate --what account --seed 1234    the whole history of one seed
  zeitnot-measure simulate --list                        the laws, and the mutants that break them
  zeitnot-measure simulate --mutants                     the first seed that catches each mutant

Exit code: 0 if all laws held (with --mutants: if all mutants were caught), otherwise 1.")]
pub(crate) struct Args {
    /// Subject to simulate: all, or one by its name
    #[arg(long, default_value = "all", value_parser = what())]
    what: String,
    /// Replay only this seed, and print its whole history
    #[arg(long, value_name = "N", conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Number of seeds
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    seeds: u64,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Plant this mutant, and stop at the first seed that breaks its law
    #[arg(long, value_name = "NAME", value_parser = mutants())]
    mutant: Option<String>,
    /// Plant each mutant in turn, and print the first seed that catches it
    #[arg(long, conflicts_with_all = ["seed", "mutant"])]
    mutants: bool,
    /// Print the laws and the mutants
    #[arg(long, conflicts_with_all = ["seed", "mutant", "mutants"])]
    list: bool,
    /// Print the requests of the Lichess account in an outage of three hours while thirty games run
    #[arg(long, conflicts_with_all = ["seed", "mutant", "mutants", "list"])]
    outage: bool,
}

fn what() -> clap::builder::PossibleValuesParser {
    SUBJECTS.iter().map(|subject| subject.name).chain(["all"]).collect::<Vec<_>>().into()
}

fn mutants() -> clap::builder::PossibleValuesParser {
    let all = SUBJECTS.iter().flat_map(|subject| subject.mutants);
    all.map(|mutant| mutant.name).collect::<Vec<_>>().into()
}

impl Args {
    fn subjects(&self) -> impl Iterator<Item = &'static Entry> {
        let has_mutant = |subject: &Entry| match &self.mutant {
            Some(name) => mutant(subject, name).is_some(),
            None => true,
        };
        let is_wanted = move |subject: &&Entry| self.what == "all" || self.what == subject.name;
        SUBJECTS.iter().filter(is_wanted).filter(move |subject| has_mutant(subject))
    }
}

fn mutant(subject: &Entry, name: &str) -> Option<&'static Mutant> {
    subject.mutants.iter().copied().find(|mutant| mutant.name == name)
}

/// Runs the simulation.
pub(crate) fn run(args: &Args) -> Result<(), Error> {
    if args.outage {
        let broken = |broken: Broken| format!("the law {} is broken: {}", broken.law, broken.what);
        return account::outage::table().map_err(broken)?.iter().try_for_each(|line| print_row(line));
    }
    let mut broken = 0;
    for subject in args.subjects() {
        let mutant = args.mutant.as_ref().and_then(|name| mutant(subject, name));
        broken += match args.seed {
            _ if args.list => list(subject)?,
            _ if args.mutants => catch_mutants(subject, args)?,
            Some(seed) => replay(subject, seed, mutant)?,
            None => simulate(subject, args, mutant)?,
        };
    }
    match broken {
        0 => Ok(()),
        _ if args.mutants => Err(format!("{broken} mutants were not caught").into()),
        _ => Err("a law is broken".into()),
    }
}

fn list(subject: &Entry) -> Result<usize, Error> {
    print_row(&format!("{}:", subject.name))?;
    rows(subject).try_for_each(|row| print_row(&row))?;
    Ok(0)
}

/// Returns the laws of a subject with their mutants, as `docs/simulation.md` lists them.
fn rows(subject: &Entry) -> impl Iterator<Item = String> {
    subject.laws.iter().map(|law| {
        let mutants = subject.mutants.iter().filter(|mutant| mutant.law == *law);
        let mutants: Vec<_> = mutants.map(|mutant| format!("`{}` ({})", mutant.name, mutant.text)).collect();
        format!("- `{}`: {}. Mutants: {}.", law.name, law.text, mutants.join("; "))
    })
}

/// Returns the number of mutants that no seed caught.
fn catch_mutants(subject: &Entry, args: &Args) -> Result<usize, Error> {
    let mut missed = 0;
    for mutant in subject.mutants {
        let found = run_seeds(subject, Some(mutant), args.from..args.from.saturating_add(args.seeds)).broken;
        missed += usize::from(found.is_none());
        let result = match found {
            Some((seed, broken)) => format!("seed {seed} breaks {}: {}", broken.law, broken.what),
            None => format!("not caught by {}", mutant.law.name),
        };
        print_row(&format!("{} {}: {result}", subject.name, mutant.name))?;
    }
    Ok(missed)
}

/// Returns the number of broken seeds, here and below.
fn replay(subject: &Entry, seed: u64, mutant: Option<&'static Mutant>) -> Result<usize, Error> {
    let mut history = History::written();
    let result = run_seed(subject, seed, mutant, &mut history);
    history.lines().iter().try_for_each(|line| print_row(line))?;
    match result {
        Ok(()) => {
            let (steps, checks) = (history.steps(), history.checks());
            print_row(&format!("{} seed {seed}: {steps} steps, {checks} laws checked", subject.name))?;
            Ok(0)
        }
        Err(broken) => report(subject, seed, &broken),
    }
}

fn report(subject: &Entry, seed: u64, broken: &Broken) -> Result<usize, Error> {
    print_row(&format!("{} seed {seed} breaks the law {}: {}", subject.name, broken.law, broken.what))?;
    Ok(1)
}

fn simulate(subject: &Entry, args: &Args, mutant: Option<&'static Mutant>) -> Result<usize, Error> {
    let began = Instant::now();
    let seeds = run_seeds(subject, mutant, args.from..args.from.saturating_add(args.seeds));
    let rate = seeds.run as f64 / began.elapsed().as_secs_f64().max(f64::EPSILON);
    print_row(&format!(
        "{}: {} seeds, {rate:.0} a second; {} steps, {} laws checked",
        subject.name, seeds.run, seeds.steps, seeds.checks
    ))?;
    let Some((seed, broken)) = seeds.broken else { return Ok(0) };
    let mut history = History::written();
    let _ = run_seed(subject, seed, mutant, &mut history);
    let last = history.lines().len().saturating_sub(LAST_LINES);
    history.lines()[last..].iter().try_for_each(|line| print_row(line))?;
    report(subject, seed, &broken)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use zeitnot_testing::LONG;

    use super::*;

    /// Seeds that the tests run of each subject.
    const SEEDS: u64 = 2_000;
    /// Seeds whose histories are compared.
    const COMPARED: u64 = 50;

    #[test(limit = LONG)]
    fn every_law_holds_in_the_first_seeds() {
        for subject in SUBJECTS {
            let seeds = run_seeds(subject, None, 0..SEEDS);
            if let Some((seed, broken)) = seeds.broken {
                let mut history = History::written();
                let _ = run_seed(subject, seed, None, &mut history);
                panic!("{}\n{} seed {seed}: {broken:?}", history.lines().join("\n"), subject.name);
            }
            assert_eq!(seeds.run, SEEDS);
        }
    }

    #[test(limit = LONG)]
    fn every_mutant_is_caught_by_its_law() {
        for subject in SUBJECTS {
            let missed = subject.mutants.iter().filter(|mutant| {
                let found = run_seeds(subject, Some(mutant), 0..SEEDS);
                found.broken.is_none()
            });
            let missed: Vec<_> = missed.map(|mutant| mutant.name).collect();
            assert!(missed.is_empty(), "{}: {missed:?}", subject.name);
        }
    }

    #[test]
    fn every_law_has_a_mutant_that_breaks_it() {
        for subject in SUBJECTS {
            let laws: BTreeSet<_> = subject.laws.iter().map(|law| law.name).collect();
            let mutated: BTreeSet<_> = subject.mutants.iter().map(|mutant| mutant.law.name).collect();
            assert_eq!(laws, mutated, "{}", subject.name);
        }
    }

    #[test]
    fn the_page_lists_the_laws_and_their_mutants() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulation.md");
        let page = std::fs::read_to_string(path).unwrap();
        for row in SUBJECTS.iter().flat_map(rows) {
            assert!(page.contains(&format!("\n{row}\n")), "docs/simulation.md lacks this line:\n{row}");
        }
    }

    #[test]
    fn a_seed_always_has_the_same_history() {
        let history = |subject, seed| {
            let mut history = History::written();
            let result = run_seed(subject, seed, None, &mut history);
            (history.lines().to_vec(), result)
        };
        for subject in SUBJECTS {
            for seed in 0..COMPARED {
                assert_eq!(history(subject, seed), history(subject, seed), "{} seed {seed}", subject.name);
            }
        }
    }
}
