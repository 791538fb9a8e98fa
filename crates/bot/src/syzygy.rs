//! Syzygy tablebases on this machine, probed at the root for any engine.
//!
//! Disks may be slow: tables are probed on a thread of their own, and no longer than somebody waits for the answer.

use std::{fmt, path::PathBuf};

use tokio_util::sync::CancellationToken;

use zeitnot_engine::{
    Playable,
    syzygy::{self, Kept, MAX_PIECES, RootProbe, TablebaseError, Tablebases, Wdl},
};
use zeitnot_rules::GameHistory;
use zeitnot_seat::{Eval, EvalScore, MoveQuality, Suggested, Suggestion, Suggestions};
use zeitnot_settings::{Schema, SchemaGenerator, settings, words};

/// Score of a certain win, as those of the online tablebase.
const WON: i32 = 20_000;

settings! {
    /// Syzygy tablebases that the program itself probes, for any engine: chess, atomic and antichess.
    #[derive(PartialEq, Eq)]
    pub struct RootSyzygyConfig {
        /// Folders with the files: .rtbw and .rtbz for chess, see docs/sources.md for atomic and antichess. Empty: none.
        folders: Vec<PathBuf> = Vec::new(),
        /// Only positions with at most this many pieces.
        #[schemars(range(min = 3, max = MAX_PIECES))]
        max_pieces: usize = MAX_PIECES,
        /// "best": the best move is played at once; "suggest": the engine chooses among the moves that keep the result.
        #[schemars(schema_with = "qualities")]
        move_quality: MoveQuality = MoveQuality::default(),
    }
}

fn qualities(_: &mut SchemaGenerator) -> Schema {
    words([MoveQuality::Best, MoveQuality::Suggest])
}

/// Opened tablebases, and when to probe them.
#[derive(Clone, Debug)]
pub struct SyzygyTables {
    tables: Tablebases,
    max_pieces: usize,
    move_quality: MoveQuality,
}

impl SyzygyTables {
    /// Opens the tables; `None` if there are no folders.
    ///
    /// # Errors
    /// [`TablebaseError`] for a folder without tables or an invalid file.
    pub fn open(config: &RootSyzygyConfig) -> Result<Option<SyzygyTables>, TablebaseError> {
        let RootSyzygyConfig { folders, max_pieces, move_quality } = config.clone();
        let files = syzygy::SyzygyConfig { folders, ..syzygy::SyzygyConfig::default() };
        let tables = Tablebases::open(&files)?;
        Ok(tables.map(|tables| SyzygyTables { tables, max_pieces, move_quality }))
    }

    /// Probes the last position; `None` if it has too many pieces. Dropping the future ends the probing.
    pub(crate) fn look_up<G: Playable>(&self, line: &GameHistory<G>) -> Option<Suggestions> {
        let pieces = line.now().piece_count();
        // Games that do not count their pieces have no tables.
        if pieces == 0 || pieces > self.max_pieces {
            return None;
        }
        let (tables, line) = (self.tables.clone(), line.clone());
        let is_choice = self.move_quality == MoveQuality::Suggest;
        let kept = if is_choice { Kept::All } else { Kept::Best };
        let stop = CancellationToken::new();
        let guard = stop.clone().drop_guard();
        let probing = tokio::task::spawn_blocking(move || {
            let probe = G::root_probe(&tables, &line, kept, &|| stop.is_cancelled())?;
            Some(suggested(&line, &probe, is_choice))
        });
        Some(Box::pin(async move {
            let _guard = guard;
            probing.await.ok().flatten().unwrap_or_default()
        }))
    }
}

/// Without DTZ tables no move is known to make progress, so the search chooses.
fn suggested<G: Playable>(line: &GameHistory<G>, probe: &RootProbe, is_choice: bool) -> Suggested {
    let now = line.now();
    let score = match probe.wdl {
        Wdl::Win => WON,
        Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => 0,
        Wdl::Loss => -WON,
    };
    let eval = Some(Eval { score: EvalScore::Centipawns(score), depth: 1 });
    let moves = probe.moves.iter().filter_map(|&mv| now.unpack(mv));
    let moves = moves.map(|mv| Suggestion { mv: now.write(mv).to_string(), eval }).collect();
    Suggested { moves, is_choice: is_choice || !probe.by_dtz }
}

impl fmt::Display for SyzygyTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tables, f)
    }
}
