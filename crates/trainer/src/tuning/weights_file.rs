//! Formats weights as the Rust file of the engine.

use std::fmt::Write;

use zeitnot_engine::eval::chess::terms::GROUPS;

use super::dataset::Weights;

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
    use std::fs;

    use super::*;

    #[test]
    fn the_engines_weights_are_as_the_tuner_writes_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src/eval/chess/weights.rs");
        let text = fs::read_to_string(path).unwrap();
        let pair = |text: &str| {
            let (middlegame, endgame) = text.split(')').next()?.split_once(',')?;
            Some([middlegame.trim().parse().ok()?, endgame.trim().parse().ok()?])
        };
        let weights: Weights = text.split("s(").skip(1).map(|text| pair(text).unwrap()).collect();
        assert_eq!(format_weights(&weights), text);
    }
}
