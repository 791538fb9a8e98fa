//! Report files, printed.

use std::fmt::{self, Display};

use zeitnot_rules::Color;

use super::{Bye, Cell, NAME_LEN, Score, SeatNo, Trf, TrfPlayer};

impl Display for Trf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "012 {}", self.name)?;
        writeln!(f, "062 {}", self.players.len())?;
        writeln!(f, "072 {}", self.players.iter().filter(|player| player.rating > 0).count())?;
        if let Some(rounds) = self.rounds {
            writeln!(f, "XXR {rounds}")?;
        }
        if let Some(color) = self.first_color {
            writeln!(f, "XXC {}", if color == Color::White { "white1" } else { "black1" })?;
        }
        for player in &self.players {
            self.write_player(f, player)?;
        }
        for player in self.players.iter().filter(|player| !player.virtual_points.is_empty()) {
            write!(f, "XXA {:4}", player.number)?;
            player.virtual_points.iter().try_for_each(|points| write!(f, " {:4.1}", points.points()))?;
            writeln!(f)?;
        }
        let absent: Vec<_> =
            self.players.iter().filter(|p| p.is_absent).map(|p| p.number.to_string()).collect();
        if !absent.is_empty() {
            writeln!(f, "XXZ {}", absent.join(" "))?;
        }
        Ok(())
    }
}

impl Trf {
    fn write_player(&self, f: &mut fmt::Formatter<'_>, player: &TrfPlayer) -> fmt::Result {
        let TrfPlayer { number, name, rating, rank, card, .. } = player;
        let name: String = name.chars().take(NAME_LEN).collect();
        let points = card.score_after(card.0.len()).points();
        write!(f, "001 {number:4}      {name:NAME_LEN$} {}", Blank(*rating))?;
        write!(f, "{:28}{points:4.1} {}  ", "", Blank(*rank))?;
        for cell in &card.0 {
            self.write_cell(f, *cell)?;
        }
        writeln!(f)
    }

    fn write_cell(&self, f: &mut fmt::Formatter<'_>, cell: Cell) -> fmt::Result {
        let number = |opponent: SeatNo| self.players.get(opponent.0).map_or(0, |player| player.number);
        let letter = |color| if color == Color::White { 'w' } else { 'b' };
        match cell {
            Cell::Game { opponent, color, score } => {
                let result = match score {
                    Score::WIN => '1',
                    Score::DRAW => '=',
                    _ => '0',
                };
                write!(f, "{:4} {} {result}  ", number(opponent), letter(color))
            }
            Cell::Forfeit { opponent, color, score } => {
                let result = if score == Score::LOSS { '-' } else { '+' };
                write!(f, "{:4} {} {result}  ", number(opponent), letter(color))
            }
            Cell::Bye(bye) => {
                let result = match bye {
                    Bye::Allocated => 'U',
                    Bye::Full => 'F',
                    Bye::Half => 'H',
                    Bye::Zero => 'Z',
                };
                write!(f, "0000 - {result}  ")
            }
        }
    }
}

/// Number in four columns; 0 is left out.
struct Blank(u16);

impl Display for Blank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("    "),
            number => write!(f, "{number:4}"),
        }
    }
}
