//! The games for which BotLi has an engine or a book, by a name such as `bullet_white_human`.

use toml::{Table, Value as Toml};

use super::super::values;

/// Games of a name.
#[derive(Debug, PartialEq)]
pub(super) struct Games {
    /// The more special, the earlier: theirs are asked in this order.
    pub(super) order: (u8, usize, Vec<u8>),
    /// Conditions of a rule of ours.
    pub(super) conditions: Table,
    /// The tablebases of these games.
    pub(super) tables: &'static [&'static str],
}

impl Games {
    /// Reads a name.
    ///
    /// # Errors
    /// The reason why no game has it.
    pub(super) fn parse(name: &str) -> Result<Games, &'static str> {
        let mut parts = name.split('_');
        let (rank, mut conditions, tables) =
            base(parts.next().unwrap_or_default()).ok_or("no game has this name")?;
        let mut suffixes = Vec::new();
        for part in parts {
            let (key, value, at) = match part {
                "tournament" => return Err("no rule is for tournaments alone"),
                "human" | "bot" => ("opponent", Toml::from(part), 1),
                "white" | "black" => ("color", part.into(), 2),
                "rated" | "casual" => ("rated", (part == "rated").into(), 3),
                _ => return Err("no game has this name"),
            };
            conditions.insert(key.to_owned(), value);
            suffixes.push(at);
        }
        Ok(Games { order: (rank, usize::MAX - suffixes.len(), suffixes), conditions, tables })
    }
}

/// Rank, conditions and tablebases of a name without suffixes.
fn base(name: &str) -> Option<(u8, Table, &'static [&'static str])> {
    let games = |games: &[&str]| {
        let games: Vec<Toml> = games.iter().map(|game| Toml::from(*game)).collect();
        Table::from_iter([("games".to_owned(), games.into())])
    };
    if let Some(clock) = values::minutes_clock(name) {
        let mut conditions = games(&["chess"]);
        for (key, seconds) in [("base", clock.0), ("increment", clock.1)] {
            for bound in ["min", "max"] {
                conditions.insert(format!("{bound}_{key}"), format!("{seconds}s").into());
            }
        }
        return Some((0, conditions, &["standard"]));
    }
    let variant = values::VARIANTS.iter().find(|(_, names)| names.contains(&name));
    Some(match (name, variant) {
        ("bullet" | "blitz" | "rapid" | "classical", _) => {
            let mut conditions = games(&["chess"]);
            conditions.insert("time_controls".to_owned(), vec![name].into());
            (1, conditions, &["standard"])
        }
        (_, Some((game, _))) => {
            let tables: &[_] = match *game {
                "chess960" => &["standard"],
                "antichess" => &["antichess"],
                "atomic" => &["atomic"],
                _ => &[],
            };
            (2, games(&[game]), tables)
        }
        ("variants", None) => {
            let names: Vec<_> = values::VARIANTS[1..].iter().map(|(game, _)| *game).collect();
            (3, games(&names), &["antichess", "atomic"])
        }
        ("standard", None) => (4, Table::new(), &["standard"]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_special_names_come_first() {
        let names =
            ["0.5+1_white", "3+0", "bullet_human_white", "bullet_white", "bullet", "3check", "variants"];
        let order = |name: &str| Games::parse(name).unwrap().order;
        assert!(names.is_sorted_by_key(|name| order(name)));
        assert!(order("variants") < order("standard_bot_black_rated"));
        // Of as many suffixes, the opponent counts first.
        assert!(order("standard_bot") < order("standard_white"));
        for strange in ["", "_white", "stockfish", "standard_", "bullet_blue", "x+1", "standard_tournament"] {
            assert!(Games::parse(strange).is_err(), "{strange}");
        }
    }

    #[test]
    fn a_clock_is_in_minutes_and_seconds() {
        let games = Games::parse("0.5+1_casual").unwrap();
        let expected = "games = [\"chess\"]\nmax_base = \"30s\"\nmax_increment = \"1s\"\nmin_base = \"30s\"\n\
            min_increment = \"1s\"\nrated = false\n";
        assert_eq!(games.conditions.to_string(), expected);
    }
}
