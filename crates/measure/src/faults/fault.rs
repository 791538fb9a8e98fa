//! The faults.

use clap::ValueEnum;

/// A fault of a server, or of the network before it. Unless it says otherwise, it strikes at three moves of the game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Fault {
    /// None, for comparison
    None,
    /// The game's stream ends behind a state
    StreamEnds,
    /// The game's stream ends before a state
    StreamEndsBefore,
    /// The game's stream ends in the middle of a line
    StreamBreaks,
    /// The game's stream falls silent and stays open
    StreamSilent,
    /// The game's stream ends, and three attempts to open it get 503
    StreamRefused,
    /// The game's stream ends, and an attempt to open it gets 429
    StreamLimited,
    /// An HTML page in the game's stream
    StreamHtml,
    /// A line of the game's stream in two halves
    StreamSplit,
    /// A line of an unknown type in the game's stream
    StreamUnknown,
    /// A state twice
    StateTwice,
    /// An old state before the new one
    StateOld,
    /// A takeback of two plies
    Takeback,
    /// A move gets 502
    Move502,
    /// A move gets 503 three times
    Move503,
    /// A move gets 429 with a `Retry-After` of two seconds
    Move429,
    /// A move gets 401
    Move401,
    /// A move gets 404
    Move404,
    /// A move gets no answer and is not played
    MoveHangs,
    /// A move is played and gets no answer
    AnswerHangs,
    /// The connection breaks at a move, which is not played
    MoveBreaks,
    /// A move is played, and the connection breaks instead of the answer
    AnswerBreaks,
    /// The event stream ends when the game begins
    EventsEnd,
    /// The event stream falls silent when the game begins
    EventsSilent,
    /// The event stream ends when the game begins, and three attempts to open it get 503
    EventsRefused,
    /// An HTML page in the event stream when the game begins
    EventsHtml,
    /// The event stream ends during the game
    EventsEndInGame,
    /// The game's start twice
    StartTwice,
    /// The server is away for five seconds, once
    ServerAway,
}

/// Answer to a move that a fault strikes.
pub(super) enum Refusal {
    Status(u16),
    Limit,
    Hang { played: bool },
    Break { played: bool },
}

impl Fault {
    /// Returns the answer to the `attempt`th request (from 0) with a move; `None`: the usual one.
    pub(super) fn refusal(self, attempt: usize) -> Option<Refusal> {
        let (times, refusal) = match self {
            Fault::Move502 => (1, Refusal::Status(502)),
            Fault::Move503 => (3, Refusal::Status(503)),
            Fault::Move429 => (1, Refusal::Limit),
            Fault::Move401 => (1, Refusal::Status(401)),
            Fault::Move404 => (1, Refusal::Status(404)),
            Fault::MoveHangs => (1, Refusal::Hang { played: false }),
            Fault::AnswerHangs => (1, Refusal::Hang { played: true }),
            Fault::MoveBreaks => (1, Refusal::Break { played: false }),
            Fault::AnswerBreaks => (1, Refusal::Break { played: true }),
            _ => return None,
        };
        (attempt < times).then_some(refusal)
    }
}
