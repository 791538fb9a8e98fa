//! `zeitnot-measure ratings`: fits ratings to the games of matches, and prints those of the built-in players as a table.
//!
//! The model is that of Bradley and Terry, with a draw as half a win and half a loss, by maximum likelihood; errors come
//! from the curvature of the likelihood. Source: D. Hunter, "MM algorithms for generalized Bradley–Terry models".

use std::{
    collections::{BTreeMap, BTreeSet},
    f64::consts::LN_10,
    fs,
    path::PathBuf,
};

use zeitnot_engine::BuiltIn;

use crate::output::Error;

/// Elo of a unit of the logistic scale.
const ELO: f64 = 400.0 / LN_10;
/// Standard deviations of half a 95 % interval.
const Z_95: f64 = 1.96;
/// Largest step of a rating in one iteration, in units of the logistic scale.
const MAX_STEP: f64 = 1.0;
/// Iterations, far more than are needed.
const MAX_ITERATIONS: usize = 200;

/// Fit ratings to games in PGN files, and print the table of the built-in players
///
/// `scripts/measure-ratings` plays the games and calls this.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Player whose rating is known
    #[arg(long, value_name = "NAME=ELO", value_parser = anchor, required = true)]
    anchor: Vec<(String, f64)>,
    /// Games, such as those of `zeitnot match --pgn`
    #[arg(required = true)]
    pgn: Vec<PathBuf>,
}

fn anchor(text: &str) -> Result<(String, f64), String> {
    let expected = || format!("'{text}': expected a name and its Elo, as in stockfish-1500=1500");
    let (name, elo) = text.split_once('=').ok_or_else(expected)?;
    Ok((name.to_owned(), elo.parse().map_err(|_| expected())?))
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let mut games = Games::default();
    for path in &args.pgn {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        games.read(&text);
    }
    let ratings = games.fit(&args.anchor.iter().cloned().collect())?;
    for player in BuiltIn::all() {
        let name = player.to_string();
        let signature = player.signature()?;
        match ratings.get(&name) {
            Some(Rated { elo, error, games }) => {
                let signature = format!("{:#06x}_{:04x}", signature >> 16, signature & 0xffff);
                println!("    rating({name:?}, {signature}, {elo:.0}, {error:.0}, {games}),");
            }
            None => println!("    // no games of {name}, {signature:#010x}"),
        }
    }
    Ok(())
}

/// Score of each player against each other one, by their names in order.
#[derive(Debug, Default)]
struct Games(BTreeMap<(String, String), Score>);

/// Score of the first of two players.
#[derive(Copy, Clone, Debug, Default)]
struct Score {
    games: f64,
    points: f64,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Rated {
    elo: f64,
    /// Half of the 95 % interval.
    error: f64,
    games: f64,
}

impl Games {
    /// Adds the games of a PGN file that have a result.
    fn read(&mut self, text: &str) {
        let (mut white, mut black) = ("", "");
        for line in text.lines() {
            let tag = |name: &str| line.strip_prefix(name)?.strip_suffix("\"]");
            white = tag("[White \"").unwrap_or(white);
            black = tag("[Black \"").unwrap_or(black);
            let points = match tag("[Result \"") {
                Some("1-0") => 1.0,
                Some("0-1") => 0.0,
                Some("1/2-1/2") => 0.5,
                _ => continue,
            };
            self.add(white, black, points);
        }
    }

    fn add(&mut self, one: &str, other: &str, points: f64) {
        let (pair, points) = if one <= other { ((one, other), points) } else { ((other, one), 1.0 - points) };
        let score = self.0.entry((pair.0.to_owned(), pair.1.to_owned())).or_default();
        score.games += 1.0;
        score.points += points;
    }

    /// Fits the ratings of all players without a known one.
    fn fit(&self, anchors: &BTreeMap<String, f64>) -> Result<BTreeMap<String, Rated>, String> {
        let names: BTreeSet<&String> = self.0.keys().flat_map(|(one, other)| [one, other]).collect();
        let free: Vec<&String> = names.iter().copied().filter(|name| !anchors.contains_key(*name)).collect();
        let place = |name: &String| free.iter().position(|free| *free == name);
        let mut ratings = vec![0.0; free.len()];
        let mut curvature = Vec::new();
        let mut has_converged = false;
        for _ in 0..MAX_ITERATIONS {
            let value = |name: &String| match place(name) {
                Some(at) => ratings[at],
                None => anchors[name] / ELO,
            };
            let mut slope = vec![0.0; free.len()];
            curvature = vec![vec![0.0; free.len()]; free.len()];
            for ((one, other), Score { games, points }) in &self.0 {
                // One more drawn game keeps ratings finite.
                let (games, points) = (games + 1.0, points + 0.5);
                let expected = 1.0 / (1.0 + (value(other) - value(one)).exp());
                let weight = games * expected * (1.0 - expected);
                let ends = [(place(one), 1.0), (place(other), -1.0)];
                for (at, sign) in ends.iter().filter_map(|(at, sign)| Some(((*at)?, sign))) {
                    slope[at] += sign * (points - games * expected);
                    for (to, with) in ends.iter().filter_map(|(to, with)| Some(((*to)?, with))) {
                        curvature[at][to] += sign * with * weight;
                    }
                }
            }
            let step = solve(curvature.clone(), slope)
                .ok_or("the games do not connect every player with an anchor: play more pairs")?;
            ratings
                .iter_mut()
                .zip(&step)
                .for_each(|(rating, step)| *rating += step.clamp(-MAX_STEP, MAX_STEP));
            has_converged = step.iter().all(|step| step.abs() < 1e-9);
            if has_converged {
                break;
            }
        }
        if !has_converged {
            return Err("the ratings do not converge: check the Elo of each --anchor".to_owned());
        }
        let rated = |(at, name): (usize, &&String)| {
            let mut unit = vec![0.0; free.len()];
            unit[at] = 1.0;
            let variance = solve(curvature.clone(), unit).map_or(f64::INFINITY, |column| column[at]);
            let played = self.0.iter().filter(|((one, other), _)| one == *name || other == *name);
            let games = played.map(|(_, score)| score.games).sum();
            let rated = Rated { elo: ratings[at] * ELO, error: Z_95 * variance.sqrt() * ELO, games };
            ((*name).clone(), rated)
        };
        Ok(free.iter().enumerate().map(rated).collect())
    }
}

/// Solves linear equations by elimination; `None` if they have no single solution.
fn solve(mut rows: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = rows.len();
    for at in 0..size {
        let pivot =
            (at..size).max_by(|&one, &other| rows[one][at].abs().total_cmp(&rows[other][at].abs()))?;
        rows.swap(at, pivot);
        right.swap(at, pivot);
        if rows[at][at].abs() < 1e-12 {
            return None;
        }
        let (pivot, value) = (rows[at].clone(), right[at]);
        for (row, right) in
            rows.iter_mut().zip(&mut right).enumerate().filter(|(row, _)| *row != at).map(|(_, row)| row)
        {
            let factor = row[at] / pivot[at];
            row.iter_mut().zip(&pivot).for_each(|(cell, pivot)| *cell -= factor * pivot);
            *right -= factor * value;
        }
    }
    Some((0..size).map(|at| right[at] / rows[at][at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors() -> BTreeMap<String, f64> {
        [("anchor".to_owned(), 1500.0)].into()
    }

    fn play(games: &mut Games, one: &str, other: &str, won: usize, lost: usize) {
        (0..won).for_each(|_| games.add(one, other, 1.0));
        (0..lost).for_each(|_| games.add(one, other, 0.0));
    }

    #[test]
    fn ratings_follow_from_the_scores_along_a_chain() {
        let mut games = Games::default();
        // 10:1 are 400 Elo.
        play(&mut games, "strong", "anchor", 10_000, 1_000);
        play(&mut games, "anchor", "weak", 10_000, 1_000);
        let rated = games.fit(&anchors()).unwrap();
        let [strong, weak] = ["strong", "weak"].map(|name| rated[name]);
        assert!((strong.elo - 1900.0).abs() < 1.0 && (weak.elo - 1100.0).abs() < 1.0, "{rated:?}");
        // By √(n p (1 − p)), the standard deviation of the score.
        assert!((strong.error - 11.3).abs() < 0.1 && strong.games == 11_000.0, "{strong:?}");
    }

    #[test]
    fn games_are_read_with_both_colours() {
        let mut games = Games::default();
        games.read("[White \"new\"]\n[Black \"anchor\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n");
        games.read("[White \"anchor\"]\n[Black \"new\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n[White \"x\"]\n[Result \"*\"]");
        assert!((games.fit(&anchors()).unwrap()["new"].elo - 1500.0).abs() < 1e-6);
        // Nobody is infinitely strong, …
        let mut games = Games::default();
        play(&mut games, "new", "anchor", 10, 0);
        assert!(games.fit(&anchors()).unwrap()["new"].elo < 2100.0);
        // … and a player without a chain of games to an anchor has no rating.
        play(&mut games, "stranger", "other", 1, 1);
        assert!(games.fit(&anchors()).unwrap_err().contains("do not connect"));
    }

    #[test]
    fn ratings_that_do_not_converge_are_an_error() {
        let mut games = Games::default();
        play(&mut games, "new", "anchor", 1, 1);
        let anchors = [anchor("anchor=nan").unwrap()].into();
        assert!(games.fit(&anchors).unwrap_err().contains("do not converge"));
    }
}
