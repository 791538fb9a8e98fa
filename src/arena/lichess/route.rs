//! From a method and a path to what is asked for.

use hyper::{Method, StatusCode};

use super::{
    answer::Answer,
    config::{Faults, TournamentConfig},
};
use crate::wire::lichess::{
    Accept, ChallengeId, Chat, Color, Decline, DeclineReason, Form, GameId, JoinTournament, MoveQuery,
    NewChallenge, Token, TournamentId, UserId,
};

/// Tokens that can be tested at once.
const MOST_TOKENS: usize = 1000;
/// Users whose status can be asked for at once.
const MOST_USERS: usize = 100;
/// Bots in a list, at most; and if nobody says how many.
const MOST_BOTS: usize = 512;
const SOME_BOTS: usize = 100;
/// Games in a list, at most; and if nobody says how many.
const MOST_GAMES: usize = 50;
const SOME_GAMES: usize = 9;

/// A request as it came, read to its end.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) body: String,
    /// Is the body JSON, by its own word or by its looks?
    pub(super) is_json: bool,
}

/// What can be asked for.
#[derive(Debug)]
pub(super) enum Call {
    Account,
    TestTokens(Vec<Token>),
    RevokeToken,
    Upgrade,
    Playing {
        most: usize,
    },
    Events,
    OnlineBots {
        most: usize,
    },
    Statuses {
        ids: Vec<UserId>,
        with_games: bool,
    },
    User(UserId),
    Challenges,
    Challenge(UserId, NewChallenge),
    Show(ChallengeId),
    Accept(ChallengeId),
    Decline(ChallengeId, DeclineReason),
    Cancel(ChallengeId),
    Export(GameId),
    Watch(GameId),
    ReadChat(GameId),
    Play(GameId, Deed),
    /// An account is made by the administrator: `None` stands for a token that is to be made up.
    NewAccount {
        name: String,
        title: Option<String>,
        token: Option<Token>,
    },
    Arenas,
    Arena(TournamentId),
    JoinArena(TournamentId, JoinTournament),
    LeaveArena(TournamentId),
    /// The administrator opens a tournament.
    NewArena(Box<TournamentConfig>),
    /// What is to go wrong from now on.
    Faults(Box<Faults>),
}

/// What a player does in a game.
#[derive(Debug)]
pub(super) enum Deed {
    Move { text: String, offers_draw: bool },
    Draw(bool),
    Takeback(bool),
    Resign,
    Abort,
    Chat(Chat),
    ClaimVictory,
    ClaimDraw,
    Berserk,
}

impl Call {
    pub(super) fn read(request: &Request) -> Result<Call, Answer> {
        let segments: Vec<&str> = request.path.split('/').filter(|segment| !segment.is_empty()).collect();
        match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["api", rest @ ..]) => request.get(rest),
            ("POST", ["api", rest @ ..]) => request.post(rest),
            ("DELETE", ["api", "token"]) => Ok(Call::RevokeToken),
            ("GET", ["game", "export", id]) => Ok(Call::Export(game(id.trim_end_matches(".pgn"))?)),
            _ => Err(unknown()),
        }
    }
}

impl Request {
    fn get(&self, path: &[&str]) -> Result<Call, Answer> {
        let many = |usual: usize, most: usize| {
            self.parameter("nb").and_then(|nb| nb.parse().ok()).unwrap_or(usual).min(most)
        };
        Ok(match path {
            ["account"] => Call::Account,
            ["account", "playing"] => Call::Playing { most: many(SOME_GAMES, MOST_GAMES) },
            ["stream", "event"] => Call::Events,
            ["bot", "online"] => Call::OnlineBots { most: many(SOME_BOTS, MOST_BOTS) },
            ["users", "status"] => self.statuses(),
            ["user", name] => Call::User(user(name)?),
            ["challenge"] => Call::Challenges,
            ["challenge", id, "show"] => Call::Show(challenge(id)?),
            ["bot", "game", "stream", id] => Call::Watch(game(id)?),
            ["tournament"] => Call::Arenas,
            ["tournament", id] => Call::Arena(tournament(id)?),
            ["bot", "game", id, "chat"] => Call::ReadChat(game(id)?),
            _ => return Err(unknown()),
        })
    }

    fn post(&self, path: &[&str]) -> Result<Call, Answer> {
        Ok(match path {
            ["token", "test"] => self.tokens(),
            ["bot", "account", "upgrade"] => Call::Upgrade,
            ["bot", "game", id, deed @ ..] => Call::Play(game(id)?, self.deed(deed)?),
            ["challenge", id, "accept"] => {
                // A side can be chosen in open challenges only, and there are none.
                let _: Option<Color> = self.in_query::<Accept>()?.color;
                Call::Accept(challenge(id)?)
            }
            ["challenge", id, "decline"] => Call::Decline(challenge(id)?, self.form::<Decline>()?.reason),
            ["challenge", id, "cancel"] => Call::Cancel(challenge(id)?),
            ["challenge", name] => Call::Challenge(user(name)?, self.form()?),
            ["zeitnot", "account"] => self.new_account()?,
            ["tournament", id, "join"] => Call::JoinArena(tournament(id)?, self.form()?),
            ["tournament", id, "withdraw"] => Call::LeaveArena(tournament(id)?),
            ["zeitnot", "tournament"] => {
                Call::NewArena(Box::new(TournamentConfig::read(&self.body).map_err(|why| Answer::bad(&why))?))
            }
            ["zeitnot", "faults"] => {
                Call::Faults(Box::new(Faults::read(&self.body).map_err(|why| Answer::bad(&why))?))
            }
            _ => return Err(unknown()),
        })
    }

    fn deed(&self, path: &[&str]) -> Result<Deed, Answer> {
        let agrees = |word: &str| match word {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err(unknown()),
        };
        Ok(match path {
            ["move", text] => {
                let offers_draw = self.in_query::<MoveQuery>()?.offering_draw;
                Deed::Move { text: (*text).to_owned(), offers_draw }
            }
            ["draw", word] => Deed::Draw(agrees(word)?),
            ["takeback", word] => Deed::Takeback(agrees(word)?),
            ["resign"] => Deed::Resign,
            ["abort"] => Deed::Abort,
            ["chat"] => Deed::Chat(self.form()?),
            ["claim-victory"] => Deed::ClaimVictory,
            ["claim-draw"] => Deed::ClaimDraw,
            ["berserk"] => Deed::Berserk,
            _ => return Err(unknown()),
        })
    }

    fn tokens(&self) -> Call {
        let tokens = self.body.split(',').take(MOST_TOKENS).filter_map(|token| token.trim().parse().ok());
        Call::TestTokens(tokens.collect())
    }

    fn statuses(&self) -> Call {
        let ids = self.parameter("ids").unwrap_or_default();
        let ids = ids.split(',').take(MOST_USERS).filter_map(|id| id.trim().parse().ok()).collect();
        // Python's clients write their booleans with a capital.
        let is_true = |word: String| word.eq_ignore_ascii_case("true") || word == "1";
        Call::Statuses { ids, with_games: self.parameter("withGameIds").is_some_and(is_true) }
    }

    fn new_account(&self) -> Result<Call, Answer> {
        let field = |key: &str| find(&self.body, key).filter(|value| !value.is_empty());
        let name = field("name").ok_or_else(|| Answer::field("name", "This field is required"))?;
        let token = field("token").map(|token| token.parse()).transpose();
        let token = token.map_err(|_| Answer::field("token", "Letters, digits and underscores"))?;
        Ok(Call::NewAccount { name, title: find(&self.body, "title"), token })
    }

    /// A field of the query.
    fn parameter(&self, key: &str) -> Option<String> {
        find(&self.query, key)
    }

    fn in_query<F: Form>(&self) -> Result<F, Answer> {
        F::from_form(&self.query).map_err(|error| Answer::bad(&error.to_string()))
    }

    /// The form in the body; where there is none, that in the query.
    fn form<F: Form>(&self) -> Result<F, Answer> {
        let body = self.body.trim();
        let read = match (body.is_empty(), self.is_json || body.starts_with('{')) {
            (true, _) => F::from_form(&self.query),
            (false, true) => F::from_json(body),
            (false, false) => F::from_form(body),
        };
        read.map_err(|error| Answer::bad(&error.to_string()))
    }
}

fn find(form: &str, key: &str) -> Option<String> {
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(form).unwrap_or_default();
    pairs.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// What is not there.
fn unknown() -> Answer {
    Answer::refused(StatusCode::NOT_FOUND, "No such endpoint")
}

fn user(name: &str) -> Result<UserId, Answer> {
    name.parse().map_err(|_| Answer::missing("No such user"))
}

fn game(id: &str) -> Result<GameId, Answer> {
    // A player's own id of a game begins with the game's.
    let id = if id.len() == 12 { id.get(..8).unwrap_or(id) } else { id };
    id.parse().map_err(|_| Answer::missing("No such game"))
}

fn tournament(id: &str) -> Result<TournamentId, Answer> {
    id.parse().map_err(|_| Answer::missing("No such tournament"))
}

fn challenge(id: &str) -> Result<ChallengeId, Answer> {
    id.parse().map_err(|_| Answer::missing("No such challenge"))
}
