//! Games as records: PGN or JSON, one or all of somebody's, as the one who asks likes them.

use std::{cmp::Reverse, net::SocketAddr, time::Duration};

use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{GameId, PerfKey, TimeControl, UserId};

use super::{
    answer::{Answer, Body},
    desk::DeskActor,
    game::{Game, Player},
    messages::perf,
    route::Request,
};

/// What a record shows.
#[derive(Clone, Debug)]
pub(super) struct Style {
    json: bool,
    pub(super) moves: bool,
    pub(super) tags: bool,
    pub(super) clocks: bool,
    pgn_in_json: bool,
    last_fen: bool,
}

/// A game in full, as PGN.
impl Default for Style {
    fn default() -> Style {
        Style { json: false, moves: true, tags: true, clocks: true, pgn_in_json: false, last_fen: false }
    }
}

impl Style {
    /// As query and header say; evaluations, openings and comments that are asked for are not there to be shown.
    pub(super) fn read(request: &Request, clocks: bool) -> Style {
        let flag = |key: &str, usual: bool| request.flag(key).unwrap_or(usual);
        Style {
            json: request.accept.contains("json"),
            moves: flag("moves", true),
            tags: flag("tags", true),
            clocks: flag("clocks", clocks),
            pgn_in_json: flag("pgnInJson", false),
            last_fen: flag("lastFen", false),
        }
    }
}

/// Which of somebody's games.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    since: Option<i128>,
    until: Option<i128>,
    most: usize,
    versus: Option<UserId>,
    rated: Option<bool>,
    perfs: Vec<PerfKey>,
    color: Option<Color>,
    ongoing: bool,
    finished: bool,
    oldest_first: bool,
}

impl Filter {
    pub(super) fn read(request: &Request) -> Filter {
        let text = |key: &str| request.parameter(key).filter(|text| !text.is_empty());
        let perfs = text("perfType").unwrap_or_default();
        Filter {
            since: text("since").and_then(|at| at.parse().ok()),
            until: text("until").and_then(|at| at.parse().ok()),
            most: text("max").and_then(|most| most.parse().ok()).unwrap_or(usize::MAX),
            versus: text("vs").and_then(|id| id.parse().ok()),
            rated: request.flag("rated"),
            perfs: perfs.split(',').filter(|key| !key.is_empty()).map(PerfKey::from).collect(),
            color: match text("color").as_deref() {
                Some("white") => Some(Color::White),
                Some("black") => Some(Color::Black),
                _ => None,
            },
            ongoing: request.flag("ongoing").unwrap_or(false),
            finished: request.flag("finished").unwrap_or(true),
            oldest_first: text("sort").as_deref() == Some("dateAsc"),
        }
    }

    fn wants(&self, game: &Game, side: Color) -> bool {
        let created = millis(game.created);
        let is_over = game.end.is_some();
        self.since.is_none_or(|since| created >= since)
            && self.until.is_none_or(|until| created <= until)
            && self.versus.as_ref().is_none_or(|id| game.players[!side].id == *id)
            && self.rated.is_none_or(|rated| game.terms.rated == rated)
            && (self.perfs.is_empty() || self.perfs.contains(&game.perf()))
            && self.color.is_none_or(|color| color == side)
            && ((is_over && self.finished) || (!is_over && self.ongoing))
            // What was aborted is no game.
            && (!is_over || !game.is_void())
    }
}

impl DeskActor {
    pub(super) fn export(&self, id: GameId, style: &Style) -> Result<Answer, Answer> {
        let game = self.games.get(&id).ok_or_else(|| Answer::missing("Not found"))?;
        Ok(match style.json {
            true => Answer::of(Body::Json(game.json(style, self.config.listen).to_string())),
            false => Answer::of(Body::Pgn(game.pgn(style, self.config.listen))),
        })
    }

    pub(super) fn games_of(&self, who: &UserId, filter: &Filter, style: &Style) -> Result<Answer, Answer> {
        self.people.find(who).ok_or_else(|| Answer::missing("Not found"))?;
        let wanted = |game: &&Game| game.side_of(who).is_some_and(|side| filter.wants(game, side));
        let mut games: Vec<&Game> = self.games.values().filter(wanted).collect();
        match filter.oldest_first {
            true => games.sort_by_key(|game| game.created),
            false => games.sort_by_key(|game| Reverse(game.created)),
        }
        Ok(self.records(games.into_iter().take(filter.most), style))
    }

    /// Those of these that there are.
    pub(super) fn games_by_id(&self, ids: &[GameId], style: &Style) -> Answer {
        self.records(ids.iter().filter_map(|id| self.games.get(id)), style)
    }

    pub(super) fn records<'g>(&self, games: impl Iterator<Item = &'g Game>, style: &Style) -> Answer {
        Answer::of(match style.json {
            true => Body::Lines(
                games.map(|game| game.json(style, self.config.listen).to_string() + "\n").collect(),
            ),
            false => Body::Pgn(games.map(|game| game.pgn(style, self.config.listen)).collect()),
        })
    }
}

fn millis(at: OffsetDateTime) -> i128 {
    at.unix_timestamp_nanos() / 1_000_000
}

fn whole(at: OffsetDateTime) -> Value {
    json!(u64::try_from(millis(at)).unwrap_or_default())
}

impl Game {
    /// As a line of JSON.
    fn json(&self, style: &Style, site: SocketAddr) -> Value {
        let [white, black] = &self.players.0;
        let diff = |side: Color| self.diffs.map(|diffs| diffs[side]);
        let mut told = json!({
            "id": self.id,
            "rated": self.terms.rated,
            "variant": self.terms.variant,
            "speed": self.terms.time.speed(),
            "perf": perf(&self.terms.variant, &self.terms.time),
            "createdAt": whole(self.created),
            "lastMoveAt": whole(self.moved),
            "status": self.status(),
            "source": self.terms.source,
            "players": { "white": player(white, diff(Color::White)), "black": player(black, diff(Color::Black)) },
        });
        let mut add = |key: &str, value: Value| {
            if let Some(told) = told.as_object_mut() {
                told.insert(key.to_owned(), value);
            }
        };
        if let Some(fen) = &self.terms.fen {
            add("initialFen", json!(fen));
        }
        if let Some(winner) = self.end.as_ref().and_then(|end| end.winner) {
            add("winner", json!(winner));
        }
        match &self.terms.time {
            TimeControl::Clock(clock) => {
                let (initial, increment) = (clock.initial.as_secs(), clock.increment.as_secs());
                let total = initial + 40 * increment;
                add("clock", json!({ "initial": initial, "increment": increment, "totalTime": total }));
            }
            TimeControl::Correspondence { days } => add("daysPerTurn", json!(days)),
            _ => {}
        }
        let plies = self.shown();
        if style.moves {
            add("moves", json!(plies.iter().map(|ply| ply.text.as_str()).collect::<Vec<_>>().join(" ")));
        }
        if style.clocks && self.clock.is_some() {
            let centis = |left: Duration| u64::try_from(left.as_millis() / 10).unwrap_or_default();
            add("clocks", json!(plies.iter().filter_map(|ply| ply.left).map(centis).collect::<Vec<_>>()));
        }
        if style.last_fen && self.end.is_some() {
            add("lastFen", json!(self.fen()));
        }
        if style.pgn_in_json {
            add("pgn", json!(self.pgn(style, site)));
        }
        told
    }
}

fn player(player: &Player, diff: Option<i32>) -> Value {
    if let Some(level) = player.ai_level {
        return json!({ "aiLevel": level });
    }
    let mut user =
        Map::from_iter([("id".to_owned(), json!(player.id)), ("name".to_owned(), json!(player.name))]);
    user.extend(player.title.as_ref().map(|title| ("title".to_owned(), json!(title))));
    let mut told = Map::from_iter([("user".to_owned(), Value::Object(user))]);
    told.extend(player.rating.map(|rating| ("rating".to_owned(), json!(rating))));
    told.extend(diff.map(|diff| ("ratingDiff".to_owned(), json!(diff))));
    told.extend(player.provisional.then(|| ("provisional".to_owned(), json!(true))));
    Value::Object(told)
}
