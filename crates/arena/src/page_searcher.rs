//! Searches for people at tables and in analyses, by our engine.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use zeitnot_engine::{BuiltIn, Clocks, Config, EngineFactory, Level, OutOfMemory};
use zeitnot_rules::{ByColor, DynGame};
use zeitnot_web::play::{Finding, RunningClock, Searcher, Strength};

use crate::searches::{BuiltInEngines, MAX_TIME, SearchEngine, Searches};

/// Size of the transposition table that all analyses share.
const HASH_MIB: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// Searches for people, by our engine.
#[derive(Debug)]
pub struct PageSearcher {
    searches: Searches,
    built_in: Arc<BuiltInEngines>,
    /// For analysis.
    full: Arc<SearchEngine>,
}

impl PageSearcher {
    /// Creates the table that all analyses share.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn new() -> Result<Self, OutOfMemory> {
        PageSearcher::with(Searches::default(), Arc::default())
    }

    /// Shares the searches at once and the built-in players with others.
    pub(crate) fn with(searches: Searches, built_in: Arc<BuiltInEngines>) -> Result<Self, OutOfMemory> {
        let full = EngineFactory::new(&Config { hash_mib: HASH_MIB, ..Config::default() })?;
        Ok(PageSearcher { searches, built_in, full: SearchEngine::new(full) })
    }

    /// Returns the engine of that strength, and its longest search.
    fn engine(&self, strength: Strength) -> Option<(Arc<SearchEngine>, Duration)> {
        match strength {
            Strength::Full(time) => Some((self.full.clone(), time)),
            Strength::Level(level) => {
                let engine = self.built_in.get(BuiltIn::Level(Level::new(level.into())?));
                let told = |error: &OutOfMemory| tracing::error!("level {level} cannot play: {error}");
                Some((engine.inspect_err(told).ok()?, MAX_TIME))
            }
        }
    }
}

impl Searcher for PageSearcher {
    fn find(
        &self,
        game: &DynGame,
        strength: Strength,
        clock: Option<RunningClock>,
        stop: CancellationToken,
    ) -> Finding {
        let Some((engine, time)) = self.engine(strength) else { return Box::pin(async { None }) };
        let clocks = clock.map(|RunningClock { left, increment, at }| Clocks {
            left: ByColor([left; 2]),
            increment,
            moves_to_go: None,
            read_at: at.into_std(),
        });
        self.searches.find((&engine, time), game, clocks, stop)
    }
}

#[cfg(test)]
mod tests {
    use zeitnot_rules::GameKind;
    use zeitnot_web::play::Found;
    use zeitnot_wire::uci::UciScore;

    use super::*;

    fn searcher() -> PageSearcher {
        PageSearcher::new().unwrap()
    }

    fn level(number: u8) -> Strength {
        Strength::Level(number.try_into().unwrap())
    }

    async fn find(kind: GameKind, fen: Option<&str>, number: u8) -> Option<Found> {
        let game = DynGame::begin(kind, fen).unwrap();
        searcher().find(&game, level(number), None, CancellationToken::new()).await
    }

    #[test]
    fn the_page_has_the_levels_of_the_engine() {
        for number in 0..=u8::MAX {
            assert_eq!(zeitnot_web::play::Level::try_from(number).is_ok(), Level::new(number).is_some());
        }
    }

    #[test]
    async fn every_game_gets_a_legal_move_of_every_level() {
        for (at, &kind) in GameKind::ALL.iter().enumerate() {
            let found = find(kind, None, u8::try_from(at % 8).unwrap() + 1).await.unwrap();
            let game = DynGame::begin(kind, None).unwrap();
            assert!(game.read(&found.text).is_ok(), "{} {found:?}", kind.name());
        }
    }

    #[test]
    async fn a_strong_level_mates_and_tells_how() {
        let fen = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1";
        let found = find(GameKind::Chess, Some(fen), 8).await.unwrap();
        assert_eq!((found.text.as_str(), found.score), ("a1a8", UciScore::Mate(1)));
        assert_eq!(found.pv[0], ("a1a8".to_owned(), "Ra8#".to_owned()));
    }
}
