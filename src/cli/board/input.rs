//! Moves as they are typed: SAN or coordinates, completed as far as they are clear.

use super::table::LegalMove;

/// Characters that are taken.
const MAX_INPUT: usize = 12;

/// Text that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MoveInput(String);

/// Meaning of a typed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning<'l> {
    Move(&'l LegalMove),
    /// Several moves, as records write them.
    Several(Vec<&'l str>),
    Nothing,
}

impl MoveInput {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn set(&mut self, text: &str) {
        text.clone_into(&mut self.0);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn push(&mut self, letter: char) {
        if !letter.is_whitespace() && !letter.is_control() && self.0.chars().count() < MAX_INPUT {
            self.0.push(letter);
        }
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// Finds the move that is meant: one that is written so, or the only one that begins so.
    pub(super) fn meaning<'l>(&self, legal: &'l [LegalMove]) -> Meaning<'l> {
        let typed = self.0.as_str();
        let bare = |san: &str| san.trim_end_matches(['+', '#']).to_owned();
        let is_it = |mv: &&LegalMove| {
            let castles = typed.replace('0', "O");
            mv.uci == typed || bare(&mv.san) == bare(typed) || bare(&mv.san) == bare(&castles)
        };
        if let Some(found) = legal.iter().find(is_it) {
            return Meaning::Move(found);
        }
        let exact = self.candidates(legal, |text| text.starts_with(typed));
        let lower = typed.to_lowercase();
        let found = match exact.is_empty() {
            true => self.candidates(legal, |text| text.to_lowercase().starts_with(&lower)),
            false => exact,
        };
        match found.as_slice() {
            [] => Meaning::Nothing,
            [one] => Meaning::Move(one),
            several => Meaning::Several(several.iter().map(|mv| mv.san.as_str()).collect()),
        }
    }

    fn candidates<'l>(&self, legal: &'l [LegalMove], fits: impl Fn(&str) -> bool) -> Vec<&'l LegalMove> {
        legal.iter().filter(|mv| fits(&mv.san) || fits(&mv.uci)).collect()
    }

    /// Adds what all moves that begin so have in common.
    pub(super) fn complete(&mut self, legal: &[LegalMove]) {
        let typed = self.0.as_str();
        let forms: [fn(&LegalMove) -> &str; 2] = [|mv| &mv.san, |mv| &mv.uci];
        let texts: Vec<&str> = forms
            .into_iter()
            .map(|text| legal.iter().map(text).filter(|text| text.starts_with(typed)).collect::<Vec<_>>())
            .find(|texts| !texts.is_empty())
            .unwrap_or_default();
        let Some((first, rest)) = texts.split_first() else { return };
        let common = rest.iter().fold(*first, |common, text| {
            let same = common.char_indices().zip(text.chars()).take_while(|((_, one), other)| one == other);
            &common[..same.last().map_or(0, |((at, letter), _)| at + letter.len_utf8())]
        });
        self.0 = common.chars().take(MAX_INPUT).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legal() -> Vec<LegalMove> {
        let moves = [
            ("g1f3", "Nf3+"),
            ("b1c3", "Nc3"),
            ("b1d2", "Nbd2"),
            ("f1d2", "Nfd2"),
            ("e1g1", "O-O"),
            ("b3b4", "b4"),
            ("e7e8q", "e8=Q"),
            ("e7e8n", "e8=N"),
            ("c1b2", "Bb2"),
        ];
        moves.map(|(uci, san)| LegalMove { uci: uci.into(), san: san.into() }).to_vec()
    }

    fn meaning(text: &str) -> String {
        let legal = legal();
        let mut input = MoveInput::default();
        text.chars().for_each(|letter| input.push(letter));
        match input.meaning(&legal) {
            Meaning::Move(mv) => mv.uci.clone(),
            Meaning::Several(sans) => sans.join(" "),
            Meaning::Nothing => String::new(),
        }
    }

    #[test]
    fn a_move_is_typed_as_records_or_protocols_write_it() {
        for (typed, meant) in [
            ("Nf3", "g1f3"),
            ("Nf3+", "g1f3"),
            ("g1f3", "g1f3"),
            ("0-0", "e1g1"),
            ("e8=Q", "e7e8q"),
            ("b4", "b3b4"),
            ("g1", "g1f3"),
            ("Nb", "b1d2"),
            ("nc", "b1c3"),
            ("Bb", "c1b2"),
            ("e7e8", "e8=Q e8=N"),
            ("Nd2", ""),
            ("Q", ""),
            ("N", "Nf3+ Nc3 Nbd2 Nfd2"),
            ("f1d2", "f1d2"),
        ] {
            assert_eq!(meaning(typed), meant, "{typed}");
        }
    }

    #[test]
    fn what_is_clear_is_completed() {
        for (typed, completed) in [
            ("Nf3", "Nf3+"),
            ("N", "N"),
            ("Nb", "Nbd2"),
            ("e8", "e8="),
            ("g", "g1f3"),
            ("x", "x"),
            ("b1", "b1"),
        ] {
            let mut input = MoveInput::default();
            input.set(typed);
            input.complete(&legal());
            assert_eq!(input.text(), completed, "{typed}");
        }
    }

    #[test]
    fn a_long_or_strange_text_is_cut() {
        let mut input = MoveInput::default();
        "e4 \u{1b}[2J and much more than a move".chars().for_each(|letter| input.push(letter));
        assert!(input.text().chars().count() <= MAX_INPUT && !input.text().contains([' ', '\u{1b}']));
    }
}
