//! Orders of the organiser, and the reasons why one is refused.

use tokio::sync::oneshot;
use zeitnot_pairing::{Name, NotNow, SeatNo};
use zeitnot_rules::{ByColor, GameResult};

use crate::client::Client;
use zeitnot_host::{
    database::{Fact, GameRow},
    note::Note,
};

/// Order for one tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Begins with whoever is here.
    Start,
    /// Running games end; nobody is paired, and nobody counts as absent.
    Pause,
    Resume,
    /// Lets late ones in, or no longer.
    LateEntries(bool),
    /// Takes a player out for good, who loses the running game, forfeits the rest and cannot join again.
    Remove {
        player: Name,
        note: Option<Note>,
    },
    /// Forfeits a player's current or next game.
    Forfeit {
        player: Name,
        note: Option<Note>,
    },
    /// Pairs two players with these colours.
    Pair {
        white: Name,
        black: Name,
    },
    /// Gives a game that is over another result; `None`: it does not count, and is played again.
    Correct {
        game: String,
        result: Option<GameResult>,
        note: Note,
    },
}

/// Reason why an order is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("there is no tournament {0}")]
    UnknownTournament(String),
    #[error("tournament {0} is over and can no longer be changed")]
    Over(String),
    #[error("the tournament is over: game {0} cannot be played again; give it another result")]
    NotAgain(String),
    #[error("tournament {0} has already begun")]
    HasBegun(Name),
    #[error("tournament {name} needs two players to begin, and has {here}")]
    TooFew { name: Name, here: usize },
    #[error("tournament {0} cannot begin without a player of its gauntlet and another player")]
    NoGauntlet(Name),
    #[error("tournament {0} is paused: resume it first")]
    IsPaused(Name),
    #[error("tournament {0} is not paused")]
    NotPaused(Name),
    #[error("tournament {0} is a knockout: it admits no players after its beginning")]
    NoLateEntries(Name),
    #[error("tournament {0} is open at any time")]
    IsOpen(Name),
    #[error("tournament {0} has not begun: start it first")]
    NotBegun(Name),
    #[error("the tournament has no player {0}")]
    UnknownPlayer(Name),
    #[error("player {0} has been removed from the tournament")]
    IsRemoved(Name),
    #[error("player {0} has no game to forfeit: none is paired or running")]
    NothingToForfeit(Name),
    #[error("{0} cannot be paired with themselves")]
    Alone(Name),
    #[error("{white} and {black} cannot be paired: {why}")]
    NotPaired { white: Name, black: Name, why: NotNow },
    #[error("no tournament here has an ended game {0}: its page and its PGN show the ids")]
    UnknownGame(String),
    #[error("game {0} is running: forfeit it, or correct it when it is over")]
    Running(String),
    #[error("game {0} cannot be corrected yet: its result is being written; try again in a moment")]
    Unsettled(String),
    #[error("game {0} already has that result")]
    Unchanged(String),
    #[error("game {game} cannot be corrected like this: {why}")]
    NotCorrected { game: String, why: NotNow },
}

impl CommandError {
    /// Returns whether the order names something that does not exist.
    pub(crate) fn is_unknown(&self) -> bool {
        use CommandError::{UnknownGame, UnknownPlayer, UnknownTournament};
        matches!(self, UnknownTournament(_) | UnknownPlayer(_) | UnknownGame(_))
    }
}

/// Way to answer the organiser.
pub(super) type Answer = oneshot::Sender<Result<(), CommandError>>;

/// Order that is carried out. The organiser, the players and the page are told once it is settled.
#[derive(Debug)]
pub(super) struct CarriedOut {
    pub(super) fact: Option<Fact>,
    /// A game that is decided without being played.
    pub(super) game: Option<GameRow>,
    /// Players of the game that is decided or corrected.
    pub(super) players: Option<ByColor<Name>>,
    /// The connection of a player who is removed.
    pub(super) removed: Option<(SeatNo, Client)>,
    /// Line for the players and the log.
    pub(super) told: String,
}

impl CarriedOut {
    pub(super) fn new(fact: Fact, told: String) -> CarriedOut {
        CarriedOut { fact: Some(fact), game: None, players: None, removed: None, told }
    }
}
