//! Client of the Lichess Bot API.

mod accounts;
mod berserk;
mod challenges;
mod chat;
mod correspondence;
mod desync;
mod draws;
mod flood;
mod games;
mod lost_time;
mod matchmaking;
mod pychess;
mod records;
mod refusals;
mod slots;
mod streams;
mod takebacks;
mod variants;
