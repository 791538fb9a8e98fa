//! Who has an account: names, tokens, ratings, and the one event stream of each.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::{
    Message,
    lichess::{Event, GameCount, Perf, PerfKey, Scope, Scopes, Title, Token, TokenInfo, User, UserId},
};

use super::{
    answer::{Feed, Lines, feed},
    config::AccountConfig,
    kept::Kept,
    open::since_1970,
};

/// What everybody begins with.
pub(super) const FIRST_RATING: i32 = 1500;
/// What one game can change.
const K: f64 = 32.0;
/// Accounts, at most.
const MOST: usize = 10_000;
/// Games after which a rating is no longer provisional.
const SETTLED: u32 = 12;

/// One account.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) user: User,
    scopes: Vec<Scope>,
    /// Games since the start.
    pub(super) games: u32,
    /// How long they took.
    pub(super) took: Duration,
    events: Option<Feed>,
    /// Tokens that the configuration knows nothing of.
    made: Vec<Token>,
    /// Tokens that are not valid any more, whatever the configuration says.
    revoked: Vec<Token>,
}

/// An account as a file keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Account {
    user: User,
    scopes: Vec<Scope>,
    games: u32,
    took: Duration,
    made: Vec<Token>,
    revoked: Vec<Token>,
}

impl Person {
    /// What is to be kept of it.
    pub(super) fn account(&self) -> Account {
        let Person { user, scopes, games, took, made, revoked, .. } = self;
        Account {
            user: user.clone(),
            scopes: scopes.clone(),
            games: *games,
            took: *took,
            made: made.clone(),
            revoked: revoked.clone(),
        }
    }

    pub(super) fn may(&self, scope: &Scope) -> bool {
        self.scopes.contains(scope)
    }

    /// For such games.
    pub(super) fn perf(&self, key: &PerfKey) -> Perf {
        self.user.perfs.get(key).copied().unwrap_or_default()
    }

    /// As others are shown it: who is there is seen now.
    pub(super) fn profile(&self, url: String, is_online: bool) -> User {
        let mut user = self.user.clone();
        user.url = Some(url);
        if is_online {
            user.seen_at = Some(since_1970());
        }
        user
    }

    /// A game of it is over that counts.
    pub(super) fn played(&mut self, rated: bool, has_won: Option<bool>, took: Duration) {
        self.games += 1;
        self.took += took;
        self.user.seen_at = Some(since_1970());
        let count = self.user.count.get_or_insert_default();
        count.all += 1;
        count.rated += u32::from(rated);
        *match has_won {
            Some(true) => &mut count.win,
            Some(false) => &mut count.loss,
            None => &mut count.draw,
        } += 1;
    }

    /// Says it on the event stream, if there is one.
    pub(super) fn tell(&self, event: &Event) {
        if let Some(events) = &self.events {
            // Who does not listen hears of it when it opens the stream again.
            let _ = events.send(event.to_line().into());
        }
    }

    pub(super) fn is_listening(&self) -> bool {
        self.events.as_ref().is_some_and(|events| events.receiver_count() > 0)
    }

    /// Closes the event stream.
    pub(super) fn stop_listening(&mut self) {
        self.events = None;
    }

    /// Opens the event stream; the one before ends with this.
    pub(super) fn listen(&mut self, first: Vec<String>) -> Lines {
        let (events, lines) = feed(first);
        self.user.seen_at = Some(since_1970());
        self.events = Some(events);
        lines
    }
}

/// All accounts.
#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) people: Kept<UserId, Person>,
    tokens: BTreeMap<Token, UserId>,
}

/// Why there can be no such account.
#[derive(Copy, Clone, Debug, thiserror::Error)]
pub(super) enum Unfit {
    #[error("This is no name for an account")]
    Name,
    #[error("This name or token is taken")]
    Taken,
    #[error("There are too many accounts")]
    Full,
}

impl People {
    pub(super) fn add(&mut self, account: AccountConfig) -> Result<UserId, Unfit> {
        let id: UserId = account.name.parse().map_err(|_| Unfit::Name)?;
        let is_taken = account.token.as_ref().is_some_and(|token| self.tokens.contains_key(token));
        if self.people.contains_key(&id) || is_taken {
            return Err(Unfit::Taken);
        } else if self.people.len() >= MOST {
            return Err(Unfit::Full);
        }
        let AccountConfig { rating, games, .. } = account;
        let prov = games < SETTLED;
        let perf = Perf { games, rating: Some(rating), rd: Some(150), prog: Some(0), prov };
        let title = Some(account.title.as_str()).filter(|title| !title.is_empty()).map(Title::from);
        let user = User {
            id: id.clone(),
            username: account.name,
            title,
            perfs: PerfKey::KNOWN.iter().map(|key| (key.clone(), perf)).collect(),
            disabled: false,
            tos_violation: false,
            created_at: Some(since_1970()),
            seen_at: Some(since_1970()),
            url: None,
            count: Some(GameCount::default()),
        };
        let (made, revoked) = (Vec::new(), Vec::new());
        let (scopes, took) = (account.scopes, Duration::ZERO);
        let person = Person { user, scopes, games: 0, took, events: None, made, revoked };
        self.people.insert(id.clone(), person);
        self.tokens.extend(account.token.map(|token| (token, id.clone())));
        Ok(id)
    }

    /// An account that is made while the server runs; its token is found nowhere else.
    pub(super) fn make(&mut self, account: AccountConfig) -> Result<UserId, Unfit> {
        let token = account.token.clone();
        let id = self.add(account)?;
        if let Some(person) = self.people.get_mut(&id) {
            person.made.extend(token);
        }
        Ok(id)
    }

    /// An account comes back from the file. What it may do and how it is called the configuration says, if it
    /// has it; ratings and title are those that it got here.
    pub(super) fn restore(&mut self, account: Account) {
        let Account { user, scopes, games, took, made, revoked } = account;
        let id = user.id.clone();
        let made: Vec<Token> = made.into_iter().filter(|token| !self.tokens.contains_key(token)).collect();
        self.tokens.extend(made.iter().map(|token| (token.clone(), id.clone())));
        for token in &revoked {
            self.tokens.remove(token);
        }
        match self.people.get_mut(&id) {
            Some(person) => {
                let username = std::mem::take(&mut person.user.username);
                let title = user.title.clone().or_else(|| person.user.title.take());
                person.user = User { username, title, ..user };
                (person.games, person.took) = (games, took);
                (person.made, person.revoked) = (made, revoked);
            }
            None => {
                let person = Person { user, scopes, games, took, events: None, made, revoked };
                self.people.insert(id, person);
            }
        }
    }

    pub(super) fn by_token(&self, token: &Token) -> Option<&UserId> {
        self.tokens.get(token)
    }

    /// What a token may do.
    pub(super) fn test(&self, token: &Token) -> Option<TokenInfo> {
        let person = self.find(self.by_token(token)?)?;
        let (user_id, scopes) = (person.user.id.clone(), Scopes(person.scopes.clone()));
        Some(TokenInfo { user_id, scopes, expires: None })
    }

    pub(super) fn revoke(&mut self, token: &Token) {
        let owner = self.tokens.remove(token);
        if let Some(person) = owner.and_then(|id| self.people.get_mut(&id)) {
            person.made.retain(|made| made != token);
            person.revoked.push(token.clone());
        }
    }

    pub(super) fn find(&self, id: &UserId) -> Option<&Person> {
        self.people.get(id)
    }

    pub(super) fn find_mut(&mut self, id: &UserId) -> Option<&mut Person> {
        self.people.get_mut(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Person> {
        self.people.values()
    }

    pub(super) fn tell(&self, id: &UserId, event: &Event) {
        if let Some(person) = self.find(id) {
            person.tell(event);
        }
    }

    /// What a rated game changes, by Elo's formula; returns the differences.
    pub(super) fn rate(
        &mut self,
        ids: &ByColor<UserId>,
        key: &PerfKey,
        winner: Option<Color>,
    ) -> ByColor<i32> {
        let rating = |side| {
            self.find(&ids[side]).and_then(|p| p.perf(key).rating).map_or(f64::from(FIRST_RATING), f64::from)
        };
        let ratings = ByColor(Color::BOTH.map(rating));
        let score = |side| winner.map_or(0.5, |winner| if winner == side { 1.0 } else { 0.0 });
        let gain = |side: Color| {
            let expected = 1.0 / (1.0 + 10f64.powf((ratings[!side] - ratings[side]) / 400.0));
            (K * (score(side) - expected)).round() as i32
        };
        let gains = ByColor(Color::BOTH.map(gain));
        for side in Color::BOTH {
            if let Some(perf) = self.find_mut(&ids[side]).and_then(|person| person.user.perfs.get_mut(key)) {
                perf.rating = perf.rating.map(|rating| rating.saturating_add(gains[side]));
                perf.games = perf.games.saturating_add(1);
                perf.prov = perf.games < SETTLED;
            }
        }
        gains
    }
}
