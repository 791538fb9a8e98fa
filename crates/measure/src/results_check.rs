//! Checks what players were told against what the database and the files of games hold. Pure: the soak runs and the
//! simulations collect both sides in their own ways, and check them here.

use std::collections::{BTreeMap, BTreeSet};

/// Result of a game that does not count.
pub const NONE: &str = "*";

/// Game of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredGame {
    /// Its id.
    pub id: String,
    /// Names of the players.
    pub white: String,
    #[allow(missing_docs)]
    pub black: String,
    /// As in PGN.
    pub result: String,
    /// As in PGN.
    pub termination: String,
    /// Id of the game that was broken off and that this one repeats.
    pub repeats: Option<String>,
}

impl StoredGame {
    /// Returns whether it has a result.
    pub fn is_over(&self) -> bool {
        self.result != NONE
    }

    fn pair(&self) -> BTreeSet<&str> {
        [self.white.as_str(), self.black.as_str()].into()
    }
}

/// Results that players were told, by the ids of the games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldResults(BTreeMap<String, String>);

impl ToldResults {
    /// Takes in a result that somebody was told.
    ///
    /// # Errors
    /// If another result of this game was told before.
    pub fn tell(&mut self, game: &str, result: &str) -> Result<(), String> {
        let before = self.0.entry(game.to_owned()).or_insert_with(|| result.to_owned());
        match before == result {
            true => Ok(()),
            false => Err(format!("game {game} was told as {before} and then as {result}")),
        }
    }

    /// Returns the number of games that were told.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what was told of other games than these.
    pub fn without(&self, games: &BTreeSet<String>) -> ToldResults {
        let others = self.0.iter().filter(|(game, _)| !games.contains(*game));
        ToldResults(others.map(|(game, result)| (game.clone(), result.clone())).collect())
    }

    /// Checks that each result that was told is stored.
    ///
    /// # Errors
    /// The first that is not.
    pub fn are_stored(&self, games: &[StoredGame]) -> Result<(), String> {
        let stored: BTreeMap<_, _> = games.iter().map(|game| (&game.id, &game.result)).collect();
        match self.0.iter().find(|(game, result)| stored.get(game) != Some(result)) {
            Some((game, result)) => {
                let stored = stored.get(game).map_or("nothing", |stored| stored.as_str());
                Err(format!("game {game} was told as {result}, and the database has {stored}"))
            }
            None => Ok(()),
        }
    }
}

/// Checks that no game is stored twice.
///
/// # Errors
/// The first that is.
pub fn stored_once(games: &[StoredGame]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    match games.iter().find(|game| !ids.insert(&game.id)) {
        Some(game) => Err(format!("game {} is stored twice", game.id)),
        None => Ok(()),
    }
}

/// Checks that no pair has more games with a result than the tournament has for it. Returns the number of pairs with as
/// many.
///
/// # Errors
/// The first pair that has.
pub fn meetings(games: &[StoredGame], games_per_pair: usize) -> Result<usize, String> {
    let mut met: BTreeMap<_, usize> = BTreeMap::new();
    for game in games.iter().filter(|game| game.is_over()) {
        *met.entry(game.pair()).or_default() += 1;
    }
    match met.iter().find(|(_, games)| **games > games_per_pair) {
        Some((pair, games)) => Err(format!("{pair:?} have {games} games, more than {games_per_pair}")),
        None => Ok(met.values().filter(|games| **games == games_per_pair).count()),
    }
}

/// Checks that each game without a result was broken off and is repeated.
///
/// # Errors
/// The first that is not.
pub fn broken_off_are_repeated(games: &[StoredGame]) -> Result<(), String> {
    let repeated: BTreeSet<_> = games.iter().filter_map(|game| game.repeats.as_ref()).collect();
    let is_lost = |game: &&StoredGame| game.termination != "unterminated" || !repeated.contains(&game.id);
    match games.iter().filter(|game| !game.is_over()).find(is_lost) {
        Some(game) => Err(format!("the game is not repeated: {game:?}")),
        None => Ok(()),
    }
}

/// Checks that each game is repeated at most once.
///
/// # Errors
/// The first that is repeated again.
pub fn repeated_once(games: &[StoredGame]) -> Result<(), String> {
    let mut repeated = BTreeSet::new();
    match games.iter().find(|game| game.repeats.as_ref().is_some_and(|id| !repeated.insert(id))) {
        Some(game) => Err(format!("the game repeats one that another repeats, too: {game:?}")),
        None => Ok(()),
    }
}

/// Checks that all points together are one for each result, and for each bye. `points` are in halves.
///
/// # Errors
/// If they are not.
pub fn points_are_results(points: u32, games: &[StoredGame], byes: usize) -> Result<(), String> {
    let results = games.iter().filter(|game| game.is_over()).count();
    match points as usize == 2 * (results + byes) {
        true => Ok(()),
        false => Err(format!("there are {points} half points for {results} results and {byes} byes")),
    }
}

/// Checks that each game is in one of the files, once. `written` are the ids that the files have.
///
/// # Errors
/// The first that is missing, unknown or there twice.
pub fn in_files_once<'g>(
    written: impl IntoIterator<Item = &'g str>,
    games: &[StoredGame],
) -> Result<(), String> {
    let mut missing: BTreeSet<_> = games.iter().map(|game| game.id.as_str()).collect();
    if let Some(id) = written.into_iter().find(|id| !missing.remove(id)) {
        return Err(format!("the files have the game {id} twice, or the database does not have it"));
    }
    match missing.first() {
        Some(id) => Err(format!("the files do not have the game {id}")),
        None => Ok(()),
    }
}

/// Checks that nobody was told of more games between two players than are stored, where ends are told without ids.
///
/// # Errors
/// If somebody was.
pub fn no_more_than_stored(
    told: usize,
    (white, black): (&str, &str),
    games: &[StoredGame],
) -> Result<(), String> {
    let is_it = |game: &&StoredGame| game.is_over() && game.white == white && game.black == black;
    let stored = games.iter().filter(is_it).count();
    match told <= stored {
        true => Ok(()),
        false => Err(format!("{told} ends of {white} – {black} were told, and {stored} are stored")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(id: &str, result: &str) -> StoredGame {
        let [white, black] = ["ada", "bob"].map(str::to_owned);
        let termination = if result == NONE { "unterminated" } else { "normal" }.to_owned();
        StoredGame { id: id.to_owned(), white, black, result: result.to_owned(), termination, repeats: None }
    }

    #[test]
    fn what_was_told_is_stored() {
        let mut told = ToldResults::default();
        assert!(told.is_empty() && told.are_stored(&[]).is_ok());
        for _ in 0..2 {
            told.tell("a", "1-0").unwrap();
        }
        assert!(told.tell("a", "0-1").is_err());
        assert_eq!(told.len(), 1);
        assert!(told.are_stored(&[game("b", "0-1"), game("a", "1-0")]).is_ok());
        let wrong = told.are_stored(&[game("a", "0-1")]);
        assert_eq!(wrong, Err("game a was told as 1-0, and the database has 0-1".to_owned()));
        assert!(told.without(&["a".to_owned()].into()).is_empty());
        let lost = told.are_stored(&[game("b", "1-0")]);
        assert_eq!(lost, Err("game a was told as 1-0, and the database has nothing".to_owned()));
    }

    #[test]
    fn games_are_stored_and_written_once() {
        let games = [game("a", "1-0"), game("b", "0-1")];
        assert!(stored_once(&games).is_ok() && in_files_once(["b", "a"], &games).is_ok());
        assert!(stored_once(&[game("a", "1-0"), game("a", "1-0")]).is_err());
        for written in [&["a"][..], &["a", "b", "a"], &["a", "b", "c"]] {
            assert!(in_files_once(written.iter().copied(), &games).is_err(), "{written:?}");
        }
    }

    #[test]
    fn pairs_meet_as_often_as_they_are_to() {
        let mut games = vec![game("a", "1-0"), game("b", NONE)];
        assert_eq!((meetings(&games, 2), meetings(&games, 1)), (Ok(0), Ok(1)));
        let (white, black) = ("bob".to_owned(), "ada".to_owned());
        games.push(StoredGame { white, black, ..game("c", "0-1") });
        assert_eq!(meetings(&games, 2), Ok(1));
        assert!(meetings(&games, 1).is_err());
        assert!(no_more_than_stored(1, ("ada", "bob"), &games).is_ok());
        assert!(no_more_than_stored(2, ("ada", "bob"), &games).is_err());
        assert!(points_are_results(4, &games, 0).is_ok() && points_are_results(6, &games, 1).is_ok());
        assert!(points_are_results(3, &games, 0).is_err());
    }

    #[test]
    fn broken_off_games_are_repeated_once() {
        let repeating = |id, result| StoredGame { repeats: Some("a".to_owned()), ..game(id, result) };
        let mut games = vec![game("a", NONE)];
        assert!(broken_off_are_repeated(&games).is_err());
        games.push(repeating("b", "1-0"));
        assert!(broken_off_are_repeated(&games).is_ok() && repeated_once(&games).is_ok());
        games.push(repeating("c", "1-0"));
        assert!(repeated_once(&games).is_err());
        let aborted = StoredGame { termination: "abandoned".to_owned(), ..game("d", NONE) };
        assert!(
            broken_off_are_repeated(&[
                aborted,
                StoredGame { repeats: Some("d".to_owned()), ..game("e", "1-0") }
            ])
            .is_err()
        );
    }
}
