//! Tablebase files: checked at startup, opened on demand.

use std::{
    ffi::OsStr,
    fmt, fs, io,
    io::Read,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use shakmaty::{Chess, Position, variant};
use shakmaty_syzygy::{Dtz, MaybeRounded, Syzygy, SyzygyError, TableType, Tablebase, Wdl};

use zeitnot_rules::chess::{self, VariantPosition};

use super::{SyzygyConfig, TablebaseProbe};

/// Invalid tablebase folder or file.
#[derive(Debug, thiserror::Error)]
#[error("endgame tables: {}: {fault}", path.display())]
pub struct TablebaseError {
    /// Path of the folder or file.
    pub path: PathBuf,
    /// Reason.
    pub fault: TablebaseFault,
}

/// Reason why tablebases are invalid.
#[derive(Debug, thiserror::Error)]
pub enum TablebaseFault {
    /// The path cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// The folder holds no tables.
    #[error("holds no Syzygy tables: their names are like KQvK.rtbw")]
    Empty,
    /// DTZ tables without WDL tables.
    #[error("holds DTZ tables (.rtbz), but no WDL tables (.rtbw)")]
    NoWdl,
    /// The file is damaged or not a table.
    #[error("is not a Syzygy table, or is truncated: download it again")]
    Corrupt,
}

/// Opened tablebases of all supported games.
#[derive(Clone, Debug)]
pub struct Tablebases {
    pub(crate) chess: Option<Arc<Tables<Chess>>>,
    pub(crate) variants: VariantTables,
}

#[derive(Clone, Debug)]
pub(crate) struct VariantTables {
    atomic: Option<Arc<Tables<variant::Atomic>>>,
    antichess: Option<Arc<Tables<variant::Antichess>>>,
}

impl Tablebases {
    /// Finds the tables in the configured folders and checks their headers; returns `None` without folders.
    ///
    /// # Errors
    /// [`TablebaseError`] for a folder without tables or an invalid file.
    pub fn open(config: &SyzygyConfig) -> Result<Option<Tablebases>, TablebaseError> {
        let mut files = Vec::new();
        for folder in &config.folders {
            let wrong = |fault| TablebaseError { path: folder.clone(), fault };
            let before = files.len();
            for entry in fs::read_dir(folder).map_err(|error| wrong(error.into()))? {
                let path = entry.map_err(|error| wrong(error.into()))?.path();
                if is_table(&path) {
                    files.push(path);
                }
            }
            if files.len() == before {
                return Err(wrong(TablebaseFault::Empty));
            }
        }
        let Some(folder) = config.folders.first() else { return Ok(None) };
        let variants = VariantTables { atomic: Tables::of(&files)?, antichess: Tables::of(&files)? };
        let endgames = Tablebases { chess: Tables::of(&files)?, variants };
        if endgames.counts().is_empty() {
            return Err(TablebaseError { path: folder.clone(), fault: TablebaseFault::NoWdl });
        }
        Ok(Some(endgames))
    }

    /// Each game with its numbers of WDL and DTZ tables and the most pieces.
    fn counts(&self) -> Vec<(&'static str, [usize; 2], usize)> {
        fn row<P: Position + Clone + Syzygy>(
            game: &'static str,
            tables: Option<&Arc<Tables<P>>>,
        ) -> Option<(&'static str, [usize; 2], usize)> {
            tables.map(|tables| (game, tables.counts, tables.base.max_pieces()))
        }
        let VariantTables { atomic, antichess } = &self.variants;
        let rows = [
            row("chess", self.chess.as_ref()),
            row("atomic", atomic.as_ref()),
            row("antichess", antichess.as_ref()),
        ];
        rows.into_iter().flatten().collect()
    }
}

impl fmt::Display for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (game, [wdl, dtz], pieces)) in self.counts().into_iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{game}: {wdl} WDL and {dtz} DTZ tables, up to {pieces} pieces")?;
        }
        Ok(())
    }
}

pub(crate) struct Tables<P: Position + Clone + Syzygy> {
    base: Tablebase<P>,
    /// Numbers of WDL and DTZ files.
    counts: [usize; 2],
    /// Set after the first damaged file; probing stops, rather than failing at every node.
    broken: AtomicBool,
}

impl<P: Position + Clone + Syzygy> fmt::Debug for Tables<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// File kinds of a game: WDL first, then DTZ.
fn kinds<P: Syzygy>() -> [[Option<TableType>; 2]; 2] {
    [[Some(P::TBW), P::PAWNLESS_TBW], [Some(P::TBZ), P::PAWNLESS_TBZ]]
}

/// Kind of a game's file by its name.
fn kind_of<P: Syzygy>(path: &Path) -> Option<(usize, TableType)> {
    let extension = path.extension().and_then(OsStr::to_str)?;
    let is_table = path.file_stem().and_then(OsStr::to_str).is_some_and(|name| name.contains('v'));
    let mut all = kinds::<P>().into_iter().enumerate().flat_map(|(at, kinds)| kinds.map(|kind| (at, kind)));
    all.find_map(|(at, kind)| Some((at, kind.filter(|kind| is_table && kind.ext == extension)?)))
}

fn is_table(path: &Path) -> bool {
    kind_of::<Chess>(path).is_some()
        || kind_of::<variant::Atomic>(path).is_some()
        || kind_of::<variant::Antichess>(path).is_some()
}

impl<P: Position + Clone + Syzygy> Tables<P> {
    /// Opens the files of this game; returns `None` without WDL tables.
    fn of(files: &[PathBuf]) -> Result<Option<Arc<Self>>, TablebaseError> {
        let (mut base, mut counts) = (Tablebase::new(), [0; 2]);
        for path in files {
            let Some((at, kind)) = kind_of::<P>(path) else { continue };
            let wrong = |fault| TablebaseError { path: path.clone(), fault };
            if !begins_with(path, kind.magic).map_err(|error| wrong(error.into()))? {
                return Err(wrong(TablebaseFault::Corrupt));
            }
            match base.add_file(path) {
                Ok(()) => counts[at] += 1,
                // Not a valid material signature.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(wrong(TablebaseFault::Corrupt));
                }
                Err(error) => return Err(wrong(error.into())),
            }
        }
        let broken = AtomicBool::new(false);
        Ok((counts[0] > 0).then(|| Arc::new(Tables { base, counts, broken })))
    }

    /// Probes the tables. A damaged file is logged once and disables them.
    fn ask<T>(&self, ask: impl FnOnce(&Tablebase<P>) -> Result<T, SyzygyError>) -> Option<T> {
        if self.broken.load(Relaxed) {
            return None;
        }
        // Damage inside a file is not found at startup and may panic in the library.
        let trouble = match catch_unwind(AssertUnwindSafe(|| ask(&self.base))) {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error @ SyzygyError::ProbeFailed { .. })) => {
                error.to_string().lines().next().unwrap_or_default().to_owned()
            }
            Ok(Err(_)) => return None,
            Err(_) => "a table is damaged".to_owned(),
        };
        if !self.broken.swap(true, Relaxed) {
            tracing::error!("{trouble}; continuing without tablebases: download that file again");
        }
        None
    }

    fn wdl(&self, position: &P) -> Option<Wdl> {
        // A mate on the board is worth more than a tablebase win.
        if position.is_check() && position.legal_moves().is_empty() {
            return None;
        }
        self.ask(|base| base.probe_wdl_after_zeroing(position))
    }

    fn dtz(&self, position: &P) -> Option<i32> {
        self.ask(|base| base.probe_dtz(position)).map(|distance| match distance {
            MaybeRounded::Precise(Dtz(plies)) => plies,
            MaybeRounded::Rounded(Dtz(plies)) => plies + plies.signum(),
        })
    }
}

fn begins_with(path: &Path, magic: [u8; 4]) -> io::Result<bool> {
    let mut head = [0; 4];
    match fs::File::open(path)?.read_exact(&mut head) {
        Ok(()) => Ok(head == magic),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl TablebaseProbe<chess::Chess> for Tables<Chess> {
    fn max_pieces(&self, _: &chess::Chess) -> usize {
        self.base.max_pieces()
    }

    fn wdl(&self, position: &chess::Chess) -> Option<Wdl> {
        self.wdl(position.position())
    }

    fn dtz(&self, position: &chess::Chess) -> Option<i32> {
        self.dtz(position.position())
    }
}

impl TablebaseProbe<VariantPosition> for VariantTables {
    fn max_pieces(&self, position: &VariantPosition) -> usize {
        match position {
            VariantPosition::Atomic(_) => self.atomic.as_ref().map_or(0, |tables| tables.base.max_pieces()),
            VariantPosition::Antichess(_) => {
                self.antichess.as_ref().map_or(0, |tables| tables.base.max_pieces())
            }
            _ => 0,
        }
    }

    fn wdl(&self, position: &VariantPosition) -> Option<Wdl> {
        match position {
            VariantPosition::Atomic(position) => self.atomic.as_ref()?.wdl(position.position()),
            VariantPosition::Antichess(position) => self.antichess.as_ref()?.wdl(position.position()),
            _ => None,
        }
    }

    fn dtz(&self, position: &VariantPosition) -> Option<i32> {
        match position {
            VariantPosition::Atomic(position) => self.atomic.as_ref()?.dtz(position.position()),
            VariantPosition::Antichess(position) => self.antichess.as_ref()?.dtz(position.position()),
            _ => None,
        }
    }
}
