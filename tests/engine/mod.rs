//! Strength and soundness of the searches.

mod endgames;
mod external;
mod mates;
#[cfg(target_os = "linux")]
mod processes;
mod selfplay;
mod textbook;
mod variants;
