//! Forms of those who bring others together: challenges open to anybody, many games at once, clocks that start.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    Form, NewChallenge, Token, UserId, WireError,
    request::{Fields, form},
};

/// `POST /api/challenge/open`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct OpenChallenge {
    /// What is to be played.
    pub terms: NewChallenge,
    /// What people see.
    pub name: Option<String>,
    /// Who alone may play, White first; anybody if it is empty.
    pub users: Vec<UserId>,
    /// Until when it can be accepted, since 1970.
    pub expires_at: Option<Duration>,
}

form!(
    OpenChallenge,
    "open challenge",
    |fields| OpenChallenge {
        name: fields.text("name"),
        users: users(&fields)?,
        expires_at: fields.number("expiresAt")?.map(Duration::from_millis),
        terms: NewChallenge::try_from(fields)?,
    },
    |form| {
        let users = form.users.iter().map(UserId::as_str).collect::<Vec<_>>().join(",");
        Fields::from(form.terms)
            .with_some("name", form.name)
            .with_some("users", Some(users).filter(|users| !users.is_empty()))
            .with_some("expiresAt", form.expires_at.map(|at| at.as_millis()))
    }
);

fn users(fields: &Fields) -> Result<Vec<UserId>, WireError> {
    let text = fields.text("users").unwrap_or_default();
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| name.parse().map_err(|_| wrong("two users, White first", name))).collect()
}

fn wrong(expected: &'static str, got: &str) -> WireError {
    WireError::Field { message: "form", expected, got: super::shorten(got) }
}

/// `POST /api/bulk-pairing`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct BulkPairing {
    /// The tokens of those who play each other, White first.
    pub players: Vec<[Token; 2]>,
    /// What they play.
    pub terms: NewChallenge,
    /// When the games are made, since 1970; at once without it.
    pub pair_at: Option<Duration>,
    /// When White's clocks start, whoever has moved by then.
    pub start_clocks_at: Option<Duration>,
}

form!(
    BulkPairing,
    "bulk pairing",
    secret: true,
    |fields| BulkPairing {
        players: players(&fields)?,
        pair_at: fields.number("pairAt")?.map(Duration::from_millis),
        start_clocks_at: fields.number("startClocksAt")?.map(Duration::from_millis),
        terms: NewChallenge::try_from(fields)?,
    },
    |form| {
        let pair = |[white, black]: &[Token; 2]| format!("{}:{}", white.expose(), black.expose());
        let players = form.players.iter().map(pair).collect::<Vec<_>>().join(",");
        Fields::from(form.terms)
            .with("players", players)
            .with_some("pairAt", form.pair_at.map(|at| at.as_millis()))
            .with_some("startClocksAt", form.start_clocks_at.map(|at| at.as_millis()))
    }
);

/// What stands there are tokens: no error repeats any of it.
fn players(fields: &Fields) -> Result<Vec<[Token; 2]>, WireError> {
    let text = fields.text("players").unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (white, black) = pair.split_once(':')?;
        Some([white.trim().parse().ok()?, black.trim().parse().ok()?])
    };
    pairs.map(|text| pair(text).ok_or_else(|| wrong("pairs of tokens, WHITE:BLACK", "…"))).collect()
}

/// `POST /api/challenge/{id}/start-clocks`: both players agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct StartClocks {
    /// One player's.
    pub token1: Option<Token>,
    /// The other's; a game against the computer needs none.
    pub token2: Option<Token>,
}

form!(
    StartClocks,
    "start of the clocks",
    secret: true,
    |fields| StartClocks { token1: token(&fields, "token1")?, token2: token(&fields, "token2")? },
    |form| Fields::default()
        .with_some("token1", form.token1.as_ref().map(Token::expose))
        .with_some("token2", form.token2.as_ref().map(Token::expose))
);

/// `POST /api/challenge/{id}/cancel`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Cancel {
    /// The opponent's: with it also a game that has begun can be aborted.
    pub opponent_token: Option<Token>,
}

form!(
    Cancel,
    "cancellation",
    secret: true,
    |fields| Cancel { opponent_token: token(&fields, "opponentToken")? },
    |form| Fields::default().with_some("opponentToken", form.opponent_token.as_ref().map(Token::expose))
);

fn token(fields: &Fields, key: &str) -> Result<Option<Token>, WireError> {
    let read = |text: String| text.parse().map_err(|_| wrong("a token", "…"));
    fields.text(key).map(read).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_are_written() {
        let text = "clock.increment=2&clock.limit=180&color=random&name=a+game&rated=true\
                    &users=a%2Cb-c&variant=standard";
        let form = OpenChallenge::from_form(text).unwrap();
        assert_eq!((form.name.as_deref(), form.users.len()), (Some("a game"), 2));
        assert_eq!(form.to_form(), text);
        let text = "color=random&days=2&pairAt=1700000000000&players=lip_a%3Alip_b%2Clip_c%3Alip_d\
                    &rated=false&startClocksAt=1700000000001&variant=standard";
        let form = BulkPairing::from_form(text).unwrap();
        assert_eq!((form.players.len(), form.pair_at), (2, Some(Duration::from_millis(1_700_000_000_000))));
        assert_eq!(form.to_form(), text);
        assert_eq!(StartClocks::from_form("token1=a&token2=b").unwrap().to_form(), "token1=a&token2=b");
        assert_eq!(Cancel::from_form("").unwrap(), Cancel::default());
    }

    #[test]
    fn no_error_repeats_a_token() {
        for text in ["players=lip_secret", "players=lip_secret:!", "players=lip_secret:lip_x:lip_y"] {
            let error = BulkPairing::from_form(text).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(!StartClocks::from_form("token1=se-cret").unwrap_err().to_string().contains("cret"));
    }
}
