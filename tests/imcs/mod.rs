//! IMCS: client, server, and both together.

mod arena;
mod games;
mod session;
