//! TUC-Chess: client and server.

mod session;
mod table;
