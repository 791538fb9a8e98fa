//! Long lines that fit the terminal. Files and pipes get them whole.

use console::Term;

/// Columns of standard output, if it is a terminal.
pub(super) fn width() -> usize {
    width_of(&Term::stdout())
}

/// Columns of standard error, if it is a terminal.
pub(super) fn error_width() -> usize {
    width_of(&Term::stderr())
}

fn width_of(terminal: &Term) -> usize {
    if terminal.is_term() { terminal.size().1.into() } else { usize::MAX }
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
