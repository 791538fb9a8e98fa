//! Report files (TRF16) of other programs and of our own, read for the tests.

use zeitnot_rules::Color;

use crate::card::{Bye, Card, Cell, Score, SeatNo};

/// Tournament of a report file.
pub(crate) struct ReportFile {
    /// Rounds that it has, if the file says so.
    pub(crate) rounds: Option<usize>,
    /// Colour of the first player in the first round, if the file says so.
    pub(crate) first_color: Option<Color>,
    /// Players in the order of their numbers; opponents are places among them.
    pub(crate) players: Vec<Player>,
}

pub(crate) struct Player {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) rank: u32,
    pub(crate) card: Card,
}

impl ReportFile {
    pub(crate) fn read(text: &str) -> ReportFile {
        let mut file = ReportFile { rounds: None, first_color: None, players: Vec::new() };
        for line in text.lines() {
            match line.get(..3) {
                Some("001") => file.players.push(player(line)),
                Some("XXR") => file.rounds = line[4..].trim().parse().ok(),
                Some("XXC") if line.contains("white1") => file.first_color = Some(Color::White),
                Some("XXC") => file.first_color = Some(Color::Black),
                _ => {}
            }
        }
        let numbers: Vec<_> = file.players.iter().map(|player| player.number).collect();
        for cell in file.players.iter_mut().flat_map(|player| &mut player.card.0) {
            if let Cell::Game { opponent, .. } = cell {
                opponent.0 = numbers.iter().position(|number| *number == opponent.0).unwrap();
            }
        }
        file
    }
}

fn player(line: &str) -> Player {
    let rounds = line.trim_end().as_bytes().get(91..).unwrap_or_default();
    Player {
        number: line[4..8].trim().parse().unwrap(),
        name: line[14..47].trim().to_owned(),
        rank: line[85..89].trim().parse().unwrap_or(0),
        card: Card(rounds.chunks(10).map(|cell| self::cell(str::from_utf8(cell).unwrap())).collect()),
    }
}

/// One round: opponent, colour, result. The opponent is still a number.
fn cell(text: &str) -> Cell {
    let words: Vec<_> = text.split_whitespace().collect();
    let [opponent, color, result] = words[..] else { return Cell::Bye(Bye::Zero) };
    let score = match result {
        "U" => return Cell::Bye(Bye::Allocated),
        "F" => return Cell::Bye(Bye::Full),
        "H" => return Cell::Bye(Bye::Half),
        "Z" => return Cell::Bye(Bye::Zero),
        "1" | "+" => Score::WIN,
        "=" => Score::DRAW,
        "0" | "-" => Score::LOSS,
        other => panic!("{other}"),
    };
    let color = if color == "w" { Color::White } else { Color::Black };
    let opponent = SeatNo(opponent.parse().unwrap());
    Cell::Game { opponent, color, score, is_played: !matches!(result, "+" | "-") }
}
