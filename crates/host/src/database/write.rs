//! SQL of each change.

use sqlx::{AnyConnection, Result, Row, query};
use time::{OffsetDateTime, UtcOffset, format_description::BorrowedFormatItem, macros::format_description};
use zeitnot_pairing::{Name, format::Format};
use zeitnot_rules::{ByColor, GameKind, GameResult, TimeControl};

use super::{
    change::{
        Change, ExportFile, Fact, GameHeader, GameRow, LichessRow, RefusalRecord, SettingsText, Subject,
        TournamentId, TournamentState,
    },
    error::DatabaseError,
    location::DatabaseLocation,
    ownership::{self, Run},
};
use crate::note::Note;

/// Formats a moment by RFC 3339, always to the millisecond, so that the order of the texts is that of time.
pub fn moment(at: OffsetDateTime) -> String {
    const FORMAT: &[BorrowedFormatItem<'_>] =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    at.to_offset(UtcOffset::UTC).format(FORMAT).unwrap_or_default()
}

/// A number that is not too large for a column.
pub(super) fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Writes a change, within the transaction of its batch.
pub(super) async fn write(connection: &mut AnyConnection, run: Run, change: &Change) -> Result<()> {
    match change {
        Change::State(tournament, state) => write_state(connection, *tournament, *state).await,
        Change::Refusal(tournament, refusal) => write_refusal(connection, *tournament, refusal).await,
        Change::Settings(tournament, kind, time_control, format, settings) => {
            write_format(connection, *tournament, format).await?;
            write_settings(connection, *tournament, *kind, *time_control, settings).await
        }
        Change::Event { tournament, place, at, fact } => {
            let event = (*tournament, number(*place), moment(*at));
            write_event(connection, event, fact).await
        }
        Change::Game(game) => write_game(connection, run, game).await,
        Change::Correction { game, result, note, .. } => {
            write_correction(connection, game, *result, note).await
        }
        Change::Exported(game) => {
            let update = query("UPDATE game SET exported = 1 WHERE id = $1").bind(&**game);
            update.execute(connection).await.map(drop)
        }
        Change::ExportFile(file) => write_export_file(connection, file).await,
        Change::ExportLength(file) => write_export_length(connection, file).await,
        Change::Lichess(row) => write_lichess(connection, row).await,
        Change::Deletion(tournament) => delete_tournament(connection, *tournament).await,
    }
}

async fn delete_tournament(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
) -> Result<()> {
    for delete in [
        "DELETE FROM event WHERE tournament_id = $1",
        "DELETE FROM refusal WHERE tournament_id = $1",
        "DELETE FROM tournament WHERE id = $1",
    ] {
        query(delete).bind(tournament).execute(&mut *connection).await?;
    }
    let subject = Subject::Tournament(TournamentId(tournament)).key();
    query("DELETE FROM owner WHERE subject = $1").bind(subject).execute(connection).await.map(drop)
}

async fn write_state(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
    state: TournamentState,
) -> Result<()> {
    let closed = (state == TournamentState::Complete).then(|| moment(OffsetDateTime::now_utc()));
    let update = query("UPDATE tournament SET state = $1, closed = $2 WHERE id = $3");
    update.bind(state.as_str()).bind(closed).bind(tournament).execute(connection).await.map(drop)
}

async fn write_settings(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
    kind: GameKind,
    time_control: TimeControl,
    SettingsText(settings): &SettingsText,
) -> Result<()> {
    let update = query("UPDATE tournament SET kind = $1, time_control = $2, settings = $3 WHERE id = $4");
    let update = update.bind(kind.name()).bind(time_control.to_string()).bind(settings).bind(tournament);
    update.execute(connection).await.map(drop)
}

async fn write_refusal(
    connection: &mut AnyConnection,
    tournament: Option<TournamentId>,
    refusal: &RefusalRecord,
) -> Result<()> {
    let insert = query(
        "INSERT INTO refusal (tournament_id, slot, number, at, name, reason)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tournament_id, slot) DO UPDATE SET
             number = excluded.number, at = excluded.at, name = excluded.name, reason = excluded.reason",
    );
    let insert = insert.bind(tournament.map_or(0, |TournamentId(id)| id)).bind(number(refusal.slot));
    let insert = insert.bind(number(refusal.number)).bind(moment(refusal.at));
    insert.bind(&refusal.name).bind(&refusal.reason).execute(connection).await.map(drop)
}

async fn write_event(
    connection: &mut AnyConnection,
    (TournamentId(tournament), place, at): (TournamentId, i64, String),
    fact: &Fact,
) -> Result<()> {
    let kind = match fact {
        Fact::Seated { .. } => "seated",
        Fact::Freed { .. } => "freed",
        Fact::Withdrawn { .. } => "withdrawn",
        Fact::Returned { .. } => "returned",
        Fact::Bye { .. } => "bye",
        Fact::Started => "started",
        Fact::Paused => "paused",
        Fact::Resumed => "resumed",
        Fact::LateEntries { allowed: true } => "late-entries",
        Fact::LateEntries { allowed: false } => "no-late-entries",
        Fact::Round { .. } => "round",
        Fact::ByeRevoked { .. } => "bye-revoked",
        Fact::Removed { .. } => "removed",
        Fact::PairedByHand { .. } => "paired",
        Fact::Corrected { .. } => "corrected",
    };
    let columns = EventColumns::of(fact);
    let insert = query(
        "INSERT INTO event (tournament_id, place, at, kind, player, seat, holder, round, opponent,
                            game_id, result, note)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (tournament_id, place) DO NOTHING",
    );
    let insert = insert.bind(tournament).bind(place).bind(at).bind(kind);
    let insert = insert.bind(columns.player.map(Name::as_str)).bind(columns.seat).bind(columns.holder);
    let insert = insert
        .bind(columns.round)
        .bind(columns.opponent.map(Name::as_str))
        .bind(columns.game)
        .bind(columns.result);
    insert.bind(columns.note.map(Note::as_str)).execute(connection).await.map(drop)
}

/// Columns of an event besides its kind.
#[derive(Default)]
struct EventColumns<'f> {
    player: Option<&'f Name>,
    seat: Option<i64>,
    holder: Option<String>,
    round: Option<i64>,
    opponent: Option<&'f Name>,
    game: Option<&'f str>,
    result: Option<&'static str>,
    note: Option<&'f Note>,
}

impl<'f> EventColumns<'f> {
    fn of(fact: &'f Fact) -> EventColumns<'f> {
        let none = EventColumns::default();
        match fact {
            Fact::Seated { player, seat, holder } => {
                let holder = holder.map(|holder| holder.to_string());
                EventColumns { player: Some(player), seat: Some(number(*seat)), holder, ..none }
            }
            Fact::Freed { player } | Fact::Withdrawn { player } | Fact::Returned { player } => {
                EventColumns { player: Some(player), ..none }
            }
            Fact::Bye { player, round } | Fact::ByeRevoked { player, round } => {
                EventColumns { player: Some(player), round: Some(number(*round)), ..none }
            }
            Fact::Started | Fact::Paused | Fact::Resumed | Fact::LateEntries { .. } => none,
            Fact::Round { round } => EventColumns { round: Some(number(*round)), ..none },
            Fact::Removed { player, note } => {
                EventColumns { player: Some(player), note: note.as_ref(), ..none }
            }
            Fact::PairedByHand { white, black } => {
                EventColumns { player: Some(white), opponent: Some(black), ..none }
            }
            Fact::Corrected { game, result, note } => {
                let result = Some(result_text(*result));
                EventColumns { game: Some(game), result, note: Some(note), ..none }
            }
        }
    }
}

fn result_text(result: Option<GameResult>) -> &'static str {
    result.map_or("*", GameResult::as_str)
}

async fn write_correction(
    connection: &mut AnyConnection,
    game: &str,
    result: Option<GameResult>,
    note: &Note,
) -> Result<()> {
    let update = query("UPDATE game SET corrected = $1, note = $2 WHERE id = $3");
    update.bind(result_text(result)).bind(note.as_str()).bind(game).execute(connection).await.map(drop)
}

async fn write_game(connection: &mut AnyConnection, run: Run, game: &GameRow) -> Result<()> {
    let GameHeader { players: ByColor([white, black]), .. } = &*game.header;
    let GameHeader { id, source, kind, tournament, round, opening, .. } = &*game.header;
    let GameHeader { time_control, start, repeats, began, .. } = &*game.header;
    let end = game.end.as_ref();
    let insert = query(
        "INSERT INTO game (id, source, kind, tournament_id, round, opening, white, black, time_control,
                           start, repeats, began, moves, positions, ended, result, reason, termination, place,
                           note, run, white_rating, black_rating, white_bot, black_bot)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21,
                 $22, $23, $24, $25)
         ON CONFLICT (id) DO UPDATE SET
             moves = excluded.moves, positions = excluded.positions, ended = excluded.ended, result = excluded.result,
             reason = excluded.reason, termination = excluded.termination, place = excluded.place,
             note = excluded.note, run = excluded.run,
             exported = CASE WHEN excluded.ended IS NULL THEN NULL ELSE game.exported END",
    );
    insert
        .bind(&**id)
        .bind(source.as_str())
        .bind(kind.name())
        .bind(tournament.map(|TournamentId(id)| id))
        .bind(round.map(number))
        .bind(opening.map(number))
        .bind(&white.name)
        .bind(&black.name)
        .bind(time_control.as_deref())
        .bind(start.as_deref())
        .bind(repeats.as_deref())
        .bind(moment(*began))
        .bind(&game.moves.moves)
        .bind(Some(&game.moves.positions).filter(|positions| !positions.is_empty()))
        .bind(end.map(|end| moment(end.at)))
        .bind(end.map(|end| result_text(end.result)))
        .bind(end.map(|end| end.reason.as_str()))
        .bind(end.map(|end| end.termination.as_str()))
        .bind(end.and_then(|end| end.place).map(number))
        .bind(end.and_then(|end| end.note.as_ref()).map(Note::as_str))
        .bind(run.number())
        .bind(white.rating.map(i64::from))
        .bind(black.rating.map(i64::from))
        .bind(white.bot.map(i64::from))
        .bind(black.bot.map(i64::from))
        .execute(connection)
        .await
        .map(drop)
}

async fn write_export_file(
    connection: &mut AnyConnection,
    ExportFile { tournament, file, bytes }: &ExportFile,
) -> Result<()> {
    let insert = query(
        "INSERT INTO export (tournament, file, bytes) VALUES ($1, $2, $3)
         ON CONFLICT (tournament) DO UPDATE SET file = excluded.file, bytes = excluded.bytes",
    );
    let name = tournament.as_ref().map_or("", Name::as_str);
    insert.bind(name).bind(file).bind(number(*bytes)).execute(connection).await.map(drop)
}

async fn write_export_length(
    connection: &mut AnyConnection,
    ExportFile { tournament, file, bytes }: &ExportFile,
) -> Result<()> {
    let update = query("UPDATE export SET bytes = $3 WHERE tournament = $1 AND file = $2");
    let name = tournament.as_ref().map_or("", Name::as_str);
    update.bind(name).bind(file).bind(number(*bytes)).execute(connection).await.map(drop)
}

async fn write_lichess(connection: &mut AnyConnection, row: &LichessRow) -> Result<()> {
    let LichessRow { kind, id, value } = row;
    let write = match value {
        Some(_) => query(
            "INSERT INTO lichess (kind, id, value) VALUES ($1, $2, $3)
             ON CONFLICT (kind, id) DO UPDATE SET value = excluded.value",
        ),
        None => query("DELETE FROM lichess WHERE kind = $1 AND id = $2"),
    };
    let write = write.bind(kind.as_str()).bind(id);
    let write = value.iter().fold(write, |write, value| write.bind(value));
    write.execute(connection).await.map(drop)
}

/// Adds a tournament, with the next id and as the next edition of its name.
pub(super) async fn add_tournament(
    connection: &mut AnyConnection,
    name: &Name,
    kind: GameKind,
    time_control: TimeControl,
    settings: Option<&SettingsText>,
) -> Result<()> {
    let insert = query(
        "INSERT INTO tournament (id, name, edition, kind, time_control, state, opened, settings)
         SELECT (SELECT COALESCE(MAX(id), 0) + 1 FROM tournament), $1,
                (SELECT COALESCE(MAX(edition), 0) + 1 FROM tournament WHERE name = $1), $2, $3, $4, $5, $6",
    );
    let insert = insert.bind(name.as_str()).bind(kind.name()).bind(time_control.to_string());
    let insert = insert.bind(TournamentState::Running.as_str()).bind(moment(OffsetDateTime::now_utc()));
    let insert = insert.bind(settings.map(|SettingsText(settings)| settings));
    insert.execute(connection).await.map(drop)
}

/// Notes the format of a tournament, which may be another than when it was opened first.
pub(super) async fn write_format(
    connection: &mut AnyConnection,
    TournamentId(tournament): TournamentId,
    format: &Format,
) -> Result<()> {
    let Format { pairing, rounds, acceleration, tie_breaks } = format;
    let tie_breaks: Vec<_> = tie_breaks.iter().map(|tie_break| tie_break.key()).collect();
    let update = query(
        "UPDATE tournament SET pairing = $1, rounds = $2, acceleration = $3, tie_breaks = $4 WHERE id = $5",
    );
    let update =
        update.bind(pairing.name()).bind(rounds.map(number)).bind(acceleration.map(|kind| kind.name()));
    update.bind(tie_breaks.join(" ")).bind(tournament).execute(connection).await.map(drop)
}

/// Breaks off the running games of arenas that are gone, within an exclusive transaction.
pub(super) async fn break_off(
    location: &DatabaseLocation,
    connection: &mut AnyConnection,
    run: Run,
) -> Result<(), DatabaseError> {
    let owners = query("SELECT DISTINCT COALESCE(run, 0) AS run FROM game WHERE result IS NULL");
    let owners = owners.fetch_all(&mut *connection).await?;
    let alive = ownership::alive(location, connection, run).await?;
    for owner in owners {
        let owner: i64 = owner.try_get("run")?;
        // Its arena still plays them.
        if alive.contains(&owner) {
            continue;
        }
        let update = query(
            "UPDATE game SET ended = $1, result = '*', reason = 'The arena was interrupted',
                             termination = 'unterminated'
             WHERE result IS NULL AND COALESCE(run, 0) = $2",
        );
        let now = moment(OffsetDateTime::now_utc());
        update.bind(now).bind(owner).execute(&mut *connection).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    #[test]
    fn texts_of_moments_are_in_the_order_of_time() {
        let texts: Vec<_> = [0, 5, 20, 123, 200, 999, 1000]
            .map(|millis| moment(OffsetDateTime::UNIX_EPOCH + Duration::milliseconds(millis)))
            .into();
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(texts[4], "1970-01-01T00:00:00.200Z");
    }
}
