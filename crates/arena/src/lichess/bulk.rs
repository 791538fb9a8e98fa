//! Games by the dozen: an organiser pairs people by their tokens, now or later, and may start all clocks at once.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use zeitnot_rules::DynGame;
use zeitnot_wire::lichess::{
    BulkPairing, ChallengeId, GameId, NewChallenge, Scope, Source, StartClocks, Token, UserId,
};

use super::{
    answer::{Answer, Outcome},
    challenges::terms,
    desk::DeskActor,
    export::Style,
    game::Terms,
    open::since_1970,
};

/// Pairs in one request.
const MOST_PAIRS: usize = 500;
/// Requests of one organiser that are kept.
const MOST: usize = 20;
/// How far ahead games can be arranged, and how long they can be asked for afterwards.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What an organiser asks for.
#[derive(Debug)]
pub(super) enum BulkCall {
    List,
    Make(BulkPairing),
    Get(ChallengeId),
    Cancel(ChallengeId),
    StartClocks(ChallengeId),
    Games(ChallengeId, Style),
}

/// One pair.
#[derive(Clone, Debug, Serialize)]
struct Pair {
    id: GameId,
    white: UserId,
    black: UserId,
}

/// Many pairs that play the same.
#[derive(Debug)]
struct Bulk {
    owner: UserId,
    form: NewChallenge,
    /// Where each begins: drawn when it was arranged.
    terms: Terms,
    line: DynGame,
    pairs: Vec<Pair>,
    // All since 1970.
    scheduled_at: Duration,
    pair_at: Duration,
    paired_at: Option<Duration>,
    start_clocks_at: Option<Duration>,
    clocks_started: bool,
}

/// All that was arranged.
#[derive(Debug, Default)]
pub(super) struct Bulks(BTreeMap<ChallengeId, Bulk>);

impl Bulks {
    /// Will a game have this id?
    pub(super) fn has_promised(&self, id: GameId) -> bool {
        let is_bulk = self.0.contains_key(&id.into());
        is_bulk || self.0.values().any(|bulk| bulk.pairs.iter().any(|pair| pair.id == id))
    }

    fn of(&mut self, owner: &UserId, id: ChallengeId) -> Result<&mut Bulk, Answer> {
        let found = self.0.get_mut(&id).filter(|bulk| bulk.owner == *owner);
        found.ok_or_else(|| Answer::missing("Not found"))
    }
}

impl Bulk {
    fn told(&self, id: ChallengeId) -> serde_json::Value {
        let millis = |at: Duration| u64::try_from(at.as_millis()).unwrap_or_default();
        let clock = self.form.time.clock();
        let clock = clock
            .map(|clock| json!({ "limit": clock.initial.as_secs(), "increment": clock.increment.as_secs() }));
        json!({
            "id": id,
            "games": self.pairs,
            "variant": self.terms.variant,
            "clock": clock,
            "rated": self.terms.rated,
            "pairAt": millis(self.pair_at),
            "pairedAt": self.paired_at.map(millis),
            "startClocksAt": self.start_clocks_at.map(millis),
            "scheduledAt": millis(self.scheduled_at),
        })
    }

    /// Is there still something to come?
    fn is_upcoming(&self) -> bool {
        self.paired_at.is_none() || (self.start_clocks_at.is_some() && !self.clocks_started)
    }
}

impl DeskActor {
    pub(super) fn bulk_call(&mut self, who: &UserId, call: BulkCall, at: Instant) -> Outcome {
        match call {
            BulkCall::List => {
                let ours = self.bulks.0.iter().filter(|(_, bulk)| bulk.owner == *who && bulk.is_upcoming());
                Ok(Answer::value(&ours.map(|(id, bulk)| bulk.told(*id)).collect::<Vec<_>>()))
            }
            BulkCall::Make(form) => self.arrange(who, form, at),
            BulkCall::Get(id) => Ok(Answer::value(&self.bulks.of(who, id)?.told(id))),
            BulkCall::Cancel(id) => {
                if self.bulks.of(who, id)?.paired_at.is_some() {
                    return Err(Answer::missing("The games have begun"));
                }
                self.bulks.0.remove(&id);
                Ok(Answer::done())
            }
            BulkCall::StartClocks(id) => {
                let bulk = self.bulks.of(who, id)?;
                if bulk.paired_at.is_some() {
                    bulk.start_clocks_at = Some(since_1970());
                    self.run_bulks(at);
                }
                Ok(Answer::done())
            }
            BulkCall::Games(id, style) => {
                let ids: Vec<GameId> = self.bulks.of(who, id)?.pairs.iter().map(|pair| pair.id).collect();
                Ok(self.records(ids.iter().filter_map(|id| self.games.get(id)), &style))
            }
        }
    }

    fn arrange(&mut self, who: &UserId, form: BulkPairing, at: Instant) -> Outcome {
        let now = since_1970();
        let pair_at = form.pair_at.unwrap_or(now).max(now);
        if !(1..=MOST_PAIRS).contains(&form.players.len()) {
            return Err(Answer::field("players", "Between 1 and 500 pairs of tokens, WHITE:BLACK"));
        } else if pair_at > now + WEEK {
            return Err(Answer::field("pairAt", "At most 7 days ahead"));
        } else if form.start_clocks_at.is_some_and(|start| start < pair_at) {
            return Err(Answer::field("startClocksAt", "Not before pairAt"));
        } else if self.bulks.0.values().filter(|bulk| bulk.owner == *who).count() >= MOST {
            return Err(Answer::too_many("Too many bulk pairings"));
        }
        let (mut terms, line) = terms(&form.terms, self.config.clocks)?;
        terms.source = Source::Api;
        let mut pairs = Vec::new();
        for [white, black] in &form.players {
            let (white, black) = (self.consenting(white)?, self.consenting(black)?);
            if white == black {
                return Err(Answer::field("players", "Nobody plays against oneself"));
            }
            pairs.push(Pair { id: self.free_id().into(), white, black });
        }
        let id = self.free_id();
        let bulk = Bulk {
            owner: who.clone(),
            form: form.terms,
            terms,
            line,
            pairs,
            scheduled_at: now,
            pair_at,
            paired_at: None,
            start_clocks_at: form.start_clocks_at,
            clocks_started: false,
        };
        self.bulks.0.insert(id, bulk);
        self.run_bulks(at);
        Ok(Answer::value(&self.bulks.of(who, id)?.told(id)))
    }

    /// Whose token it is, if it lets others arrange games.
    fn consenting(&self, token: &Token) -> Result<UserId, Answer> {
        let id = self.people.by_token(token).filter(|id| {
            let scopes = [Scope::ChallengeWrite, Scope::BotPlay];
            self.people.find(id).is_some_and(|person| scopes.iter().any(|scope| person.may(scope)))
        });
        // The token itself is not repeated.
        id.cloned().ok_or_else(|| Answer::field("players", "A token is invalid, or lacks challenge:write"))
    }

    /// What was arranged for now: games are made, clocks are started.
    pub(super) fn run_bulks(&mut self, at: Instant) {
        let now = since_1970();
        let mut due = Vec::new();
        self.bulks.0.retain(|_, bulk| {
            let over = bulk.start_clocks_at.unwrap_or(bulk.pair_at).max(bulk.pair_at);
            if bulk.paired_at.is_none() && now >= bulk.pair_at {
                bulk.paired_at = Some(now);
                due.push((bulk.terms.clone(), bulk.line.again(), bulk.pairs.clone()));
            }
            now < over + DAY
        });
        for (terms, line, pairs) in due {
            for Pair { id, white, black } in pairs {
                let started = self
                    .check_start(&white, &black, at)
                    .and_then(|()| self.start(id, terms.clone(), line.again(), [&white, &black], at));
                if started.is_err() {
                    tracing::warn!("Lichess: {white} and {black} cannot play the game that was arranged");
                }
            }
        }
        for bulk in self.bulks.0.values_mut() {
            let is_due = bulk.paired_at.is_some() && bulk.start_clocks_at.is_some_and(|start| now >= start);
            if is_due && !bulk.clocks_started {
                bulk.clocks_started = true;
                for pair in &bulk.pairs {
                    if let Some(game) = self.games.get_mut(&pair.id) {
                        game.hurry(at);
                    }
                }
            }
        }
    }

    /// Both players agree that the clocks run from now on.
    pub(super) fn start_clocks(&mut self, id: GameId, form: &StartClocks, at: Instant) -> Outcome {
        let whose = |token: &Option<Token>| token.as_ref().map(|token| self.consenting(token)).transpose();
        let agreed = [whose(&form.token1)?, whose(&form.token2)?];
        let game = self.games.get_mut(&id).ok_or_else(|| Answer::missing("No such game"))?;
        let has_agreed = |id: &UserId| agreed.iter().flatten().any(|who| who == id);
        if !game.players.0.iter().all(|player| player.ai_level.is_some() || has_agreed(&player.id)) {
            return Err(Answer::missing("No such game"));
        }
        game.hurry(at);
        Ok(Answer::done())
    }

    pub(super) fn give_time(&mut self, who: &UserId, id: GameId, time: Duration, at: Instant) -> Outcome {
        let (game, side) = self.game_of(who, id)?;
        game.give_time(side, time, at).map_err(|why| Answer::bad(&why))?;
        if game.end.is_some() {
            self.conclude(id, at);
        }
        Ok(Answer::done())
    }
}
