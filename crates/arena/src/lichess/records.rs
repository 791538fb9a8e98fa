//! Records of games as PGN of Lichess.

use std::{net::SocketAddr, sync::Arc};

use time::OffsetDateTime;
use zeitnot_referee::{Ending, PlayedMove};
use zeitnot_rules::ByColor;
use zeitnot_wire::{
    lichess::{Status, Variant},
    pgn::{self, Pgn},
};

use super::game::{Game, Player};

/// Plies of a running game that are left out of its record.
const HIDDEN_PLIES: usize = 3;

/// The PGN of a game played on the server at `site`.
pub(super) fn record(game: &Game, site: SocketAddr) -> String {
    let plies = game.facts().plies;
    let hidden = if game.is_over() { 0 } else { HIDDEN_PLIES };
    let shown = &plies[..plies.len().saturating_sub(hidden)];
    let ply = |ply: &Arc<PlayedMove>| pgn::Ply { text: ply.san.clone(), left: ply.left, eval: None };
    let fen = game.terms.variant.set_up(game.terms.fen.as_deref());
    Pgn { tags: tags(game, site), fen, plies: shown.iter().map(ply).collect(), result: result(game) }.print()
}

fn result(game: &Game) -> &'static str {
    game.facts().ending.map_or("*", Ending::result_text)
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

/// Kind of the end, as PGN of Lichess writes it.
fn termination(status: &Status) -> &'static str {
    match status {
        Status::Created | Status::Started => "Unterminated",
        Status::Aborted | Status::NoStart | Status::Timeout | Status::UnknownFinish => "Abandoned",
        Status::OutOfTime => "Time forfeit",
        _ => "Normal",
    }
}
