//! Game records, as PGN or JSON, with the parts that a request asks for.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use time::OffsetDateTime;
use zeitnot_referee::Ply;
use zeitnot_rules::{ByColor, Color, GameResult};
use zeitnot_wire::{
    lichess::{PerfKey, Status, UserId, Variant},
    pgn::{self, Pgn},
};

use super::game::{End, Game, Player};
use crate::database::{GameEnd, GameHeader, GameState, MoveList, Source};

/// Plies of a running game that are left out of its record.
const HIDDEN_PLIES: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct RecordStyle {
    pub(super) json: bool,
    pub(super) moves: bool,
    pub(super) tags: bool,
    pub(super) clocks: bool,
    pub(super) pgn_in_json: bool,
    pub(super) last_fen: bool,
}

impl Default for RecordStyle {
    /// A full PGN.
    fn default() -> RecordStyle {
        RecordStyle {
            json: false,
            moves: true,
            tags: true,
            clocks: true,
            pgn_in_json: false,
            last_fen: false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct RecordFilter {
    pub(super) since: Option<u128>,
    pub(super) until: Option<u128>,
    pub(super) max: usize,
    pub(super) versus: Option<UserId>,
    pub(super) rated: Option<bool>,
    pub(super) perfs: Vec<PerfKey>,
    pub(super) color: Option<Color>,
    pub(super) ongoing: bool,
    pub(super) finished: bool,
    pub(super) oldest_first: bool,
}

impl RecordFilter {
    pub(super) fn matches(&self, game: &Game, who: &UserId) -> bool {
        let Some(color) = game.color_of(who) else { return false };
        let created = game.created.as_millis();
        let is_wanted = match game.status() {
            Status::Started => self.ongoing,
            Status::Aborted => false,
            _ => self.finished,
        };
        is_wanted
            && self.since.is_none_or(|since| created >= since)
            && self.until.is_none_or(|until| created <= until)
            && self.versus.as_ref().is_none_or(|id| game.players[!color].id == *id)
            && self.rated.is_none_or(|rated| game.terms.rated == rated)
            && (self.perfs.is_empty() || self.perfs.contains(&game.terms.perf()))
            && self.color.is_none_or(|wanted| wanted == color)
    }
}

/// The record of a game played on the server at `site`; in JSON a line.
pub(super) fn record(game: &Game, style: &RecordStyle, site: SocketAddr) -> String {
    match style.json {
        true => as_json(game, style, site).to_string() + "\n",
        false => as_pgn(game, style, site),
    }
}

fn shown_plies(game: &Game) -> &[Ply] {
    let plies = &game.referee.plies;
    let hidden = if game.is_over() { 0 } else { HIDDEN_PLIES };
    &plies[..plies.len().saturating_sub(hidden)]
}

fn as_json(game: &Game, style: &RecordStyle, site: SocketAddr) -> Value {
    let terms = &game.terms;
    let date = |at: Duration| json!(u64::try_from(at.as_millis()).unwrap_or_default());
    let player = |color: Color| player(&game.players[color], game.rating_diffs.map(|diffs| diffs[color]));
    let (initial, increment) = (terms.time.initial.as_secs(), terms.time.increment.as_secs());
    let total = initial.saturating_add(increment.saturating_mul(40));
    let plies = shown_plies(game);
    let moves = || plies.iter().map(|ply| ply.san.as_str()).collect::<Vec<_>>().join(" ");
    let clocks =
        || -> Vec<u128> { plies.iter().filter_map(|ply| Some(ply.left?.as_millis() / 10)).collect() };
    without_nulls(json!({
        "id": game.id,
        "rated": terms.rated,
        "variant": terms.variant,
        "speed": terms.speed(),
        "perf": terms.perf(),
        "createdAt": date(game.created),
        "lastMoveAt": date(game.last_move),
        "status": game.status(),
        "source": terms.source,
        "players": { "white": player(Color::White), "black": player(Color::Black) },
        "initialFen": terms.fen,
        "winner": game.winner(),
        "clock": { "initial": initial, "increment": increment, "totalTime": total },
        "moves": style.moves.then(moves),
        "clocks": style.clocks.then(clocks),
        "lastFen": (style.last_fen && game.is_over()).then(|| game.board().now()),
        "pgn": style.pgn_in_json.then(|| as_pgn(game, style, site)),
    }))
}

fn player(player: &Player, diff: Option<i32>) -> Value {
    let Player { id, name, title, rating, provisional, .. } = player;
    let user = without_nulls(json!({ "id": id, "name": name, "title": title }));
    let provisional = provisional.then_some(true);
    without_nulls(json!({ "user": user, "rating": rating, "ratingDiff": diff, "provisional": provisional }))
}

/// Drops the fields of an object that are not there.
fn without_nulls(mut object: Value) -> Value {
    object.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !value.is_null()));
    object
}

fn as_pgn(game: &Game, style: &RecordStyle, site: SocketAddr) -> String {
    let ply =
        |ply: &Ply| pgn::Ply { text: ply.san.clone(), left: ply.left.filter(|_| style.clocks), eval: None };
    let plies = shown_plies(game).iter().filter(|_| style.moves).map(ply).collect();
    let tags = if style.tags { tags(game, site) } else { Vec::new() };
    let fen = game.terms.variant.set_up(game.terms.fen.as_deref()).filter(|_| style.tags);
    Pgn { tags, fen, plies, result: result(game) }.print()
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
        moves.push(mv.as_str(), ply.left);
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

fn termination(status: &Status) -> &'static str {
    match status {
        Status::Created | Status::Started => "Unterminated",
        Status::Aborted | Status::NoStart | Status::Timeout | Status::UnknownFinish => "Abandoned",
        Status::OutOfTime => "Time forfeit",
        _ => "Normal",
    }
}
