//! Cerveau, the game server of Missouri S&T, and its clients (Joueur): JSON of an event and its data, ended by U+0004,
//! in both directions.
//!
//! A client asks for the game's name (`alias`, answered by `named`), then for a place in a session (`play`, answered by
//! `lobbied`). As soon as the session is full, the first `delta` holds the whole game, and `start` which player the client
//! is. Every later change of the game is a `delta`. An `order` named `makeMove` requests a move, which `finished` answers
//! once, in coordinates or SAN; an illegal move loses. `over` ends the game, and the server closes; before it closes for
//! another reason it sends `fatal`. A player who leaves has lost. There are no offers, no resignation and no way back into
//! a game.
//!
//! Source: github.com/siggame/Cerveau (`src/core/` and `src/games/chess/`, of 2022) and its client
//! github.com/siggame/Joueur.py.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Message, Secret, WireError, shorten};

mod delta;
mod state;

pub use delta::{Delta, HistoryDelta, PlayerDelta};
pub use state::GameState;

/// Byte that ends a message.
pub const END: u8 = 4;
/// Maximum length of a message in bytes. The longest are of a few thousand: the first delta, and the reason of an illegal
/// move, which lists all legal ones.
pub const MAX_MESSAGE: usize = 1 << 16;
/// Alias of chess.
pub const CHESS: &str = "chess";
/// Order that requests a move.
pub const MAKE_MOVE: &str = "makeMove";
/// Word in the address of a gamelog that a client replaces by the server's host.
pub const HOSTNAME: &str = "__HOSTNAME__";

/// Message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromClient {
    /// Asks for the name of a game.
    Alias(String),
    /// Asks for a place in a session.
    Play(Play),
    /// Answers an order.
    Finished {
        /// Number of the order.
        order: u64,
        /// The move.
        returned: String,
    },
}

/// Request for a place in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// Name of the game, as in `named`.
    pub game: String,
    /// Name of the session; `*`: any that is open, `new`: a new one.
    pub session: String,
    /// Kind of program, usually its language.
    pub client: String,
    /// Name of the player, of at most 80 characters.
    pub player: String,
    /// Number of the player; 0 is White.
    pub index: Option<u8>,
    /// Password of the server or of the session.
    pub password: Option<Secret>,
    /// Settings of the game, in the form of a URL's query.
    pub settings: Option<String>,
}

/// Message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromServer {
    /// Name of the game.
    Named(String),
    /// The client has a place in this session.
    Lobbied {
        /// Its name.
        session: String,
    },
    /// The game begins.
    Start {
        /// Id of the client's player; `None` for a spectator.
        player: Option<String>,
    },
    /// The game has changed.
    Delta(Delta),
    /// Request to a player.
    Order {
        /// Name of the function that answers it.
        name: String,
        /// Number of the request.
        index: u64,
    },
    /// The client's last message was wrong, but the game continues.
    Invalid(String),
    /// The server closes.
    Fatal {
        /// Why.
        message: String,
        /// The client's clock has run out.
        timed_out: bool,
    },
    /// The game is over.
    Over {
        /// Address of the gamelog, with [`HOSTNAME`] in place of the server's host.
        gamelog: Option<String>,
    },
}

#[derive(Serialize)]
struct Printed<'a> {
    event: &'a str,
    data: Value,
}

fn printed(event: &str, data: Value) -> String {
    // A value is always printable.
    serde_json::to_string(&Printed { event, data }).unwrap_or_default()
}

/// A message that was read as JSON.
struct Read {
    event: String,
    data: Value,
}

impl Read {
    fn new(text: &str) -> Result<Read, WireError> {
        let mut whole: Value =
            serde_json::from_str(text).map_err(|error| WireError::body("an event", error, text))?;
        let event = whole["event"].as_str().map(str::to_owned);
        let event = event.ok_or_else(|| WireError::body("an event", "no name", text))?;
        let data = whole.get_mut("data").map(Value::take).unwrap_or_default();
        Ok(Read { event, data })
    }

    fn unknown(&self) -> WireError {
        WireError::Unknown(shorten(&self.event))
    }

    fn unfit(&self, message: &'static str, expected: &'static str) -> WireError {
        WireError::Field { message, expected, got: shorten(&self.data.to_string()) }
    }

    /// Returns the data, which is text.
    fn text(&self, message: &'static str) -> Result<String, WireError> {
        let text = self.data.as_str().map(str::to_owned);
        text.ok_or_else(|| self.unfit(message, "text"))
    }

    /// Returns a text of the data, or none.
    fn optional(&self, key: &str) -> Option<String> {
        self.data[key].as_str().map(str::to_owned)
    }

    fn required(&self, message: &'static str, key: &'static str) -> Result<String, WireError> {
        self.optional(key).ok_or_else(|| self.unfit(message, key))
    }

    fn number(&self, message: &'static str, key: &'static str) -> Result<u64, WireError> {
        self.data[key].as_u64().ok_or_else(|| self.unfit(message, key))
    }
}

/// Leaves out of an error what was read, which may contain a password.
fn without_data(error: WireError) -> WireError {
    let got = "…".to_owned();
    match error {
        WireError::Field { message, expected, .. } => WireError::Field { message, expected, got },
        WireError::Body { message, why, .. } => WireError::Body { message, why, got },
        WireError::Unknown(_) => error,
    }
}

impl FromClient {
    fn read(read: &Read) -> Result<FromClient, WireError> {
        match read.event.as_str() {
            "alias" => Ok(FromClient::Alias(read.text("alias")?)),
            "play" => Ok(FromClient::Play(Play {
                game: read.required("play", "gameName")?,
                // The server joins any session for a client that names none.
                session: read.optional("requestedSession").unwrap_or_else(|| "*".to_owned()),
                client: read.optional("clientType").unwrap_or_default(),
                player: read.optional("playerName").unwrap_or_default(),
                index: read.data["playerIndex"].as_u64().and_then(|index| index.try_into().ok()),
                password: read.optional("password").map(Secret::of),
                settings: read.optional("gameSettings"),
            })),
            "finished" => Ok(FromClient::Finished {
                order: read.number("finished", "orderIndex")?,
                returned: read.required("finished", "returned")?,
            }),
            _ => Err(read.unknown()),
        }
    }
}

impl Message for FromClient {
    fn parse(text: &str) -> Result<Self, WireError> {
        Read::new(text).and_then(|read| FromClient::read(&read)).map_err(without_data)
    }

    fn to_line(&self) -> String {
        match self {
            FromClient::Alias(alias) => printed("alias", json!(alias)),
            FromClient::Play(play) => printed(
                "play",
                json!({
                    "gameName": play.game,
                    "requestedSession": play.session,
                    "clientType": play.client,
                    "playerName": play.player,
                    "playerIndex": play.index,
                    "password": play.password.as_ref().map(Secret::expose),
                    "gameSettings": play.settings,
                }),
            ),
            FromClient::Finished { order, returned } => {
                printed("finished", json!({ "orderIndex": order, "returned": returned }))
            }
        }
    }
}

impl Message for FromServer {
    /// Data that no client of chess needs is ignored.
    fn parse(text: &str) -> Result<Self, WireError> {
        let read = Read::new(text)?;
        match read.event.as_str() {
            "named" => Ok(FromServer::Named(read.text("named")?)),
            "lobbied" => Ok(FromServer::Lobbied { session: read.required("lobbied", "gameSession")? }),
            "start" => Ok(FromServer::Start { player: read.optional("playerID") }),
            "delta" if read.data.is_object() => Ok(FromServer::Delta(Delta::read(&read.data))),
            "delta" => Err(read.unfit("delta", "an object")),
            "order" => Ok(FromServer::Order {
                name: read.required("order", "name")?,
                index: read.number("order", "index")?,
            }),
            "invalid" => Ok(FromServer::Invalid(read.optional("message").unwrap_or_default())),
            "fatal" => Ok(FromServer::Fatal {
                message: read.optional("message").unwrap_or_default(),
                timed_out: read.data["timedOut"].as_bool().unwrap_or_default(),
            }),
            "over" => Ok(FromServer::Over { gamelog: read.optional("gamelogURL") }),
            _ => Err(read.unknown()),
        }
    }

    fn to_line(&self) -> String {
        match self {
            FromServer::Named(game) => printed("named", json!(game)),
            FromServer::Lobbied { session } => printed("lobbied", json!({ "gameSession": session })),
            FromServer::Start { player } => printed("start", json!({ "playerID": player })),
            FromServer::Delta(delta) => printed("delta", delta.print()),
            FromServer::Order { name, index } => {
                printed("order", json!({ "name": name, "index": index, "args": [] }))
            }
            FromServer::Invalid(message) => printed("invalid", json!({ "message": message })),
            FromServer::Fatal { message, timed_out } => {
                printed("fatal", json!({ "message": message, "timedOut": timed_out }))
            }
            FromServer::Over { gamelog } => printed("over", json!({ "gamelogURL": gamelog })),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};

    use super::*;
    use crate::testing::{garbled, same_message};

    /// Messages of the original server, the first delta shortened.
    const SERVER: [&str; 11] = [
        r#"{"event":"named","data":"Chess"}"#,
        r#"{"event":"lobbied","data":{"gameName":"Chess","gameVersion":"cfa5","gameSession":"1","constants":{"DELTA_REMOVED":"&RM","DELTA_LIST_LENGTH":"&LEN"}}}"#,
        r#"{"event":"delta","data":{"fen":"8/8/8/8/8/8/8/8 w - - 0 1","gameObjects":{"0":{"clientType":"Python","color":"white","lost":false,"name":"one","opponent":{"id":"1"},"reasonLost":"","reasonWon":"","timeRemaining":20000000000,"won":false,"gameObjectName":"Player","id":"0","logs":{"&LEN":0}}},"history":{"&LEN":0},"players":{"0":{"id":"0"},"&LEN":1},"session":"1"}}"#,
        r#"{"event":"start","data":{"playerID":"1"}}"#,
        r#"{"event":"delta","data":{"gameObjects":{"0":{"timeRemaining":19961412371}}}}"#,
        r#"{"event":"delta","data":{"fen":"8/8/8/8/5P2/8/8/8 b - f3 0 1","history":{"0":"f2f4","&LEN":1}}}"#,
        r#"{"event":"delta","data":{"history":["e4","e5",7],"gameObjects":{"0":{"won":true,"reasonWon":"Checkmate!"},"1":"&RM"}}}"#,
        r#"{"event":"order","data":{"name":"makeMove","index":0,"args":[]}}"#,
        r#"{"event":"invalid","data":{"message":"Return value (7) from finished order invalid!"}}"#,
        r#"{"event":"fatal","data":{"message":"Your client has run out of time, and has been timed out.","timedOut":true}}"#,
        r#"{"event":"over","data":{"gamelogURL":"http://__HOSTNAME__:3080/gamelog/Chess-1","message":"---"}}"#,
    ];
    /// Messages of Joueur.py.
    const CLIENT: [&str; 3] = [
        r#"{"sentTime": 1795696326, "event": "alias", "data": "chess"}"#,
        r#"{"sentTime": 1795696326, "event": "play", "data": {"gameName": "Chess", "password": null, "requestedSession": "*", "clientType": "Python", "playerName": "two", "playerIndex": null, "gameSettings": null}}"#,
        r#"{"sentTime": 1795696326, "event": "finished", "data": {"orderIndex": 0, "returned": "b7b6"}}"#,
    ];

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(server in garbled(select(&SERVER[..]).prop_map(str::to_owned)),
                                         client in garbled(select(&CLIENT[..]).prop_map(str::to_owned))) {
            same_message::<FromServer>(&server)?;
            same_message::<FromClient>(&client)?;
        }
    }

    #[test]
    fn recorded_messages_are_read() {
        for text in SERVER {
            let message = FromServer::parse(text).unwrap();
            assert_eq!(FromServer::parse(&message.to_line()), Ok(message), "{text}");
        }
        for text in CLIENT {
            let message = FromClient::parse(text).unwrap();
            assert_eq!(FromClient::parse(&message.to_line()), Ok(message), "{text}");
        }
        let order = FromServer::Order { name: MAKE_MOVE.to_owned(), index: 0 };
        assert_eq!(FromServer::parse(SERVER[7]), Ok(order));
        let finished = FromClient::Finished { order: 3, returned: "e2e4".to_owned() };
        assert_eq!(finished.to_line(), r#"{"event":"finished","data":{"orderIndex":3,"returned":"e2e4"}}"#);
    }

    #[test]
    fn a_password_is_sent_but_not_shown() {
        let FromClient::Play(play) = FromClient::parse(CLIENT[1]).unwrap() else { panic!() };
        let play = FromClient::Play(Play { password: Some(Secret::of("sesame")), ..play });
        assert!(
            play.to_line().contains("\"password\":\"sesame\"") && !format!("{play:?}").contains("sesame")
        );
        for wrong in [r#"{"event":"play","data":{"password":"sesame"}}"#, r#"{"password":"sesame""#] {
            let error = FromClient::parse(wrong).unwrap_err();
            assert!(!format!("{error:?}").contains("sesame"), "{error}");
        }
    }

    #[test]
    fn wrong_messages_are_refused() {
        let deep = format!(r#"{{"event":"delta","data":{}"#, "[".repeat(MAX_MESSAGE));
        for text in [
            "",
            "7",
            "{}",
            r#"{"event":7}"#,
            r#"{"event":"ran","data":null}"#,
            r#"{"event":"delta","data":"&RM"}"#,
            r#"{"event":"named","data":{}}"#,
            r#"{"event":"order","data":{"name":"makeMove"}}"#,
            r#"{"event":"order","data":{"name":"makeMove","index":-1}}"#,
            &deep,
        ] {
            assert!(FromServer::parse(text).is_err(), "{text:.60}");
        }
    }
}
