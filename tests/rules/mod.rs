//! Rules against independent implementations and known counts.

mod minichess;
mod perft;
mod tuc;
