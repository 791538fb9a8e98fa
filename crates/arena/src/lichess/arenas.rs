//! Arena tournaments at the desk: looked up, joined and left, paired as players become free.

use std::collections::BTreeSet;

use hyper::StatusCode;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::Instant;

use zeitnot_rules::{ByColor, Color, chess::shuffled};
use zeitnot_wire::lichess::{
    GameRule, JoinTournament, Source, TimeControl, TournamentId, UserId, Variant, VariantKey,
};

use super::{
    answer::{Answer, Body, Outcome},
    arena::{Arena, Stage},
    challenges::line,
    config::TournamentConfig,
    desk::DeskActor,
    game::{Game, Terms},
    limit::Ration,
    messages::perf_name,
};

/// Tournaments, those that are over included; then the oldest are forgotten.
const MOST: usize = 200;
/// Players in the list of a tournament.
const PAGE: usize = 10;

impl DeskActor {
    pub(super) fn open_arena(&mut self, terms: TournamentConfig) -> Outcome {
        terms.check().map_err(|why| Answer::bad(&why))?;
        if let Some(team) = terms.team.as_ref().filter(|team| !self.society.has_team(team)) {
            return Err(Answer::bad(&format!("There is no team {team}")));
        }
        let now = OffsetDateTime::now_utc();
        let id = terms.id.unwrap_or_else(|| self.free_id().into());
        if self.arenas.contains_key(&id) {
            return Err(Answer::bad("There is a tournament of that id"));
        }
        if self.arenas.len() >= MOST {
            let over = self.arenas.values().filter(|arena| arena.stage(now) == Stage::Over);
            let Some(oldest) = over.min_by_key(|arena| arena.starts()).map(|arena| arena.id) else {
                return Err(Answer::too_many("There are too many tournaments"));
            };
            self.arenas.remove(&oldest);
        }
        tracing::info!("Lichess: tournament {id}: {}", terms.name);
        let arena = Arena::new(id, terms, now);
        let told = self.full(&arena, now);
        self.arenas.insert(id, arena);
        Ok(Answer::of(Body::Json(told.to_string())))
    }

    pub(super) fn list_arenas(&self) -> Answer {
        let now = OffsetDateTime::now_utc();
        let at = |stage: Stage| {
            let arenas = self.arenas.values().filter(|arena| arena.stage(now) == stage);
            arenas.map(|arena| self.brief(arena, now)).collect::<Vec<_>>()
        };
        let all = json!({
            "created": at(Stage::Ahead), "started": at(Stage::Running), "finished": at(Stage::Over)
        });
        Answer::of(Body::Json(all.to_string()))
    }

    pub(super) fn show_arena(&self, id: TournamentId) -> Outcome {
        let arena = self.arenas.get(&id).ok_or_else(gone)?;
        Ok(Answer::of(Body::Json(self.full(arena, OffsetDateTime::now_utc()).to_string())))
    }

    pub(super) fn join_arena(
        &mut self,
        who: &UserId,
        id: TournamentId,
        form: &JoinTournament,
        at: Instant,
    ) -> Outcome {
        let slowly = |_| Answer::too_many("Too many requests. Try again later.");
        self.rations.take(who, Ration::Join, 1, at).map_err(slowly)?;
        let is_bot = self.people.find(who).is_some_and(|person| person.user.is_bot());
        let arena = self.arenas.get_mut(&id).ok_or_else(gone)?;
        if is_bot && !arena.terms.bots_allowed {
            return Err(Answer::bad("This tournament is not open to bots"));
        }
        if arena.terms.team.as_ref().is_some_and(|team| !self.society.is_member(team, who)) {
            return Err(Answer::bad("You must be in the right team"));
        }
        let joined = arena.join(who, form.password.as_deref(), OffsetDateTime::now_utc());
        joined.map_err(|barred| Answer::bad(&barred.to_string()))?;
        Ok(Answer::done())
    }

    pub(super) fn leave_arena(&mut self, who: &UserId, id: TournamentId) -> Outcome {
        let arena = self.arenas.get_mut(&id).ok_or_else(gone)?;
        arena.withdraw(who, OffsetDateTime::now_utc());
        Ok(Answer::done())
    }

    /// Games for those who are free.
    pub(super) fn pair_arenas(&mut self, at: Instant) {
        let now = OffsetDateTime::now_utc();
        let running = self.arenas.values().filter(|arena| arena.stage(now) == Stage::Running);
        for id in running.map(|arena| arena.id).collect::<Vec<_>>() {
            let busy: BTreeSet<UserId> = self
                .running()
                .filter(|game| game.arena.is_some())
                .flat_map(|game| game.players.0.iter().map(|player| player.id.clone()))
                .collect();
            let entries = self.arenas.get(&id).into_iter().flat_map(|arena| arena.entries.keys());
            let is_free = |who: &&UserId| !busy.contains(who) && self.is_online(who);
            let free: BTreeSet<UserId> = entries.filter(is_free).cloned().collect();
            let pairs = self
                .arenas
                .get_mut(&id)
                .map(|arena| arena.pair(|who| free.contains(who)))
                .unwrap_or_default();
            for players in pairs {
                self.begin_in_arena(id, &players, at);
            }
        }
    }

    fn begin_in_arena(&mut self, id: TournamentId, players: &ByColor<UserId>, at: Instant) {
        let Some(arena) = self.arenas.get(&id).filter(|_| self.check_room().is_ok()) else { return };
        let (terms, berserk) = (terms(&arena.terms), arena.terms.berserk);
        let [white, black] = &players.0;
        let (Ok(line), Ok(white), Ok(black)) =
            (line(&terms), self.player(white, &terms), self.player(black, &terms))
        else {
            return;
        };
        let patience = self.patience();
        let mut game = Game::new(self.free_id().into(), terms, line, ByColor([white, black]), patience, at);
        game.arena = Some((id, berserk));
        self.begin(game, at);
    }

    /// A game of a tournament is over.
    pub(super) fn count_in_arena(&mut self, id: TournamentId, game: &ArenaGame) {
        if let Some(arena) = self.arenas.get_mut(&id) {
            let ArenaGame { players, winner, brave, plies, has_begun } = game;
            let now = OffsetDateTime::now_utc();
            arena.record(players, *winner, *brave, *plies, now);
            if let Some(winner) = winner.filter(|_| !has_begun) {
                // Who did not move gets no more opponents before joining again.
                arena.withdraw(&players[!winner], now);
            }
        }
    }

    fn brief(&self, arena: &Arena, now: OffsetDateTime) -> Value {
        let (config, terms, stage) = (&arena.terms, terms(&arena.terms), arena.stage(now));
        let date = |at: OffsetDateTime| (at.unix_timestamp_nanos() / 1_000_000) as i64;
        let status = match stage {
            Stage::Ahead => 10,
            Stage::Running => 20,
            Stage::Over => 30,
        };
        json!({
            "id": arena.id, "createdBy": "lichess", "system": "arena", "fullName": config.name,
            "minutes": config.lasts.as_secs() / 60,
            "clock": {"limit": config.time.initial.as_secs(), "increment": config.time.increment.as_secs()},
            "rated": config.rated, "nbPlayers": arena.entries.len(), "variant": Variant::from(terms.variant.clone()),
            "startsAt": date(arena.starts()), "finishesAt": date(arena.ends()), "status": status,
            "perf": {"key": terms.time.speed(), "name": perf_name(&terms.variant, &terms.time).name},
            "hasMaxRating": false, "botsAllowed": config.bots_allowed,
        })
    }

    fn full(&self, arena: &Arena, now: OffsetDateTime) -> Value {
        let stage = arena.stage(now);
        let mut told = self.brief(arena, now);
        let ranking = arena.ranking();
        let player = |(place, (who, entry)): (usize, &(&UserId, &super::arena::Entry))| {
            let person = self.people.find(who)?;
            let terms = terms(&arena.terms);
            let rating = person.perf(&super::messages::perf(&terms.variant, &terms.time)).rating;
            let scores: String = entry.sheet.iter().rev().map(u32::to_string).collect();
            Some(json!({
                "name": person.user.username, "title": person.user.title, "rank": place + 1, "rating": rating,
                "score": entry.score, "sheet": {"scores": scores, "fire": entry.is_on_fire()},
                "withdraw": entry.is_away,
            }))
        };
        let players: Vec<Value> = ranking.iter().take(PAGE).enumerate().filter_map(player).collect();
        let starts = arena.starts().format(&Rfc3339).unwrap_or_default();
        let more = json!({
            "berserkable": arena.terms.berserk, "private": arena.terms.password.is_some(),
            "startsAt": starts, "isStarted": stage != Stage::Ahead, "isFinished": stage == Stage::Over,
            "pairingsClosed": stage == Stage::Over, "isRecentlyFinished": false,
            "teamMember": arena.terms.team, "standing": {"page": 1, "players": players},
        });
        if let (Value::Object(told), Value::Object(more)) = (&mut told, more) {
            told.extend(more);
            let seconds = |then| Arena::until(then, now).as_secs();
            match stage {
                Stage::Ahead => drop(told.insert("secondsToStart".into(), seconds(arena.starts()).into())),
                Stage::Running => drop(told.insert("secondsToFinish".into(), seconds(arena.ends()).into())),
                Stage::Over => {}
            }
        }
        told
    }
}

impl Game {
    /// Half of the time, and no increment, for a point more.
    pub(super) fn berserk(&mut self, side: Color, now: Instant) -> Result<(), String> {
        let is_possible = self.arena.is_some_and(|(_, is_possible)| is_possible);
        let has_moved = self.line.moves().len() > side as usize;
        let can = is_possible && !has_moved && !self.brave[side];
        let clock = self.clock.as_mut().filter(|_| can).ok_or("This game is not berserkable")?;
        clock.halve(side);
        self.brave[side] = true;
        self.tell_state(now);
        Ok(())
    }
}

/// A game of a tournament that is over, as its table needs it.
#[derive(Debug)]
pub(super) struct ArenaGame {
    pub(super) players: ByColor<UserId>,
    pub(super) winner: Option<Color>,
    pub(super) brave: ByColor<bool>,
    pub(super) plies: usize,
    /// A first move that did not come has lost it.
    pub(super) has_begun: bool,
}

fn terms(config: &TournamentConfig) -> Terms {
    Terms {
        variant: config.variant.clone(),
        rated: config.rated,
        time: TimeControl::Clock(config.time),
        fen: (config.variant == VariantKey::Chess960).then(|| shuffled(&mut fastrand::Rng::new())),
        source: Source::Arena,
        rules: vec![GameRule::NoGiveTime, GameRule::NoRematch, GameRule::NoAbort],
    }
}

fn gone() -> Answer {
    Answer::refused(StatusCode::NOT_FOUND, "No such tournament")
}
