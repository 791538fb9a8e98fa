//! Observer of a tournament: what its players, the page and the database know of it, to check the laws against.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;
use zeitnot_arena::simulation::{BoardGame, Heard, SimulatedTournament};
use zeitnot_host::{
    database::{Fact, GameRow, History as Stored, MAX_WAIT, Step, simulation::SimulatedDatabase},
    live::TournamentReport,
};
use zeitnot_measure::results_check::{
    self, NONE, StoredGame, ToldResults, broken_off_are_repeated, meetings, repeated_once, stored_once,
};
use zeitnot_pairing::{format::PairingKind, standings::Row};
use zeitnot_rules::{Color, GameResult};

use super::{
    super::{
        law::Law,
        run::{Checked, Run},
    },
    laws::{
        BYE_TWICE, BYES, COLOURS, ENDS, GAME_TWICE, LOSES_LAST, LOSES_RESULT, MEETS_ONCE, ONE_BOARD,
        RESTORED, STANDINGS, STAYS_AT_BOARD, TOLD_IS_WRITTEN, WHITE_ALWAYS,
    },
    setup::Setup,
};

/// Half points of each player, of games and of byes.
type Points = BTreeMap<String, (u32, u32)>;

#[derive(Debug, Default)]
pub(super) struct Observer {
    told: ToldResults,
    /// Times since which the games at the boards are over.
    over: BTreeMap<String, Instant>,
    /// Games whose ends may be lost, as the disk failed.
    excused: BTreeSet<String>,
    /// The last failure of the disk.
    failed: Option<Instant>,
    /// The disk has hung.
    has_hung: bool,
    /// The organiser has paired somebody.
    pub(super) is_by_hand: bool,
    /// The organiser has corrected a result.
    pub(super) is_corrected: bool,
}

impl Observer {
    pub(super) fn failed(&mut self) {
        self.failed = Some(Instant::now());
    }

    pub(super) fn hung(&mut self) {
        self.has_hung = true;
    }

    /// Games that are stored, with the results that count.
    fn stored(database: &SimulatedDatabase, run: &Run) -> Vec<StoredGame> {
        let mut games: Vec<_> = database.games().map(stored_game).collect();
        if run.has(&GAME_TWICE)
            && let Some(game) = games.iter().find(|game| game.is_over()).cloned()
        {
            games.push(game);
        }
        if run.has(&WHITE_ALWAYS) {
            for game in games.iter_mut().filter(|game| game.white > game.black) {
                std::mem::swap(&mut game.white, &mut game.black);
            }
        }
        games
    }

    /// Checks the boards after a turn.
    pub(super) fn boards(&mut self, mut games: Vec<BoardGame>, run: &mut Run) -> Checked {
        for game in games.iter().filter(|game| game.is_over) {
            self.over.entry(game.game.to_string()).or_insert_with(Instant::now);
        }
        if run.has(&STAYS_AT_BOARD)
            && let Some(last) = games.last().filter(|game| game.is_over).cloned()
        {
            games.push(last);
        }
        let mut busy = BTreeSet::new();
        let twice = games.iter().flat_map(|game| &game.names.0).find(|name| !busy.insert(*name));
        run.check(&ONE_BOARD, twice.is_none(), || format!("{twice:?} plays twice: {games:?}"))
    }

    /// A player hears something.
    pub(super) fn heard(&mut self, heard: &Heard, database: &SimulatedDatabase, run: &mut Run) -> Checked {
        let Heard::Over { game, result } = heard else { return Ok(()) };
        let (id, result) = (game.to_string(), result.as_str());
        let once = self.told.tell(&id, result);
        run.check_ok(&TOLD_IS_WRITTEN, once)?;
        self.check_told(&id, result, database, run)
    }

    /// The page gets a report.
    pub(super) fn shown(
        &mut self,
        report: &TournamentReport,
        database: &SimulatedDatabase,
        run: &mut Run,
    ) -> Checked {
        for row in &report.ended {
            let (Some(game), Some(result)) = (&row.game, row.result.as_deref()) else { continue };
            // A corrected game is shown with both results, one after the other.
            if result != NONE && row.note.is_none() {
                self.check_told(game, result, database, run)?;
            }
        }
        Ok(())
    }

    fn check_told(&mut self, id: &str, result: &str, database: &SimulatedDatabase, run: &mut Run) -> Checked {
        let row = database.games().find(|game| &*game.header.id == id);
        let end = row.and_then(|row| row.end.as_ref());
        let is_written = end.is_some_and(|end| {
            end.result.map(GameResult::as_str) == Some(result) || end.result_text() == result
        });
        let since = self.over.get(id).copied();
        let is_excused = self.failed.is_some_and(|failed| since.is_none_or(|since| failed >= since))
            || since.map_or(self.has_hung, |since| since.elapsed() >= MAX_WAIT);
        if !is_written && is_excused {
            self.excused.insert(id.to_owned());
        }
        run.check(&TOLD_IS_WRITTEN, is_written || is_excused, || {
            format!("game {id} is told as {result}, and the database has {end:?}")
        })
    }

    /// Checks what is written against the tournament, which has handed all over.
    pub(super) fn written(
        &self,
        setup: &Setup,
        tournament: &SimulatedTournament,
        database: &SimulatedDatabase,
        run: &mut Run,
    ) -> Checked {
        self.check_games(setup, &Self::stored(database, run), run)?;
        let rows = Self::rows(tournament, run);
        self.check_byes(setup, &rows, run)?;
        if !tournament.is_settled() {
            return Ok(());
        }
        let stored = read(database, &STANDINGS, run)?;
        let (is, expected) = (points(&rows), stored.as_ref().map(recount).unwrap_or_default());
        run.check(&STANDINGS, is == expected, || {
            format!("the standings are {is:?}, and the sums {expected:?}")
        })
    }

    fn rows(tournament: &SimulatedTournament, run: &Run) -> Vec<Row> {
        let mut rows = tournament.standings();
        for row in &mut rows {
            row.tally.byes *= if run.has(&BYE_TWICE) { 2 } else { 1 };
        }
        if run.has(&LOSES_RESULT) {
            rows.retain(|row| row.rank != 1 || row.tally.wins == 0);
        }
        rows
    }

    fn check_games(&self, setup: &Setup, games: &[StoredGame], run: &mut Run) -> Checked {
        // In an open tournament somebody may come anew under a name that has played.
        let played: Vec<_> = games
            .iter()
            .filter(|game| !setup.config.pairing.has_rounds() || game.termination != "forfeit")
            .cloned()
            .collect();
        let played = counted(setup, &played);
        let is_free = setup.is_open() || self.is_by_hand && setup.config.pairing.has_rounds();
        let met = if is_free { Ok(0) } else { meetings(&played, setup.games_per_pair()) };
        let checked = stored_once(games).and(repeated_once(games)).and(met.map(drop));
        run.check_ok(&MEETS_ONCE, checked)?;
        if setup.is_open() || self.is_by_hand || setup.config.pairing.has_rounds() {
            return Ok(());
        }
        let mut whites: BTreeMap<BTreeSet<&str>, BTreeMap<&str, usize>> = BTreeMap::new();
        for game in games.iter().filter(|game| game.is_over() && game.termination != "forfeit") {
            let pair = whites.entry([game.white.as_str(), game.black.as_str()].into()).or_default();
            *pair.entry(&game.white).or_default() += 1;
        }
        let games_per_pair = setup.games_per_pair();
        let is_balanced = |colours: &BTreeMap<&str, usize>| {
            colours.values().all(|games| *games <= games_per_pair.div_ceil(2))
        };
        let unbalanced = whites.values().find(|colours| !is_balanced(colours));
        run.check(&COLOURS, unbalanced.is_none(), || format!("games with White: {unbalanced:?}"))
    }

    fn check_byes(&self, setup: &Setup, rows: &[Row], run: &mut Run) -> Checked {
        let has_rounds = setup.config.pairing.has_rounds();
        let most = if setup.is_swiss() && !self.is_by_hand { 1 } else { u32::MAX };
        let is_wrong = |row: &&Row| row.tally.byes > if has_rounds { most } else { 0 };
        let wrong = rows.iter().find(is_wrong);
        run.check(&BYES, wrong.is_none(), || format!("too many byes: {wrong:?}"))
    }

    /// The arena was killed, and goes on with what is written.
    pub(super) fn restored(
        &mut self,
        tournament: &SimulatedTournament,
        database: &SimulatedDatabase,
        run: &mut Run,
    ) -> Checked {
        let mut games: Vec<_> = database.games().map(at_board).collect();
        if run.has(&LOSES_LAST) {
            let told = games.iter().rposition(|game| game.is_over());
            told.map(|at| games.remove(at));
        }
        let told = self.told.without(&self.excused);
        let are_there = told.are_stored(&games);
        run.check_ok(&RESTORED, are_there)?;
        self.told = told;
        self.over.clear();
        let stored = read(database, &RESTORED, run)?;
        // Byes that were not written are granted again.
        let of_games = |points: Points| -> BTreeMap<String, u32> {
            // Whoever had only joined comes anew.
            points
                .into_iter()
                .filter(|(_, (games, _))| *games > 0)
                .map(|(name, (games, _))| (name, games))
                .collect()
        };
        let (is, expected) = (
            of_games(points(&tournament.standings())),
            of_games(stored.as_ref().map(recount).unwrap_or_default()),
        );
        run.check(&RESTORED, is == expected, || {
            format!("the standings are {is:?}, and the sums {expected:?}")
        })
    }

    /// All can play, and it was to come to its end.
    pub(super) fn ended(
        &self,
        setup: &Setup,
        is_complete: bool,
        rows: &[Row],
        database: &SimulatedDatabase,
        run: &mut Run,
    ) -> Checked {
        run.check(&ENDS, is_complete, || "it goes on and on".to_owned())?;
        self.check_byes(setup, rows, run)?;
        // The game of a player who is out is not repeated, nor that of a pair that the organiser has parted.
        let games: Vec<_> = database.games().map(stored_game).collect();
        let all_there = rows.iter().all(|row| !row.is_withdrawn)
            && games.iter().all(|game| game.termination != "forfeit");
        if all_there && !self.is_corrected && !self.is_by_hand && !setup.is_knockout() {
            let repeated = broken_off_are_repeated(&games);
            run.check_ok(&ENDS, repeated)?;
        }
        let byes = rows.iter().map(|row| row.tally.byes as usize).sum();
        let halves = rows.iter().map(|row| row.score.halves()).sum();
        let sum = results_check::points_are_results(halves, &counted(setup, &games), byes);
        run.check_ok(&STANDINGS, sum).map(drop)
    }
}

fn read(database: &SimulatedDatabase, law: &Law, run: &mut Run) -> Checked<Option<Stored>> {
    Ok(run.check_ok(law, database.read())?.flatten())
}

/// Returns the games that decide something: a drawn one of a knockout is played again.
fn counted(setup: &Setup, games: &[StoredGame]) -> Vec<StoredGame> {
    let is_drawn = |game: &&StoredGame| game.result == GameResult::Draw.as_str();
    games.iter().filter(|game| !(setup.is_knockout() && is_drawn(game))).cloned().collect()
}

fn stored_game(row: &GameRow) -> StoredGame {
    let [white, black] = row.header.players.0.each_ref().map(|player| player.name.clone());
    let end = row.end.as_ref();
    StoredGame {
        id: row.header.id.to_string(),
        white,
        black,
        result: end.map_or(NONE, |end| end.result_text()).to_owned(),
        termination: end.map_or_else(String::new, |end| end.termination.clone()),
        repeats: row.header.repeats.clone(),
    }
}

/// Returns a stored game with its result at the board.
fn at_board(row: &GameRow) -> StoredGame {
    let result = row.end.as_ref().and_then(|end| end.result).map_or(NONE, GameResult::as_str);
    StoredGame { result: result.to_owned(), ..stored_game(row) }
}

fn points(rows: &[Row]) -> Points {
    let halves = |row: &Row| {
        let byes = 2 * row.tally.byes;
        (row.name.to_string(), (row.score.halves().saturating_sub(byes), byes))
    };
    rows.iter().map(halves).collect()
}

/// Adds up results and byes in the order in which they were written.
fn recount(stored: &Stored) -> Points {
    let is_knockout = stored.tournament.format.pairing == PairingKind::Knockout;
    let (mut points, mut byes) = (Points::new(), BTreeSet::new());
    for step in stored.steps() {
        match step {
            Step::Fact(Fact::Seated { player, .. }) => drop(points.entry(player.to_string()).or_default()),
            Step::Fact(Fact::Freed { player }) => drop(points.remove(player.as_str())),
            // After a restart a bye may be written again.
            Step::Fact(Fact::Bye { player, round }) => drop(byes.insert((player.to_string(), *round))),
            Step::Fact(Fact::ByeRevoked { player, round }) => {
                byes.remove(&(player.to_string(), *round));
            }
            Step::Fact(_) => {}
            Step::Result(header, end, _) => {
                for color in Color::BOTH {
                    let halves = match end.result_text() {
                        // It is played again.
                        text if text == GameResult::Draw.as_str() => u32::from(!is_knockout),
                        text if text == GameResult::Won(color).as_str() => 2,
                        _ => 0,
                    };
                    if let Some((games, _)) = points.get_mut(&header.players[color].name) {
                        *games += halves;
                    }
                }
            }
        }
    }
    for (player, _) in byes {
        points.entry(player).or_default().1 += 2;
    }
    points
}
