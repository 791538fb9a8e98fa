//! Opening explorer, cloud evaluations and tablebases.

use serde::{Deserialize, Serialize};

use super::{codec::nullable, names::Category};

/// Answer of the opening explorer. For one player it is repeated, one line each, as more games are found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explored {
    /// Most frequent first.
    #[serde(default, deserialize_with = "nullable")]
    pub moves: Vec<ExploredMove>,
}

/// Number of games with a move, by result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploredMove {
    pub uci: String,
    #[serde(default)]
    pub white: u64,
    #[serde(default)]
    pub draws: u64,
    #[serde(default)]
    pub black: u64,
}

/// Cloud evaluation of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudEval {
    #[serde(default)]
    pub depth: u16,
    /// Best first.
    #[serde(default, deserialize_with = "nullable")]
    pub pvs: Vec<CloudLine>,
}

/// Variation with its score for White.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudLine {
    /// Separated by spaces; castling is king takes rook.
    pub moves: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<i32>,
    /// Moves to mate; negative if Black mates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mate: Option<i16>,
}

/// Tablebase entry of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// For the side to move.
    pub category: Category,
    /// All legal moves, best first.
    #[serde(default, deserialize_with = "nullable")]
    pub moves: Vec<ProbeMove>,
}

/// Move with the tablebase entry of the resulting position, for the side to move *there*.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeMove {
    pub uci: String,
    pub category: Category,
    /// Plies to the next capture or pawn move; negative if the side to move loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtz: Option<i32>,
    /// Plies to the next capture or promotion, instead of `dtz` in positions of eight pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtc: Option<i32>,
    /// Plies to mate without the fifty-move rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtm: Option<i32>,
    /// The move itself is a capture or a pawn move.
    #[serde(default)]
    pub zeroing: bool,
    #[serde(default)]
    pub checkmate: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn answers_as_servers_give_them() {
        let explored = r#"{"white":2,"draws":1,"black":1,"opening":null,"queuePosition":3,"moves":[{"uci":"e2e4",
            "san":"e4","averageRating":2100,"white":2,"draws":1,"black":0,"game":null}],"recentGames":[]}"#;
        let expected = ExploredMove { uci: "e2e4".into(), white: 2, draws: 1, black: 0 };
        assert_eq!(Explored::parse(explored).unwrap().moves, [expected]);
        let cloud = r#"{"fen":"x","knodes":13683,"depth":22,"pvs":[{"moves":"c8f5 d2d4","cp":311},{"moves":"a","mate":-2}]}"#;
        let cloud = CloudEval::parse(cloud).unwrap();
        assert_eq!((cloud.depth, cloud.pvs[0].cp, cloud.pvs[1].mate), (22, Some(311), Some(-2)));
        let probe = r#"{"dtz":1,"precise_dtz":1,"dtm":null,"checkmate":false,"category":"syzygy-win","moves":[
            {"uci":"h7h8q","san":"h8=Q+","dtz":-2,"dtm":-16,"zeroing":true,"checkmate":false,"category":"loss"},
            {"uci":"g7h6","dtz":null,"dtm":null,"category":"something new"}]}"#;
        let probe = Probe::parse(probe).unwrap();
        assert_eq!(probe.category, Category::SyzygyWin);
        assert_eq!((probe.moves[0].dtz, probe.moves[0].zeroing, probe.moves[1].dtz), (Some(-2), true, None));
        assert_eq!(probe.moves[1].category, Category::Other("something new".into()));
        for odd in ["", "{", "<html>", r#"{"moves":[{"uci":5}]}"#, "429"] {
            assert!(Explored::parse(odd).is_err() && Probe::parse(odd).is_err(), "{odd}");
        }
    }
}
