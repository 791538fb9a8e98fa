//! The text form of a position: all that the rules know of it, in six words.

use super::{Board, Color, MEN, Rules, Tuc};
use crate::ByColor;

/// Nobody scores more in a game: a bound for what comes from outside, in hundredths.
const MOST_POINTS: i32 = 100_000;

pub(super) fn print(position: &Tuc) -> String {
    let side = if position.side == Color::White { 'w' } else { 'b' };
    let [white, black] = position.points.0;
    let Tuc { board, men, plies, rules, .. } = position;
    format!("{board} {side} {white}-{black} {men} {plies} {rules}")
}

pub(super) fn parse(text: &str) -> Result<Tuc, &'static str> {
    let mut words = text.split_whitespace();
    let mut word = || words.next().unwrap_or_default();
    let board = Board::parse(word())?;
    let side = match word() {
        "w" => Color::White,
        "b" => Color::Black,
        _ => return Err("behind the board stands who is to move, w or b"),
    };
    let points = |text: &str| text.parse().ok().filter(|points| (0..=MOST_POINTS).contains(points));
    let points = word().split_once('-').and_then(|(white, black)| points(white).zip(points(black)));
    let (white, black) = points.ok_or("the third word is the points of both in hundredths, as 300-185")?;
    let men = word().parse().ok().filter(|men| (2..=MEN).contains(men));
    let men = men.ok_or("the fourth word is the count of men, 2 to 20")?;
    if u32::from(men) < board.men().count() as u32 {
        return Err("there are more men on the board than are counted");
    }
    let plies = word().parse().map_err(|_| "the fifth word is the plies played")?;
    let rules = word().parse::<Rules>().map_err(|_| "the last word is the rules: 2019, 2021 or 2022")?;
    Ok(Tuc::new(board, side, ByColor([white, black]), men, plies, rules))
}
