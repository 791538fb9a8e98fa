//! Time management: the [budget](budget::Budget) of a move by its clock, and the [manager](manager::TimeManager)
//! that moves the soft limit while the search runs.

mod budget;
mod manager;

pub use budget::{Budget, Clock, Reserve};
pub(crate) use manager::{Iteration, TimeManager};
