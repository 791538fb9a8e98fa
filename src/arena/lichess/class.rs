//! Accounts that play in a tournament of the class: its referee keeps board and clocks, and here its messages
//! become lines of streams, and requests become its players' messages.
//!
//! ```text
//!  desk ─ Order ─▶ envoy (a seat in the tournament) ─▶ tournament ─▶ game
//!  desk ◀─ Told ── envoy ◀─ client's queue ◀───────────┴──────────────┘
//! ```
//!
//! An envoy is a task: it waits for the tournament, so that the desk never does.

use std::time::Duration;

use tokio::{
    select,
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{Answer, Outcome},
    challenges::line,
    desk::DeskActor,
    game::{Game, Player, Terms},
    route::Deed,
};
use crate::{
    arena::{Name, client::Client, delay::Delay, tournament::Hall},
    game::{BySide, Game as _, Side, TimeControl as Clocks, chess::Chess},
    wire::{
        contest::{FromClient, FromServer, GameResult, State},
        lichess::{Event, GameId, GameRule, Source, Status, TimeControl, UserId, VariantKey},
    },
};

/// What may wait for an envoy: more than anybody has to say at once.
const QUEUE: usize = 64;
/// Of a name that may be longer than Lichess knows them.
const LONGEST_STEM: usize = 28;

/// What an envoy is to do.
#[derive(Debug)]
pub(super) enum Order {
    /// The account is there: take its seat, unless that is done already.
    Sit,
    /// Say this; it came then.
    Say(FromClient, Instant),
}

/// What the tournament tells an account; `None`: it has no seat any more. The reply is what the account says.
#[derive(Debug)]
pub(super) struct Told {
    account: UserId,
    message: Option<FromServer>,
    reply: oneshot::Sender<Option<FromClient>>,
}

/// Where the desk hears from envoys.
pub(super) type Ear = mpsc::Sender<Told>;

/// An account in a tournament, as the desk knows it.
#[derive(Debug)]
pub(super) struct Entrant {
    pub(super) account: UserId,
    name: String,
    envoy: mpsc::Sender<Order>,
    /// The clocks of the game that it was paired for last.
    time: Clocks,
}

/// Sits in the tournament for one account.
#[derive(Debug)]
pub(super) struct Envoy {
    account: UserId,
    name: Name,
    tournament: Name,
    hall: Hall,
    orders: mpsc::Receiver<Order>,
    ear: Ear,
}

/// Where a game is refereed, if not here.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// Its name there.
    tag: String,
    /// Whose envoy's word on the game is taken; the other one's would be the same again.
    witness: UserId,
    /// So many plies had been played when a move was handed on.
    sent: Option<usize>,
}

impl Entrant {
    /// An account in a tournament, and the envoy that is to run for it.
    pub(super) fn new(
        account: UserId,
        name: Name,
        tournament: Name,
        hall: Hall,
        ear: Ear,
    ) -> (Entrant, Envoy) {
        let (envoy, orders) = mpsc::channel(QUEUE);
        let time = Clocks { initial: Duration::ZERO, increment: Duration::ZERO };
        let entrant = Entrant { account: account.clone(), name: name.to_string(), envoy, time };
        (entrant, Envoy { account, name, tournament, hall, orders, ear })
    }

    /// The account is there.
    pub(super) fn sit(&self) {
        // Where so much waits already, it has been told so.
        let _ = self.envoy.try_send(Order::Sit);
    }
}

impl Envoy {
    /// Serves until `stop`, or until the desk is gone.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        while let Some(Some(order)) = stop.run_until_cancelled(self.orders.recv()).await {
            if let Order::Sit = order {
                self.sit(&stop).await;
            }
        }
    }

    /// From the seat's taking to its end.
    async fn sit(&mut self, stop: &CancellationToken) {
        let (client, mut outbox) = Client::channel(stop.child_token(), Delay::default());
        let seat = match self.hall.join(self.tournament.as_str(), self.name.clone(), client).await {
            Ok(seat) => seat,
            Err(refusal) => return tracing::warn!("Lichess: {} cannot play: {refusal}", self.name),
        };
        loop {
            select! {
                message = outbox.next() => {
                    let Some(message) = message else { break };
                    if let Some(reply) = self.tell(Some(message)).await {
                        seat.say(reply, Instant::now()).await;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if let Order::Say(message, at) = order {
                        seat.say(message, at).await;
                    }
                }
            }
        }
        seat.leave().await;
        self.tell(None).await;
    }

    async fn tell(&self, message: Option<FromServer>) -> Option<FromClient> {
        let (reply, answer) = oneshot::channel();
        let told = Told { account: self.account.clone(), message, reply };
        self.ear.send(told).await.ok()?;
        answer.await.ok().flatten()
    }
}

impl DeskActor {
    /// The account's event stream is open: it plays.
    pub(super) fn summon(&self, who: &UserId) {
        self.entrants.iter().filter(|entrant| entrant.account == *who).for_each(Entrant::sit);
    }

    /// A word from a tournament.
    pub(super) fn hear(&mut self, Told { account, message, reply }: Told, now: Instant) {
        let said = match message {
            Some(FromServer::GamePaired { game, time_control, .. }) => self.ack(&account, game, time_control),
            Some(FromServer::GameStarted(state)) => {
                self.begin_hosted(&account, &state, now);
                None
            }
            Some(FromServer::PlayerMoved { mv, state, .. }) => {
                if let Some(game) = self.hosted(&account, &state.game) {
                    game.hear_move(&mv, state.left, now);
                }
                None
            }
            Some(FromServer::ClockUpdate(state) | FromServer::YourMove(state)) => {
                if let Some(game) = self.hosted(&account, &state.game) {
                    game.hear_clocks(state.left, now);
                }
                None
            }
            Some(FromServer::GameOver { game, result, reason }) => {
                let (status, winner) = ending(result, &reason);
                self.end_hosted(&account, Some(&game), &status, winner, now);
                None
            }
            Some(FromServer::GameAborted { .. }) | None => {
                self.end_hosted(&account, None, &Status::Aborted, None, now);
                None
            }
            Some(FromServer::Info { .. } | FromServer::GameState(_) | FromServer::Said { .. }) => None,
        };
        let _ = reply.send(said);
    }

    /// Who is not there does not play: the tournament waits for a while, and then gives the seat up.
    fn ack(&mut self, account: &UserId, game: String, time: Clocks) -> Option<FromClient> {
        if !self.is_online(account) {
            return None;
        }
        let entrant = self.entrants.iter_mut().find(|entrant| entrant.account == *account)?;
        entrant.time = time;
        Some(FromClient::Ack { game })
    }

    fn begin_hosted(&mut self, account: &UserId, state: &State, now: Instant) {
        let Some(entrant) = self.entrants.iter().find(|entrant| entrant.account == *account) else { return };
        let named = |side: &Side| state.names[*side] == entrant.name;
        let Some(side) = Side::BOTH.into_iter().find(named) else { return };
        let is_usual = state.fen == Chess::start().print();
        let terms = Terms {
            variant: if is_usual { VariantKey::Standard } else { VariantKey::FromPosition },
            rated: false,
            time: TimeControl::Clock(entrant.time),
            fen: (!is_usual).then(|| state.fen.clone()),
            source: Source::Api,
            rules: vec![GameRule::NoGiveTime, GameRule::NoRematch],
        };
        let Ok(player) = self.player(account, &terms) else { return };
        let known = self.games.values().find(|game| game.is_hosted_as(&state.game)).map(|game| game.id);
        let id = match known {
            Some(id) => id,
            None => {
                let Ok(line) = line(&terms) else { return };
                let id = GameId::from(self.free_id());
                let [Some(white), Some(black)] = Side::BOTH.map(|side| guest(&state.names[side], account))
                else {
                    return;
                };
                let mut game = Game::new(id, terms, line, BySide([white, black]), self.patience(), now);
                game.host = Some(Host { tag: state.game.clone(), witness: account.clone(), sent: None });
                game.hear_clocks(state.left, now);
                self.games.insert(id, game);
                id
            }
        };
        let Some(game) = self.games.get_mut(&id) else { return };
        game.players[side] = player;
        let event = Event::GameStart { game: Box::new(game.event(side, now)) };
        self.people.tell(account, &event);
    }

    /// A running game of the class, if the account is the one to be believed about it.
    fn hosted(&mut self, account: &UserId, tag: &str) -> Option<&mut Game> {
        let is_it = |game: &&Game| game.end.is_none() && game.is_hosted_as(tag);
        let id = self.games.values().find(is_it)?.id;
        self.games.get_mut(&id).filter(|game| game.host.as_ref().is_some_and(|host| host.witness == *account))
    }

    /// One game is over, or all of the account.
    fn end_hosted(
        &mut self,
        account: &UserId,
        tag: Option<&str>,
        status: &Status,
        winner: Option<Side>,
        now: Instant,
    ) {
        let is_meant = |game: &&Game| {
            let witness = game.host.as_ref().filter(|host| host.witness == *account);
            game.end.is_none() && witness.is_some_and(|host| tag.is_none_or(|tag| host.tag == tag))
        };
        let ended: Vec<GameId> = self.games.values().filter(is_meant).map(|game| game.id).collect();
        for id in ended {
            if let Some(game) = self.games.get_mut(&id) {
                game.finish(status.clone(), winner, now);
            }
            self.conclude(id, now);
        }
    }

    /// What a player does in a game of the class: the referee knows moves and giving up.
    pub(super) fn play_hosted(&mut self, who: &UserId, id: GameId, deed: Deed, at: Instant) -> Outcome {
        let (game, side) = self.game_of(who, id)?;
        let Some(tag) = game.host.as_ref().map(|host| host.tag.clone()) else {
            return Err(Answer::missing("No such game"));
        };
        let said = match deed {
            _ if game.end.is_some() => return Err(Answer::bad("Not your turn, or game already over")),
            Deed::Move { text, .. } => {
                let mv = game.hand_on(side, &text).map_err(|why| Answer::bad(&why))?;
                FromClient::Move { game: tag, mv }
            }
            Deed::Resign => FromClient::Resign { game: tag },
            Deed::Chat(_) | Deed::Draw(false) | Deed::Takeback(false) => {
                return game.obey(side, deed, at).map(|()| Answer::done()).map_err(|why| Answer::bad(&why));
            }
            _ => return Err(Answer::bad("This is not possible in a tournament of the class")),
        };
        let entrant = self.entrants.iter().find(|entrant| entrant.account == *who);
        match entrant.map(|entrant| entrant.envoy.try_send(Order::Say(said, at))) {
            Some(Ok(())) => Ok(Answer::done()),
            _ => Err(Answer::too_many("Too many requests. Try again later.")),
        }
    }
}

impl Game {
    fn is_hosted_as(&self, tag: &str) -> bool {
        self.host.as_ref().is_some_and(|host| host.tag == tag)
    }

    /// A move that the referee has taken.
    fn hear_move(&mut self, text: &str, left: BySide<Duration>, now: Instant) {
        let mover = self.side_to_move();
        if self.replay(text, Some(left[mover])).is_none() {
            return tracing::error!("Lichess: game {}: the referee's move {text} is not legal here", self.id);
        }
        if !self.line.outcome().is_over() {
            self.hear_clocks(left, now);
            self.tell_state(now);
        }
    }

    fn hear_clocks(&mut self, left: BySide<Duration>, now: Instant) {
        let side = self.side_to_move();
        if let Some(clock) = &mut self.clock {
            clock.set(left);
            clock.start(side, now);
        }
    }

    /// A move that the referee will take if it comes in time.
    fn hand_on(&mut self, side: Side, text: &str) -> Result<String, String> {
        let played = self.line.moves().len();
        let is_turn = self.side_to_move() == side;
        let Some(host) = self.host.as_mut().filter(|host| is_turn && host.sent != Some(played)) else {
            return Err("Not your turn, or game already over".to_owned());
        };
        let shown: String = text.chars().filter(|c| !c.is_control()).take(10).collect();
        let mv = self.line.read(text).map_err(|_| format!("Invalid UCI: {shown}"))?;
        host.sent = Some(played);
        Ok(mv.to_string())
    }
}

/// Somebody who speaks another protocol, or has not been heard yet, under a name that Lichess takes for one. Programs
/// know by the names which side is theirs: nobody has that of the account they meet.
fn guest(name: &str, opponent: &UserId) -> Option<Player> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut name: String = name.chars().map(plain).take(LONGEST_STEM).collect();
    if name.eq_ignore_ascii_case(opponent.as_str()) {
        name += "-2";
    }
    Some(Player {
        id: name.parse().ok()?,
        name,
        title: None,
        rating: None,
        provisional: false,
        ai_level: None,
        is_guest: true,
    })
}

/// The referee's words for an end, in those of Lichess.
fn ending(result: GameResult, reason: &str) -> (Status, Option<Side>) {
    let GameResult::Won(winner) = result else {
        let status = if reason == "Stalemate" { Status::Stalemate } else { Status::Draw };
        return (status, None);
    };
    let status = match reason {
        "Out of time" => Status::OutOfTime,
        "Resignation" => Status::Resign,
        "Resignation by disconnect" => Status::Timeout,
        _ => Status::Mate,
    };
    (status, Some(winner))
}
