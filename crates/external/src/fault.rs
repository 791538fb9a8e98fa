//! Faults of external engines.

use std::io;

/// Longest line of an engine that is shown, in characters.
pub(crate) const MAX_SHOWN: usize = 160;

/// Fault of an external engine. Follows its name in messages.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("cannot be started: {0}")]
    Start(io::Error),
    #[error("has ended by itself")]
    Ended,
    /// It has ended by itself, and its last lines to stderr were these.
    #[error("has ended by itself: {0}")]
    Crashed(String),
    #[error("does not answer `{0}`")]
    Silent(&'static str),
    #[error("does not stop when it is told to")]
    Deaf,
    #[error("has not answered in time")]
    Late,
    #[error("does not read what it is told")]
    Clogged,
    #[error("prints without end")]
    Flood,
    #[error("plays {0:?}, which is not a legal move")]
    IllegalMove(String),
    #[error("prints {0:?} instead of a move")]
    NotAMove(String),
    #[error("prints {0:?} although it was not asked for another move")]
    Unasked(String),
    #[error("has written no move into the file `action`")]
    NoAction,
    #[error("answers that there is no move")]
    NoMove,
    #[error("resigns, or says that the game is over")]
    Resigns,
    /// It cannot be asked this, or does not do it: moves that are not to be played, a game it does not know.
    #[error("cannot search within such limits")]
    Unsupported,
    #[error("says that a move of ours is illegal ({0:?})")]
    OutOfStep(String),
    #[error("was closed")]
    Closed,
}

impl Fault {
    /// Returns whether the engine has answered, with what cannot be played: it may well answer so again.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Fault::IllegalMove(_) | Fault::NotAMove(_) | Fault::NoMove | Fault::Resigns)
    }

    pub(crate) fn advice(&self) -> &'static str {
        match self {
            Fault::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                "is it installed, and are `command` and `folder` right?"
            }
            Fault::Start(_) => "may it be executed?",
            Fault::Ended => "start it by hand to see what it says; do its `args` fit?",
            Fault::Silent("uci") => {
                "if it speaks the xboard protocol, set `protocol = \"xboard\"`; if it is slow to start, raise `start_within`"
            }
            Fault::Silent("ubgi") => "is it an engine of UBGI? if it is slow to start, raise `start_within`",
            Fault::Crashed(_) => "correct that, or its `args`",
            Fault::Late => {
                "does it flush its output after each line? if it is slow to start, raise `start_within`"
            }
            Fault::NotAMove(_) => "it may print only moves to stdout; everything else belongs in stderr",
            Fault::Unasked(_) => "it may print one line for each line that it reads",
            Fault::NoAction => "its last two arguments are the files `state` and `action`",
            Fault::IllegalMove(_) => "if it does not play this game, set `games`",
            Fault::Silent(_) => "if it is slow to start, raise `start_within`",
            _ => "it cannot be used as it is",
        }
    }
}
