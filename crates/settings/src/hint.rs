//! The word that was meant, where an unknown one was written.

/// Shortest part of a word that stands for the whole.
const MIN_PART: usize = 3;

/// Asks whether one of these words was meant; empty if none is like it. The words may stand in quotes.
pub fn hint<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> String {
    let bare = |word: &str| word.trim_matches(['`', '"']).to_lowercase();
    let word = bare(word);
    let distance = |known: &str| {
        let known = bare(known);
        let is_part = |part: &str, whole: &str| part.len() >= MIN_PART && whole.starts_with(part);
        if is_part(&word, &known) || is_part(&known, &word) { 1 } else { strsim::osa_distance(&word, &known) }
    };
    let known = known.into_iter().map(|known| (distance(known), known));
    let is_like = |(distance, known): &(usize, &str)| *distance <= known.len().max(word.len()) / 3;
    let nearest = known.filter(is_like).min_by_key(|(distance, _)| *distance);
    let shown =
        |known: &str| if known.starts_with(['`', '"']) { known.to_owned() } else { format!("`{known}`") };
    nearest.map_or_else(String::new, |(_, known)| format!(" (did you mean {}?)", shown(known)))
}
