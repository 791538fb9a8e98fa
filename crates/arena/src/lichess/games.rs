//! All games of the server, running and finished.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use tokio::{sync::oneshot, time::Instant};
use zeitnot_host::{
    database::{Database, GameRow},
    hosted_game::Host,
    live::game_view::{self, Ended},
    pgn,
};
use zeitnot_referee::Cause;
use zeitnot_rules::{ByColor, Color, DynGame};
use zeitnot_wire::lichess::{
    ChallengeId, Compat, Event, FullId, GameEvent, GameId, Opponent, Playing, Speed, Status, UserId,
};

use super::{
    accounts::{Accounts, Activity},
    answer::{Answer, Outcome, Refusal},
    config::Config,
    dirty_map::DirtyMap,
    game::{Facts, Game, GameSetup, GameTimeouts, Hosted, Owner, Player},
    saved::Restored,
    terms::Terms,
};

/// Games in memory, finished ones included.
const MAX_GAMES: usize = 20_000;
/// Plies of a running game that are left out of its PGN.
const HIDDEN_PLIES: usize = 3;
/// Finished games that can still be asked for.
const MAX_FINISHED: usize = 1000;

#[derive(Debug)]
pub(super) struct Games {
    pub(super) map: DirtyMap<GameId, Game>,
    /// The latest last.
    finished: VecDeque<GameId>,
    pub(super) timeouts: GameTimeouts,
    /// Games whose ends go to the disk before anybody is told.
    ended: Vec<(GameId, GameRow)>,
    host: Host,
}

impl Games {
    pub(super) fn new(config: &Config, host: Host) -> Games {
        let Config { first_move, gone_after, claim_after, .. } = *config;
        Games {
            map: DirtyMap::default(),
            finished: VecDeque::new(),
            timeouts: GameTimeouts { first_move, gone_after, claim_after },
            ended: Vec::new(),
            host,
        }
    }

    pub(super) fn restore(&mut self, restored: &mut Restored, now: Instant) {
        self.map = restored.games(self.timeouts, &self.host, now);
        let running = self.map.values_mut_clean().filter(|game| !game.is_over());
        running.filter_map(Game::hosted_mut).for_each(|hosted| hosted.game.begin(now));
        self.finished = self.map.values().filter(|game| game.is_over()).map(|game| game.id).collect();
        let running = self.running().count();
        if running > 0 {
            tracing::info!("Lichess: {running} games go on where they were");
        }
    }

    /// Games that run, as far as their players know.
    pub(super) fn running(&self) -> impl Iterator<Item = &Game> {
        self.map.values().filter(|game| !game.is_told())
    }

    fn running_of(&self, who: &UserId) -> impl Iterator<Item = (&Game, Color)> {
        self.running().filter_map(move |game| Some((game, game.color_of(who)?)))
    }

    /// Returns whether one of the account's streams is open.
    pub(super) fn is_online(&self, accounts: &Accounts, who: &UserId) -> bool {
        let is_listening = accounts.map.get(who).is_some_and(|account| account.is_listening());
        is_listening || self.running().any(|game| game.is_watched_by(who))
    }

    /// The accounts that watch a game of theirs.
    pub(super) fn watching(&self) -> BTreeSet<&UserId> {
        let players =
            self.running().flat_map(|game| game.players.0.iter().map(move |player| (game, &player.id)));
        players.filter(|(game, id)| game.is_watched_by(id)).map(|(_, id)| id).collect()
    }

    pub(super) fn activity(&self, accounts: &Accounts, who: &UserId) -> Activity {
        Activity {
            is_online: self.is_online(accounts, who),
            games: self.running_of(who).count(),
            game: self.running_of(who).next().map(|(game, _)| game.id),
        }
    }

    /// The account's running games, the most urgent first.
    pub(super) fn playing(&self, who: &UserId, max: usize, now: Instant) -> Answer {
        let mut games: Vec<_> = self.running_of(who).map(|(game, color)| event(game, color, now)).collect();
        games.sort_by_key(|game| (!game.is_my_turn, game.seconds_left.unwrap_or(Duration::MAX)));
        games.truncate(max);
        Answer::value(&Playing { now_playing: games })
    }

    /// The running games that an event stream begins with.
    pub(super) fn start_events(&self, who: &UserId, now: Instant) -> impl Iterator<Item = Event> {
        self.running_of(who).map(move |(game, color)| start_event(game, color, now))
    }

    /// A game and the side that the account plays in it.
    pub(super) fn find(&mut self, who: &UserId, id: GameId) -> Result<(&mut Game, Color), Refusal> {
        let game = self.map.get_mut(&id);
        let found = game.and_then(|game| game.color_of(who).map(|color| (game, color)));
        found.ok_or_else(|| Refusal::missing("No such game"))
    }

    pub(super) fn export(&self, id: GameId) -> Outcome {
        let game = self.map.get(&id).ok_or_else(|| Refusal::missing("Not found"))?;
        let Facts { info, plies, ending, .. } = game.facts();
        let hidden = if ending.is_some() { 0 } else { HIDDEN_PLIES };
        let shown = &plies[..plies.len().saturating_sub(hidden)];
        let reason = ending.map(|ending| ending.cause.to_string()).unwrap_or_default();
        let ended = ending.map(|ending| Ended {
            result: ending.result_text(),
            reason: &reason,
            termination: Some(ending.cause.termination()),
            result_at_board: None,
            note: None,
        });
        let game = game_view::game(info, shown.iter().map(|made| (&**made, None)), None, ended);
        Ok(Answer::Pgn(pgn::print(&game, None)))
    }

    pub(super) fn check_room(&self) -> Result<(), Refusal> {
        match self.map.len() < MAX_GAMES {
            true => Ok(()),
            false => Err(Refusal::too_many("Too many games are being played")),
        }
    }

    /// An id that no game has.
    pub(super) fn free_id(&self) -> ChallengeId {
        loop {
            let text: String = std::iter::repeat_with(fastrand::alphanumeric).take(8).collect();
            if let Ok(id) = text.parse::<ChallengeId>()
                && !self.map.contains_key(&GameId::from(id))
            {
                return id;
            }
        }
    }

    /// Begins a game.
    pub(super) fn begin(&mut self, setup: GameSetup, board: DynGame, accounts: &Accounts, now: Instant) {
        let mut hosted = Hosted::new(&setup, board, self.timeouts, self.host.clone(), now);
        hosted.game.begin(now);
        let game = Game::new(setup, Owner::Hosted(hosted.into()), now);
        let [white, black] = &game.players.0;
        tracing::info!("Lichess: game {}: {} – {}", game.id, white.name, black.name);
        for color in Color::BOTH {
            accounts.tell(&game.players[color].id, &start_event(&game, color, now));
        }
        self.map.insert(game.id, game);
    }

    /// Applies the passing of time; returns the games that ended by it.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<GameId> {
        let mut ended = Vec::new();
        for game in self.map.values_mut_clean().filter(|game| !game.is_over()) {
            game.contain(now, |game| game.tick(now));
            ended.extend(game.is_over().then_some(game.id));
        }
        ended
    }

    /// Closes a finished game: ratings, the record, and events, if they need not wait for the disk.
    pub(super) fn conclude(&mut self, id: GameId, accounts: &mut Accounts, now: Instant) {
        let Some(game) = self.map.get_mut(&id).filter(|game| game.is_over()) else { return };
        let (status, winner, plies) = (game.status(), game.winner(), game.facts().plies.len());
        let [white, black] = &game.players.0;
        tracing::info!("Lichess: game {id}: {} – {}: {status} ({plies} plies)", white.name, black.name);
        let ids = ByColor([white.id.clone(), black.id.clone()]);
        let counts = status != Status::Aborted;
        let is_rated = game.terms.rated && counts;
        game.rating_diffs = is_rated.then(|| accounts.rate(&ids, &game.terms.perf(), winner));
        let took = game.facts().plies.iter().filter_map(|made| made.spent).sum();
        for color in Color::BOTH.into_iter().filter(|color| !game.players[*color].is_guest) {
            if let Some(account) = accounts.map.get_mut(&ids[color])
                && counts
            {
                account.count_game(is_rated, winner.map(|winner| winner == color), took);
            }
        }
        // The tournament of a class has written its games.
        let end = game.hosted_mut().and_then(|hosted| hosted.game.take_end(|_| None, None));
        match end {
            Some(end) => self.ended.push((id, end)),
            None => self.tell_end(id, accounts, now),
        }
        self.finished.push_back(id);
        if self.finished.len() > MAX_FINISHED
            && let Some(oldest) = self.finished.pop_front()
        {
            self.tell_end(oldest, accounts, now);
            self.map.remove(&oldest);
        }
    }

    /// Tells the players and spectators of a game that it is over.
    pub(super) fn tell_end(&mut self, id: GameId, accounts: &Accounts, now: Instant) {
        let Some(game) = self.map.get_mut_clean(&id).filter(|game| game.is_untold()) else { return };
        game.contain(now, |game| game.tell_end(now));
        for color in Color::BOTH.into_iter().filter(|color| !game.players[*color].is_guest) {
            let finish = Event::GameFinish { game: Box::new(event(game, color, now)) };
            accounts.tell(&game.players[color].id, &finish);
        }
    }

    /// Tells the ends that the disk has kept back for too long.
    pub(super) fn tell_overdue(&mut self, accounts: &Accounts, now: Instant) {
        let overdue = self.map.values().filter(|game| game.is_overdue(now)).map(|game| game.id);
        overdue.collect::<Vec<_>>().into_iter().for_each(|id| self.tell_end(id, accounts, now));
    }

    /// Returns what the answer of a request of this game waits for: that its end is told, if it is over.
    pub(super) fn wait_for_end(&mut self, id: GameId) -> Option<oneshot::Receiver<()>> {
        self.map.get_mut_clean(&id)?.wait_for_end()
    }

    /// Takes the games whose ends are to be told once they are on the disk.
    pub(super) fn take_ended(&mut self) -> Vec<(GameId, GameRow)> {
        std::mem::take(&mut self.ended)
    }

    pub(super) fn database(&self) -> Option<Database> {
        self.host.database.clone()
    }

    /// Closes all streams. Games that are not kept end; their records are as they stand.
    pub(super) fn stop(&mut self, now: Instant) {
        self.map.values_mut_clean().for_each(Game::close_streams);
        if self.host.database.is_some() {
            return;
        }
        for game in self.map.values_mut_clean().filter(|game| !game.is_over()) {
            game.finish(None, Cause::Shutdown, now);
            let end = game.hosted_mut().and_then(|hosted| hosted.game.take_end(|_| None, None));
            game.tell_end(now);
            self.ended.extend(end.map(|end| (game.id, end)));
        }
    }
}

/// The player that an account is in a game on these terms.
pub(super) fn player(accounts: &Accounts, id: &UserId, terms: &Terms) -> Option<Player> {
    let account = accounts.map.get(id)?;
    let perf = account.perf(&terms.perf());
    Some(Player {
        id: id.clone(),
        name: account.user.username.clone(),
        title: account.user.title.clone(),
        rating: perf.rating,
        provisional: perf.prov,
        is_guest: false,
    })
}

pub(super) fn start_event(game: &Game, color: Color, now: Instant) -> Event {
    Event::GameStart { game: Box::new(event(game, color, now)) }
}

/// A game as one of its players sees it in events and lists.
fn event(game: &Game, color: Color, now: Instant) -> GameEvent {
    let (terms, opponent) = (&game.terms, &game.players[!color]);
    let Facts { info, plies, clock, turn, ending } = game.facts();
    let last = plies.last();
    let (status, winner) = game.known_end();
    let rating_diffs = game.rating_diffs.filter(|_| !game.is_untold());
    let titled = |title: &_| format!("{title} {}", opponent.name);
    GameEvent {
        full_id: full_id(game.id, color),
        game_id: game.id,
        id: Some(game.id),
        fen: last.map_or(&info.start_fen, |made| &made.fen).clone(),
        color,
        last_move: last.map(|made| made.mv.to_string()).unwrap_or_default(),
        source: Some(terms.source.clone()),
        status,
        variant: terms.variant.clone().into(),
        speed: Some(terms.speed()),
        perf: Some(terms.perf()),
        rating: game.players[color].rating,
        rated: terms.rated,
        has_moved: game.has_moved(color),
        opponent: Opponent {
            id: Some(opponent.id.clone()),
            username: opponent.title.as_ref().map_or_else(|| opponent.name.clone(), titled),
            rating: opponent.rating,
            rating_diff: rating_diffs.map(|diffs| diffs[!color]),
            ai: None,
        },
        is_my_turn: ending.is_none() && turn == Some(color),
        seconds_left: clock.left(color, now),
        winner,
        rating_diff: rating_diffs.map(|diffs| diffs[color]),
        tournament_id: None,
        compat: Some(Compat { bot: true, board: terms.speed() >= Speed::Rapid }),
    }
}

/// The id of the game as the player's client has it.
fn full_id(id: GameId, color: Color) -> Option<FullId> {
    let tail = match color {
        Color::White => "wh1t",
        Color::Black => "b1ck",
    };
    format!("{id}{tail}").parse().ok()
}
