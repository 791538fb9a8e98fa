//! A game as it is told: to its streams, to its players' event streams, and as PGN.

use std::{fmt::Write, net::SocketAddr, time::Duration};

use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, MoveText};
use zeitnot_wire::{
    lichess::{
        Compat, Expiration, FullId, GameEvent, GameFull, GameId, GameState, Opponent, PerfKey, PerfName,
        Player as Told, Speed, Status, TimeControl, Variant, VariantKey,
    },
    pgn::{self, Pgn, Ply},
};

use super::{
    export::Style,
    game::{End, Game, Player},
};

/// What clocks show where there are none.
const NO_CLOCK: Duration = Duration::from_millis(i32::MAX as u64);
/// So many plies of a running game are kept from those who ask for its record.
const SECRET: usize = 3;

/// The rating that a game is about.
pub(super) fn perf(variant: &VariantKey, time: &TimeControl) -> PerfKey {
    match variant {
        VariantKey::Standard | VariantKey::FromPosition => time.speed().as_str().into(),
        variant => variant.as_str().into(),
    }
}

/// The same, for people.
pub(super) fn perf_name(variant: &VariantKey, time: &TimeControl) -> PerfName {
    let name = match perf(variant, time) {
        PerfKey::UltraBullet => "UltraBullet",
        PerfKey::Bullet => "Bullet",
        PerfKey::Blitz => "Blitz",
        PerfKey::Rapid => "Rapid",
        PerfKey::Classical => "Classical",
        PerfKey::Correspondence => "Correspondence",
        _ => return PerfName { icon: None, name: Variant::from(variant.clone()).name },
    };
    PerfName { icon: None, name: name.to_owned() }
}

impl Game {
    fn speed(&self) -> Speed {
        self.terms.time.speed()
    }

    pub(super) fn perf(&self) -> PerfKey {
        perf(&self.terms.variant, &self.terms.time)
    }

    pub(super) fn status(&self) -> Status {
        self.end.as_ref().map_or(Status::Started, |end| end.status.clone())
    }

    fn winner(&self) -> Option<Color> {
        self.end.as_ref().and_then(|end| end.winner)
    }

    fn left(&self, side: Color, now: Instant) -> Duration {
        self.clock.as_ref().map_or(NO_CLOCK, |clock| clock.left(side, now))
    }

    /// The first line of a stream.
    pub(super) fn full(&self, now: Instant) -> GameFull {
        let [white, black] = &self.players.0;
        let days_per_turn = match self.terms.time {
            TimeControl::Correspondence { days } => Some(days),
            _ => None,
        };
        let created = self.created.unix_timestamp_nanos() / 1_000_000;
        GameFull {
            id: self.id,
            variant: self.terms.variant.clone().into(),
            clock: self.terms.time.clock(),
            days_per_turn,
            speed: Some(self.speed()),
            perf: Some(perf_name(&self.terms.variant, &self.terms.time)),
            rated: self.terms.rated,
            created_at: u64::try_from(created).ok().map(Duration::from_millis),
            white: told(white),
            black: told(black),
            initial_fen: self.terms.fen.clone().unwrap_or_else(|| "startpos".into()),
            tournament_id: self.arena.map(|(id, _)| id),
            state: self.state(now),
        }
    }

    /// How it stands.
    pub(super) fn state(&self, now: Instant) -> GameState {
        let expires = self.expires().filter(|_| self.end.is_none());
        let expiration =
            expires.map(|at| Expiration { idle: self.waited(now), left: at.saturating_duration_since(now) });
        let increment = |side| {
            let clock = self.clock.as_ref().filter(|_| self.terms.time.clock().is_some());
            clock.map_or(Duration::ZERO, |clock| clock.increment(side))
        };
        let ByColor([wdraw, bdraw]) = self.draws;
        let ByColor([wtakeback, btakeback]) = self.takebacks;
        GameState {
            moves: self.line.moves().iter().map(MoveText::as_str).collect::<Vec<_>>().join(" "),
            wtime: Some(self.left(Color::White, now)),
            btime: Some(self.left(Color::Black, now)),
            winc: increment(Color::White),
            binc: increment(Color::Black),
            status: self.status(),
            winner: self.winner(),
            wdraw,
            bdraw,
            wtakeback,
            btakeback,
            expiration,
            rematch: self.rematch,
        }
    }

    /// For the event stream of one side, and its list of games.
    pub(super) fn event(&self, side: Color, now: Instant) -> GameEvent {
        let opponent = &self.players[!side];
        GameEvent {
            full_id: full_id(self.id, side),
            game_id: self.id,
            id: Some(self.id),
            fen: self.line.now(),
            color: side,
            last_move: self.line.moves().last().map(MoveText::to_string).unwrap_or_default(),
            source: Some(self.terms.source.clone()),
            status: self.status(),
            variant: self.terms.variant.clone().into(),
            speed: Some(self.speed()),
            perf: Some(self.perf()),
            rating: self.players[side].rating,
            rated: self.terms.rated,
            has_moved: self.line.moves().len() > side as usize,
            opponent: against(opponent, self.diffs.map(|diffs| diffs[!side])),
            is_my_turn: self.end.is_none() && self.side_to_move() == side,
            seconds_left: self.clock.as_ref().map(|clock| clock.left(side, now)),
            winner: self.winner(),
            rating_diff: self.diffs.map(|diffs| diffs[side]),
            tournament_id: self.arena.map(|(id, _)| id),
            swiss_id: None,
            compat: Some(Compat { bot: true, board: self.speed() >= Speed::Rapid }),
        }
    }

    /// What may be known of the moves: of a game that runs, all but the last.
    pub(super) fn shown(&self) -> &[Ply] {
        let secret = if self.end.is_none() { SECRET } else { 0 };
        &self.plies[..self.plies.len().saturating_sub(secret)]
    }

    /// The position that it has come to.
    pub(super) fn fen(&self) -> String {
        self.line.now()
    }

    /// Was it called off?
    pub(super) fn is_void(&self) -> bool {
        self.status() == Status::Aborted
    }

    /// The record of the game, which was played on the server there.
    pub(super) fn pgn(&self, style: &Style, site: SocketAddr) -> String {
        let left = |ply: &Ply| ply.left.filter(|_| style.clocks);
        let plies = self.shown().iter().filter(|_| style.moves);
        let plies = plies.map(|ply| Ply { left: left(ply), ..ply.clone() }).collect();
        let tags = if style.tags { self.tags(site) } else { Vec::new() };
        let fen = self.terms.variant.set_up(self.terms.fen.as_deref()).filter(|_| style.tags);
        Pgn { tags, fen, plies, result: self.result() }.print()
    }

    fn result(&self) -> &'static str {
        match &self.end {
            Some(End { winner: Some(Color::White), .. }) => "1-0",
            Some(End { winner: Some(Color::Black), .. }) => "0-1",
            None | Some(End { status: Status::Aborted | Status::UnknownFinish, .. }) => "*",
            Some(_) => "1/2-1/2",
        }
    }

    fn tags(&self, site: SocketAddr) -> Vec<(&'static str, String)> {
        let (date, time) = (pgn::date(self.created), pgn::time(self.created));
        let rated = if self.terms.rated { "Rated" } else { "Casual" };
        let variant = self.terms.variant.clone();
        let name = perf_name(&variant, &self.terms.time).name;
        let [white, black] = &self.players.0;
        let rating =
            |player: &Player| player.rating.map_or_else(|| "?".to_owned(), |rating| rating.to_string());
        let title = |tag: &'static str, player: &Player| {
            player.title.as_ref().map(|title| (tag, title.as_str().to_owned()))
        };
        let titles = [title("WhiteTitle", white), title("BlackTitle", black)];
        let mut tags = vec![
            ("Event", format!("{rated} {name} game")),
            ("Site", format!("http://{site}/{}", self.id)),
            ("Date", date.clone()),
            ("Round", "-".to_owned()),
            ("White", shown_name(white)),
            ("Black", shown_name(black)),
            ("Result", self.result().to_owned()),
            ("GameId", self.id.to_string()),
            ("UTCDate", date),
            ("UTCTime", time),
            ("WhiteElo", rating(white)),
            ("BlackElo", rating(black)),
            ("Variant", Variant::from(variant).name),
            ("TimeControl", self.time_control()),
            ("Termination", self.termination().to_owned()),
        ];
        if let Some(ByColor([white, black])) = self.diffs {
            tags.extend([
                ("WhiteRatingDiff", format!("{white:+}")),
                ("BlackRatingDiff", format!("{black:+}")),
            ]);
        }
        tags.extend(titles.into_iter().flatten());
        tags
    }

    fn time_control(&self) -> String {
        let mut text = String::new();
        let _ = match &self.terms.time {
            TimeControl::Clock(clock) => {
                write!(text, "{}+{}", clock.initial.as_secs(), clock.increment.as_secs())
            }
            TimeControl::Correspondence { days } => write!(text, "1/{}", u64::from(*days) * 86_400),
            _ => write!(text, "-"),
        };
        text
    }

    fn termination(&self) -> &'static str {
        match self.status() {
            Status::Created | Status::Started => "Unterminated",
            Status::Aborted | Status::NoStart | Status::Timeout | Status::UnknownFinish => "Abandoned",
            Status::OutOfTime => "Time forfeit",
            _ => "Normal",
        }
    }
}

/// As records have it: the computer has no name of its own.
fn shown_name(player: &Player) -> String {
    player.ai_level.map_or_else(|| player.name.clone(), |level| format!("AI level {level}"))
}

/// The game with a player's side in it.
pub(super) fn full_id(id: GameId, side: Color) -> Option<FullId> {
    let tail = match side {
        Color::White => "wh1t",
        Color::Black => "b1ck",
    };
    format!("{id}{tail}").parse().ok()
}

/// As the other one sees it, with the title as a part of the name. The computer has no name of its own.
fn against(player: &Player, rating_diff: Option<i32>) -> Opponent {
    match player.ai_level {
        Some(level) => Opponent { username: shown_name(player), ai: Some(level), ..Opponent::default() },
        None => Opponent {
            id: Some(player.id.clone()),
            username: titled_name(player),
            rating: player.rating,
            rating_diff,
            ai: None,
        },
    }
}

fn titled_name(player: &Player) -> String {
    match &player.title {
        Some(title) => format!("{} {}", title.as_str(), player.name),
        None => player.name.clone(),
    }
}

fn told(player: &Player) -> Told {
    if player.ai_level.is_some() {
        return Told { ai_level: player.ai_level, ..Told::default() };
    }
    Told {
        id: Some(player.id.clone()),
        name: player.name.clone(),
        title: player.title.clone(),
        rating: player.rating,
        provisional: player.provisional,
        ai_level: None,
    }
}
