//! The actor that owns all that this server knows: accounts, challenges, games.
//!
//! Games here are no tasks of their own: nothing in them waits, and what one player does concerns the game, the
//! lists of games and two event streams at once. One owner needs no agreement with others.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use hyper::StatusCode;
use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::{
    Message,
    lichess::{
        Challenge, ChallengeId, ChatEntry, Compat, Event, GameId, Playing, Scope, Status, Title, Token,
        TokenTest, TournamentId, UserId,
    },
};

use super::{
    answer::{Answer, Body, Outcome, StreamKind},
    arena::Arena,
    arenas::ArenaGame,
    bulk::Bulks,
    challenges::Pending,
    class::{Entrant, Told},
    config::Config,
    export::Style,
    faults::FaultSwitch,
    game::{Game, Patience},
    kept::Kept,
    limit::{Ration, Rations},
    open::Open,
    people::People,
    profile::Seen,
    route::{Call, Deed, Via},
    saved::{Restored, changes},
    society::Society,
    state::Changes,
};
use crate::store::Store;

/// Requests that may wait.
const QUEUE: usize = 256;
/// How often is looked for what time alone does.
const SWEEP: Duration = Duration::from_millis(50);
/// Games that are over and can still be asked for.
const MOST_OVER: usize = 1000;

/// Who sends a request.
#[derive(Debug)]
pub(super) enum Bearer {
    Nobody,
    /// Somebody with something that is no token.
    Stranger,
    Token(Token),
}

/// A request, and who asks.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) bearer: Bearer,
    pub(super) agent: String,
    pub(super) call: Call,
}

#[derive(Debug)]
struct Request {
    ask: Ask,
    at: Instant,
    reply: oneshot::Sender<Answer>,
}

/// Reaches the desk.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    requests: mpsc::Sender<Request>,
}

impl Desk {
    pub(super) async fn ask(&self, ask: Ask) -> Answer {
        let (reply, answer) = oneshot::channel();
        // What counts is when a move came, not how long it waited here.
        let request = Request { ask, at: Instant::now(), reply };
        let sent = self.requests.send(request).await.is_ok();
        let answer = if sent { answer.await.ok() } else { None };
        answer.unwrap_or_else(|| Answer::refused(StatusCode::SERVICE_UNAVAILABLE, "The server is restarting"))
    }
}

/// See the module's comment.
pub(super) struct DeskActor {
    requests: mpsc::Receiver<Request>,
    pub(super) config: Config,
    pub(super) people: People,
    pub(super) rations: Rations,
    pub(super) pending: Kept<ChallengeId, Pending>,
    /// Challenges that are no longer pending, the latest last.
    pub(super) answered: VecDeque<Challenge>,
    pub(super) games: Kept<GameId, Game>,
    /// Challenges to anybody.
    pub(super) open: BTreeMap<ChallengeId, Open>,
    pub(super) bulks: Bulks,
    pub(super) society: Society,
    pub(super) seen: Seen,
    /// Games that are over, the latest last.
    over: VecDeque<GameId>,
    /// Records that are to be written.
    records: Vec<String>,
    /// Accounts that play in tournaments of the class.
    pub(super) entrants: Vec<Entrant>,
    /// What they are told there.
    told: mpsc::Receiver<Told>,
    pub(super) arenas: BTreeMap<TournamentId, Arena>,
    faults: FaultSwitch,
    store: Store,
    /// Where the state is kept, if it is.
    state: Option<Changes>,
    stop: CancellationToken,
}

impl DeskActor {
    pub(super) fn channel(
        config: Config,
        people: People,
        store: Store,
        state: Option<(Changes, Restored)>,
        (entrants, told): (Vec<Entrant>, mpsc::Receiver<Told>),
        faults: FaultSwitch,
        stop: CancellationToken,
    ) -> (Desk, DeskActor) {
        let (tx, requests) = mpsc::channel(QUEUE);
        let (state, restored) = state.unzip();
        let mut actor = DeskActor {
            requests,
            rations: Rations::new(config.limits),
            society: Society::new(&config.team),
            config,
            people,
            open: BTreeMap::new(),
            bulks: Bulks::default(),
            seen: Seen::default(),
            pending: Kept::default(),
            answered: VecDeque::new(),
            games: Kept::default(),
            over: VecDeque::new(),
            records: Vec::new(),
            entrants,
            told,
            arenas: BTreeMap::new(),
            faults,
            store,
            state,
            stop,
        };
        for terms in std::mem::take(&mut actor.config.tournament) {
            let name = terms.name.clone();
            if actor.open_arena(terms).is_err() {
                tracing::warn!("Lichess: there are too many tournaments for {name}");
            }
        }
        restored.into_iter().for_each(|restored| actor.resume(restored, Instant::now()));
        (Desk { requests: tx }, actor)
    }

    /// Serves until the stop. All streams end with it.
    pub(super) async fn run(mut self) {
        let mut sweep = interval(SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        loop {
            select! {
                // A move that is here already is played before a flag falls.
                biased;
                () = stop.cancelled() => break,
                request = self.requests.recv() => match request {
                    Some(Request { ask, at, reply }) => {
                        let answer = self.answer(ask, at).unwrap_or_else(|refusal| refusal);
                        let _ = reply.send(answer);
                    }
                    None => break,
                },
                Some(told) = self.told.recv() => self.hear(told, Instant::now()),
                _ = sweep.tick() => self.sweep(Instant::now()),
            }
            self.write().await;
            self.keep();
        }
        match self.state.take() {
            Some(state) => self.lay_aside(state).await,
            None => self.break_off().await,
        }
    }

    /// What a restart has brought back.
    fn resume(&mut self, mut restored: Restored, now: Instant) {
        restored.accounts(&mut self.people);
        self.pending = restored.challenges(self.config.challenge_life, now);
        self.games = restored.games(self.patience(), now);
        self.over = self.games.values().filter(|game| game.end.is_some()).map(|game| game.id).collect();
        let running = self.running().count();
        if running > 0 {
            tracing::info!("Lichess: {running} games go on where they were");
        }
    }

    /// Hands what was changed to the file's thread, if that has time; otherwise at the next occasion.
    fn keep(&mut self) {
        let Some(state) = &self.state else {
            self.people.people.forget_changes();
            self.pending.forget_changes();
            return self.games.forget_changes();
        };
        let Ok(permit) = state.try_reserve() else { return };
        let changes = changes(&mut self.people.people, &mut self.pending, &mut self.games, Instant::now());
        if !changes.is_empty() {
            permit.send(changes);
        }
    }

    /// Everything is written as it stands, for the next start.
    async fn lay_aside(mut self, state: Changes) {
        let running: Vec<GameId> = self.running().map(|game| game.id).collect();
        // Their clocks stand from now on.
        for id in running {
            if let Some(game) = self.games.get_mut(&id) {
                game.close_streams();
            }
        }
        let changes = changes(&mut self.people.people, &mut self.pending, &mut self.games, Instant::now());
        // An error means that the file's thread has failed, which it has told.
        let _ = state.send(changes).await;
    }

    /// The games that run are written down as they stand.
    async fn break_off(mut self) {
        let running: Vec<GameId> = self.running().map(|game| game.id).collect();
        for id in running {
            if let Some(game) = self.games.get_mut(&id) {
                game.close_streams();
                game.finish(Status::UnknownFinish, None, Instant::now());
                if game.host.is_none() {
                    self.records.push(game.pgn(&Style::default(), self.config.listen));
                }
            }
        }
        self.write().await;
    }

    async fn write(&mut self) {
        for record in std::mem::take(&mut self.records) {
            self.store.write(record).await;
        }
    }

    pub(super) fn running(&self) -> impl Iterator<Item = &Game> {
        self.games.values().filter(|game| game.end.is_none())
    }

    fn sweep(&mut self, now: Instant) {
        self.expire(now);
        self.run_bulks(now);
        self.pair_arenas(now);
        let mut ended = Vec::new();
        for game in self.games.passing().filter(|game| game.end.is_none()) {
            game.tick(now);
            ended.extend(game.end.is_some().then_some(game.id));
        }
        ended.into_iter().for_each(|id| self.conclude(id, now));
    }

    fn answer(&mut self, Ask { bearer, agent, call }: Ask, at: Instant) -> Outcome {
        match call {
            Call::TestTokens(tokens) => Ok(self.test(tokens)),
            Call::OnlineBots { most } => Ok(self.online(most)),
            Call::Statuses { ids, flags } => Ok(self.statuses(&ids, flags)),
            Call::User(id) => self.profile(&id, self.who(&bearer).ok().as_ref()),
            Call::Users(ids) => Ok(self.users(&ids)),
            Call::Team(id) => self.team(&id),
            Call::Members(id) => self.members(&id),
            Call::TeamsOf(id) => Ok(self.teams_of(&id)),
            Call::Export(id, style) => self.export(id, &style),
            Call::GamesOf(id, filter, style) => self.games_of(&id, &filter, &style),
            Call::GamesById(ids, style) => Ok(self.games_by_id(&ids, &style)),
            Call::StartClocks(id, form) => self.start_clocks(id, &form, at),
            Call::Open(form) => {
                // Nobody needs an account to bring two others together.
                let who = if let Bearer::Nobody = bearer { None } else { Some(self.who(&bearer)?) };
                who.iter()
                    .try_for_each(|who| self.check_scope(who, &[Scope::ChallengeWrite, Scope::BotPlay]))?;
                self.open(who, form, at)
            }
            Call::NewAccount { name, title, token } => self.new_account(&bearer, name, title, token),
            Call::Arenas => Ok(self.list_arenas()),
            Call::Arena(id) => self.show_arena(id),
            Call::NewArena(terms) => {
                self.check_admin(&bearer)?;
                self.open_arena(*terms)
            }
            Call::Faults(faults) => {
                self.check_admin(&bearer)?;
                self.faults.set(*faults)
            }
            call => {
                let who = self.who(&bearer)?;
                self.seen.note(&who);
                self.check_scope(&who, call.scopes())?;
                self.serve(&who, bearer, agent, call, at)
            }
        }
    }

    fn who(&self, bearer: &Bearer) -> Result<UserId, Answer> {
        let refused = |why| Answer::refused(StatusCode::UNAUTHORIZED, why);
        match bearer {
            Bearer::Nobody => Err(refused("Missing authorization header")),
            Bearer::Stranger => Err(refused("No such token")),
            Bearer::Token(token) => {
                let who = self.people.by_token(token).filter(|who| !self.faults.now().revoked.contains(who));
                who.cloned().ok_or_else(|| refused("No such token"))
            }
        }
    }

    fn serve(&mut self, who: &UserId, bearer: Bearer, agent: String, call: Call, at: Instant) -> Outcome {
        match call {
            Call::Account => self.account(who, at),
            Call::RevokeToken => Ok(self.revoke(who, &bearer)),
            Call::Upgrade => self.upgrade(who),
            Call::Playing { most } => Ok(self.playing(who, most, at)),
            Call::Events => self.events(who, at),
            Call::Watch(via, id) => {
                self.check_way(who, via)?;
                let (game, side) = self.game_of(who, id)?;
                let lines = game.watch(side, agent, at);
                Ok(Answer::of(Body::Stream {
                    kind: StreamKind::Game,
                    lines,
                    keep_alive: self.config.game_keep_alive,
                }))
            }
            Call::ReadChat(id) => {
                let (game, _) = self.game_of(who, id)?;
                let entries = game.chat.iter();
                let entries =
                    entries.map(|line| ChatEntry { text: line.text.clone(), user: line.username.clone() });
                Ok(Answer::json(&entries.collect::<Vec<_>>()))
            }
            Call::JoinArena(id, form) => self.join_arena(who, id, &form, at),
            Call::LeaveArena(id) => self.leave_arena(who, id),
            Call::Play(via, id, deed) => {
                self.check_way(who, via)?;
                self.play(who, id, deed, at)
            }
            Call::Bulk(call) => self.bulk_call(who, call, at),
            Call::GiveTime(id, time) => self.give_time(who, id, time, at),
            Call::Social(call) => self.social(who, call),
            call => self.challenge_call(who, call, at),
        }
    }

    fn upgrade(&mut self, who: &UserId) -> Outcome {
        let person = self.people.find_mut(who).ok_or_else(|| Answer::missing("Not found"))?;
        if person.user.is_bot() {
            return Err(Answer::bad("Already a bot"));
        } else if person.games > 0 {
            return Err(Answer::bad("The account must not have played any game"));
        }
        person.user.title = Some(Title::Bot);
        Ok(Answer::done())
    }

    fn test(&self, tokens: Vec<Token>) -> Answer {
        let tested = tokens.into_iter().map(|token| (token.clone(), self.people.test(&token)));
        Answer::json(&TokenTest(tested.collect()))
    }

    pub(super) fn is_online(&self, who: &UserId) -> bool {
        let watches = |game: &Game| game.side_of(who).is_some_and(|side| game.is_watched_by(side));
        self.people.find(who).is_some_and(|person| person.is_listening()) || self.running().any(watches)
    }

    fn playing(&self, who: &UserId, most: usize, at: Instant) -> Answer {
        let sides = self.running().filter_map(|game| Some((game, game.side_of(who)?)));
        let mut games: Vec<_> = sides.map(|(game, side)| game.event(side, at)).collect();
        games.sort_by_key(|game| (!game.is_my_turn, game.seconds_left.unwrap_or(Duration::MAX)));
        games.truncate(most);
        Answer::json(&Playing { now_playing: games })
    }

    fn events(&mut self, who: &UserId, at: Instant) -> Outcome {
        const POLLED: &str = "Please don't poll this endpoint, it is intended to be streamed. \
                              See https://lichess.org/api#tag/Board/operation/apiStreamEvent.";
        self.rations.take(who, Ration::EventStream, 1, at).map_err(|_| Answer::too_many(POLLED))?;
        let sides = self.running().filter_map(|game| Some((game, game.side_of(who)?)));
        let games = sides.map(|(game, side)| Event::GameStart { game: Box::new(game.event(side, at)) });
        let challenges = self.pending_of(who);
        let challenges =
            challenges.map(|challenge| Event::Challenge { challenge: Box::new(challenge), compat: None });
        let first = games.chain(challenges).map(|event| event.to_line()).collect();
        let person = self.people.find_mut(who).ok_or_else(|| Answer::missing("Not found"))?;
        let lines = person.listen(first);
        self.summon(who, at);
        Ok(Answer::of(Body::Stream {
            kind: StreamKind::Events,
            lines,
            keep_alive: self.config.event_keep_alive,
        }))
    }

    /// Bots and people play by ways of their own.
    fn check_way(&self, who: &UserId, via: Via) -> Result<(), Answer> {
        const BOTS_ONLY: &str = "This endpoint can only be used with a Bot account. \
                                 See https://lichess.org/api#operation/botAccountUpgrade";
        let is_bot = self.people.find(who).is_some_and(|person| person.user.is_bot());
        match (via, is_bot) {
            (Via::Bot, false) => Err(Answer::bad(BOTS_ONLY)),
            (Via::Board, true) => Err(Answer::bad("This API endpoint is not for Bot accounts.")),
            _ => Ok(()),
        }
    }

    pub(super) fn game_of(&mut self, who: &UserId, id: GameId) -> Result<(&mut Game, Color), Answer> {
        let game = self.games.get_mut(&id);
        let found = game.and_then(|game| game.side_of(who).map(|side| (game, side)));
        found.ok_or_else(|| Answer::missing("No such game"))
    }

    fn play(&mut self, who: &UserId, id: GameId, deed: Deed, at: Instant) -> Outcome {
        if self.games.get(&id).is_some_and(|game| game.host.is_some()) {
            return self.play_hosted(who, id, deed, at);
        }
        let is_move = matches!(deed, Deed::Move { .. });
        if is_move {
            let slowly = |_| Answer::too_many("Too many requests. Try again later.");
            self.rations.take(who, Ration::Move, 1, at).map_err(slowly)?;
        }
        let close = self.faults.now().close_streams && is_move;
        let (game, side) = self.game_of(who, id)?;
        let was_running = game.end.is_none();
        let done = game.obey(side, deed, at);
        if close {
            game.close_streams();
        }
        if was_running && game.end.is_some() {
            self.conclude(id, at);
        }
        done.map(|()| Answer::done()).map_err(|why| Answer::bad(&why))
    }

    /// The patience that games have.
    pub(super) fn patience(&self) -> Patience {
        let Config { first_move, gone_after, claim_after, .. } = self.config;
        Patience { first_move, gone_after, claim_after }
    }

    /// A game begins: both hear of it.
    pub(super) fn begin(&mut self, game: Game, at: Instant) {
        let [white, black] = &game.players.0;
        tracing::info!("Lichess: game {}: {} – {}", game.id, white.name, black.name);
        for side in Color::BOTH {
            let event = Event::GameStart { game: Box::new(game.event(side, at)) };
            self.people.tell(&game.players[side].id, &event);
        }
        self.games.insert(game.id, game);
    }

    /// A game is over: ratings, events, the record.
    pub(super) fn conclude(&mut self, id: GameId, at: Instant) {
        let Some(game) = self.games.get_mut(&id) else { return };
        let Some(end) = &game.end else { return };
        let [white, black] = &game.players.0;
        tracing::info!(
            "Lichess: game {id}: {} – {}: {} ({} plies)",
            white.name,
            black.name,
            end.status,
            game.line.moves().len()
        );
        let ids = ByColor([white.id.clone(), black.id.clone()]);
        let counts = end.status != Status::Aborted;
        let rates = game.terms.rated && counts;
        let winner = end.winner;
        game.diffs = rates.then(|| self.people.rate(&ids, &game.perf(), winner));
        let took = (game.moved - game.created).unsigned_abs();
        let in_arena = game.arena.filter(|_| counts).map(|(arena, _)| {
            let (plies, players) = (game.line.moves().len(), ids.clone());
            let has_begun = end.status != Status::NoStart;
            (arena, ArenaGame { players, winner, brave: game.brave, plies, has_begun })
        });
        for side in Color::BOTH {
            // A guest may have the name of an account.
            let person = self.people.find_mut(&ids[side]).filter(|_| !game.players[side].is_guest);
            if let Some(person) = person {
                if counts {
                    person.played(rates, winner.map(|winner| winner == side), took);
                }
                person.tell(&Event::GameFinish { game: Box::new(game.event(side, at)) });
            }
        }
        if !game.line.moves().is_empty() && game.host.is_none() {
            self.records.push(game.pgn(&Style::default(), self.config.listen));
        }
        if let Some((arena, game)) = in_arena {
            self.count_in_arena(arena, &game);
        }
        self.over.push_back(id);
        if self.over.len() > MOST_OVER
            && let Some(oldest) = self.over.pop_front()
        {
            self.games.remove(&oldest);
        }
    }
}

/// Who can play a challenge that is told of.
pub(super) const COMPAT: Compat = Compat { bot: true, board: false };
