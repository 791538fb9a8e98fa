//! What is known of a position: the opening explorer, evaluations in the cloud, and tablebases.

use serde::{Deserialize, Serialize};

use super::{codec::nullable, names::Category};

/// What was played in a position. The explorer of one player tells this once a line, as it finds more games.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explored {
    /// The moves, those that were played most often first.
    #[serde(default, deserialize_with = "nullable")]
    pub moves: Vec<ExploredMove>,
}

/// How often a move was played, by how the game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploredMove {
    /// The move.
    pub uci: String,
    /// White won.
    #[serde(default)]
    pub white: u64,
    /// Nobody did.
    #[serde(default)]
    pub draws: u64,
    /// Black won.
    #[serde(default)]
    pub black: u64,
}

/// What somebody's engine found in a position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudEval {
    /// How deep it looked.
    #[serde(default)]
    pub depth: u16,
    /// The best lines, the best one first.
    #[serde(default, deserialize_with = "nullable")]
    pub pvs: Vec<CloudLine>,
}

/// One line and what it is worth, to White in either case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudLine {
    /// With spaces between; castling is king takes rook.
    pub moves: String,
    /// In centipawns …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<i32>,
    /// … or a mate in so many moves; below zero it is Black's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mate: Option<i16>,
}

/// What a tablebase knows of a position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// For the side to move.
    pub category: Category,
    /// All legal moves, the best one first.
    #[serde(default, deserialize_with = "nullable")]
    pub moves: Vec<ProbeMove>,
}

/// A move, and what a tablebase knows of the position that it leads to: for the side to move *there*.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeMove {
    /// The move.
    pub uci: String,
    /// How it ends.
    pub category: Category,
    /// Plies to the next capture or move of a pawn; below zero where the side to move loses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtz: Option<i32>,
    /// Plies to mate, if fifty moves without a capture were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtm: Option<i32>,
    /// Is the move itself a capture, or one of a pawn?
    #[serde(default)]
    pub zeroing: bool,
    /// Does it mate?
    #[serde(default)]
    pub checkmate: bool,
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option::of, prelude::*};

    use super::*;
    use crate::Message;

    fn both_ways<M: Message + PartialEq + std::fmt::Debug>(message: M) -> Result<(), TestCaseError> {
        prop_assert_eq!(M::parse(&message.to_line()), Ok(message));
        Ok(())
    }

    fn category() -> impl Strategy<Value = Category> {
        prop_oneof![
            prop::sample::select(Category::KNOWN),
            "new[a-z-]{0,8}".prop_map(|word| Category::from(word.as_str()))
        ]
    }

    proptest! {
        #[test]
        fn what_is_looked_up_goes_both_ways(
            moves in vec(("[a-h][1-8]{2}", any::<[u32; 3]>()), 0..4),
            lines in vec(("[a-h1-8 ]{0,12}", of(any::<i32>()), of(any::<i16>())), 0..3),
            probes in vec(("[a-h][1-8]{2}", category(), any::<(Option<i32>, Option<i32>, bool, bool)>()), 0..4),
            depth in any::<u16>(), whole in category(),
        ) {
            let explored = moves.into_iter().map(|(uci, [white, draws, black])| {
                let [white, draws, black] = [white, draws, black].map(u64::from);
                ExploredMove { uci, white, draws, black }
            });
            both_ways(Explored { moves: explored.collect() })?;
            let pvs = lines.into_iter().map(|(moves, cp, mate)| CloudLine { moves, cp, mate }).collect();
            both_ways(CloudEval { depth, pvs })?;
            let moves = probes.into_iter().map(|(uci, category, (dtz, dtm, zeroing, checkmate))| {
                ProbeMove { uci, category, dtz, dtm, zeroing, checkmate }
            });
            both_ways(Probe { category: whole, moves: moves.collect() })?;
        }

        #[test]
        fn anything_is_read_or_refused(text in ".*") {
            let _ = (Explored::parse(&text), CloudEval::parse(&text), Probe::parse(&text));
        }
    }

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
