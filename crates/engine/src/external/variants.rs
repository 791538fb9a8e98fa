//! Names of the games in the two protocols.

use zeitnot_rules::GameKind;

use super::config::Protocol;

/// Names of a game: ours, UCI's (`UCI_Variant`), and those of the feature `variants` of the xboard protocol.
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
    Row("minichessimcs", "minichess-imcs", &[]),
    Row("minichess2023", "minichess-2023", &[]),
    Row("minichess2026", "minichess-2026", &[]),
];

fn row(name: &str) -> Option<&'static Row> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    ROWS.iter().find(|Row(name, ..)| name.eq_ignore_ascii_case(&plain))
}

/// Games with a name in `UCI_Variant`, chess first.
pub fn uci_variants() -> impl Iterator<Item = (GameKind, &'static str)> {
    GameKind::ALL.iter().filter_map(|&game| Some((game, row(game.name())?.1)))
}

/// Names of this game in a protocol; empty if it has none.
pub(super) fn names(game: GameKind, protocol: Protocol) -> &'static [&'static str] {
    match (row(game.name()), protocol) {
        (None, _) => &[],
        (Some(Row(_, uci, _)), Protocol::Uci) => std::slice::from_ref(uci),
        (Some(Row(.., xboard)), Protocol::Xboard) => xboard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_have_names_where_a_protocol_knows_them() {
        assert_eq!(names(GameKind::Chess, Protocol::Uci), ["chess"]);
        assert_eq!(names(GameKind::Chess, Protocol::Xboard), ["normal"]);
        assert_eq!(names(GameKind::Minichess2023, Protocol::Uci), ["minichess-2023"]);
        assert!(names(GameKind::Minichess2023, Protocol::Xboard).is_empty());
        assert!(names(GameKind::Tuc, Protocol::Uci).is_empty());
        let variants: Vec<_> = uci_variants().collect();
        assert_eq!((variants.len(), variants[0]), (ROWS.len(), (GameKind::Chess, "chess")));
    }
}
