//! Accounts: names, tokens, ratings, and the one event stream of each.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::OffsetDateTime;
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::{
    Message,
    lichess::{
        Event, GameCount, GameId, Perf, PerfKey, Scope, Scopes, Title, Token, TokenInfo, TokenTest, User,
        UserId,
    },
};

use super::{
    answer::{Answer, Outcome, Refusal},
    config::{AccountConfig, INITIAL_RATING},
    dirty_map::DirtyMap,
    streams::{LineKind, LineSender, Lines, feed},
};

/// The most that one game changes a rating by.
const K: f64 = 32.0;
const MAX_ACCOUNTS: usize = 10_000;
/// Games after which a rating is no longer provisional.
const ESTABLISHED: u32 = 12;

/// One account, as it is saved; the stream is not.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) user: User,
    scopes: Vec<Scope>,
    play_time: Duration,
    /// Tokens that are not in the configuration.
    made: Vec<Token>,
    /// Tokens that are invalid whatever the configuration says.
    revoked: Vec<Token>,
    #[serde(skip)]
    events: Option<LineSender>,
}

#[derive(Debug)]
pub(super) struct Activity {
    pub(super) is_online: bool,
    pub(super) games: usize,
    pub(super) game: Option<GameId>,
}

impl Account {
    pub(super) fn is_bot(&self) -> bool {
        self.user.is_bot()
    }

    pub(super) fn perf(&self, key: &PerfKey) -> Perf {
        self.user.perfs.get(key).copied().unwrap_or_default()
    }

    pub(super) fn count_game(&mut self, rated: bool, has_won: Option<bool>, took: Duration) {
        self.play_time = self.play_time.saturating_add(took);
        self.user.seen_at = Some(unix_now());
        let count = self.user.count.get_or_insert_default();
        count.all = count.all.saturating_add(1);
        count.rated = count.rated.saturating_add(u32::from(rated));
        let results = match has_won {
            Some(true) => &mut count.win,
            Some(false) => &mut count.loss,
            None => &mut count.draw,
        };
        *results = results.saturating_add(1);
    }

    /// Writes to the event stream. Without one the event is part of the first lines of the next.
    pub(super) fn tell(&self, event: &Event) {
        if let Some(events) = &self.events {
            events.send(LineKind::Event, event.to_line());
        }
    }

    pub(super) fn is_listening(&self) -> bool {
        self.events.as_ref().is_some_and(LineSender::is_read)
    }

    /// Opens the event stream, which ends the one before.
    pub(super) fn listen(&mut self, first: Vec<String>) -> Lines {
        let (events, lines) = feed(first);
        self.user.seen_at = Some(unix_now());
        self.events = Some(events);
        lines
    }

    /// The account as others see it, on a server with this address.
    pub(super) fn profile(&self, activity: &Activity, site: &str) -> Value {
        let mut user = self.user.clone();
        user.url = Some(format!("{site}/@/{}", user.username));
        user.seen_at = user.seen_at.max(activity.is_online.then(unix_now));
        let mut profile = json!(user);
        profile["playTime"] = json!({ "total": self.play_time.as_secs(), "tv": 0 });
        profile["count"]["playing"] = json!(activity.games);
        if let Some(game) = activity.game {
            profile["playing"] = json!(format!("{site}/{game}"));
        }
        profile
    }
}

#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) map: DirtyMap<UserId, Account>,
    tokens: BTreeMap<Token, UserId>,
}

#[derive(Copy, Clone, Debug, thiserror::Error)]
pub(super) enum BadAccount {
    #[error("Not a valid account name")]
    Name,
    #[error("This name or token is taken")]
    Taken,
    #[error("There are too many accounts")]
    Full,
}

impl Accounts {
    pub(super) fn add(&mut self, account: AccountConfig) -> Result<UserId, BadAccount> {
        let id: UserId = account.name.parse().map_err(|_| BadAccount::Name)?;
        let is_taken = account.token.as_ref().is_some_and(|token| self.tokens.contains_key(token));
        if self.map.contains_key(&id) || is_taken {
            return Err(BadAccount::Taken);
        } else if self.map.len() >= MAX_ACCOUNTS {
            return Err(BadAccount::Full);
        }
        let AccountConfig { rating, games, .. } = account;
        let prov = games < ESTABLISHED;
        let perf = Perf { games, rating: Some(rating), rd: Some(150), prog: Some(0), prov };
        let user = User {
            id: id.clone(),
            username: account.name,
            title: Some(account.title.as_str()).filter(|title| !title.is_empty()).map(Title::from),
            perfs: PerfKey::KNOWN.iter().map(|key| (key.clone(), perf)).collect(),
            disabled: false,
            tos_violation: false,
            created_at: Some(unix_now()),
            seen_at: Some(unix_now()),
            url: None,
            count: Some(GameCount::default()),
        };
        let scopes = account.scopes;
        let (play_time, made, revoked) = (Duration::ZERO, Vec::new(), Vec::new());
        let user = Account { user, scopes, play_time, made, revoked, events: None };
        self.map.insert(id.clone(), user);
        self.tokens.extend(account.token.map(|token| (token, id.clone())));
        Ok(id)
    }

    /// Adds an account while the server runs: its token is saved with it.
    pub(super) fn make(&mut self, account: AccountConfig) -> Result<UserId, BadAccount> {
        let token = account.token.clone();
        let id = self.add(account)?;
        if let Some(account) = self.map.get_mut(&id) {
            account.made.extend(token);
        }
        Ok(id)
    }

    /// Restores a saved account. Name and scopes are those of the configuration, if it has the account.
    pub(super) fn restore(&mut self, mut saved: Account) {
        let id = saved.user.id.clone();
        saved.made.retain(|token| !self.tokens.contains_key(token));
        self.tokens.extend(saved.made.iter().map(|token| (token.clone(), id.clone())));
        saved.revoked.iter().for_each(|token| drop(self.tokens.remove(token)));
        if let Some(configured) = self.map.remove(&id) {
            saved.user.username = configured.user.username;
            saved.user.title = saved.user.title.or(configured.user.title);
            saved.scopes = configured.scopes;
        }
        self.map.insert(id, saved);
    }

    pub(super) fn is_bot(&self, id: &UserId) -> bool {
        self.map.get(id).is_some_and(Account::is_bot)
    }

    pub(super) fn by_token(&self, token: &Token) -> Option<&UserId> {
        self.tokens.get(token)
    }

    /// Returns whether the account has one of the scopes; an empty list asks for none.
    pub(super) fn has_scope(&self, id: &UserId, scopes: &[Scope]) -> bool {
        let has = |scope| self.map.get(id).is_some_and(|account| account.scopes.contains(scope));
        scopes.is_empty() || scopes.iter().any(has)
    }

    /// Notes a request, which alone is nothing to be saved.
    pub(super) fn note_seen(&mut self, id: &UserId) {
        if let Some(account) = self.map.get_mut_clean(id) {
            account.user.seen_at = Some(unix_now());
        }
    }

    pub(super) fn tell(&self, id: &UserId, event: &Event) {
        if let Some(account) = self.map.get(id) {
            account.tell(event);
        }
    }

    pub(super) fn test_tokens(&self, tokens: Vec<Token>) -> Answer {
        let info = |token: &Token| {
            let account = self.map.get(self.by_token(token)?)?;
            let scopes = Scopes(account.scopes.clone());
            Some(TokenInfo { user_id: account.user.id.clone(), scopes, expires: None })
        };
        let tested = tokens.into_iter().map(|token| {
            let info = info(&token);
            (token, info)
        });
        Answer::value(&TokenTest(tested.collect()))
    }

    /// Invalidates a token and closes the event stream of its account.
    pub(super) fn revoke(&mut self, token: &Token) {
        let owner = self.tokens.remove(token);
        if let Some(account) = owner.and_then(|id| self.map.get_mut(&id)) {
            account.made.retain(|made| made != token);
            account.revoked.push(token.clone());
            account.events = None;
        }
    }

    pub(super) fn upgrade(&mut self, id: &UserId) -> Outcome {
        let account = self.map.get_mut(id).ok_or_else(|| Refusal::missing("Not found"))?;
        if account.is_bot() {
            return Err(Refusal::bad("Already a bot"));
        } else if account.user.count.is_some_and(|count| count.all > 0) {
            return Err(Refusal::bad("The account must not have played any game"));
        }
        account.user.title = Some(Title::Bot);
        Ok(Answer::done())
    }

    /// Applies a rated game by Elo's formula, and returns the differences.
    pub(super) fn rate(
        &mut self,
        ids: &ByColor<UserId>,
        key: &PerfKey,
        winner: Option<Color>,
    ) -> ByColor<i32> {
        let rating = |color| {
            let rating = self.map.get(&ids[color]).and_then(|account| account.perf(key).rating);
            f64::from(rating.unwrap_or(INITIAL_RATING))
        };
        let ratings = ByColor(Color::BOTH.map(rating));
        let gain = |color: Color| {
            let score = winner.map_or(0.5, |winner| if winner == color { 1.0 } else { 0.0 });
            let expected = 1.0 / (1.0 + 10f64.powf((ratings[!color] - ratings[color]) / 400.0));
            (K * (score - expected)).round() as i32
        };
        let gains = ByColor(Color::BOTH.map(gain));
        for color in Color::BOTH {
            if let Some(perf) =
                self.map.get_mut(&ids[color]).and_then(|account| account.user.perfs.get_mut(key))
            {
                perf.rating = perf.rating.map(|rating| rating.saturating_add(gains[color]));
                perf.games = perf.games.saturating_add(1);
                perf.prov = perf.games < ESTABLISHED;
            }
        }
        gains
    }
}

/// The time since 1970, in whole milliseconds.
pub(super) fn unix_now() -> Duration {
    let millis = OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}
