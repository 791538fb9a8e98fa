//! ChessDB, the cloud database of chessdb.cn: answers of `cdb.php` with `json=1`.
//!
//! Source: <https://www.chessdb.cn/cloudbook_api_en.html>.

use serde::{Deserialize, Serialize};

use crate::{Message, WireError};

/// Answer to `querypv`, `querybest` or `query`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// "ok" if the position is known.
    pub status: String,
    /// One move. `querybest`, `query`.
    #[serde(rename = "move", alias = "egtb", skip_serializing_if = "Option::is_none")]
    pub mv: Option<String>,
    /// Best line. `querypv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pv: Option<Vec<String>>,
    /// Score of the best line in centipawns, for the side to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<i32>,
    /// Depth of the best line in plies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u16>,
}

impl Answer {
    /// Returns whether the position is known.
    pub fn is_known(&self) -> bool {
        self.status == "ok"
    }
}

impl Message for Answer {
    fn parse(text: &str) -> Result<Self, WireError> {
        serde_json::from_str(text).map_err(|why| WireError::body("ChessDB", why, text))
    }

    fn to_line(&self) -> String {
        // Serialization fails only for maps with non-string keys, and there are none.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{garbled, lines, same_line, same_message};

    const ANSWER: &str = "\\{\"status\":\"(ok|unknown|invalid board)\"(,\"move\":\"<move>\")?\
        (,\"pv\":\\[(\"<move>\",){0,3}\"<move>\"\\])?(,\"score\":-?[1-9][0-9]{0,4})?(,\"depth\":[1-9][0-9]?)?\\}";
    const PARTS: &[(&str, &str)] = &[("<move>", "[a-h][1-8][a-h][1-8]q?")];

    proptest! {
        #[test]
        fn answers_are_printed_as_they_were(answer in lines(ANSWER, PARTS)) {
            same_line::<Answer>(&answer)?;
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in garbled(lines(ANSWER, PARTS))) {
            same_message::<Answer>(&text)?;
        }
    }

    #[test]
    fn answers_as_the_server_gives_them() {
        let line = r#"{"status":"ok","score":1,"depth":46,"pv":["e2e4","e7e5"],"pvSAN":["e4","e5"]}"#;
        let line = Answer::parse(line).unwrap();
        assert!(line.is_known());
        assert_eq!((line.score, line.depth, line.pv.unwrap().len()), (Some(1), Some(46), 2));
        assert_eq!(Answer::parse(r#"{"status":"ok","move":"e2e4"}"#).unwrap().mv.as_deref(), Some("e2e4"));
        assert_eq!(Answer::parse(r#"{"status":"ok","egtb":"a2a7"}"#).unwrap().mv.as_deref(), Some("a2a7"));
        assert!(!Answer::parse(r#"{"status":"unknown"}"#).unwrap().is_known());
        for odd in ["", "[]", "unknown", r#"{"status":5}"#, r#"{"status":"ok","pv":"e2e4"}"#] {
            assert!(Answer::parse(odd).is_err(), "{odd}");
        }
    }
}
