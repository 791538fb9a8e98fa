//! TUC-Chess: one message of a few letters and digits per datagram.
//!
//! Source: the three releases of the course server of the Technical University of Crete.

use std::{fmt, num::ParseIntError};

use zeitnot_rules::{
    ByColor, Color,
    tuc::{Move, Square},
};

use super::{Message, WireError, shorten};

/// Maximum length of a datagram; longer ones are truncated.
pub const MAX_DATAGRAM: usize = 200;

/// Message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromClient {
    /// First datagram: any text.
    Name(String),
    /// Four digits.
    Move(Move),
}

/// Message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromServer {
    /// Answers a name with its color.
    Seat(Color),
    /// The game begins with White to move.
    Begins,
    /// A move was played and the game continues. Sent to both players.
    Moved {
        /// Side to move after it.
        to_move: Color,
        /// The move.
        mv: Move,
        /// Square of a new prize.
        prize: Option<Square>,
        /// Points after the move.
        points: Points,
    },
    /// The last move, which is not sent, ended the game.
    Over {
        /// Points after the move.
        points: Points,
    },
}

/// Points of both sides as digits without a separator: two each, or three from 100 on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Points {
    digits: u32,
    count: u8,
}

/// Maximum gain of one move: a king, the last row and a prize.
const MOST_AT_ONCE: u16 = 10;

impl Points {
    /// Creates points.
    pub fn new(points: ByColor<u16>) -> Points {
        let text = points.0.map(|points| format!("{:02}", points.min(999))).concat();
        // Two numbers below 1000 have at most six digits.
        Points { digits: text.parse().unwrap_or(0), count: text.len() as u8 }
    }

    fn parse(text: &str) -> Result<Points, ParseIntError> {
        let digits = text.bytes().all(|b| b.is_ascii_digit()) && (4..=6).contains(&text.len());
        let digits = if digits { text } else { "" }.parse()?;
        Ok(Points { digits, count: text.len() as u8 })
    }

    /// Returns the points, given the points before. Of five digits either the first two or the first three are White's:
    /// points only grow, and only by a few.
    pub fn after(self, before: ByColor<u16>) -> ByColor<u16> {
        let split = |black_digits: u32| {
            let divisor = 10u32.pow(black_digits);
            ByColor([(self.digits / divisor) as u16, (self.digits % divisor) as u16])
        };
        let follows = |points: &ByColor<u16>| {
            Color::BOTH
                .iter()
                .all(|&side| points[side].checked_sub(before[side]).is_some_and(|more| more <= MOST_AT_ONCE))
        };
        match self.count {
            4 => split(2),
            6 => split(3),
            _ => [split(2), split(3)].into_iter().find(follows).unwrap_or(split(3)),
        }
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.digits, width = self.count.into())
    }
}

impl Message for FromClient {
    /// Four digits that name squares are a move; all other text is a name.
    fn parse(text: &str) -> Result<Self, WireError> {
        Ok(Move::parse(text).map_or_else(|| FromClient::Name(text.to_owned()), FromClient::Move))
    }

    fn to_line(&self) -> String {
        match self {
            FromClient::Name(name) => name.clone(),
            FromClient::Move(mv) => mv.to_string(),
        }
    }
}

impl Message for FromServer {
    fn parse(text: &str) -> Result<Self, WireError> {
        match text {
            "PW" => Ok(FromServer::Seat(Color::White)),
            "PB" => Ok(FromServer::Seat(Color::Black)),
            "GB" => Ok(FromServer::Begins),
            _ => match (text.strip_prefix("GE"), text.strip_prefix('T')) {
                (Some(points), _) => Ok(FromServer::Over { points: points_in("GE", points)? }),
                (_, Some(rest)) => moved(rest),
                _ => Err(WireError::Unknown(shorten(text))),
            },
        }
    }

    fn to_line(&self) -> String {
        match self {
            FromServer::Seat(Color::White) => "PW".to_owned(),
            FromServer::Seat(Color::Black) => "PB".to_owned(),
            FromServer::Begins => "GB".to_owned(),
            FromServer::Over { points } => format!("GE{points}"),
            FromServer::Moved { to_move, mv, prize, points } => {
                let prize = prize.map_or_else(|| "99".to_owned(), |square| square.to_string());
                format!("T{}{mv}{prize}{points}", *to_move as u8)
            }
        }
    }
}

fn points_in(message: &'static str, text: &str) -> Result<Points, WireError> {
    let expected = "the points of both, four to six digits";
    Points::parse(text).map_err(|_| WireError::Field { message, expected, got: shorten(text) })
}

fn moved(rest: &str) -> Result<FromServer, WireError> {
    let field = |expected| WireError::Field { message: "T", expected, got: shorten(rest) };
    let parts = (rest.get(..1), rest.get(1..5), rest.get(5..7), rest.get(7..));
    let (Some(side), Some(mv), Some(prize), Some(points)) = parts else {
        return Err(field("eleven digits or more"));
    };
    let to_move = match side {
        "0" => Color::White,
        "1" => Color::Black,
        _ => return Err(field("0 or 1 for who is to move")),
    };
    let mv = Move::parse(mv).ok_or_else(|| field("two squares"))?;
    let prize = match prize.as_bytes() {
        b"99" => None,
        &[row, column] => Some(Square::parse([row, column]).ok_or_else(|| field("a prize's square, or 99"))?),
        _ => return Err(field("a prize's square, or 99")),
    };
    Ok(FromServer::Moved { to_move, mv, prize, points: points_in("T", points)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{garbled, lines, same_line, same_message};

    const SERVER: &str = "P[WB]|GB|GE<points>|T[01]<square><square>(99|<square>)<points>";
    const PARTS: &[(&str, &str)] = &[("<points>", "([0-9]{2}|[1-9][0-9]{2}){2}"), ("<square>", "[0-6][0-4]")];

    proptest! {
        #[test]
        fn lines_are_printed_as_they_were(server in lines(SERVER, PARTS)) {
            same_line::<FromServer>(&server)?;
        }

        #[test]
        fn points_are_read_with_those_before(before in [0..900u16, 0..900u16], more in [0..=10u16, 0..=10u16]) {
            let now = ByColor([before[0] + more[0], before[1] + more[1]]);
            let read = Points::new(now).after(ByColor(before));
            // Five digits may have two readings; both are possible.
            let both = Color::BOTH.iter().all(|&s| read[s] >= before[s as usize] && read[s] <= before[s as usize] + 10);
            prop_assert!(read == now || Points::new(now).count == 5 && both);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in garbled(lines(SERVER, PARTS))) {
            same_message::<FromServer>(&text)?;
            same_message::<FromClient>(&text)?;
        }
    }

    #[test]
    fn recorded_datagrams_are_printed_as_they_were() {
        for text in ["PW", "PB", "GB", "T15040990000", "T15251100005", "T16151991114", "GE1122"] {
            assert_eq!(FromServer::parse(text).unwrap().to_line(), text);
        }
        let hundred = FromServer::parse("T150409910099").unwrap();
        let FromServer::Moved { points, .. } = hundred else { panic!() };
        assert_eq!(points.after(ByColor([99, 98])), ByColor([100, 99]));
        assert_eq!(FromClient::parse("5040").unwrap().to_line(), "5040");
        assert_eq!(FromClient::parse("9999"), Ok(FromClient::Name("9999".into())));
    }
}
