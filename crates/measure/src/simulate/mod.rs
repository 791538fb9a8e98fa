//! `zeitnot-measure simulate`: runs state machines against scripted worlds in virtual time, without sockets, and checks
//! laws over the whole history. A seed determines the whole run, so that a failing one can be replayed.
//!
//! [`subject`] says what a simulation is made of, [`law`] what it checks, [`runner`] runs seeds, and [`run`] is one of them.
//! Each subject is a folder of its own, and a row in [`SUBJECTS`].

use std::{ops::Range, time::Instant};

use crate::output::{Error, print_row};

mod account;
mod disk;
mod event_queue;
mod hosted;
mod law;
mod run;
mod runner;
mod subject;
mod tournament;
mod virtual_time;

use law::Planted;
use run::{Broken, Run};
use runner::{run_seed, run_seeds};
use subject::Subject;

/// All subjects.
const SUBJECTS: &[Subject] = &[account::SUBJECT, hosted::SUBJECT, tournament::SUBJECT];

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
  zeitnot-measure simulate --subject account --seed 1234 the whole history of one seed
  zeitnot-measure simulate --list                        the laws, and the mutants that break them
  zeitnot-measure simulate --mutants                     the first seed that catches each mutant

Exit code: 0 if all laws held (with --mutants: if all mutants were caught), otherwise 1.")]
pub(crate) struct Args {
    /// Subject to simulate: all, or one by its name
    #[arg(long, default_value = "all", value_parser = subjects())]
    subject: String,
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
}

fn subjects() -> clap::builder::PossibleValuesParser {
    SUBJECTS.iter().map(|subject| subject.name).chain(["all"]).collect::<Vec<_>>().into()
}

fn mutants() -> clap::builder::PossibleValuesParser {
    let planted = SUBJECTS.iter().flat_map(Subject::mutants).filter_map(|planted| planted.0);
    planted.map(|(_, mutant)| mutant.name).collect::<Vec<_>>().into()
}

impl Args {
    /// Returns the subjects that are asked for, each with the mutant to plant.
    fn subjects(&self) -> impl Iterator<Item = (&'static Subject, Planted)> {
        let is_wanted = |subject: &&Subject| self.subject == "all" || self.subject == subject.name;
        SUBJECTS.iter().filter(is_wanted).filter_map(|subject| {
            let Some(name) = &self.mutant else { return Some((subject, Planted::default())) };
            let is_it = |planted: &Planted| planted.0.is_some_and(|(_, mutant)| mutant.name == *name);
            Some((subject, subject.mutants().find(is_it)?))
        })
    }

    fn seeds(&self) -> Range<u64> {
        self.from..self.from.saturating_add(self.seeds)
    }
}

/// Runs the simulation.
pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut broken = 0;
    for (subject, planted) in args.subjects() {
        broken += match args.seed {
            _ if args.list => list(subject)?,
            _ if args.mutants => catch_mutants(subject, args)?,
            Some(seed) => replay(subject, seed, planted)?,
            None => simulate(subject, args, planted)?,
        };
    }
    match broken {
        0 => Ok(()),
        _ if args.mutants => Err(format!("{broken} mutants were not caught").into()),
        _ => Err("a law is broken".into()),
    }
}

fn list(subject: &Subject) -> Result<usize, Error> {
    print_row(&format!("{}:", subject.name))?;
    subject.rows().try_for_each(|row| print_row(&row))?;
    Ok(0)
}

/// Returns the number of mutants that no seed caught.
fn catch_mutants(subject: &Subject, args: &Args) -> Result<usize, Error> {
    let mut missed = 0;
    for planted in subject.mutants() {
        let Some((law, mutant)) = planted.0 else { continue };
        let result = match run_seeds(subject, planted, args.seeds()).broken {
            Some((seed, broken)) => format!("seed {seed} breaks {}: {}", broken.law, broken.what),
            None => {
                missed += 1;
                format!("not caught by {}", law.name)
            }
        };
        print_row(&format!("{} {}: {result}", subject.name, mutant.name))?;
    }
    Ok(missed)
}

/// Returns the number of broken seeds, here and below.
fn replay(subject: &Subject, seed: u64, planted: Planted) -> Result<usize, Error> {
    let (run, result) = run_seed(subject, Run::written(seed, planted));
    run.lines().iter().try_for_each(|line| print_row(line))?;
    match result {
        Ok(()) => {
            let Run { steps, checks, .. } = run;
            print_row(&format!("{} seed {seed}: {steps} steps, {checks} laws checked", subject.name))?;
            Ok(0)
        }
        Err(broken) => report(subject, seed, &broken),
    }
}

fn report(subject: &Subject, seed: u64, broken: &Broken) -> Result<usize, Error> {
    print_row(&format!("{} seed {seed} breaks the law {}: {}", subject.name, broken.law, broken.what))?;
    Ok(1)
}

fn simulate(subject: &Subject, args: &Args, planted: Planted) -> Result<usize, Error> {
    let began = Instant::now();
    let seeds = run_seeds(subject, planted, args.seeds());
    let rate = seeds.run as f64 / began.elapsed().as_secs_f64().max(f64::EPSILON);
    print_row(&format!(
        "{}: {} seeds, {rate:.0} a second; {} steps, {} laws checked",
        subject.name, seeds.run, seeds.steps, seeds.checks
    ))?;
    let Some((seed, broken)) = seeds.broken else { return Ok(0) };
    let (run, _) = run_seed(subject, Run::written(seed, planted));
    let last = run.lines().len().saturating_sub(LAST_LINES);
    run.lines()[last..].iter().try_for_each(|line| print_row(line))?;
    report(subject, seed, &broken)
}

#[cfg(test)]
mod tests {
    use zeitnot_testing::LONG;

    use super::*;

    /// Seeds that the tests run of each subject.
    const SEEDS: u64 = 2_000;
    /// Seeds of which one must catch a mutant.
    const MUTANT_SEEDS: u64 = 20_000;
    /// Seeds whose histories are compared.
    const COMPARED: u64 = 50;

    #[test(limit = LONG)]
    fn every_law_holds_in_the_first_seeds() {
        for subject in SUBJECTS {
            let seeds = run_seeds(subject, Planted::default(), 0..SEEDS);
            if let Some((seed, broken)) = seeds.broken {
                let (run, _) = run_seed(subject, Run::written(seed, Planted::default()));
                panic!("{}\n{} seed {seed}: {broken:?}", run.lines().join("\n"), subject.name);
            }
            assert_eq!(seeds.run, SEEDS);
        }
    }

    #[test(limit = LONG)]
    fn every_mutant_is_caught_by_its_law() {
        for subject in SUBJECTS {
            let is_missed =
                |planted: &Planted| run_seeds(subject, *planted, 0..MUTANT_SEEDS).broken.is_none();
            let missed: Vec<_> = subject.mutants().filter(is_missed).collect();
            assert!(missed.is_empty(), "{}: {missed:?}", subject.name);
        }
    }

    #[test]
    fn the_page_lists_the_laws_and_their_mutants() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulation.md");
        let page = std::fs::read_to_string(path).unwrap();
        for row in SUBJECTS.iter().flat_map(Subject::rows) {
            assert!(page.contains(&format!("\n{row}\n")), "docs/simulation.md lacks this line:\n{row}");
        }
    }

    #[test]
    fn a_seed_always_has_the_same_history() {
        let history = |subject, seed| {
            let (run, result) = run_seed(subject, Run::written(seed, Planted::default()));
            (run.lines().to_vec(), result)
        };
        for subject in SUBJECTS {
            for seed in 0..COMPARED {
                assert_eq!(history(subject, seed), history(subject, seed), "{} seed {seed}", subject.name);
            }
        }
    }
}
