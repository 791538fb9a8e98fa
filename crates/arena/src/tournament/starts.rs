//! Positions in which the games of a tournament begin.

use zeitnot_referee::ServerBoard;
use zeitnot_rules::{
    DynGame, GameError, GameKind,
    chess::{Chess, chess960_start},
    fnv1a,
};

use super::config::TournamentConfig;
use crate::error::ArenaError;

#[derive(Debug)]
pub(crate) struct Starts {
    kind: GameKind,
    openings: Vec<DynGame>,
    /// For random starts of Chess960, if there are to be some.
    seed: Option<u64>,
}

impl Starts {
    /// Reads the openings of a tournament, perhaps from a file.
    ///
    /// # Errors
    /// [`ArenaError`] with the opening that is wrong.
    pub(super) fn open(config: &TournamentConfig) -> Result<Starts, ArenaError> {
        let openings = config.openings.as_ref().map(|openings| openings.read(config.game));
        let seed = config.chess960.then(|| fnv1a(config.name.as_str()));
        Ok(Starts { kind: config.game, openings: openings.transpose()?.unwrap_or_default(), seed })
    }

    /// Sets up a game with the opening of this number. A random start depends on the number and on the tournament's name
    /// alone: the return game has the same, also after a restart.
    ///
    /// # Errors
    /// The rules refuse their own start.
    pub(super) fn board(&self, opening: u64) -> Result<ServerBoard, GameError> {
        let game = match (self.seed, self.openings.as_slice()) {
            (Some(seed), _) => {
                let mut random = fastrand::Rng::with_seed(seed.wrapping_add(opening));
                Chess::parse(&chess960_start(&mut random))?.into()
            }
            (None, []) => DynGame::begin(self.kind, None)?,
            (None, openings) => openings[(opening % openings.len() as u64) as usize].again(),
        };
        Ok(game.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use zeitnot_referee::Board;

    use super::*;
    use crate::openings::Openings;

    fn starts(config: TournamentConfig) -> Vec<String> {
        let starts = Starts::open(&config).unwrap();
        (0..20).map(|opening| starts.board(opening).unwrap().start()).collect()
    }

    #[test]
    fn a_random_start_depends_on_its_number_and_the_tournament() {
        let config = |name| TournamentConfig { chess960: true, ..TournamentConfig::new(name, "3").unwrap() };
        let first = starts(config("class"));
        assert!(first.iter().collect::<BTreeSet<_>>().len() > 15, "{first:?}");
        assert_eq!(starts(config("class")), first);
        assert_ne!(starts(config("club")), first);
    }

    #[test]
    fn openings_of_any_game_are_used_in_turn() {
        let usual = DynGame::begin(GameKind::Atomic, None).unwrap().root();
        let other = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let openings = Openings::Positions([&usual, other].map(str::to_owned).into());
        let new = TournamentConfig::new("class", "3").unwrap();
        let config = TournamentConfig { game: GameKind::Atomic, openings: Some(openings), ..new.clone() };
        let starts = starts(config);
        assert_eq!((&starts[0], starts[1].as_str(), &starts[2]), (&usual, other, &usual));
        let board = Starts::open(&TournamentConfig { game: GameKind::Tuc, ..new }).unwrap().board(7).unwrap();
        assert_eq!((board.kind(), board.is_own_start()), (GameKind::Tuc, false));
    }
}
