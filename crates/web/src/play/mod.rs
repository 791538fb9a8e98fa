//! Tables where people play: against the bot, or against each other by a link.
//!
//! ```text
//!  page ─▶ socket (messages) ─▶ tables (one task) ─▶ table (referee) ─▶ live feed
//!  page ◀─ socket ◀─ view (the latest state) ◀────────┘    ▲
//!                                            searcher ─┘
//! ```
//!
//! One task owns all tables. Whoever knows the token of a seat plays there.

mod action;
mod analysis;
mod level;
mod local;
mod refusal;
mod request;
mod search;
mod table;
mod tables;
mod turns;
mod view;

pub(crate) use action::{Heard, PlayerMessage};
pub(crate) use analysis::{Analysis, AnalysisRequest, Analyst, NoAnalysis};
pub use level::{BadLevel, Level};
pub use local::{LocalSeat, LocalTables};
pub(crate) use refusal::{BadAction, NoTable};
pub(crate) use request::{CreatedTable, TableRequest};
pub use search::{Finding, Found, RunningClock, Searcher, Strength};
pub(crate) use tables::{SeatRef, Tables, TablesActor};
pub(crate) use view::{SeatView, TableNotice, TableState};

#[cfg(test)]
mod tests;
