//! Arena tournaments: joining, pairing of free players, scores, and JSON for clients.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::lichess::{JoinTournament, Source, TimeControl, TournamentId, UserId, Variant, VariantKey};

use super::{
    accounts::Accounts,
    answer::{Answer, Outcome, Refusal},
    config::TournamentConfig,
    game::TournamentGame,
    games::{Games, TournamentResult, player},
    teams::Teams,
    terms::{Terms, random_960},
};
use crate::secret::is_same_if_asked;

/// Tournaments, finished ones included; beyond them the oldest finished one is dropped.
const MAX_TOURNAMENTS: usize = 200;
const MAX_PLAYERS: usize = 10_000;
/// Players on the first page of the standing.
const PAGE: usize = 10;
/// Wins in a row after which games count double.
const STREAK: u32 = 2;
/// Plies that a berserker's game must have for the extra point.
const BERSERK_PLIES: usize = 14;

/// The result of a player so far.
#[derive(Clone, Debug, Default)]
struct Entry {
    score: u32,
    /// Points of each game.
    points: Vec<u32>,
    streak: u32,
    has_withdrawn: bool,
    last_opponent: Option<UserId>,
    /// Games with White minus games with Black.
    color_balance: i32,
}

impl Entry {
    fn is_on_fire(&self) -> bool {
        self.streak >= STREAK
    }

    fn count(&mut self, won: Option<bool>, has_bonus: bool) {
        let factor = if self.is_on_fire() { 2 } else { 1 };
        let points = match won {
            Some(true) => 2 * factor + u32::from(has_bonus),
            None => factor,
            Some(false) => 0,
        };
        self.streak = if won == Some(true) { self.streak + 1 } else { 0 };
        self.score += points;
        self.points.push(points);
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Created,
    Started,
    Finished,
}

#[derive(Debug)]
struct Tournament {
    id: TournamentId,
    config: TournamentConfig,
    starts: OffsetDateTime,
    entries: BTreeMap<UserId, Entry>,
}

impl Tournament {
    fn new(id: TournamentId, config: TournamentConfig, now: OffsetDateTime) -> Tournament {
        Tournament { id, starts: now + config.starts_in, config, entries: BTreeMap::new() }
    }

    fn ends(&self) -> OffsetDateTime {
        self.starts + self.config.lasts
    }

    fn stage(&self, now: OffsetDateTime) -> Stage {
        match now {
            now if now < self.starts => Stage::Created,
            now if now < self.ends() => Stage::Started,
            _ => Stage::Finished,
        }
    }

    fn join(
        &mut self,
        who: &UserId,
        password: Option<&str>,
        now: OffsetDateTime,
    ) -> Result<(), &'static str> {
        if self.stage(now) == Stage::Finished {
            return Err("This tournament is over");
        } else if let Some(entry) = self.entries.get_mut(who) {
            entry.has_withdrawn = false;
            return Ok(());
        } else if !is_same_if_asked(self.config.password.as_deref(), password) {
            return Err("Wrong password");
        } else if self.entries.len() >= MAX_PLAYERS {
            return Err("There are too many players");
        }
        self.entries.insert(who.clone(), Entry::default());
        Ok(())
    }

    /// Before the start, leaving removes the entry.
    fn withdraw(&mut self, who: &UserId, now: OffsetDateTime) {
        if self.stage(now) == Stage::Created {
            self.entries.remove(who);
        } else if let Some(entry) = self.entries.get_mut(who) {
            entry.has_withdrawn = true;
        }
    }

    fn ranking(&self) -> Vec<(&UserId, &Entry)> {
        let mut ranking: Vec<_> = self.entries.iter().collect();
        ranking.sort_by_key(|(_, entry)| Reverse(entry.score));
        ranking
    }

    /// Pairs free players, neighbours in the ranking; not the same two again if there is anybody else.
    fn pair(&mut self, is_free: impl Fn(&UserId) -> bool) -> Vec<ByColor<UserId>> {
        let free = |(who, entry): &(&UserId, &Entry)| !entry.has_withdrawn && is_free(who);
        let mut waiting: Vec<UserId> =
            self.ranking().into_iter().filter(free).map(|(who, _)| who.clone()).collect();
        let is_duel = self.entries.values().filter(|entry| !entry.has_withdrawn).count() == 2;
        let mut pairs = Vec::new();
        while waiting.len() >= 2 {
            let who = waiting.remove(0);
            let last = self.entries.get(&who).and_then(|entry| entry.last_opponent.clone());
            let fresh = waiting.iter().position(|other| is_duel || last.as_ref() != Some(other));
            if let Some(at) = fresh {
                let other = waiting.remove(at);
                pairs.push(self.draw_colors(who, other));
            }
        }
        pairs
    }

    /// White goes to whoever had Black more often.
    fn draw_colors(&mut self, one: UserId, other: UserId) -> ByColor<UserId> {
        let balance = |who: &UserId| self.entries.get(who).map_or(0, |entry| entry.color_balance);
        let is_white = match balance(&one).cmp(&balance(&other)) {
            Ordering::Greater => false,
            Ordering::Less => true,
            Ordering::Equal => fastrand::bool(),
        };
        let players = ByColor(if is_white { [one, other] } else { [other, one] });
        for color in Color::BOTH {
            if let Some(entry) = self.entries.get_mut(&players[color]) {
                entry.last_opponent = Some(players[!color].clone());
                entry.color_balance += if color == Color::White { 1 } else { -1 };
            }
        }
        players
    }

    /// Counts a game. One that ends after the tournament does not count.
    fn record(&mut self, result: &TournamentResult, now: OffsetDateTime) {
        let TournamentResult { players, winner, berserked, plies, is_no_show, .. } = result;
        if self.stage(now) == Stage::Started {
            for color in Color::BOTH {
                if let Some(entry) = self.entries.get_mut(&players[color]) {
                    let has_bonus = berserked[color] && *plies >= BERSERK_PLIES;
                    entry.count(winner.map(|winner| winner == color), has_bonus);
                }
            }
        }
        if let Some(winner) = winner.filter(|_| *is_no_show) {
            // The absent player is paired again after joining again.
            self.withdraw(&players[!winner], now);
        }
    }

    fn terms(&self) -> Terms {
        let TournamentConfig { variant, rated, time, .. } = &self.config;
        Terms {
            variant: variant.clone(),
            rated: *rated,
            time: TimeControl::Clock(*time),
            fen: (*variant == VariantKey::Chess960).then(random_960),
            source: Source::Arena,
        }
    }

    /// As lists show it.
    fn brief(&self, now: OffsetDateTime) -> Value {
        let (config, terms, stage) = (&self.config, self.terms(), self.stage(now));
        let date = |at: OffsetDateTime| (at.unix_timestamp_nanos() / 1_000_000) as i64;
        let status = match stage {
            Stage::Created => 10,
            Stage::Started => 20,
            Stage::Finished => 30,
        };
        json!({
            "id": self.id, "createdBy": "lichess", "system": "arena", "fullName": config.name,
            "minutes": config.lasts.as_secs() / 60,
            "clock": {"limit": config.time.initial.as_secs(), "increment": config.time.increment.as_secs()},
            "rated": config.rated, "nbPlayers": self.entries.len(), "variant": Variant::from(terms.variant.clone()),
            "startsAt": date(self.starts), "finishesAt": date(self.ends()), "status": status,
            "perf": {"key": terms.time.speed(), "name": terms.perf_name().name},
            "hasMaxRating": false, "botsAllowed": config.bots_allowed,
        })
    }

    fn full(&self, accounts: &Accounts, now: OffsetDateTime) -> Value {
        let (stage, perf) = (self.stage(now), self.terms().perf());
        let player = |(place, (who, entry)): (usize, (&UserId, &Entry))| {
            let account = accounts.map.get(who)?;
            let scores: String = entry.points.iter().rev().map(u32::to_string).collect();
            Some(json!({
                "name": account.user.username, "title": account.user.title, "rank": place + 1,
                "rating": account.perf(&perf).rating, "score": entry.score,
                "sheet": {"scores": scores, "fire": entry.is_on_fire()}, "withdraw": entry.has_withdrawn,
            }))
        };
        let players: Vec<Value> =
            self.ranking().into_iter().take(PAGE).enumerate().filter_map(player).collect();
        let mut full = self.brief(now);
        for (key, value) in [
            ("berserkable", json!(self.config.berserk)),
            ("private", json!(self.config.password.is_some())),
            ("startsAt", json!(self.starts.format(&Rfc3339).unwrap_or_default())),
            ("isStarted", json!(stage != Stage::Created)),
            ("isFinished", json!(stage == Stage::Finished)),
            ("pairingsClosed", json!(stage == Stage::Finished)),
            ("isRecentlyFinished", json!(false)),
            ("teamMember", json!(self.config.team)),
            ("standing", json!({"page": 1, "players": players})),
        ] {
            full[key] = value;
        }
        let seconds =
            |then: OffsetDateTime| json!(Duration::try_from(then - now).unwrap_or_default().as_secs());
        match stage {
            Stage::Created => full["secondsToStart"] = seconds(self.starts),
            Stage::Started => full["secondsToFinish"] = seconds(self.ends()),
            Stage::Finished => {}
        }
        full
    }
}

#[derive(Debug, Default)]
pub(super) struct Tournaments(BTreeMap<TournamentId, Tournament>);

impl Tournaments {
    /// Opens a tournament; `id` is taken if the configuration has none.
    pub(super) fn open(
        &mut self,
        config: TournamentConfig,
        id: TournamentId,
        teams: &Teams,
        accounts: &Accounts,
    ) -> Outcome {
        config.check().map_err(|why| Refusal::bad(&why))?;
        if let Some(team) = config.team.as_ref().filter(|team| !teams.exists(team)) {
            return Err(Refusal::bad(&format!("There is no team {team}")));
        }
        let now = OffsetDateTime::now_utc();
        let id = config.id.unwrap_or(id);
        if self.0.contains_key(&id) {
            return Err(Refusal::bad("There is a tournament of that id"));
        }
        if self.0.len() >= MAX_TOURNAMENTS {
            let finished = self.0.values().filter(|tournament| tournament.stage(now) == Stage::Finished);
            let Some(oldest) = finished.min_by_key(|tournament| tournament.starts).map(|oldest| oldest.id)
            else {
                return Err(Refusal::too_many("There are too many tournaments"));
            };
            self.0.remove(&oldest);
        }
        tracing::info!("Lichess: tournament {id}: {}", config.name);
        let tournament = Tournament::new(id, config, now);
        let shown = tournament.full(accounts, now);
        self.0.insert(id, tournament);
        Ok(Answer::value(&shown))
    }

    pub(super) fn list(&self) -> Answer {
        let now = OffsetDateTime::now_utc();
        let at = |stage: Stage| {
            let tournaments = self.0.values().filter(|tournament| tournament.stage(now) == stage);
            tournaments.map(|tournament| tournament.brief(now)).collect::<Vec<_>>()
        };
        Answer::value(&json!({
            "created": at(Stage::Created), "started": at(Stage::Started), "finished": at(Stage::Finished)
        }))
    }

    pub(super) fn show(&self, id: TournamentId, accounts: &Accounts) -> Outcome {
        let tournament = self.0.get(&id).ok_or_else(gone)?;
        Ok(Answer::value(&tournament.full(accounts, OffsetDateTime::now_utc())))
    }

    pub(super) fn join(
        &mut self,
        who: &UserId,
        id: TournamentId,
        form: &JoinTournament,
        teams: &Teams,
        accounts: &Accounts,
    ) -> Outcome {
        let tournament = self.0.get_mut(&id).ok_or_else(gone)?;
        if accounts.is_bot(who) && !tournament.config.bots_allowed {
            return Err(Refusal::bad("This tournament is not open to bots"));
        }
        if tournament.config.team.as_ref().is_some_and(|team| !teams.is_member(team, who)) {
            return Err(Refusal::bad("You must be in the right team"));
        }
        let joined = tournament.join(who, form.password.as_deref(), OffsetDateTime::now_utc());
        joined.map(|()| Answer::done()).map_err(Refusal::bad)
    }

    pub(super) fn withdraw(&mut self, who: &UserId, id: TournamentId) -> Outcome {
        self.0.get_mut(&id).ok_or_else(gone)?.withdraw(who, OffsetDateTime::now_utc());
        Ok(Answer::done())
    }

    /// Begins games between players who are connected and not in a tournament game.
    pub(super) fn pair(&mut self, games: &mut Games, accounts: &Accounts, at: Instant) {
        let now = OffsetDateTime::now_utc();
        for tournament in self.0.values_mut().filter(|tournament| tournament.stage(now) == Stage::Started) {
            let in_tournament = games.running().filter(|game| game.tournament.is_some());
            let busy: BTreeSet<UserId> = in_tournament
                .flat_map(|game| game.players.0.iter().map(|player| player.id.clone()))
                .collect();
            for players in tournament.pair(|who| !busy.contains(who) && games.is_online(accounts, who)) {
                let terms = tournament.terms();
                let [white, black] = players.0.map(|id| player(accounts, &id, &terms));
                let (Ok(()), Ok(board), Some(white), Some(black)) =
                    (games.check_room(), terms.begin(), white, black)
                else {
                    continue;
                };
                let id = games.free_id().into();
                let mut game = games.create(id, terms, board, ByColor([white, black]), at);
                let has_berserk = tournament.config.berserk;
                game.tournament = Some(TournamentGame { id: tournament.id, has_berserk });
                games.begin(game, accounts, at);
            }
        }
    }

    pub(super) fn record(&mut self, result: &TournamentResult) {
        if let Some(tournament) = self.0.get_mut(&result.tournament) {
            tournament.record(result, OffsetDateTime::now_utc());
        }
    }
}

fn gone() -> Refusal {
    Refusal::missing("No such tournament")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tournament(names: &[&str]) -> (Tournament, OffsetDateTime) {
        let now = OffsetDateTime::now_utc();
        let config: TournamentConfig =
            toml::from_str("name = 'x'\ntime = '60+1'\nlasts = '10m'\npassword = 'p'").unwrap();
        let mut tournament = Tournament::new("abcdefgh".parse().unwrap(), config, now);
        for name in names {
            tournament.join(&name.parse().unwrap(), Some("p"), now).unwrap();
        }
        (tournament, now)
    }

    #[test]
    fn wins_in_a_row_count_double() {
        let (mut tournament, now) = tournament(&["a", "b"]);
        let mut record = |winner, berserked, at| {
            let result = TournamentResult {
                tournament: "abcdefgh".parse().unwrap(),
                players: ByColor(["a".parse().unwrap(), "b".parse().unwrap()]),
                winner,
                berserked: ByColor::both(berserked),
                plies: 40,
                is_no_show: false,
            };
            tournament.record(&result, at);
        };
        let (white, black) = (Some(Color::White), Some(Color::Black));
        [white, white, white, None, black].into_iter().for_each(|winner| record(winner, false, now));
        record(black, true, now);
        record(black, false, now + Duration::from_secs(601));
        let ranking = tournament.ranking();
        assert_eq!((ranking[0].0.as_str(), &ranking[0].1.points), ("a", &vec![2, 2, 4, 2, 0, 0]));
        assert_eq!((ranking[1].1.score, &ranking[1].1.points), (6, &vec![0, 0, 0, 1, 2, 3]));
        assert!(ranking[1].1.is_on_fire() && !ranking[0].1.is_on_fire());
    }

    #[test]
    fn opponents_change_unless_there_are_two_players() {
        let (mut duel, _) = tournament(&["a", "b"]);
        let [first, second] = [0, 1].map(|_| duel.pair(|_| true).remove(0));
        assert_eq!(
            (&first[Color::White], &first[Color::Black]),
            (&second[Color::Black], &second[Color::White])
        );

        let (mut tournament, now) = tournament(&["a", "b", "c"]);
        let pair = tournament.pair(|_| true);
        assert_eq!(pair.len(), 1);
        let [a, b] = pair[0].0.clone();
        assert!(tournament.pair(|who| [&a, &b].contains(&who)).is_empty());
        tournament.withdraw(&a, now);
        assert_eq!(tournament.pair(|_| true).len(), 1);
        assert!(tournament.join(&"d".parse().unwrap(), Some("q"), now).is_err());
        assert!(tournament.join(&a, None, now).is_ok(), "joining again needs no password");
        assert!(tournament.join(&a, None, now + Duration::from_secs(601)).is_err());
    }
}
