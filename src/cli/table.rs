//! Tables and long lines that fit the terminal. Files and pipes get them whole.

use console::Term;

/// Columns of standard output, if it is a terminal.
pub(super) fn width() -> usize {
    let out = Term::stdout();
    if out.is_term() { out.size().1.into() } else { usize::MAX }
}

/// Breaks a text at spaces into lines of at most `width` columns, all but the first one indented. A longer word stays
/// whole.
pub(super) fn fold(text: &str, width: usize, indent: usize) -> String {
    let mut folded = String::new();
    let mut used = 0;
    let mut gap = String::new();
    for part in text.split(' ') {
        let length = part.chars().count();
        if length > 0 {
            if used > indent && used + gap.len() + length > width {
                folded.push('\n');
                gap = " ".repeat(indent);
                used = 0;
            }
            folded.push_str(&gap);
            folded.push_str(part);
            used += gap.len() + length;
            gap.clear();
        }
        gap.push(' ');
    }
    folded
}

/// Breaks a row, or a rule, of a table at the bars between its groups of columns, where the width needs it. The rows of a
/// table break at the same places.
pub(super) fn row(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let bar = if text.contains('|') { '|' } else { '+' };
    let (mut broken, mut used) = (String::new(), 0);
    for group in text.split_inclusive(bar) {
        let length = group.chars().count();
        if used > 0 && used + length > width {
            broken.push_str("\n    ");
            used = 4;
        }
        broken.push_str(group);
        used += length;
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_further_lines_are_indented() {
        assert_eq!(
            fold("  ends   1 Checkmate, 2 Stalemate", 20, 9),
            "  ends   1\n         Checkmate,\n         2 Stalemate"
        );
        assert_eq!(fold("a b", 80, 4), "a b");
        assert_eq!(fold("", 80, 4), "");
        assert_eq!(fold("head averyveryverylongword", 10, 2), "head\n  averyveryverylongword");
    }

    #[test]
    fn tables_break_between_their_groups() {
        let table = [
            "name    games |  p50  p99 | used",
            "--------------+-----------+-----",
            "one         1 |  1.0  2.0 |  50%",
        ];
        assert_eq!(row(table[0], 80), table[0]);
        assert_eq!(
            table.map(|line| row(line, 24)),
            [
                "name    games |\n      p50  p99 | used",
                "--------------+\n    -----------+-----",
                "one         1 |\n      1.0  2.0 |  50%",
            ]
        );
    }

    #[test]
    fn lines_fit_and_no_word_is_lost() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..200 {
            let word =
                |random: &mut fastrand::Rng| "x".repeat(random.usize(1..9)) + &" ".repeat(random.usize(1..4));
            let text: String = (0..random.usize(..20)).map(|_| word(&mut random)).collect();
            let width = random.usize(20..60);
            let folded = fold(&text, width, 4);
            assert!(folded.lines().all(|line| line.chars().count() <= width), "{folded}");
            assert!(folded.split_whitespace().eq(text.split_whitespace()));
        }
    }
}
