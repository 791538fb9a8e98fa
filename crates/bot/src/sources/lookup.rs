//! Lookup of one position in all sources, beside its search.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use zeitnot_engine::Best;
use zeitnot_rules::{Color, Packed};
use zeitnot_seat::{PositionQuery, Suggested, Suggestions};

use super::{MoveSources, Source};
use crate::{
    board::Board,
    cache::{Cache, CacheAnswer, CacheLookup},
    status::MoveOrigin,
};

/// Circumstances of a lookup.
pub(crate) struct LookupRequest {
    pub side: Color,
    /// Time left on our clock.
    pub left: Option<Duration>,
    /// Time that the move may take.
    pub time: Duration,
    /// Nodes that a search has in that time.
    pub nodes: u64,
    /// Whether the position was pondered: that result goes before the cache.
    pub pondered: bool,
}

/// Lookup of one position. Dropping it ends the lookup.
#[derive(Default)]
pub(crate) struct SourceLookup {
    /// By rank; a known move ends the list.
    entries: Vec<Entry>,
    /// A move from the cache to search first.
    pub hint: Option<Packed>,
}

enum Entry {
    /// The cache's file is being read, or the shared cache asked.
    Cache(CacheLookup),
    Asked(MoveOrigin, Suggestions),
    Known(Best, MoveOrigin),
    /// Moves among which the search chooses, the best first.
    Choice(Vec<Packed>),
}

/// Answer of a source, and the entry that it belongs to.
pub(crate) struct LookupAnswer {
    at: usize,
    found: Found,
}

enum Found {
    /// Whether the position was found; if so, it is in memory now.
    Cache(bool),
    Answer(MoveOrigin, Suggested),
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum LookupState {
    Found(Best, MoveOrigin),
    /// A source may still know a move.
    Waiting,
    /// No source knows a move: the search decides.
    Unknown,
}

impl SourceLookup {
    /// Asks all sources, by rank, up to the first that knows a move at once.
    pub(crate) fn start(
        sources: &MoveSources,
        cache: &Cache,
        board: &dyn Board,
        asked: &LookupRequest,
    ) -> Self {
        let mut lookup = SourceLookup::default();
        let servers = sources.servers.as_ref().filter(|servers| !servers.sources().is_empty());
        let query = servers.map(|servers| (servers, query(board, asked)));
        for &source in &sources.order.0 {
            let entry = match source {
                Source::Cache if asked.pondered => None,
                Source::Cache => match board.look_up(cache, asked.nodes, asked.time) {
                    CacheAnswer::Play(cached) => Some(Entry::Known(cached.best(), MoveOrigin::Cached)),
                    CacheAnswer::Hint(cached) => {
                        lookup.hint = Some(cached.mv);
                        None
                    }
                    CacheAnswer::Pending(lookup) => Some(Entry::Cache(lookup)),
                    CacheAnswer::Unknown => None,
                },
                Source::Book => sources
                    .book
                    .as_ref()
                    .and_then(|book| board.book_move(book))
                    .map(|mv| Entry::Known(Best::unsearched(mv), MoveOrigin::Book)),
                Source::Syzygy => sources
                    .syzygy
                    .as_ref()
                    .and_then(|tables| board.tablebase_moves(tables))
                    .map(|suggestions| Entry::Asked(MoveOrigin::Syzygy, suggestions)),
                Source::Tablebase | Source::ChessDb | Source::Cloud | Source::Explorer => source
                    .server()
                    .zip(query.as_ref())
                    .and_then(|(source, (servers, query))| Some((source, servers.look_up(source, query)?)))
                    .map(|(source, suggestions)| Entry::Asked(MoveOrigin::Lookup(source), suggestions)),
            };
            let is_known = matches!(entry, Some(Entry::Known(..)));
            lookup.entries.extend(entry);
            if is_known {
                break;
            }
        }
        lookup
    }

    pub(crate) fn state(&self) -> LookupState {
        match self.entries.first() {
            Some(Entry::Known(best, origin)) => LookupState::Found(*best, *origin),
            Some(Entry::Cache(_) | Entry::Asked(..)) => LookupState::Waiting,
            Some(Entry::Choice(_)) | None => LookupState::Unknown,
        }
    }

    /// Returns the moves among which the search chooses; empty: all.
    pub(crate) fn choice(&self) -> &[Packed] {
        match self.entries.first() {
            Some(Entry::Choice(moves)) => moves,
            _ => &[],
        }
    }

    /// Returns whether a source that goes before the search has not answered yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.state() == LookupState::Waiting
    }

    /// Waits for the next answer; forever if none will come. Cancel safe.
    pub(crate) async fn next(&mut self) -> LookupAnswer {
        poll_fn(|context| {
            for (at, entry) in self.entries.iter_mut().enumerate() {
                let found = match entry {
                    Entry::Cache(lookup) => pin!(lookup.done()).poll(context).map(Found::Cache),
                    Entry::Asked(origin, answer) => {
                        answer.as_mut().poll(context).map(|suggested| Found::Answer(*origin, suggested))
                    }
                    Entry::Known(..) | Entry::Choice(_) => Poll::Pending,
                };
                if let Poll::Ready(found) = found {
                    return Poll::Ready(LookupAnswer { at, found });
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Takes an answer into account. If it has a move, sources of lower rank are not waited for.
    pub(crate) fn resolve(&mut self, answer: LookupAnswer, cache: &Cache, board: &dyn Board, nodes: u64) {
        let known = match answer.found {
            Found::Cache(false) => None,
            Found::Cache(true) => match board.look_up(cache, nodes, Duration::ZERO) {
                CacheAnswer::Play(cached) => Some(Entry::Known(cached.best(), MoveOrigin::Cached)),
                CacheAnswer::Hint(_) | CacheAnswer::Pending(_) | CacheAnswer::Unknown => None,
            },
            Found::Answer(origin, Suggested { moves, is_choice }) => {
                match board.playable(&moves).as_slice() {
                    [] => None,
                    several @ [_, _, ..] if is_choice => {
                        Some(Entry::Choice(several.iter().map(|best| best.mv).collect()))
                    }
                    [best, ..] => Some(Entry::Known(*best, origin)),
                }
            }
        };
        self.settle(answer.at, known);
    }

    fn settle(&mut self, at: usize, known: Option<Entry>) {
        match known {
            Some(entry) => {
                self.entries.truncate(at);
                self.entries.push(entry);
            }
            None => drop(self.entries.remove(at)),
        }
    }
}

fn query(board: &dyn Board, asked: &LookupRequest) -> PositionQuery {
    let position = board.position();
    PositionQuery {
        game: position.game,
        fen: board.fen(),
        side: asked.side,
        piece_count: position.piece_count,
        plies: position.plies,
        left: asked.left,
        time: asked.time,
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_seat::LookupSource;

    use super::*;

    fn asks(answers: impl IntoIterator<Item = Suggestions>) -> SourceLookup {
        let entries = answers
            .into_iter()
            .map(|answer| Entry::Asked(MoveOrigin::Lookup(LookupSource::Cloud), answer))
            .collect();
        SourceLookup { entries, hint: None }
    }

    fn never() -> Suggestions {
        Box::pin(std::future::pending())
    }

    fn nothing() -> Suggestions {
        Box::pin(async { Suggested::default() })
    }

    #[test]
    async fn rank_goes_before_speed() {
        let mut lookup = asks([never(), nothing(), never()]);
        assert!(lookup.is_waiting());
        assert_eq!(lookup.next().await.at, 1);
        let best = Best::unsearched(Packed(7));
        let origin = MoveOrigin::Book;
        lookup.settle(1, Some(Entry::Known(best, origin)));
        assert_eq!(lookup.entries.len(), 2, "the third is not waited for");
        assert!(lookup.is_waiting(), "but the first is");
        lookup.settle(0, None);
        assert_eq!(lookup.state(), LookupState::Found(best, origin));
    }

    #[test]
    async fn a_choice_is_left_to_the_search_once_no_better_source_is_waited_for() {
        let mut lookup = asks([never(), nothing(), never()]);
        let moves = vec![Packed(7), Packed(8)];
        lookup.settle(1, Some(Entry::Choice(moves.clone())));
        assert_eq!((lookup.entries.len(), lookup.is_waiting()), (2, true));
        assert_eq!(lookup.choice(), []);
        lookup.settle(0, None);
        assert_eq!((lookup.state(), lookup.choice()), (LookupState::Unknown, moves.as_slice()));
    }

    #[test]
    async fn positions_that_no_source_knows_are_searched() {
        let mut lookup = asks([nothing(), nothing()]);
        for _ in 0..2 {
            let LookupAnswer { at, found: Found::Answer(_, suggested) } = lookup.next().await else {
                panic!()
            };
            assert!(suggested.moves.is_empty());
            lookup.settle(at, None);
        }
        assert_eq!(lookup.state(), LookupState::Unknown);
        assert_eq!(SourceLookup::default().state(), LookupState::Unknown);
    }
}
