//! Opening of a tournament: its latest edition goes on, or a new one begins.

use sqlx::AnyConnection;
use zeitnot_pairing::{Name, format::Format};
use zeitnot_rules::{GameKind, TimeControl};

use super::{
    change::{RefusalRecord, SettingsText, Subject},
    error::DatabaseError,
    location::DatabaseLocation,
    ownership::{self, Run},
    read::refusals,
    tournaments::{self, History},
    write,
};

/// Tournament that an arena is to run.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct Opening {
    pub name: Name,
    pub kind: GameKind,
    pub time_control: TimeControl,
    /// Settings of one that the organiser has just created, which is a new edition in any case.
    pub created: Option<SettingsText>,
    pub format: Format,
}

/// Tournament that an arena runs: a new edition, or one that was not complete.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct Opened {
    pub history: History,
    /// Players that it has refused, the latest last.
    pub refusals: Vec<RefusalRecord>,
}

impl Opening {
    /// Opens the tournament, within an exclusive transaction; `None`: another arena runs it. Breaks off running games of
    /// arenas that are gone.
    pub(super) async fn open(
        &self,
        (location, connection): (&DatabaseLocation, &mut AnyConnection),
        run: Run,
    ) -> Result<Option<Opened>, DatabaseError> {
        let Opening { name, kind, time_control, format, created } = self;
        let unfinished = tournaments::latest(connection, name).await?.filter(|latest| latest.is_unfinished());
        if let Some(latest) = &unfinished
            && !ownership::take(location, connection, run, Subject::Tournament(latest.id)).await?
        {
            return Ok(None);
        }
        write::break_off(location, connection, run).await?;
        let mut tournament = match unfinished.filter(|it| created.is_none() && it.kind == *kind) {
            Some(tournament) => tournament,
            None => {
                write::add_tournament(connection, name, *kind, *time_control, created.as_ref()).await?;
                let added = tournaments::latest(connection, name).await?;
                let missing = || DatabaseError::Other("a tournament that was added is missing".into());
                let added = added.ok_or_else(missing)?;
                ownership::take(location, connection, run, Subject::Tournament(added.id)).await?;
                added
            }
        };
        write::write_format(connection, tournament.id, format).await?;
        tournament.format = format.clone();
        let history = tournaments::history(connection, tournament).await?;
        let refusals = refusals(connection, Some(history.tournament.id)).await?;
        Ok(Some(Opened { history, refusals }))
    }
}
