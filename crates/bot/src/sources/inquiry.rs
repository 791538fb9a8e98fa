//! What is looked up for one move, beside its search.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use zeitnot_engine::{Best, Playable, Score};
use zeitnot_rules::{Color, GameHistory, Packed};
use zeitnot_seat::EvalScore;

use super::{Library, Source};
use crate::{
    How,
    cache::{Advice, Cache, Lookup},
    online::{self, Question, Suggestion, Suggestions},
};

/// What the sources are asked.
pub(crate) struct Asked<'l, G: Playable> {
    pub line: &'l GameHistory<G>,
    pub side: Color,
    /// What is left on our clock.
    pub left: Option<Duration>,
    /// What the move may take.
    pub time: Duration,
    /// The nodes that its time buys.
    pub price: u64,
    /// Was it thought about already, on the opponent's time? That is worth more than what was found before.
    pub pondered: bool,
}

/// Dropped, nothing is looked up any more.
#[derive(Default)]
pub(crate) struct Inquiry {
    /// By rank. What is known ends the list.
    entries: Vec<Entry>,
    /// Look at this first, says the cache.
    pub hint: Option<Packed>,
}

enum Entry {
    /// Only the disk knows.
    Disk(Lookup),
    Online(online::Source, Suggestions),
    Known(Best, How),
}

/// What has come in, and from which entry.
pub(crate) enum News {
    /// The disk was looked at; what it knows of the position is in the cache now.
    Disk {
        at: usize,
        found: bool,
    },
    Online {
        at: usize,
        source: online::Source,
        suggestions: Vec<Suggestion>,
    },
}

/// What to do next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Play(Best, How),
    /// Somebody may still know something.
    Wait,
    /// Nobody knows anything.
    Search,
}

impl Inquiry {
    /// Asks all sources, by rank, up to the first that knows.
    pub fn begin<G: Playable>(library: &Library, cache: &Cache, asked: &Asked<'_, G>) -> Inquiry {
        let mut inquiry = Inquiry::default();
        let now = asked.line.now();
        let plies = asked.line.moves().len();
        let question = library.online.is_on().then(|| Question {
            game: now.kind(),
            fen: now.print(),
            side: asked.side,
            men: now.piece_count(),
            plies,
            left: asked.left,
            time: asked.time,
        });
        for &source in &library.order.0 {
            let entry = match source {
                Source::Cache if asked.pondered => None,
                Source::Cache => match cache.consult(asked.line, asked.price) {
                    Advice::Play(found) => Some(Entry::Known(found.best(), How::Cached)),
                    Advice::Seed(found) => {
                        inquiry.hint = Some(found.mv);
                        None
                    }
                    Advice::Later(lookup) => Some(Entry::Disk(lookup)),
                    Advice::Nothing => None,
                },
                Source::Book => library
                    .book
                    .as_ref()
                    .zip(now.book_key())
                    .and_then(|(book, key)| book.pick(key, plies, |text| now.read(text).ok()))
                    .map(|mv| Entry::Known(Best::unsearched(now.pack(mv)), How::Book)),
                Source::Tablebase | Source::Cloud | Source::Explorer => source
                    .online()
                    .zip(question.as_ref())
                    .and_then(|(source, question)| Some((source, library.online.ask(source, question)?)))
                    .map(|(source, answer)| Entry::Online(source, answer)),
            };
            let is_known = matches!(entry, Some(Entry::Known(..)));
            inquiry.entries.extend(entry);
            if is_known {
                break;
            }
        }
        inquiry
    }

    /// What is to be done by what is known so far.
    pub fn step(&self) -> Step {
        match self.entries.first() {
            Some(Entry::Known(best, how)) => Step::Play(*best, *how),
            Some(_) => Step::Wait,
            None => Step::Search,
        }
    }

    /// Is somebody asked whose word goes before the search's?
    pub fn is_waiting(&self) -> bool {
        self.step() == Step::Wait
    }

    /// The next that comes in; for ever if nothing will. Cancel safe.
    pub async fn hear(&mut self) -> News {
        poll_fn(|context| {
            for (at, entry) in self.entries.iter_mut().enumerate() {
                match entry {
                    Entry::Disk(lookup) => {
                        if let Poll::Ready(found) = pin!(lookup.done()).poll(context) {
                            return Poll::Ready(News::Disk { at, found });
                        }
                    }
                    Entry::Online(source, answer) => {
                        if let Poll::Ready(suggestions) = answer.as_mut().poll(context) {
                            return Poll::Ready(News::Online { at, source: *source, suggestions });
                        }
                    }
                    Entry::Known(..) => {}
                }
            }
            Poll::Pending
        })
        .await
    }

    /// This is what has become of an entry; those of lower rank need not be waited for if it knows.
    pub fn settle(&mut self, at: usize, known: Option<(Best, How)>) {
        match known {
            Some((best, how)) => {
                self.entries.truncate(at);
                self.entries.push(Entry::Known(best, how));
            }
            None => drop(self.entries.remove(at)),
        }
    }
}

/// The first of these that can be played here, and that brings a winner no nearer to a draw.
pub(crate) fn first_fit<G: Playable>(line: &GameHistory<G>, suggestions: &[Suggestion]) -> Option<Best> {
    let now = line.now();
    suggestions.iter().find_map(|suggestion| {
        let mv = now.read(&suggestion.mv).ok()?;
        let eval = suggestion.eval;
        let score = eval.map_or(Score::ZERO, |eval| score(eval.score));
        if score > Score::ZERO && line.leads_back(mv) {
            return None;
        }
        Some(Best { mv: now.pack(mv), score, depth: eval.map_or(0, |eval| eval.depth.max(1)) })
    })
}

fn score(worth: EvalScore) -> Score {
    match worth {
        EvalScore::Centipawns(cp) => Score::cp(cp),
        EvalScore::Mate(moves @ 1..) => Score::mate_in(moves.unsigned_abs().min(MOST_MOVES) * 2 - 1),
        EvalScore::Mate(moves) => Score::mated_in(moves.unsigned_abs().min(MOST_MOVES) * 2),
    }
}

/// No mate is told further off.
const MOST_MOVES: u16 = zeitnot_engine::score::MAX_PLY / 2;

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_rules::{Game, chess::Chess};
    use zeitnot_seat::Eval;

    fn known(mv: u16) -> (Best, How) {
        (Best::unsearched(Packed(mv)), How::Book)
    }

    fn asks(answers: impl IntoIterator<Item = Suggestions>) -> Inquiry {
        let entries =
            answers.into_iter().map(|answer| Entry::Online(online::Source::Cloud, answer)).collect();
        Inquiry { entries, hint: None }
    }

    fn never() -> Suggestions {
        Box::pin(std::future::pending())
    }

    fn nothing() -> Suggestions {
        Box::pin(async { Vec::new() })
    }

    #[tokio::test]
    async fn rank_goes_before_speed() {
        let mut inquiry = asks([never(), nothing(), never()]);
        assert!(inquiry.is_waiting());
        let News::Online { at, .. } = inquiry.hear().await else { panic!() };
        assert_eq!(at, 1);
        let (best, how) = known(7);
        inquiry.settle(1, Some((best, how)));
        assert_eq!(inquiry.entries.len(), 2, "the third is not waited for");
        assert!(inquiry.is_waiting(), "but the first is");
        inquiry.settle(0, None);
        assert_eq!(inquiry.step(), Step::Play(best, how));
    }

    #[tokio::test]
    async fn where_nobody_knows_anything_it_is_searched() {
        let mut inquiry = asks([nothing(), nothing()]);
        for _ in 0..2 {
            let News::Online { at, suggestions, .. } = inquiry.hear().await else { panic!() };
            assert!(suggestions.is_empty());
            inquiry.settle(at, None);
        }
        assert_eq!(inquiry.step(), Step::Search);
        assert_eq!(Inquiry::default().step(), Step::Search);
    }

    fn suggests(mv: &str, worth: Option<EvalScore>) -> Suggestion {
        Suggestion { mv: mv.into(), eval: worth.map(|score| Eval { score, depth: 3 }) }
    }

    #[test]
    fn what_cannot_be_played_is_passed_over() {
        let line = GameHistory::new(Chess::parse("4k3/8/8/8/8/8/8/4K2R w K - 0 1").unwrap());
        let all = [suggests("e1e9", None), suggests("a1a2", None), suggests("e1h1", None)];
        let best = first_fit(&line, &all).unwrap();
        assert_eq!(line.now().unpack(best.mv), line.now().read("e1g1").ok());
        assert_eq!((best.score, best.depth), (Score::ZERO, 0), "nobody has looked at it");
        assert_eq!(first_fit(&line, &all[..2]), None);
        let mates = [suggests("h1h8", Some(EvalScore::Mate(3)))];
        assert_eq!(first_fit(&line, &mates).unwrap().score, Score::mate_in(5));
        let mated = [suggests("h1h8", Some(EvalScore::Mate(i16::MIN)))];
        assert!(first_fit(&line, &mated).unwrap().score.is_mate());
    }

    #[test]
    fn who_wins_does_not_go_back_to_where_it_was() {
        let mut line = GameHistory::new(Chess::parse("7k/8/8/8/8/8/R7/K7 w - - 0 1").unwrap());
        ["a2a3", "h8g8", "a3a2", "g8h8"].iter().for_each(|text| line.play(line.now().read(text).unwrap()));
        let both = |worth| [suggests("a2a3", Some(worth)), suggests("a2a7", Some(worth))];
        let played =
            |worth| line.now().write(line.now().unpack(first_fit(&line, &both(worth)).unwrap().mv).unwrap());
        assert_eq!(played(EvalScore::Centipawns(500)).as_str(), "a2a7");
        assert_eq!(played(EvalScore::Centipawns(0)).as_str(), "a2a3");
    }
}
