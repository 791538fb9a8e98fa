//! Games on their way to the files of games.

use sqlx::{AnyConnection, Row, any::AnyRow, query};
use zeitnot_pairing::Name;

use super::{
    change::{ExportFile, GameState},
    error::DatabaseError,
    games::game_state,
    open::within,
    read::{Reader, number},
};

impl Reader {
    /// Returns the first games of the tournaments of that name, or of the Lichess API, that are over and in no file of
    /// games.
    pub(crate) async fn unexported(
        &mut self,
        tournament: Option<&Name>,
        limit: usize,
    ) -> Result<Vec<GameState>, DatabaseError> {
        within(self.limit, unexported(&mut self.connection, tournament, limit)).await
    }

    /// Returns the file of games of the tournaments of that name, or of the Lichess API.
    pub(crate) async fn export_file(
        &mut self,
        tournament: Option<&Name>,
    ) -> Result<Option<ExportFile>, DatabaseError> {
        within(self.limit, export_file(&mut self.connection, tournament)).await
    }
}

async fn unexported(
    connection: &mut AnyConnection,
    tournament: Option<&Name>,
    limit: usize,
) -> Result<Vec<GameState>, DatabaseError> {
    let games = match tournament {
        Some(name) => query(
            "SELECT * FROM game WHERE tournament_id IN (SELECT id FROM tournament WHERE name = $1)
                    AND exported IS NULL AND termination <> 'forfeit'
             ORDER BY ended, id LIMIT $2",
        )
        .bind(name.as_str()),
        // A game without moves has at most a clock.
        None => query(
            "SELECT * FROM game WHERE source = 'lichess' AND exported IS NULL AND ended IS NOT NULL
                    AND moves <> '' AND moves NOT LIKE '@%'
             ORDER BY ended, id LIMIT $1",
        ),
    };
    let games = games.bind(i64::try_from(limit).unwrap_or(i64::MAX));
    games.fetch_all(connection).await?.iter().map(game_state).collect()
}

async fn export_file(
    connection: &mut AnyConnection,
    tournament: Option<&Name>,
) -> Result<Option<ExportFile>, DatabaseError> {
    let file = query("SELECT * FROM export WHERE tournament = $1").bind(tournament.map_or("", Name::as_str));
    let row = file.fetch_optional(connection).await?;
    let file = |row: AnyRow| {
        let bytes = number(&row, "bytes")?.unwrap_or_default();
        Ok(ExportFile { tournament: tournament.cloned(), file: row.try_get("file")?, bytes })
    };
    row.map(file).transpose()
}
