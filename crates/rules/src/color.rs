//! The two sides of a game.

use std::{
    fmt,
    ops::{Index, IndexMut, Not},
};

use serde::{Deserialize, Serialize};

/// One of the two players. White moves first in all games.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Color {
    White,
    Black,
}

impl Color {
    /// Both colors, White first.
    pub const BOTH: [Color; 2] = [Color::White, Color::Black];
}

impl Not for Color {
    type Output = Color;
    fn not(self) -> Color {
        match self {
            Color::White => Color::Black,
            Color::Black => Color::White,
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Color::White => "white",
            Color::Black => "black",
        })
    }
}

/// A pair of values, one for each [`Color`].
///
/// ```
/// use zeitnot_rules::{ByColor, Color};
///
/// let mut points = ByColor::both(0);
/// points[Color::Black] += 1;
/// assert_eq!(points, ByColor([0, 1]));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ByColor<T>(pub [T; 2]);

impl<T> ByColor<T> {
    /// The same value for both.
    pub fn both(value: T) -> Self
    where
        T: Clone,
    {
        ByColor([value.clone(), value])
    }
}

impl<T> Index<Color> for ByColor<T> {
    type Output = T;
    fn index(&self, color: Color) -> &T {
        &self.0[color as usize]
    }
}

impl<T> IndexMut<Color> for ByColor<T> {
    fn index_mut(&mut self, color: Color) -> &mut T {
        &mut self.0[color as usize]
    }
}
