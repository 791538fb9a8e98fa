//! What the games are called in the two protocols.

use super::Protocol;
use crate::game::Game;

/// A game by the name that it has in our configurations, in UCI (by its option `UCI_Variant`), and by the feature
/// `variants` of xboard's protocol, where some go by several.
struct Row(&'static str, &'static str, &'static [&'static str]);

const ROWS: &[Row] = &[
    Row("chess", "chess", &["normal"]),
    Row("crazyhouse", "crazyhouse", &["crazyhouse"]),
    Row("atomic", "atomic", &["atomic"]),
    Row("antichess", "antichess", &["antichess", "giveaway"]),
    Row("horde", "horde", &["horde"]),
    Row("kingofthehill", "kingofthehill", &["kingofthehill"]),
    Row("racingkings", "racingkings", &["racingkings"]),
    Row("threecheck", "3check", &["3check"]),
];

/// What an engine may call this game; nothing where it cannot even be told of it.
pub(super) fn names<G: Game>(protocol: Protocol) -> &'static [&'static str] {
    let plain: String = G::NAME.chars().filter(char::is_ascii_alphanumeric).collect();
    let row = ROWS.iter().find(|Row(name, ..)| name.eq_ignore_ascii_case(&plain));
    match (row, protocol) {
        (None, _) => &[],
        (Some(Row(_, uci, _)), Protocol::Uci) => std::slice::from_ref(uci),
        (Some(Row(.., xboard)), Protocol::Xboard) => xboard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{chess::Chess, minichess::Mini2023};

    #[test]
    fn chess_has_a_name_and_games_of_courses_have_none() {
        assert_eq!(names::<Chess>(Protocol::Uci), ["chess"]);
        assert_eq!(names::<Chess>(Protocol::Xboard), ["normal"]);
        assert!(names::<Mini2023>(Protocol::Uci).is_empty());
    }
}
