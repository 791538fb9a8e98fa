//! An engine that is started anew for each move, and exchanges [files](crate::files).

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use tempfile::TempDir;
use zeitnot_rules::{
    Game,
    minichess::{MiniChess, Rules},
};
use zeitnot_wire::uci::Go;

use crate::{
    config::Config,
    connection::{Processes, resolve},
    fault::Fault,
    files::{Files, Turn, TurnTime},
    protocol::move_time,
};

/// Time from SIGTERM to SIGKILL, at most: an eighth of a shorter time for the move.
const GRACE: Duration = Duration::from_millis(50);

pub(crate) struct FileEngine {
    command: PathBuf,
    args: Vec<String>,
    folder: Option<PathBuf>,
    files: Files,
    processes: Arc<Processes>,
    /// Removed with the engine.
    _exchange: Arc<TempDir>,
}

impl FileEngine {
    pub(crate) fn new(config: &Config, processes: Arc<Processes>) -> Result<FileEngine, Fault> {
        let exchange = processes.folder()?;
        Ok(FileEngine {
            command: resolve(&config.command),
            args: config.args.clone(),
            folder: config.folder.clone(),
            files: Files::in_folder(exchange.path()),
            processes,
            _exchange: exchange,
        })
    }

    /// Returns its move in this position, in coordinates. The last move that it wrote counts, also if it is killed.
    pub(crate) fn play<G: Game>(
        &self,
        now: &G,
        go: &Go,
        is_stopped: impl Fn() -> bool,
    ) -> Result<String, Fault> {
        let is_timed = go.depth.is_none() && go.nodes.is_none() && go.mate.is_none();
        let time = move_time(go, now.side_to_move()).filter(|_| is_timed && go.search_moves.is_empty());
        let time = time.ok_or(Fault::Unsupported)?;
        // A state has only the pieces and the side to move, which all games on this board share.
        let position = MiniChess::parse(Rules::Nthu2023, &now.print()).map_err(|_| Fault::Unsupported)?;
        let mut command = Command::new(&self.command);
        command.args(&self.args).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let grace = GRACE.min(time / 8);
        let is_stopped = || is_stopped() || self.processes.are_closed();
        let time = TurnTime { limit: time - grace, grace };
        let turn = self.files.ask(command, &position, time, is_stopped);
        // Closing removes the folder: that `ask` fails then is not the fault of the program.
        if self.processes.are_closed() {
            return Err(Fault::Closed);
        }
        let Turn { action, .. } = turn.map_err(Fault::Start)?;
        action.last.map(|mv| position.write(mv).to_string()).ok_or(Fault::NoAction)
    }
}
