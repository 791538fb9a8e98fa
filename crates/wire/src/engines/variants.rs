//! Names of the games in the two protocols.

use zeitnot_rules::GameKind;

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
    Row("gardner", "gardner", &["gardner"]),
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

/// Names of this game in UCI; empty if it has none.
pub fn uci_names(game: GameKind) -> &'static [&'static str] {
    row(game.name()).map_or(&[], |Row(_, uci, _)| std::slice::from_ref(uci))
}

/// Names of this game in the xboard protocol; empty if it has none.
pub fn xboard_names(game: GameKind) -> &'static [&'static str] {
    row(game.name()).map_or(&[], |Row(.., xboard)| xboard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_have_names_where_a_protocol_knows_them() {
        assert_eq!(uci_names(GameKind::Chess), ["chess"]);
        assert_eq!(xboard_names(GameKind::Chess), ["normal"]);
        assert_eq!(uci_names(GameKind::Minichess2023), ["minichess-2023"]);
        assert!(xboard_names(GameKind::Minichess2023).is_empty());
        assert!(uci_names(GameKind::Tuc).is_empty());
        let variants: Vec<_> = uci_variants().collect();
        assert_eq!((variants.len(), variants[0]), (ROWS.len(), (GameKind::Chess, "chess")));
    }
}
