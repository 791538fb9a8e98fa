//! The search driver: starts a search on a thread of its own, publishes its best move, and stops it.
//!
//! ```text
//!  caller ── SearchRequest ─▶ SearchThread ── Task ─▶ Thinker
//!    ▲ ▲                                          │
//!    │ └── SearchHandle::best ◀── Decision ◀──────┤ better moves
//!    └──── observer(SearchEvent) ◀────────────────┘ iterations, then exactly one end
//! ```
//!
//! The caller reads [`SearchHandle::best`] whenever it must answer; it never waits for the search. A thinker
//! that panics is replaced at once. One that does not stop when told to cannot be killed: its thread is
//! abandoned, and the next search gets a new one.

mod handle;
mod hang;
mod job;
mod mailbox;
mod thread;

pub use handle::{SearchEnd, SearchEvent, SearchHandle, SearchRequest};
pub use thread::SearchThread;
