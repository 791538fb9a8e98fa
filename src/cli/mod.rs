//! (temporary)
pub mod bench;
pub mod uci;
