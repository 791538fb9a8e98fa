//! Strength and soundness of the searches.

mod endgames;
mod external;
mod mates;
mod selfplay;
mod textbook;
mod variants;
