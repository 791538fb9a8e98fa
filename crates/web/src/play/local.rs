//! Tables within this process, for a program whose user plays at one: without sockets, in the messages of the web API.

use std::{fmt, net::Ipv4Addr, sync::Arc};

use tokio::{sync::watch, task::JoinHandle, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use zeitnot_host::{jobs::Handle, live::Feed, origin::Origin};

use super::{
    action::Heard,
    refusal::BadAction,
    request::TableRequest,
    search::Searcher,
    tables::{SeatRef, Tables},
    view::SeatView,
};

/// Tables within this process.
#[derive(Debug)]
pub struct LocalTables {
    tables: Handle<Tables>,
    task: JoinHandle<()>,
    stop: DropGuard,
}

/// Seat of the user at one of them.
pub struct LocalSeat {
    tables: Handle<Tables>,
    seat: SeatRef,
    view: watch::Receiver<SeatView>,
}

impl fmt::Debug for LocalSeat {
    /// Omits the view: it may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seat.fmt(f)
    }
}

impl LocalTables {
    /// Starts the task of the tables.
    pub fn start(searcher: Arc<dyn Searcher>) -> LocalTables {
        let (tables, actor) = Tables::channel(searcher, Feed::default());
        let stop = CancellationToken::new();
        let task = tokio::spawn(actor.run(stop.clone()));
        LocalTables { tables, task, stop: stop.drop_guard() }
    }

    /// Makes a table by the body of `POST /api/tables`, and takes the seat of the one who asks.
    ///
    /// # Errors
    /// The line of the web API that says why not.
    pub async fn open(&self, request: &str) -> Result<LocalSeat, String> {
        let request: TableRequest = serde_json::from_str(request).map_err(|error| error.to_string())?;
        let open = move |tables: &mut Tables| {
            let from = Origin::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
            let table = tables.create(request, from).map_err(|error| error.to_string())?;
            tables.join(&table.seat).map_err(|error| error.to_string())
        };
        let opened = self.tables.call(open).await.unwrap_or_else(|| Err(BadAction::NoTable.to_string()));
        opened.map(|(seat, view)| LocalSeat { tables: self.tables.clone(), seat, view })
    }

    /// Ends all games.
    pub async fn close(self) {
        let LocalTables { tables, task, stop } = self;
        drop((tables, stop));
        // A panic of the task has been told.
        let _ = task.await;
    }
}

impl LocalSeat {
    /// Returns the state of the table when it has changed, at first as it is; `None` once the table is closed. Cancel
    /// safe.
    pub async fn next(&mut self) -> Option<String> {
        self.view.changed().await.ok()?;
        let view = self.view.borrow_and_update();
        (!view.is_closed).then(|| view.state.as_str().to_owned())
    }

    /// Does what a text frame of a player asks for.
    ///
    /// # Errors
    /// The line of the web API that says why not.
    pub async fn act(&self, message: &str) -> Result<(), String> {
        let Heard::Action(action) = Heard::parse(message).map_err(|error| error.to_string())? else {
            return Ok(());
        };
        let (seat, at) = (self.seat, Instant::now());
        let acted = self.tables.call(move |tables| tables.act(seat, action, at)).await;
        acted.unwrap_or(Err(BadAction::NoTable)).map_err(|error| error.to_string())
    }
}
