//! The server's state: each subject has a type of its own.
//!
//! Games are no tasks: nothing in them waits, and a move concerns its game, two event streams and the lists of games
//! at once.

use axum::http::StatusCode;
use tokio::time::Instant;
use zeitnot_host::{
    database::{Change, GameRow},
    hosted_game::Host,
    panic_guard,
};
use zeitnot_referee::Cause;
use zeitnot_rules::ByColor;
use zeitnot_wire::{
    Message,
    lichess::{
        Challenge, ChallengeId, ChallengeStatus, ChallengeUser, DeclineReason, Event, GameId, NewChallenge,
        Scope, TimeControl, Token, UserId, UserStatus, Variant,
    },
};

use super::{
    accounts::{Account, Accounts, unix_now},
    answer::{Answer, Outcome, Refusal},
    callers::CallerKey,
    challenges::{Challenges, Pending, gone},
    class::{Class, lose_seat},
    config::{AccountConfig, Config},
    game::{GameAction, GameSetup, Player},
    games::{Games, player},
    limit::{Limited, RateLimits},
    saved::{Restored, changes},
    terms::{Terms, draw_color},
};
use crate::message::Notice;

/// Cost of a challenge to a person; to a bot it is 1.
const PERSON_COST: usize = 5;

#[derive(Debug)]
pub(super) enum Bearer {
    Missing,
    /// Something that is no token.
    Invalid,
    Token(Token),
}

#[derive(Debug)]
pub(super) struct LichessServer {
    config: Config,
    limits: RateLimits,
    pub(super) accounts: Accounts,
    pub(super) challenges: Challenges,
    pub(super) games: Games,
    pub(super) class: Class,
}

impl LichessServer {
    pub(super) fn new(
        config: Config,
        accounts: Accounts,
        restored: Option<Restored>,
        host: Host,
    ) -> LichessServer {
        let mut server = LichessServer {
            limits: RateLimits::new(config.limits),
            accounts,
            challenges: Challenges::default(),
            games: Games::new(&config, host),
            class: Class::default(),
            config,
        };
        if let Some(mut restored) = restored {
            let now = Instant::now();
            std::mem::take(&mut restored.accounts)
                .into_iter()
                .for_each(|account| server.accounts.restore(account));
            server.challenges.map = restored.challenges(server.config.challenge_life, now);
            server.games.restore(&mut restored, now);
        }
        server
    }

    /// Returns the rows that have changed, and the games that are over: all are to be written.
    pub(super) fn changes(&mut self, now: Instant) -> (Vec<Change>, Vec<(GameId, GameRow)>) {
        let LichessServer { accounts, challenges, games, .. } = self;
        if games.database().is_none() {
            accounts.map.mark_clean();
            challenges.map.mark_clean();
            games.map.mark_clean();
            return (Vec::new(), games.take_ended());
        }
        let rows = changes(&mut accounts.map, &mut challenges.map, &mut games.map, now);
        (rows, games.take_ended())
    }

    /// Tells the ends of games that are on the disk now.
    pub(super) fn tell_ends(&mut self, ended: Vec<GameId>, now: Instant) {
        ended.into_iter().for_each(|id| self.games.tell_end(id, &self.accounts, now));
    }

    pub(super) fn sweep(&mut self, now: Instant) {
        self.challenges.expire(&self.accounts, now);
        for id in self.games.tick(now) {
            // A panic must not keep back the ends of the games after this one.
            if let Err(panic) = panic_guard::contain(|| self.conclude(id, now)) {
                tracing::error!("Lichess: the end of game {id} is not saved: {panic}; please report it");
            }
        }
        self.games.tell_overdue(&self.accounts, now);
    }

    fn conclude(&mut self, id: GameId, now: Instant) {
        self.games.conclude(id, &mut self.accounts, now);
    }

    /// The account of the caller, if its token has one of the scopes; an empty list asks for any token.
    pub(super) fn authorize(&mut self, bearer: &Bearer, scopes: &[Scope]) -> Result<UserId, Refusal> {
        let refused = |why| Refusal::new(StatusCode::UNAUTHORIZED, why);
        let who = match bearer {
            Bearer::Missing => return Err(refused("Missing authorization header")),
            Bearer::Invalid => None,
            Bearer::Token(token) => self.accounts.by_token(token).cloned(),
        };
        let who = who.ok_or_else(|| refused("No such token"))?;
        self.accounts.note_seen(&who);
        match self.accounts.has_scope(&who, scopes) {
            true => Ok(who),
            false => Err(Refusal::new(StatusCode::FORBIDDEN, "Missing scope")),
        }
    }

    /// Returns whose token this is.
    pub(super) fn owner(&self, token: &Token) -> Option<CallerKey> {
        if self.config.admin_token.as_ref() == Some(token) {
            return Some(CallerKey::Administrator);
        }
        self.accounts.by_token(token).cloned().map(CallerKey::Account)
    }

    pub(super) fn check_admin(&self, bearer: &Bearer) -> Result<(), Refusal> {
        match bearer {
            Bearer::Token(token) if self.owner(token) == Some(CallerKey::Administrator) => Ok(()),
            _ => Err(Refusal::new(StatusCode::UNAUTHORIZED, "No such token")),
        }
    }

    fn check_bot(&self, who: &UserId) -> Result<(), Refusal> {
        const BOTS_ONLY: &str = "This endpoint can only be used with a Bot account. \
                                 See https://lichess.org/api#operation/botAccountUpgrade";
        if self.accounts.is_bot(who) { Ok(()) } else { Err(Refusal::bad(BOTS_ONLY)) }
    }

    pub(super) fn new_account(
        &mut self,
        name: String,
        title: Option<String>,
        token: Option<Token>,
    ) -> Outcome {
        let token = token.or_else(random_token).ok_or_else(|| {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "The system has no random numbers for a token")
        })?;
        let mut account = AccountConfig { token: Some(token.clone()), ..AccountConfig::new(name) };
        account.title = title.unwrap_or(account.title);
        let id = self.accounts.make(account).map_err(|why| Refusal::bad(&why.to_string()))?;
        tracing::info!("Lichess: the administrator has made an account for {id}");
        Ok(Answer::value(&serde_json::json!({ "id": id, "token": token })))
    }

    /// Revokes the token of a request, and closes all streams of its account.
    pub(super) fn revoke(&mut self, who: &UserId, bearer: &Bearer) -> Outcome {
        if let Bearer::Token(token) = bearer {
            self.accounts.revoke(token);
        }
        self.games.map.values_mut_clean().for_each(|game| game.close_streams_of(who));
        self.challenges.stop_waiting(who);
        Ok(Answer::NoContent)
    }

    pub(super) fn own_profile(&mut self, who: &UserId, at: Instant) -> Outcome {
        self.limits.take(who, Limited::Account, 1, at)?;
        self.profile(who)
    }

    pub(super) fn profile(&self, id: &UserId) -> Outcome {
        let profile = self.find_profile(id).ok_or_else(|| Refusal::missing("Not found"))?;
        Ok(Answer::value(&profile))
    }

    pub(super) fn find_profile(&self, id: &UserId) -> Option<serde_json::Value> {
        let (account, activity) = (self.accounts.map.get(id)?, self.games.activity(&self.accounts, id));
        Some(account.profile(&activity, &format!("http://{}", self.config.listen)))
    }

    pub(super) fn online_bots(&self, max: usize) -> Vec<UserId> {
        let watching = self.games.watching();
        let is_online = |account: &&Account| account.is_listening() || watching.contains(&account.user.id);
        let bots = self.accounts.map.values().filter(|account| account.is_bot());
        bots.filter(is_online).take(max).map(|bot| bot.user.id.clone()).collect()
    }

    pub(super) fn status(&self, id: &UserId) -> Option<UserStatus> {
        let user = &self.accounts.map.get(id)?.user;
        let activity = self.games.activity(&self.accounts, id);
        Some(UserStatus {
            id: user.id.clone(),
            name: user.username.clone(),
            title: user.title.clone(),
            online: activity.is_online,
            playing: activity.game.is_some(),
        })
    }

    /// Opens the event stream, which begins with running games and pending challenges.
    pub(super) fn events(&mut self, who: &UserId, at: Instant) -> Outcome {
        const POLLED: &str = "Please don't poll this endpoint, it is intended to be streamed. \
                              See https://lichess.org/api#tag/Board/operation/apiStreamEvent.";
        self.limits.take(who, Limited::EventStream, 1, at).map_err(|_| Refusal::too_many(POLLED))?;
        let challenges = self.challenges.of(who);
        let challenges = challenges
            .map(|challenge| Event::Challenge { challenge: Box::new(challenge.clone()), compat: None });
        let first = self.games.start_events(who, at).chain(challenges).map(|event| event.to_line()).collect();
        let account = self.accounts.map.get_mut(who).ok_or_else(|| Refusal::missing("Not found"))?;
        let lines = account.listen(first);
        self.class.come_online(who);
        Ok(lines.into_answer(self.config.event_keep_alive))
    }

    pub(super) fn watch(&mut self, who: &UserId, id: GameId, agent: String, at: Instant) -> Outcome {
        self.check_bot(who)?;
        let (game, color) = self.games.find(who, id)?;
        let Some(lines) = game.contain(at, |game| game.watch(color, agent, at)) else {
            self.conclude(id, at);
            return Err(Refusal::broken());
        };
        Ok(lines.into_answer(self.config.game_keep_alive))
    }

    pub(super) fn act(&mut self, who: &UserId, id: GameId, action: GameAction, at: Instant) -> Outcome {
        self.check_bot(who)?;
        let (game, color) = self.games.find(who, id)?;
        if matches!(action, GameAction::Move { .. }) && game.hosted().is_some() {
            self.limits.take(who, Limited::Move, 1, at)?;
        }
        let was_over = game.is_over();
        let done = game.contain(at, |game| game.act(color, action, at));
        let has_ended = game.is_over() && !was_over;
        if has_ended {
            self.conclude(id, at);
        }
        done.ok_or_else(Refusal::broken)?.map(|()| Answer::done())
    }

    /// Checks the daily limit of games between bots, for both.
    fn check_bot_games(&mut self, us: &UserId, them: &UserId, at: Instant) -> Result<(), Refusal> {
        if !(self.accounts.is_bot(us) && self.accounts.is_bot(them)) {
            return Ok(());
        }
        for (who, status) in [(us, StatusCode::TOO_MANY_REQUESTS), (them, StatusCode::BAD_REQUEST)] {
            if let Some(wait) = self.limits.wait(who, Limited::BotGame, at) {
                return Err(Refusal::bot_games(status, who, self.config.limits.bot_games_a_day, wait));
            }
        }
        Ok(())
    }

    /// Applies a notice of the tournament to an account; `None`: its seat is lost. Returns whether the account is online.
    pub(super) fn class_notice(&mut self, account: &UserId, notice: Option<Notice>, now: Instant) -> bool {
        let LichessServer { class, games, accounts, .. } = self;
        match notice {
            Some(notice) => class.receive(account, notice, games, accounts, now),
            None => lose_seat(games, accounts, account, now),
        }
        self.games.is_online(&self.accounts, account)
    }

    pub(super) fn challenge(
        &mut self,
        who: &UserId,
        whom: &UserId,
        form: &NewChallenge,
        at: Instant,
    ) -> Outcome {
        let Some(them) = self.accounts.map.get(whom) else {
            return Err(Refusal::bad(&format!("No such user: {whom}")));
        };
        if who == whom {
            return Err(Refusal::missing("Resource not found"));
        }
        let terms = Terms::read(form, &self.config)?;
        if !form.rules.is_empty() {
            return Err(Refusal::bad("Rules not applicable for bots"));
        }
        let cost = if them.is_bot() { 1 } else { PERSON_COST };
        if them.is_bot() || self.accounts.is_bot(who) {
            self.config.check_for_bots(terms.speed())?;
        }
        self.challenges.check_room(who)?;
        for limited in [Limited::DailyChallenge, Limited::Challenge] {
            self.limits.take(who, limited, cost, at)?;
        }
        self.check_bot_games(who, whom, at)?;
        let challenge = self.describe(who, whom, form, &terms);
        let expires = Some(at + self.config.challenge_life);
        let waits = form.keep_alive_stream;
        let pending =
            Pending { challenge, from: who.clone(), to: whom.clone(), terms, expires, waiting: None };
        let (answer, lines) = self.challenges.add(pending, waits, &self.accounts);
        Ok(lines.map_or(answer, |lines| lines.into_answer(self.config.event_keep_alive)))
    }

    fn describe(&self, who: &UserId, whom: &UserId, form: &NewChallenge, terms: &Terms) -> Challenge {
        let party = |id: &UserId| {
            let Player { id, name, title, rating, provisional, .. } = player(&self.accounts, id, terms)?;
            let online = self.games.is_online(&self.accounts, &id);
            Some(ChallengeUser { id, name, title, rating, provisional, online })
        };
        let id = self.free_id();
        Challenge {
            id,
            url: format!("http://{}/{id}", self.config.listen),
            status: Some(ChallengeStatus::Created),
            challenger: party(who),
            dest_user: party(whom),
            variant: Variant::from(terms.variant.clone()),
            rated: terms.rated,
            speed: Some(terms.speed()),
            time_control: TimeControl::Clock(terms.time),
            color: Some(form.color.clone()),
            final_color: Some(draw_color(&form.color)),
            perf: Some(terms.perf_name()),
            direction: None,
            initial_fen: terms.fen.clone(),
            decline_reason: None,
            decline_reason_key: None,
            rules: Vec::new(),
        }
    }

    /// An id that neither a game nor a challenge has.
    fn free_id(&self) -> ChallengeId {
        loop {
            let id = self.games.free_id();
            if !self.challenges.map.contains_key(&id) {
                return id;
            }
        }
    }

    pub(super) fn accept(&mut self, who: &UserId, id: ChallengeId, at: Instant) -> Outcome {
        let pending = self.challenges.to(who, id)?;
        let (from, board) = (pending.from.clone(), pending.terms.begin()?);
        self.games.check_room()?;
        self.check_bot_games(who, &from, at)?;
        let pending = self.challenges.accept(id, &self.accounts)?;
        let players = pending.players().map(|id| player(&self.accounts, id, &pending.terms));
        let [Some(white), Some(black)] = players else { return Err(gone()) };
        if [who, &from].into_iter().all(|id| self.accounts.is_bot(id)) {
            for bot in [who, &from] {
                // It was checked above.
                let _ = self.limits.take(bot, Limited::BotGame, 1, at);
            }
        }
        let players = ByColor([white, black]);
        let setup = GameSetup { id: id.into(), terms: pending.terms, players, created: unix_now() };
        self.games.begin(setup, board, &self.accounts, at);
        Ok(Answer::done())
    }

    /// Cancels a challenge, or aborts the game that it has just become.
    pub(super) fn cancel(&mut self, who: &UserId, id: ChallengeId, at: Instant) -> Outcome {
        match self.challenges.map.get(&id) {
            Some(pending) if pending.from == *who => {
                self.challenges.cancel(id, &self.accounts);
                return Ok(Answer::done());
            }
            Some(_) => return self.challenges.decline(who, id, DeclineReason::Generic, &self.accounts),
            None => {}
        }
        let id = GameId::from(id);
        let (game, _) = self.games.find(who, id).ok().filter(|(game, _)| !game.is_over()).ok_or_else(gone)?;
        if !game.can_abort() {
            return Err(Refusal::bad("This game can no longer be aborted"));
        }
        game.finish(None, Cause::Aborted, at);
        self.conclude(id, at);
        Ok(Answer::done())
    }
}

/// A token that cannot be guessed.
fn random_token() -> Option<Token> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    format!("lip_{:032x}", u128::from_ne_bytes(bytes)).parse().ok()
}
