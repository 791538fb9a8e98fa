//! From a method and a path to what is asked for.

use std::{str::FromStr, time::Duration};

use hyper::{Method, StatusCode};

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{
    Accept, AiChallenge, Cancel, ChallengeId, Chat, Decline, DeclineReason, Form, GameId, JoinTournament,
    MoveQuery, NewChallenge, OpenChallenge, StartClocks, Token, TournamentId, UserId,
};

use super::{
    answer::Answer,
    bulk::BulkCall,
    config::{Faults, TournamentConfig},
    export::{Filter, Style},
    profile::StatusFlags,
    society::{Relation, Social},
};

/// Tokens that can be tested at once.
const MOST_TOKENS: usize = 1000;
/// Users whose status can be asked for at once.
const MOST_USERS: usize = 100;
/// Users and games that can be asked for at once.
const MOST_IDS: usize = 300;
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
    /// What kind of answer is liked.
    pub(super) accept: String,
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
        flags: StatusFlags,
    },
    User(UserId),
    Users(Vec<UserId>),
    Challenges,
    Challenge(UserId, NewChallenge),
    Show(ChallengeId),
    Accept(ChallengeId, Option<Color>),
    Decline(ChallengeId, DeclineReason),
    Cancel(ChallengeId, Option<Token>),
    Open(OpenChallenge),
    Computer(AiChallenge),
    Rematch(GameId),
    Bulk(BulkCall),
    StartClocks(GameId, StartClocks),
    GiveTime(GameId, Duration),
    Social(Social),
    Team(String),
    Members(String),
    TeamsOf(UserId),
    Export(GameId, Style),
    GamesOf(UserId, Filter, Style),
    GamesById(Vec<GameId>, Style),
    Watch(Via, GameId),
    ReadChat(GameId),
    Play(Via, GameId, Deed),
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

/// Which of the two ways to play: the same games, for programs and for people.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Via {
    Bot,
    Board,
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
            ("DELETE", ["api", "bulk-pairing", id]) => Ok(Call::Bulk(BulkCall::Cancel(bulk(id)?))),
            ("GET", ["game", "export", id]) => {
                Ok(Call::Export(game(id.trim_end_matches(".pgn"))?, Style::read(request, true)))
            }
            ("POST", ["challenge", "rematch-of", id]) => Ok(Call::Rematch(game(id)?)),
            ("POST", ["team", id, "join"]) => {
                Ok(Call::Social(Social::JoinTeam((*id).to_owned(), request.field("password"))))
            }
            ("POST", ["team", id, "quit"]) => Ok(Call::Social(Social::QuitTeam((*id).to_owned()))),
            ("POST", ["inbox", name]) => {
                let text =
                    request.field("text").ok_or_else(|| Answer::field("text", "This field is required"))?;
                Ok(Call::Social(Social::Write(user(name)?, text)))
            }
            ("GET", ["inbox", name]) => Ok(Call::Social(Social::Thread(user(name)?))),
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
            ["games", "user", name] => {
                Call::GamesOf(user(name)?, Filter::read(self), Style::read(self, false))
            }
            ["bulk-pairing"] => Call::Bulk(BulkCall::List),
            ["bulk-pairing", id] => Call::Bulk(BulkCall::Get(bulk(id)?)),
            ["bulk-pairing", id, "games"] => Call::Bulk(BulkCall::Games(bulk(id)?, Style::read(self, false))),
            ["rel", "following"] => Call::Social(Social::Following),
            ["team", "of", name] => Call::TeamsOf(user(name)?),
            ["team", id] => Call::Team((*id).to_owned()),
            ["team", id, "users"] => Call::Members((*id).to_owned()),
            ["challenge"] => Call::Challenges,
            ["challenge", id, "show"] => Call::Show(challenge(id)?),
            ["bot", "game", "stream", id] => Call::Watch(Via::Bot, game(id)?),
            ["board", "game", "stream", id] => Call::Watch(Via::Board, game(id)?),
            ["bot" | "board", "game", id, "chat"] => Call::ReadChat(game(id)?),
            ["tournament"] => Call::Arenas,
            ["tournament", id] => Call::Arena(tournament(id)?),
            _ => return Err(unknown()),
        })
    }

    fn post(&self, path: &[&str]) -> Result<Call, Answer> {
        Ok(match path {
            ["token", "test"] => self.tokens(),
            ["bot", "account", "upgrade"] => Call::Upgrade,
            ["bot", "game", id, deed @ ..] => Call::Play(Via::Bot, game(id)?, self.deed(deed)?),
            ["board", "game", id, deed @ ..] => Call::Play(Via::Board, game(id)?, self.deed(deed)?),
            ["challenge", "open"] => Call::Open(self.form()?),
            ["challenge", "ai"] => Call::Computer(self.form()?),
            ["challenge", id, "accept"] => Call::Accept(challenge(id)?, self.in_query::<Accept>()?.color),
            ["challenge", id, "start-clocks"] => {
                let form = if self.query.is_empty() { self.form()? } else { self.in_query()? };
                Call::StartClocks(game(id)?, form)
            }
            ["round", id, "add-time", seconds] => {
                let seconds = seconds.parse().ok().filter(|seconds| (5..=60).contains(seconds));
                let seconds = seconds.ok_or_else(|| Answer::bad("Between 5 and 60 seconds"))?;
                Call::GiveTime(game(id)?, Duration::from_secs(seconds))
            }
            ["bulk-pairing"] => Call::Bulk(BulkCall::Make(self.form()?)),
            ["bulk-pairing", id, "start-clocks"] => Call::Bulk(BulkCall::StartClocks(bulk(id)?)),
            ["users"] => Call::Users(list(&self.body, MOST_IDS)),
            ["games", "export", "_ids"] => {
                Call::GamesById(list(&self.body, MOST_IDS), Style::read(self, false))
            }
            ["rel", word, name] => Call::Social(Social::Relate(relation(word)?, user(name)?)),
            ["challenge", id, "decline"] => Call::Decline(challenge(id)?, self.form::<Decline>()?.reason),
            ["challenge", id, "cancel"] => {
                Call::Cancel(challenge(id)?, self.in_query::<Cancel>()?.opponent_token)
            }
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
        let flag = |key: &str| self.flag(key).unwrap_or(false);
        let flags = StatusFlags {
            signal: flag("withSignal"),
            game_ids: flag("withGameIds"),
            game_metas: flag("withGameMetas"),
        };
        Call::Statuses { ids: list(&self.parameter("ids").unwrap_or_default(), MOST_USERS), flags }
    }

    fn new_account(&self) -> Result<Call, Answer> {
        let field = |key: &str| self.field(key);
        let name = field("name").ok_or_else(|| Answer::field("name", "This field is required"))?;
        let token = field("token").map(|token| token.parse()).transpose();
        let token = token.map_err(|_| Answer::field("token", "Letters, digits and underscores"))?;
        Ok(Call::NewAccount { name, title: find(&self.body, "title"), token })
    }

    /// A field of the form in the body that says something.
    fn field(&self, key: &str) -> Option<String> {
        find(&self.body, key).filter(|value| !value.is_empty())
    }

    /// A field of the query that says yes or no.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        // Python's clients write their booleans with a capital.
        match self.parameter(key)?.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }

    /// A field of the query.
    pub(super) fn parameter(&self, key: &str) -> Option<String> {
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

/// Names with commas between them; what is none is passed over.
fn list<T: FromStr>(text: &str, most: usize) -> Vec<T> {
    text.split(',').take(most).filter_map(|id| id.trim().parse().ok()).collect()
}

fn relation(word: &str) -> Result<Relation, Answer> {
    Ok(match word {
        "follow" => Relation::Follow,
        "unfollow" => Relation::Unfollow,
        "block" => Relation::Block,
        "unblock" => Relation::Unblock,
        _ => return Err(unknown()),
    })
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

fn bulk(id: &str) -> Result<ChallengeId, Answer> {
    id.parse().map_err(|_| Answer::missing("Not found"))
}

fn challenge(id: &str) -> Result<ChallengeId, Answer> {
    id.parse().map_err(|_| Answer::missing("No such challenge"))
}
