//! List of all tunables of the search. It exists only where they can be set.

pub(crate) use super::tunable::Tunable;
use super::{aspiration, correction, extend, history, prune, quiescence, reduce};

/// Tunables of each file.
static FILES: &[&[&Tunable]] = &[
    aspiration::TUNABLES,
    quiescence::TUNABLES,
    history::TUNABLES,
    correction::TUNABLES,
    extend::singular::TUNABLES,
    prune::reverse_futility::TUNABLES,
    prune::futility::TUNABLES,
    prune::late_move::TUNABLES,
    prune::null_move::TUNABLES,
    prune::probcut::TUNABLES,
    prune::see::TUNABLES,
    reduce::hindsight::TUNABLES,
    reduce::internal_iterative::TUNABLES,
    reduce::late_move::TUNABLES,
];

/// Returns all tunables.
pub(crate) fn all() -> impl Iterator<Item = &'static Tunable> {
    FILES.iter().copied().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn names_differ_and_values_begin_within_their_range() {
        let names: BTreeSet<_> = all().map(|tunable| tunable.name.to_ascii_lowercase()).collect();
        assert_eq!(names.len(), all().count());
        for tunable in all() {
            assert!((tunable.min..=tunable.max).contains(&tunable.get()), "{tunable:?}");
        }
    }
}
