//! Formats weights as the Rust file of the engine.

use std::fmt::Write;

use super::dataset::Weights;
use crate::eval::chess::terms::GROUPS;

const HEAD: &str = "\
//! The weights of all terms. Written by `zeitnot tune`, from positions of our own games: see `docs/data.md`.

use super::{
    tapered_score::{TaperedScore, s},
    terms::COUNT,
};

/// By the number of the term, in centipawns.
#[rustfmt::skip]
pub(crate) static WEIGHTS: [TaperedScore; COUNT] = [
";

const WEIGHTS_PER_LINE: usize = 8;

/// Returns the content of `crates/engine/src/eval/chess/weights.rs`.
pub fn format_weights(weights: &Weights) -> String {
    let mut text = HEAD.to_owned();
    for (name, group) in GROUPS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "    // {name}");
        for line in weights[group.first..group.first + group.len].chunks(WEIGHTS_PER_LINE) {
            let pair = |[middlegame, endgame]: &[f64; 2]| format!("s({middlegame:4.0}, {endgame:4.0})");
            let pairs: Vec<_> = line.iter().map(pair).collect();
            let _ = writeln!(text, "    {},", pairs.join(", ").replace("-0,", " 0,").replace("-0)", " 0)"));
        }
    }
    text + "];\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::chess::WEIGHTS;

    #[test]
    fn the_engines_weights_are_as_the_tuner_writes_them() {
        let weights: Weights =
            WEIGHTS.iter().map(|w| [f64::from(w.middlegame()), f64::from(w.endgame())]).collect();
        assert_eq!(format_weights(&weights), include_str!("../eval/chess/weights.rs"));
    }
}
