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

use zeitnot_rules::{ByColor, Color, Game as _, GameResult, TimeControl as Clocks, chess::Chess};
use zeitnot_wire::{
    contest::{FromClient, FromServer, State},
    lichess::{Event, GameId, GameRule, Source, Status, TimeControl, UserId, VariantKey},
};

use super::{
    answer::{Answer, Outcome},
    challenges::line,
    desk::DeskActor,
    game::{End, Game, Player, Terms},
    route::Deed,
};
use crate::{
    Name,
    client::Client,
    delay::Delay,
    tournament::{Hall, Refusal, Seat},
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
    pairing: Option<Pairing>,
}

/// The game that an account was paired for last.
#[derive(Debug)]
struct Pairing {
    tag: String,
    time: Clocks,
    /// Nobody was there to say that the game can begin.
    is_open: bool,
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
    /// The game that the account has agreed to last.
    game: Option<String>,
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
        let entrant = Entrant { account: account.clone(), name: name.to_string(), envoy, pairing: None };
        (entrant, Envoy { account, name, tournament, hall, orders, ear, game: None })
    }

    /// The account is there.
    fn come(&mut self, now: Instant) {
        let missed = self.pairing.as_mut().filter(|pairing| pairing.is_open);
        let order = match missed {
            Some(pairing) => {
                pairing.is_open = false;
                Order::Say(FromClient::Ack { game: pairing.tag.clone() }, now)
            }
            None => Order::Sit,
        };
        // Where so much waits already, it has been told so.
        let _ = self.envoy.try_send(order);
    }

    fn is_paired_for(&self, tag: &str) -> bool {
        self.pairing.as_ref().is_some_and(|pairing| pairing.tag == tag)
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
            Err(over @ Refusal::Over(_)) => return tracing::debug!("Lichess: {}: {over}", self.name),
            Err(refusal) => return tracing::warn!("Lichess: {} cannot play: {refusal}", self.name),
        };
        loop {
            select! {
                message = outbox.next() => {
                    let Some(message) = message else { break };
                    if let Some(reply) = self.tell(Some(message)).await {
                        self.say(&seat, reply, Instant::now()).await;
                    }
                }
                Some(order) = self.orders.recv() => {
                    if let Order::Say(message, at) = order {
                        self.say(&seat, message, at).await;
                    }
                }
            }
        }
        seat.leave().await;
        self.tell(None).await;
    }

    /// A word about a game that is over, said while the next one began, would cost the seat.
    async fn say(&mut self, seat: &Seat, message: FromClient, at: Instant) {
        match &message {
            FromClient::Ack { game } => self.game = Some(game.clone()),
            FromClient::Move { game, .. } | FromClient::Resign { game }
                if self.game.as_ref() != Some(game) =>
            {
                return;
            }
            _ => {}
        }
        seat.say(message, at).await;
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
    pub(super) fn summon(&mut self, who: &UserId, now: Instant) {
        let entrant = self.entrants.iter_mut().find(|entrant| entrant.account == *who);
        entrant.into_iter().for_each(|entrant| entrant.come(now));
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
                self.end_hosted(&account, Some(&game), now, |_| End { status: status.clone(), winner });
                None
            }
            Some(FromServer::GameAborted { .. }) => {
                self.end_hosted(&account, None, now, |_| End { status: Status::Aborted, winner: None });
                None
            }
            None => {
                self.unseat(&account, now);
                None
            }
            Some(FromServer::Info { .. } | FromServer::GameState(_) | FromServer::Said { .. }) => None,
        };
        let _ = reply.send(said);
    }

    /// Who is not there does not play: the tournament waits for a while, and then gives the seat up.
    fn ack(&mut self, account: &UserId, tag: String, time: Clocks) -> Option<FromClient> {
        let is_here = self.is_online(account);
        let entrant = self.entrants.iter_mut().find(|entrant| entrant.account == *account)?;
        entrant.pairing = Some(Pairing { tag: tag.clone(), time, is_open: !is_here });
        is_here.then_some(FromClient::Ack { game: tag })
    }

    /// The account has lost its seat; whatever it played was lost by that.
    fn unseat(&mut self, account: &UserId, now: Instant) {
        let left =
            |game: &Game| End { status: Status::Timeout, winner: game.side_of(account).map(|side| !side) };
        self.end_hosted(account, None, now, left);
        let is_here = self.is_online(account);
        let entrant = self.entrants.iter_mut().find(|entrant| entrant.account == *account);
        if let Some(entrant) = entrant {
            entrant.pairing = None;
            if is_here {
                entrant.come(now);
            }
        }
    }

    fn begin_hosted(&mut self, account: &UserId, state: &State, now: Instant) {
        let id = match self.games.values().find(|game| game.is_hosted_as(&state.game)) {
            Some(game) if game.end.is_some() => return,
            Some(game) => game.id,
            None => match self.host(account, state, now) {
                Some(id) => id,
                None => return,
            },
        };
        if let Ok((game, side)) = self.game_of(account, id) {
            let event = Event::GameStart { game: Box::new(game.event(side, now)) };
            self.people.tell(account, &event);
        }
    }

    /// A game of the class as it is shown here.
    fn host(&mut self, witness: &UserId, state: &State, now: Instant) -> Option<GameId> {
        let entrant = self.entrants.iter().find(|entrant| entrant.account == *witness)?;
        let is_usual = state.fen == Chess::start().print();
        let terms = Terms {
            variant: if is_usual { VariantKey::Standard } else { VariantKey::FromPosition },
            rated: false,
            time: TimeControl::Clock(entrant.pairing.as_ref()?.time),
            fen: (!is_usual).then(|| state.fen.clone()),
            source: Source::Api,
            rules: vec![GameRule::NoGiveTime, GameRule::NoRematch],
        };
        let player = |side: Color| {
            let name = &state.names[side];
            let is_it = |entrant: &&Entrant| entrant.name == *name && entrant.is_paired_for(&state.game);
            match self.entrants.iter().find(is_it) {
                Some(entrant) => self.player(&entrant.account, &terms).ok(),
                None => guest(name, witness),
            }
        };
        let [Some(white), Some(black)] = Color::BOTH.map(player) else { return None };
        let line = line(&terms).ok()?;
        let id = GameId::from(self.free_id());
        let mut game = Game::new(id, terms, line, ByColor([white, black]), self.patience(), now);
        game.host = Some(Host { tag: state.game.clone(), witness: witness.clone(), sent: None });
        game.hear_clocks(state.left, now);
        self.games.insert(id, game);
        Some(id)
    }

    /// A running game of the class, if the account is the one to be believed about it.
    fn hosted(&mut self, account: &UserId, tag: &str) -> Option<&mut Game> {
        let is_it = |game: &&Game| game.end.is_none() && game.is_hosted_as(tag);
        let id = self.games.values().find(is_it)?.id;
        self.games.get_mut(&id).filter(|game| game.host.as_ref().is_some_and(|host| host.witness == *account))
    }

    /// One game is over, or all of the account.
    fn end_hosted(&mut self, account: &UserId, tag: Option<&str>, now: Instant, end: impl Fn(&Game) -> End) {
        let is_meant = |game: &&Game| {
            let witness = game.host.as_ref().filter(|host| host.witness == *account);
            game.end.is_none() && witness.is_some_and(|host| tag.is_none_or(|tag| host.tag == tag))
        };
        let ended: Vec<GameId> = self.games.values().filter(is_meant).map(|game| game.id).collect();
        for id in ended {
            if let Some(game) = self.games.get_mut(&id) {
                let End { status, winner } = end(game);
                game.finish(status, winner, now);
            }
            self.conclude(id, now);
        }
    }

    /// What a player does in a game of the class: the referee knows moves and giving up. Moves are not rationed, as
    /// those of the others are not.
    pub(super) fn play_hosted(&mut self, who: &UserId, id: GameId, deed: Deed, at: Instant) -> Outcome {
        let envoy = self.entrants.iter().find(|entrant| entrant.account == *who).map(|e| e.envoy.clone());
        let (game, side) = self.game_of(who, id)?;
        let Some((host, envoy)) = game.host.as_ref().zip(envoy) else {
            return Err(Answer::missing("No such game"));
        };
        let tag = host.tag.clone();
        let Ok(place) = envoy.try_reserve() else {
            return Err(Answer::too_many("Too many requests. Try again later."));
        };
        match deed {
            _ if game.end.is_some() => return Err(Answer::bad("Not your turn, or game already over")),
            Deed::Move { text, .. } => {
                let mv = game.hand_on(side, &text).map_err(|why| Answer::bad(&why))?;
                place.send(Order::Say(FromClient::Move { game: tag, mv }, at));
            }
            Deed::Resign => place.send(Order::Say(FromClient::Resign { game: tag }, at)),
            Deed::Chat(_) | Deed::Draw(false) | Deed::Takeback(false) => {
                game.obey(side, deed, at).map_err(|why| Answer::bad(&why))?;
            }
            _ => return Err(Answer::bad("This is not possible in a tournament of the class")),
        }
        Ok(Answer::done())
    }
}

impl Game {
    fn is_hosted_as(&self, tag: &str) -> bool {
        self.host.as_ref().is_some_and(|host| host.tag == tag)
    }

    /// A move that the referee has taken.
    fn hear_move(&mut self, text: &str, left: ByColor<Duration>, now: Instant) {
        let mover = self.side_to_move();
        if self.replay(text, Some(left[mover])).is_none() {
            return tracing::error!("Lichess: game {}: the referee's move {text} is not legal here", self.id);
        }
        if !self.line.outcome().is_over() {
            self.hear_clocks(left, now);
            self.tell_state(now);
        }
    }

    fn hear_clocks(&mut self, left: ByColor<Duration>, now: Instant) {
        let side = self.side_to_move();
        if let Some(clock) = &mut self.clock {
            clock.set(left);
            clock.start(side, now);
        }
    }

    /// A move that the referee will take if it comes in time.
    fn hand_on(&mut self, side: Color, text: &str) -> Result<String, String> {
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
fn ending(result: GameResult, reason: &str) -> (Status, Option<Color>) {
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
