//! Report files, parsed. They come from anywhere: each number is bounded, and both players' rounds must agree.

use std::{collections::BTreeMap, str::FromStr};

use zeitnot_rules::Color;

use super::{
    Bye, Card, Cell, MAX_BYTES, MAX_PLAYERS, MAX_ROUNDS, ROUND_LEN, ROUNDS_AT, Score, SeatNo, Trf, TrfPlayer,
};

/// Fault of a report file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrfError {
    /// A file beyond the limits.
    #[error("the file is larger than {} KiB", MAX_BYTES >> 10)]
    TooLarge,
    /// No line 001.
    #[error("the file has no players (lines that begin with 001)")]
    NoPlayers,
    /// A line that cannot be read.
    #[error("line {line}: {fault}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Description of the fault.
        fault: String,
    },
    /// A round in which two players' lines contradict each other.
    #[error("round {round}: the lines of players {players:?} do not agree")]
    Mismatch {
        /// Number of the round, from 1.
        round: usize,
        /// Their pairing numbers.
        players: [u16; 2],
    },
}

impl FromStr for Trf {
    type Err = TrfError;

    fn from_str(text: &str) -> Result<Trf, TrfError> {
        if text.len() > MAX_BYTES {
            return Err(TrfError::TooLarge);
        }
        let mut file = File::default();
        for (at, line) in text.split(['\n', '\r']).enumerate() {
            // A file may have come through a program that does not keep tabs or line ends.
            file.read(&line.replace('\t', " ")).map_err(|fault| TrfError::Line { line: at + 1, fault })?;
        }
        file.finish()
    }
}

/// Lines read so far; opponents are numbers of players.
#[derive(Debug, Default)]
struct File {
    trf: Trf,
    players: BTreeMap<u16, TrfPlayer>,
    virtual_points: Vec<(u16, Vec<Score>)>,
    absent: Vec<u16>,
}

impl File {
    fn read(&mut self, line: &str) -> Result<(), String> {
        let Some((code, rest)) = line.split_at_checked(3) else { return Ok(()) };
        match code {
            "001" => self.read_player(&line.chars().collect::<Vec<_>>())?,
            "012" => self.trf.name = printable(rest.trim()),
            "XXR" | "142" => self.trf.rounds = Some(rounds(rest)?),
            "XXC" | "152" => {
                let words = rest.to_ascii_lowercase();
                let mut words = words.split_whitespace();
                let color = words.find_map(|word| match word {
                    "white1" | "w" => Some(Color::White),
                    "black1" | "b" => Some(Color::Black),
                    _ => None,
                });
                self.trf.first_color = color.or(self.trf.first_color);
            }
            "XXZ" => {
                for word in rest.split_whitespace().take(MAX_PLAYERS) {
                    self.absent.push(number(word)?);
                }
            }
            "XXA" if self.virtual_points.len() < MAX_PLAYERS => {
                let mut words = rest.split_whitespace();
                let player = number(words.next().unwrap_or(""))?;
                let points = words.take(MAX_ROUNDS).map(points).collect::<Result<_, _>>()?;
                self.virtual_points.push((player, points));
            }
            _ => {}
        }
        Ok(())
    }

    fn read_player(&mut self, line: &[char]) -> Result<(), String> {
        let number = number(&columns(line, 4, 8))?;
        let optional = |from, to| match columns(line, from, to) {
            text if text.is_empty() => Ok(0),
            text => self::number(&text).or_else(|fault| if text == "0" { Ok(0) } else { Err(fault) }),
        };
        if self.players.len() >= MAX_PLAYERS {
            return Err(format!("more than {MAX_PLAYERS} players"));
        }
        let mut cells = Vec::new();
        let last = line.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
        for (round, at) in (ROUNDS_AT..last).step_by(ROUND_LEN).enumerate() {
            if round >= MAX_ROUNDS {
                return Err(format!("more than {MAX_ROUNDS} rounds"));
            }
            cells.push(cell(&columns(line, at, at + ROUND_LEN), round + 1)?);
        }
        let player = TrfPlayer {
            number,
            name: printable(&columns(line, 14, 47)),
            rating: optional(48, 52)?,
            rank: optional(85, 89)?,
            card: Card(cells),
            ..TrfPlayer::default()
        };
        match self.players.insert(number, player) {
            None => Ok(()),
            Some(_) => Err(format!("a second player with the number {number}")),
        }
    }

    /// Turns numbers into places, and compares the players' rounds.
    fn finish(mut self) -> Result<Trf, TrfError> {
        if self.players.is_empty() {
            return Err(TrfError::NoPlayers);
        }
        for (number, points) in self.virtual_points {
            if let Some(player) = self.players.get_mut(&number) {
                player.virtual_points = points;
            }
        }
        for number in &self.absent {
            if let Some(player) = self.players.get_mut(number) {
                player.is_absent = true;
            }
        }
        let numbers: Vec<u16> = self.players.keys().copied().collect();
        self.trf.players = self.players.into_values().collect();
        for player in &mut self.trf.players {
            for (round, cell) in player.card.0.iter_mut().enumerate() {
                let (Cell::Game { opponent, .. } | Cell::Forfeit { opponent, .. }) = cell else { continue };
                let theirs = u16::try_from(opponent.0).unwrap_or(0);
                *opponent = match numbers.binary_search(&theirs) {
                    Ok(place) => SeatNo(place),
                    Err(_) => {
                        let players = [player.number, theirs];
                        return Err(TrfError::Mismatch { round: round + 1, players });
                    }
                };
            }
        }
        self.trf.agrees()?;
        Ok(self.trf)
    }
}

impl Trf {
    fn agrees(&self) -> Result<(), TrfError> {
        for (place, player) in self.players.iter().enumerate() {
            for (round, cell) in player.card.0.iter().enumerate() {
                let (Cell::Game { opponent, .. } | Cell::Forfeit { opponent, .. }) = *cell else { continue };
                let other = &self.players[opponent.0];
                let fits =
                    other.card.0.get(round).is_some_and(|theirs| mirror(SeatNo(place), *cell, *theirs));
                if opponent.0 == place || !fits {
                    let players = [player.number, other.number];
                    return Err(TrfError::Mismatch { round: round + 1, players });
                }
            }
        }
        Ok(())
    }
}

/// Whether the opponent's round says the same as this one.
fn mirror(place: SeatNo, ours: Cell, theirs: Cell) -> bool {
    match (ours, theirs) {
        (
            Cell::Game { color, score, .. },
            Cell::Game { opponent, color: other_color, score: other_score },
        ) => opponent == place && color != other_color && score + other_score == Score::WIN,
        (
            Cell::Forfeit { color, score, .. },
            Cell::Forfeit { opponent, color: other_color, score: other_score },
        ) => opponent == place && color != other_color && score + other_score <= Score::WIN,
        _ => false,
    }
}

/// Text of some columns, without the blanks around it.
fn columns(line: &[char], from: usize, to: usize) -> String {
    let text: String = line.iter().take(to).skip(from).collect();
    text.trim().to_owned()
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect::<String>().trim().to_owned()
}

fn number(text: &str) -> Result<u16, String> {
    let parsed = text.parse().ok().filter(|number| (1..=9999).contains(number));
    parsed.ok_or_else(|| format!("{:?} is no number from 1 to 9999", short(text)))
}

fn rounds(text: &str) -> Result<usize, String> {
    let parsed = text.trim().parse().ok().filter(|rounds| (1..=MAX_ROUNDS).contains(rounds));
    parsed.ok_or_else(|| format!("{:?} is no number of rounds from 1 to {MAX_ROUNDS}", short(text)))
}

fn points(text: &str) -> Result<Score, String> {
    let halves = text.parse().map(|points: f64| points * 2.0).unwrap_or(-1.0);
    if halves.fract() == 0.0 && (0.0..=200.0).contains(&halves) {
        Ok(Score::from_halves(halves as u32))
    } else {
        Err(format!("{:?} is no number of points in halves", short(text)))
    }
}

/// One round: opponent, colour, result. The opponent is still a number.
fn cell(text: &str, round: usize) -> Result<Cell, String> {
    let fault = || format!("round {round}: {:?} is no opponent, colour and result", short(text));
    let words: Vec<_> = text.split_whitespace().collect();
    let (opponent, color, result) = match *words.as_slice() {
        [] => return Ok(Cell::Bye(Bye::Zero)),
        [result] => ("0", "-", result),
        [opponent, color] if color.len() == 1 && opponent.parse() != Ok(0) => {
            return Err(format!("round {round}: the game against {} has no result yet", short(opponent)));
        }
        [opponent, result] => (opponent, "-", result),
        [opponent, color, result] => (opponent, color, result),
        _ => return Err(fault()),
    };
    let opponent = opponent.parse::<u16>().ok().filter(|number| *number <= 9999).ok_or_else(fault)?;
    if opponent == 0 {
        return Ok(Cell::Bye(match result.to_ascii_uppercase().as_str() {
            "U" => Bye::Allocated,
            "F" | "+" | "1" => Bye::Full,
            "H" | "=" => Bye::Half,
            "Z" | "-" | "0" => Bye::Zero,
            _ => return Err(fault()),
        }));
    }
    let opponent = SeatNo(usize::from(opponent));
    let color = match color.to_ascii_lowercase().as_str() {
        "w" => Color::White,
        "b" => Color::Black,
        _ => return Err(fault()),
    };
    let game = |score| Cell::Game { opponent, color, score };
    let forfeit = |score| Cell::Forfeit { opponent, color, score };
    Ok(match result.to_ascii_uppercase().as_str() {
        "1" | "W" => game(Score::WIN),
        "=" | "D" => game(Score::DRAW),
        "0" | "L" => game(Score::LOSS),
        "+" => forfeit(Score::WIN),
        "-" => forfeit(Score::LOSS),
        _ => return Err(fault()),
    })
}

/// The beginning of a text, for a message.
fn short(text: &str) -> String {
    printable(text).chars().take(20).collect()
}
