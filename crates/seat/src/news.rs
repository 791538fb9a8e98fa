//! News of the clients, for viewers.

/// News of a client, for viewers.
#[derive(Clone, Debug)]
pub enum News {
    /// It has answered a challenge.
    Answered(ChallengeNews),
    /// It challenges somebody, or that came to an end.
    Challenging(OwnChallenge),
}

/// Challenge of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnChallenge {
    /// Name of the server.
    pub server: String,
    /// Id on the server, once it has one.
    pub id: Option<String>,
    /// Challenged player.
    pub to: String,
    /// Game and time, for people.
    pub terms: String,
    /// Open, or its end.
    pub state: ChallengeState,
}

/// State of a challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeState {
    /// No answer yet.
    Open,
    /// It became a game.
    Accepted,
    /// It became no game, for this reason.
    Ended(String),
}

/// Challenge that a client has answered.
#[derive(Clone, Debug)]
pub struct ChallengeNews {
    /// Name of the server.
    pub server: String,
    /// Challenger.
    pub by: String,
    /// Game and time, for people.
    pub terms: String,
    /// Reason why it was declined; `None`: it was accepted.
    pub declined: Option<String>,
}
