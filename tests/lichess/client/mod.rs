//! Client of the Lichess Bot API.

mod accounts;
mod berserk;
mod challenges;
mod chat;
mod correspondence;
mod desync;
mod draws;
mod faults;
mod flood;
mod games;
mod many_games;
mod matchmaking;
mod records;
mod streams;
mod takebacks;
mod variants;
