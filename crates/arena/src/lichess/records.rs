//! Game records, as PGN and for the database.

use std::{net::SocketAddr, sync::Arc};

use time::OffsetDateTime;
use tokio::time::Instant;
use zeitnot_referee::PlayedMove;
use zeitnot_rules::{ByColor, GameResult};
use zeitnot_wire::{
    lichess::Variant,
    pgn::{self, Pgn},
};

use super::game::{End, Game, Player, termination};
use crate::database::{GameEnd, GameHeader, GameState, MoveList, Source};

/// Plies of a running game that are left out of its record.
const HIDDEN_PLIES: usize = 3;

/// The PGN of a game played on the server at `site`.
pub(super) fn record(game: &Game, site: SocketAddr) -> String {
    let plies = &game.referee.plies;
    let hidden = if game.is_over() { 0 } else { HIDDEN_PLIES };
    let shown = &plies[..plies.len().saturating_sub(hidden)];
    let ply = |ply: &Arc<PlayedMove>| pgn::Ply { text: ply.san.clone(), left: ply.left, eval: None };
    let fen = game.terms.variant.set_up(game.terms.fen.as_deref());
    Pgn { tags: tags(game, site), fen, plies: shown.iter().map(ply).collect(), result: result(game) }.print()
}

/// The game as the database keeps it for the page.
pub(super) fn stored(game: &Game) -> GameState {
    let board = game.board();
    let header = GameHeader {
        id: game.id.to_string().into(),
        source: Source::Lichess,
        kind: board.kind(),
        tournament: None,
        round: None,
        opening: None,
        names: ByColor(game.players.0.each_ref().map(|player| player.name.clone())),
        time_control: Some(game.terms.time.to_string()),
        start: board.own_start(),
        repeats: None,
        began: OffsetDateTime::UNIX_EPOCH + game.created,
    };
    let mut moves = MoveList::default();
    for (mv, ply) in board.moves().iter().zip(&game.referee.plies) {
        moves.push(mv.as_str(), (ply.left, ply.spent));
    }
    if game.end.is_some() {
        moves.stop(game.referee.clock.left(game.referee.turn(), Instant::now()));
    }
    let end = game.end.as_ref().map(|end| GameEnd {
        result: end.result(),
        reason: end.status.to_string(),
        termination: termination(&end.status).to_lowercase(),
        place: None,
        at: OffsetDateTime::now_utc(),
        note: None,
        corrected: None,
    });
    GameState { header: header.into(), moves, end }
}

fn result(game: &Game) -> &'static str {
    game.end.as_ref().and_then(End::result).map_or("*", GameResult::as_str)
}

fn tags(game: &Game, site: SocketAddr) -> Vec<(&'static str, String)> {
    let created = OffsetDateTime::UNIX_EPOCH + game.created;
    let (date, time) = (pgn::date(created), game.terms.time);
    let rated = if game.terms.rated { "Rated" } else { "Casual" };
    let [white, black] = &game.players.0;
    let rating = |player: &Player| player.rating.map_or_else(|| "?".to_owned(), |rating| rating.to_string());
    let mut tags = vec![
        ("Event", format!("{rated} {} game", game.terms.perf_name().name)),
        ("Site", format!("http://{site}/{}", game.id)),
        ("Date", date.clone()),
        ("Round", "-".to_owned()),
        ("White", white.name.clone()),
        ("Black", black.name.clone()),
        ("Result", result(game).to_owned()),
        ("GameId", game.id.to_string()),
        ("UTCDate", date),
        ("UTCTime", pgn::time(created)),
        ("WhiteElo", rating(white)),
        ("BlackElo", rating(black)),
        ("Variant", Variant::from(game.terms.variant.clone()).name),
        ("TimeControl", format!("{}+{}", time.initial.as_secs(), time.increment.as_secs())),
        ("Termination", termination(&game.status()).to_owned()),
    ];
    if let Some(ByColor([white, black])) = game.rating_diffs {
        tags.extend([("WhiteRatingDiff", format!("{white:+}")), ("BlackRatingDiff", format!("{black:+}"))]);
    }
    let title = |tag, player: &Player| player.title.as_ref().map(|title| (tag, title.as_str().to_owned()));
    tags.extend([title("WhiteTitle", white), title("BlackTitle", black)].into_iter().flatten());
    tags
}
