//! Score of a match.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, Instant},
};

use zeitnot_referee::Cause;
use zeitnot_rules::{Color, GameResult};

use crate::{
    cross_table::CrossTable,
    entry::Entry,
    record::{Counted, effort, reason},
    run::Played,
    schedule::Schedule,
    sprt::{Sprt, Verdict},
    tally::Tally,
};

/// Score of a match.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    pub entries: Vec<Entry>,
    /// Test that ends the match.
    pub sprt: Option<Sprt>,
    /// Games between two reports.
    report: usize,
    is_verbose: bool,
    schedule: Schedule,
    /// Score of each pairing.
    tallies: Vec<Tally>,
    /// By entry.
    pub faults: Vec<Faults>,
    /// Won, drawn and lost games of each first entry of a pairing with White, and with Black.
    pub colours: [[usize; 3]; 2],
    /// Number of games by the reason for their end.
    pub ends: BTreeMap<String, usize>,
    /// Plies of all games.
    pub plies: usize,
    /// Games of an earlier run.
    pub resumed: usize,
    began: Instant,
}

/// Games that an engine lost by a fault.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    pub time: usize,
    pub illegal: usize,
    pub crashes: usize,
    /// Number of times its process was replaced.
    pub restarts: usize,
}

impl Scoreboard {
    /// Creates the score of a match without games. [`Scoreboard::record`] tells the score after every `report` games, and
    /// each result if it is verbose.
    pub fn new(
        entries: &[Entry],
        schedule: &Schedule,
        sprt: Option<Sprt>,
        report: usize,
        is_verbose: bool,
    ) -> Scoreboard {
        Scoreboard {
            entries: entries.to_vec(),
            sprt,
            report,
            is_verbose,
            schedule: schedule.clone(),
            tallies: vec![Tally::default(); schedule.pairings().len()],
            faults: vec![Faults::default(); entries.len()],
            colours: [[0; 3]; 2],
            ends: BTreeMap::new(),
            plies: 0,
            resumed: 0,
            began: Instant::now(),
        }
    }

    /// `one – two`, or how many engines play how.
    pub fn title(&self) -> String {
        match self.entries.as_slice() {
            [first, second] => format!("{} – {}", first.name, second.name),
            entries => {
                let pairings = self.schedule.pairings().len();
                format!("{} engines, {pairings} pairings", entries.len())
            }
        }
    }

    /// Cost of a move, of both if they differ.
    pub fn efforts(&self) -> String {
        let mut efforts = Vec::new();
        for text in self.entries.iter().map(|entry| effort(entry.effort)) {
            if !efforts.contains(&text) {
                efforts.push(text);
            }
        }
        efforts.join(" against ")
    }

    /// Score of the only pairing, if there is no other.
    pub fn duel(&self) -> Option<&Tally> {
        if let [tally] = self.tallies.as_slice() { Some(tally) } else { None }
    }

    /// Standings of more than two.
    pub fn cross_table(&self) -> CrossTable<'_> {
        let names = self.entries.iter().map(|entry| entry.name.as_str()).collect();
        CrossTable::new(names, &self.schedule, &self.tallies)
    }

    pub fn games(&self) -> usize {
        self.tallies.iter().map(Tally::games).sum()
    }

    /// Time since the start of this run.
    pub fn elapsed(&self) -> Duration {
        Duration::from_secs(self.began.elapsed().as_secs())
    }

    pub fn count(&mut self, game: &Counted) {
        let Counted { fixture, result, reason, plies, faults } = game;
        let halves = fixture.halves(*result);
        self.tallies[fixture.pairing].record(fixture.of_pairing(), halves);
        self.colours[fixture.half][usize::from(2 - halves)] += 1;
        self.plies += plies;
        *self.ends.entry(reason.clone()).or_default() += 1;
        if let GameResult::Won(winner) = result {
            let loser = &mut self.faults[fixture.entry(!*winner)];
            match fault(reason) {
                Some(Cause::OutOfTime) => loser.time += 1,
                Some(Cause::IllegalMove) => loser.illegal += 1,
                Some(_) => loser.crashes += 1,
                None => {}
            }
        }
        for (side, _) in faults.iter().enumerate().filter(|(_, fault)| fault.is_some()) {
            self.faults[fixture.entries[side]].restarts += 1;
        }
    }

    /// Counts a game that was just played, and returns the lines to print about it.
    pub fn record(&mut self, played: &Played) -> String {
        let counted = Counted::of(played);
        self.count(&counted);
        let Counted { fixture, reason, plies, faults, .. } = counted;
        let (mut message, number) = (String::new(), fixture.number + 1);
        let name = |entry: usize| &self.entries[entry].name;
        for (entry, fault) in fixture.entries.into_iter().zip(faults) {
            if let Some(fault) = fault {
                let _ = writeln!(message, "game {number}: {} {fault}; it is started again", name(entry));
            }
        }
        if self.is_verbose || fault(&reason).is_some() {
            let [white, black] = Color::BOTH.map(|color| name(fixture.entry(color)));
            let result = played.record.ending.result_text();
            let _ = writeln!(message, "game {number}: {white} – {black} {result} {reason}, {plies} plies");
        }
        if self.games().is_multiple_of(self.report) {
            let _ = writeln!(message, "{} games: {}", self.games(), self.summary());
        }
        message
    }

    /// Score in one line.
    pub fn summary(&self) -> String {
        let Some(tally) = self.duel() else { return self.cross_table().summary() };
        let mut text = tally.to_string();
        if let Some(superiority) = tally.pairs().superiority() {
            let _ = write!(text, ", LOS {:.1} %", 100.0 * superiority);
        }
        if let Some(sprt) = self.sprt {
            let _ = write!(text, ", {}", sprt.state(tally.pairs()));
        }
        text
    }

    /// Verdict of the test; open without one.
    pub fn verdict(&self) -> Verdict {
        let state = self.sprt.zip(self.duel()).map(|(sprt, tally)| sprt.state(tally.pairs()));
        state.map_or(Verdict::Open, |state| state.verdict())
    }
}

/// Cause of a loss that is a fault of the engine, by its name.
fn fault(text: &str) -> Option<Cause> {
    let faults = [Cause::OutOfTime, Cause::IllegalMove, Cause::Disconnect];
    faults.into_iter().find(|&cause| reason(cause) == text)
}
