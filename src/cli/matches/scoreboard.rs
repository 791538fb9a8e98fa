//! Score of a match, and its games as PGN.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
    time::Instant,
};

use zeitnot_arena::{
    Cause, GameRecord, Opinion, Ply,
    matches::{
        Effort, Entry, Played,
        pentanomial::Pentanomial,
        sprt::{Model, Sprt, Verdict},
        tally::Tally,
    },
};
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};
use zeitnot_wire::{pgn, uci::UciScore};

use super::Args;

/// Score of a match.
pub(super) struct Scoreboard {
    entries: [Entry; 2],
    variant: GameKind,
    /// Games between two reports.
    report: usize,
    is_verbose: bool,
    sprt: Option<Sprt>,
    tally: Tally,
    faults: [Faults; 2],
    /// Won, drawn and lost games of the first engine with White, and with Black.
    colours: [[usize; 3]; 2],
    ends: BTreeMap<String, usize>,
    plies: usize,
    began: Instant,
}

/// Games that an engine lost by a fault.
#[derive(Clone, Debug, Default)]
struct Faults {
    time: usize,
    illegal: usize,
    crashes: usize,
    /// Number of times its process was replaced.
    restarts: usize,
}

impl Scoreboard {
    pub(super) fn new(args: &Args, entries: &[Entry; 2], sprt: Option<Sprt>) -> Scoreboard {
        Scoreboard {
            entries: entries.clone(),
            variant: args.variant,
            report: args.report as usize,
            is_verbose: args.verbose,
            sprt,
            tally: Tally::default(),
            faults: Default::default(),
            colours: [[0; 3]; 2],
            ends: BTreeMap::new(),
            plies: 0,
            began: Instant::now(),
        }
    }

    pub(super) fn begin(&self, out: &mut dyn Write, openings: &str) -> io::Result<()> {
        let [first, second] = &self.entries;
        writeln!(out, "{} – {}: {}, {openings}", first.name, second.name, self.efforts())
    }

    fn efforts(&self) -> String {
        let [first, second] = self.entries.each_ref().map(|entry| effort(entry.effort));
        if first == second { first } else { format!("{first} against {second}") }
    }

    /// Counts a game, and returns the lines to print about it.
    pub(super) fn record(&mut self, played: &Played) -> String {
        let GameRecord { plies, ending, .. } = &played.record;
        let white = played.white();
        let mut message = String::new();
        let result = ending.result.unwrap_or(GameResult::Draw);
        let halves = halves(result, white);
        self.tally.record(played.number, halves);
        self.colours[white][usize::from(2 - halves)] += 1;
        self.plies += plies.len();
        *self.ends.entry(reason(ending.cause)).or_default() += 1;
        if let GameResult::Won(winner) = result {
            let loser = if winner == Color::White { 1 - white } else { white };
            let faults = &mut self.faults[loser];
            match ending.cause {
                Cause::OutOfTime => faults.time += 1,
                Cause::IllegalMove => faults.illegal += 1,
                Cause::Disconnect => faults.crashes += 1,
                _ => {}
            }
        }
        for (entry, fault) in played.faults.iter().enumerate() {
            if let Some(fault) = fault {
                self.faults[entry].restarts += 1;
                let name = &self.entries[entry].name;
                let _ = writeln!(message, "game {}: {name} {fault}; it is started again", played.number + 1);
            }
        }
        let is_fault = matches!(ending.cause, Cause::OutOfTime | Cause::IllegalMove | Cause::Disconnect);
        if self.is_verbose || is_fault {
            let (white, black) = (&self.entries[white].name, &self.entries[1 - white].name);
            let cause = reason(ending.cause);
            let (number, result) = (played.number + 1, ending.result_text());
            let _ =
                writeln!(message, "game {number}: {white} – {black} {result} {cause}, {} plies", plies.len());
        }
        if self.tally.games().is_multiple_of(self.report) {
            let _ = writeln!(message, "{} games: {}", self.tally.games(), self.summary());
        }
        message
    }

    /// Score in one line.
    pub(super) fn summary(&self) -> String {
        let mut text = self.tally.to_string();
        if let Some(superiority) = self.tally.pairs().superiority() {
            let _ = write!(text, ", LOS {:.1} %", 100.0 * superiority);
        }
        if let Some(sprt) = self.sprt {
            let _ = write!(text, ", {}", sprt.state(self.tally.pairs()));
        }
        text
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.sprt.map_or(Verdict::Open, |sprt| sprt.state(self.tally.pairs()).verdict())
    }

    pub(super) fn end(&self, out: &mut dyn Write, is_aborted: bool) -> io::Result<()> {
        let [first, second] = &self.entries;
        let (games, pairs) = (self.tally.games(), self.tally.pairs());
        writeln!(out)?;
        if is_aborted {
            writeln!(out, "Aborted; unfinished games do not count.")?;
        }
        if games == 0 {
            return writeln!(out, "No game was finished.");
        }
        writeln!(
            out,
            "{} – {}, {games} games of {}, in {}",
            first.name,
            second.name,
            self.efforts(),
            humantime::format_duration(std::time::Duration::from_secs(self.began.elapsed().as_secs()))
        )?;
        let mut row = |head: &str, text: String| writeln!(out, "  {head:<15}{text}");
        let [won, drawn, lost] = self.tally.results();
        row("score", format!("+{won} ={drawn} -{lost}, {:.1} %", 100.0 * self.tally.share()))?;
        let [with_white, with_black] =
            self.colours.map(|[won, drawn, lost]| format!("+{won} ={drawn} -{lost}"));
        row("by colour", format!("White {with_white}, Black {with_black}"))?;
        row("pairs", format!("{pairs} by points 0, ½, 1, 1½, 2"))?;
        let unknown = || "no bounds: more games are needed".to_owned();
        row("Elo", pairs.elo().map_or_else(unknown, |elo| format!("{elo} (95 %)")))?;
        if let Some(normalized) = pairs.normalized_elo() {
            row("normalized", format!("{normalized} (95 %)"))?;
        }
        if let Some(superiority) = pairs.superiority() {
            row("LOS", format!("{:.2} %", 100.0 * superiority))?;
        }
        if let Some(sprt) = self.sprt {
            row("SPRT", test(sprt, pairs))?;
        }
        let ends: Vec<_> = self.ends.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
        row("ends", ends.join(", "))?;
        row("plies a game", format!("{:.1}", self.plies as f64 / games as f64))?;
        let faults = |count: fn(&Faults) -> usize| {
            let [one, two] = self.faults.each_ref().map(count);
            format!("{one} of {}, {two} of {}", first.name, second.name)
        };
        row("time forfeits", faults(|faults| faults.time))?;
        row("illegal moves", faults(|faults| faults.illegal))?;
        row("crashes", faults(|faults| faults.crashes))?;
        row("restarts", faults(|faults| faults.restarts))
    }

    /// A game as PGN, with scores and clocks.
    pub(super) fn pgn(&self, played: &Played) -> String {
        let GameRecord { began, fen, plies, ending } = &played.record;
        let white = played.white();
        let seats = ByColor([&self.entries[white], &self.entries[1 - white]]);
        let mut tags = vec![
            ("Event", "Zeitnot match".to_owned()),
            ("Site", "?".to_owned()),
            ("Date", pgn::date(*began)),
            ("Round", format!("{}.{}", played.number / 2 + 1, played.number % 2 + 1)),
            ("White", seats[Color::White].name.clone()),
            ("Black", seats[Color::Black].name.clone()),
            ("Result", ending.result_text().to_owned()),
            ("UTCTime", pgn::time(*began)),
            ("WhiteTimeControl", effort(seats[Color::White].effort)),
            ("BlackTimeControl", effort(seats[Color::Black].effort)),
            ("PlyCount", plies.len().to_string()),
            ("Termination", ending.cause.termination().to_owned()),
            ("Reason", reason(ending.cause)),
        ];
        if self.variant != GameKind::Chess {
            tags.push(("Variant", self.variant.name().to_owned()));
        }
        let black_first = fen.as_deref().is_some_and(|fen| fen.split(' ').nth(1) == Some("b"));
        let plies = plies.iter().enumerate().map(|(at, ply)| {
            let side = Color::BOTH[(at + usize::from(black_first)) % 2];
            let has_clock = matches!(seats[side].effort, Effort::Clock(_));
            let Ply { san, left, opinion, .. } = ply.clone();
            pgn::Ply { text: san, left: left.filter(|_| has_clock), eval: opinion.map(|it| eval(it, side)) }
        });
        let plies = plies.collect();
        pgn::Pgn { tags, fen: fen.clone(), plies, result: ending.result_text() }.print()
    }
}

fn test(sprt: Sprt, pairs: Pentanomial) -> String {
    let state = sprt.state(pairs);
    let Sprt { elo0, elo1, model, .. } = sprt;
    let kind = if model == Model::Normalized { "normalized Elo" } else { "Elo" };
    let verdict = match state.verdict() {
        Verdict::Open => "open".to_owned(),
        Verdict::Accepted => format!("at least {elo1} {kind}"),
        Verdict::Rejected => format!("at most {elo0} {kind}"),
    };
    format!("{state} of {elo0} against {elo1} {kind}: {verdict}")
}

/// Half points of the first engine.
fn halves(result: GameResult, white: usize) -> u8 {
    match result {
        GameResult::Draw => 1,
        GameResult::Won(side) if (side == Color::White) == (white == 0) => 2,
        GameResult::Won(_) => 0,
    }
}

/// Name of a cause; an engine that disconnects has failed.
fn reason(cause: Cause) -> String {
    match cause {
        Cause::Disconnect => "Engine failed".to_owned(),
        cause => cause.to_string(),
    }
}

fn effort(effort: Effort) -> String {
    match effort {
        Effort::Clock(time_control) => time_control.to_string(),
        Effort::Time(time) => format!("{} a move", humantime::format_duration(time)),
        Effort::Nodes(nodes) => format!("{nodes} nodes a move"),
        Effort::Depth(depth) => format!("{depth} plies a move"),
    }
}

/// Score from White's view, and depth.
fn eval(Opinion { score, depth }: Opinion, side: Color) -> String {
    let sign = if side == Color::White { 1 } else { -1 };
    match score {
        UciScore::Cp(cp) => format!("{:.2},{depth}", f64::from(sign * cp) / 100.0),
        UciScore::Mate(moves) => format!("#{},{depth}", sign * i32::from(moves)),
    }
}
