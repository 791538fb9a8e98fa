//! Tables on the disk: found and looked at in the beginning, opened one by one as they are asked.

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

use shakmaty::{Chess as ChessRules, Position, variant};
use shakmaty_syzygy::{Dtz, MaybeRounded, Syzygy, SyzygyError, TableType, Tablebase, Wdl};

use zeitnot_rules::{
    chess::Chess,
    variant::{Rules, Variant},
};

use super::{SyzygyConfig, TablebaseProbe};

/// Tables that are of no use.
#[derive(Debug, thiserror::Error)]
#[error("endgame tables: {}: {fault}", path.display())]
pub struct TablebaseError {
    /// The folder or the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: TablebaseFault,
}

/// What is wrong with tables.
#[derive(Debug, thiserror::Error)]
pub enum TablebaseFault {
    /// It is not there, or not for us.
    #[error("cannot be read: {0}")]
    Unread(#[from] io::Error),
    /// Something else lies there.
    #[error("holds no Syzygy tables: their names are like KQvK.rtbw")]
    Empty,
    /// Distances are of no use without ends.
    #[error("holds tables of distances (.rtbz), but none of ends (.rtbw)")]
    NoEnds,
    /// It is cut off, or something else.
    #[error("is no Syzygy table, or is cut off: fetch it again")]
    Torn,
}

/// The tables of the games that there are tables for.
#[derive(Clone, Debug)]
pub struct Tablebases {
    pub(crate) chess: Option<Arc<Tables<ChessRules>>>,
    pub(crate) atomic: Option<Arc<Tables<variant::Atomic>>>,
    pub(crate) antichess: Option<Arc<Tables<variant::Antichess>>>,
}

impl Tablebases {
    /// Finds the tables of these folders, and looks at how each begins and ends; `None` where there are no folders.
    ///
    /// # Errors
    /// [`TablebaseError`]: a folder without tables, or a file that is none.
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
        let (chess, atomic, antichess) = (Tables::of(&files)?, Tables::of(&files)?, Tables::of(&files)?);
        let endgames = Tablebases { chess, atomic, antichess };
        if endgames.counts().is_empty() {
            return Err(TablebaseError { path: folder.clone(), fault: TablebaseFault::NoEnds });
        }
        Ok(Some(endgames))
    }

    /// The games, each with its tables of ends and of distances, and the most men.
    fn counts(&self) -> Vec<(&'static str, [usize; 2], usize)> {
        let chess = self.chess.iter().map(|tables| ("chess", tables.counts, tables.base.max_pieces()));
        let atomic = self.atomic.iter().map(|tables| ("atomic", tables.counts, tables.base.max_pieces()));
        let antichess = self.antichess.iter();
        let antichess = antichess.map(|tables| ("antichess", tables.counts, tables.base.max_pieces()));
        chess.chain(atomic).chain(antichess).collect()
    }
}

impl fmt::Display for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (game, [ends, distances], men)) in self.counts().into_iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{game}: {ends} of ends and {distances} of distances, up to {men} men")?;
        }
        Ok(())
    }
}

/// The tables of one game.
pub(crate) struct Tables<P: Position + Clone + Syzygy> {
    base: Tablebase<P>,
    /// Files of ends and of distances.
    counts: [usize; 2],
    /// One of the files is no table after all: the others are left alone too, rather than to be met with trouble at
    /// every node.
    broken: AtomicBool,
}

impl<P: Position + Clone + Syzygy> fmt::Debug for Tables<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// The kinds of files of a game: those of ends first, those of distances after them.
fn kinds<P: Syzygy>() -> [[Option<TableType>; 2]; 2] {
    [[Some(P::TBW), P::PAWNLESS_TBW], [Some(P::TBZ), P::PAWNLESS_TBZ]]
}

/// Which kind of a game's files is it?
fn kind_of<P: Syzygy>(path: &Path) -> Option<(usize, TableType)> {
    let extension = path.extension().and_then(OsStr::to_str)?;
    let is_table = path.file_stem().and_then(OsStr::to_str).is_some_and(|name| name.contains('v'));
    let mut all = kinds::<P>().into_iter().enumerate().flat_map(|(at, kinds)| kinds.map(|kind| (at, kind)));
    all.find_map(|(at, kind)| Some((at, kind.filter(|kind| is_table && kind.ext == extension)?)))
}

/// Is it a table of any game, by its name?
fn is_table(path: &Path) -> bool {
    kind_of::<ChessRules>(path).is_some()
        || kind_of::<variant::Atomic>(path).is_some()
        || kind_of::<variant::Antichess>(path).is_some()
}

impl<P: Position + Clone + Syzygy> Tables<P> {
    /// Those among these files that are of this game; `None` where no end is among them.
    fn of(files: &[PathBuf]) -> Result<Option<Arc<Self>>, TablebaseError> {
        let (mut base, mut counts) = (Tablebase::new(), [0; 2]);
        for path in files {
            let Some((at, kind)) = kind_of::<P>(path) else { continue };
            let wrong = |fault| TablebaseError { path: path.clone(), fault };
            if !begins_with(path, kind.magic).map_err(|error| wrong(error.into()))? {
                return Err(wrong(TablebaseFault::Torn));
            }
            match base.add_file(path) {
                Ok(()) => counts[at] += 1,
                // Not a name of men that can stand on one board.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(wrong(TablebaseFault::Torn));
                }
                Err(error) => return Err(wrong(error.into())),
            }
        }
        let broken = AtomicBool::new(false);
        Ok((counts[0] > 0).then(|| Arc::new(Tables { base, counts, broken })))
    }

    /// What the tables say. What they cannot is told once, if it is their own fault.
    fn ask<T>(&self, ask: impl FnOnce(&Tablebase<P>) -> Result<T, SyzygyError>) -> Option<T> {
        if self.broken.load(Relaxed) {
            return None;
        }
        // A file that is damaged in the middle was not looked at there before; whatever it leads to ends here.
        let trouble = match catch_unwind(AssertUnwindSafe(|| ask(&self.base))) {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error @ SyzygyError::ProbeFailed { .. })) => {
                error.to_string().lines().next().unwrap_or_default().to_owned()
            }
            Ok(Err(_)) => return None,
            Err(_) => "a table is damaged".to_owned(),
        };
        if !self.broken.swap(true, Relaxed) {
            tracing::error!("{trouble}; playing on without endgame tables: fetch that file again");
        }
        None
    }

    fn end(&self, position: &P) -> Option<Wdl> {
        // A mate on the board is more than the tables' win.
        if position.is_check() && position.legal_moves().is_empty() {
            return None;
        }
        self.ask(|base| base.probe_wdl_after_zeroing(position))
    }

    fn distance(&self, position: &P) -> Option<i32> {
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

impl TablebaseProbe<Chess> for Tables<ChessRules> {
    fn men(&self) -> usize {
        self.base.max_pieces()
    }

    fn end(&self, position: &Chess) -> Option<Wdl> {
        Tables::end(self, position.position())
    }

    fn distance(&self, position: &Chess) -> Option<i32> {
        Tables::distance(self, position.position())
    }
}

impl<P: Rules + Syzygy> TablebaseProbe<Variant<P>> for Tables<P> {
    fn men(&self) -> usize {
        self.base.max_pieces()
    }

    fn end(&self, position: &Variant<P>) -> Option<Wdl> {
        Tables::end(self, position.position())
    }

    fn distance(&self, position: &Variant<P>) -> Option<i32> {
        Tables::distance(self, position.position())
    }
}
