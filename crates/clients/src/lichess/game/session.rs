//! The actor of one game: tells the player what is new, and brings its moves to the server.

use std::time::{Duration, Instant};

use tokio::select;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use zeitnot_rules::{ByColor, Color, MoveText};
use zeitnot_seat::{Action, Clocks, Eval, Event, GameInfo, PlayerGone, Seat, Turn};
use zeitnot_wire::lichess::{ChatLine, Form, GameId, GameMessage, GameState, MoveQuery, Status};

use super::{
    actions::{GameAction, GameActions},
    clocks,
    context::{GameContext, GameEnd, GameSignals, MAX_TIME},
    desync::{Resync, give_up, leave_actions},
    idle::{never_started, suspended},
    move_request::{MoveRequests, SentMove},
    move_sender::SendOutcome,
    opponent::Opponent,
    result::{self, GameFinish},
    start::{StartedGame, start},
    tracker::{MoveTracker, TrackError},
};
use crate::{
    lichess::{
        HttpError, Stream, StreamEvent,
        chat::{messages::GameFacts, sender::GameDetails},
        records::record::GameRecord,
    },
    wait::{or_never, until},
};

/// Players that may leave a game before it is given up.
const MAX_PLAYERS: u32 = 3;
/// Time for the game's stream to tell an end that the account's events have told.
const RESULT_TIMEOUT: Duration = Duration::from_secs(2);
/// Result for the player of a game that continues without it.
const SUSPENDED: &str = "suspended until the opponent moves";

/// Plays a game to its end, or until it is suspended.
pub(crate) async fn play(context: GameContext, id: GameId, signals: GameSignals) -> GameEnd {
    let GameSignals { mut finished, slot_wanted, mut opponent } = signals;
    let mut stream = context.stream(id);
    let started = async {
        let started = start(&context, &mut stream, &mut opponent).await?;
        let seat = context.open_seat(&started.info).await;
        Ok((started, seat))
    };
    let started = select! {
        started = started => started,
        Some(_) = finished.recv() => return GameEnd::Unplayed,
        () = never_started(&slot_wanted) => return GameEnd::Suspended,
    };
    match started {
        Ok((started, seat)) => {
            let signals = GameSignals { finished, slot_wanted, opponent };
            GameSession::new(context, id, started, seat).run(stream, signals).await
        }
        Err(end) => end,
    }
}

#[derive(Debug, thiserror::Error)]
enum Interruption {
    #[error(transparent)]
    Player(#[from] PlayerGone),
    #[error(transparent)]
    Desync(#[from] TrackError),
}

struct GameSession {
    context: GameContext,
    id: GameId,
    info: GameInfo,
    seat: Seat,
    tracker: MoveTracker,
    /// The latest state, and when it was read.
    state: GameState,
    read_at: Instant,
    /// Opening of the present stream.
    opened: Instant,
    requests: MoveRequests,
    actions: GameActions,
    opponent: Opponent,
    resync: Resync,
    /// Since when a correspondence game waits for the opponent.
    idle_since: Option<Instant>,
    /// We play with half the time and no increment.
    is_berserk: bool,
    /// The player has left the game for good.
    is_leaving: bool,
    eval: Option<Eval>,
    record: Option<GameRecord>,
    players: u32,
}

impl GameSession {
    fn new(context: GameContext, id: GameId, started: StartedGame, seat: Seat) -> GameSession {
        let StartedGame { full, read_at, info, tracker } = started;
        let color = info.side;
        let mut session = GameSession {
            id,
            seat,
            read_at,
            opened: Instant::now(),
            requests: MoveRequests::default(),
            actions: GameActions::new(context.http.clone(), id),
            opponent: Opponent::new(!color, context.rules.max_takebacks),
            resync: Resync::default(),
            idle_since: None,
            is_berserk: context.rules.berserk.applies(&full, color),
            is_leaving: false,
            eval: None,
            record: context.pgn.begin(&full, color),
            players: 1,
            state: full.state,
            info,
            tracker,
            context,
        };
        let plies = session.state.played().count();
        if plies <= 1 {
            session.chat(GameDetails::Begun);
        }
        let has_moved = plies > usize::from(session.tracker.first_color() != color);
        if session.is_berserk && !has_moved {
            session.actions.spawn(GameAction::Berserk);
        }
        session
    }

    async fn run(mut self, mut stream: Stream<GameMessage>, mut signals: GameSignals) -> GameEnd {
        let state = self.state.clone();
        let read_at = self.read_at;
        let mut step = self.follow(state, read_at).await;
        // The end as the account hears of it, and how long to wait for the stream to tell it.
        let mut finished: Option<(Instant, GameFinish)> = None;
        loop {
            match step {
                Ok(()) => {}
                Err(Interruption::Player(_)) if self.players >= MAX_PLAYERS => {
                    return self.give_up("no player stays in the game".to_owned()).await;
                }
                Err(Interruption::Player(_)) => {
                    step = self.replace_player().await.map_err(Interruption::from);
                    continue;
                }
                Err(Interruption::Desync(error)) if self.should_resync(&error) => {
                    stream = self.context.stream(self.id);
                }
                Err(Interruption::Desync(error)) => {
                    return self.give_up(format!("its moves do not fit our rules: {error}")).await;
                }
            }
            if self.state.status.is_over() {
                let result = result::describe(&self.state.status, self.state.winner);
                return self.end(result, GameEnd::Over).await;
            }
            let suspended = self.suspended(&signals.slot_wanted);
            step = select! {
                biased;
                action = self.seat.actions.recv() => self.act(action).map_err(Interruption::from),
                (sent, outcome) = self.requests.next() => match outcome {
                    None => Ok(()),
                    Some(outcome) => {
                        if self.settle(sent, outcome).await {
                            stream = self.context.stream(self.id);
                        }
                        Ok(())
                    }
                },
                event = stream.next() => match event {
                    StreamEvent::Opened => {
                        self.opened = Instant::now();
                        Ok(())
                    }
                    StreamEvent::Message(message, read_at) => self.handle(message, read_at).await,
                    StreamEvent::Closed(error) => {
                        let known = finished.map(|(_, finish)| self.finished(finish));
                        return self.end(known.unwrap_or_else(|| format!("unknown: {error}")), GameEnd::Over).await;
                    }
                },
                () = until(self.opponent.abort_at) => {
                    let abort = self.opponent.abort();
                    self.actions.spawn(abort);
                    Ok(())
                }
                () = until(self.opponent.claim_at()) => {
                    if let Some(claim) = self.opponent.claim(self.context.rules.claim) {
                        self.actions.spawn(claim);
                    }
                    Ok(())
                }
                (action, result) = self.actions.next() => {
                    self.performed(action, result);
                    Ok(())
                }
                Some(finish) = signals.finished.recv(), if finished.is_none() => {
                    finished = Some((Instant::now() + RESULT_TIMEOUT, finish));
                    Ok(())
                }
                () = until(self.opponent.given_up_at) => {
                    return self.end(SUSPENDED.to_owned(), GameEnd::Suspended).await;
                }
                () = suspended, if finished.is_none() => {
                    return self.end(SUSPENDED.to_owned(), GameEnd::Suspended).await;
                }
                () = until(finished.as_ref().map(|(until, _)| *until)) => {
                    let result = finished.map(|(_, finish)| self.finished(finish));
                    return self.end(result.unwrap_or_default(), GameEnd::Over).await;
                }
            };
        }
    }

    /// Takes over the end of the game as the account hears of it. Returns the result in words.
    fn finished(&mut self, finish: GameFinish) -> String {
        let result = finish.describe();
        if let GameFinish::Told { status, winner } = finish
            && status.is_over()
        {
            (self.state.status, self.state.winner) = (status, winner);
        }
        result
    }

    async fn end(mut self, result: String, end: GameEnd) -> GameEnd {
        self.update_record();
        if end == GameEnd::Over {
            self.chat(GameDetails::Ended);
        }
        if let Some(record) = self.record.take() {
            match end {
                GameEnd::Over => self.context.pgn.write(record),
                _ => self.context.pgn.suspend(record),
            }
        }
        let outcome = result::outcome(&self.state.status, self.state.winner);
        let _ = self.seat.send(Event::Ended { result, outcome }).await;
        end
    }

    /// Leaves a game that cannot be continued.
    async fn give_up(mut self, why: String) -> GameEnd {
        let plies = self.state.played().count();
        match give_up(&self.context.http, self.id, plies, &why).await {
            Some(GameAction::Abort) => self.state.status = Status::Aborted,
            Some(_) => {
                let winner = !self.info.side;
                (self.state.status, self.state.winner) = (Status::Resign, Some(winner));
            }
            None => {}
        }
        self.end(why, GameEnd::Over).await
    }

    async fn handle(&mut self, message: GameMessage, read_at: Instant) -> Result<(), Interruption> {
        match message {
            GameMessage::GameFull(full) => {
                self.opponent.forget_absence();
                self.settle_reopened(&full.state).await?;
                self.follow(full.state, read_at).await?;
                self.resync.succeeded();
                self.update_record();
            }
            GameMessage::GameState(state) => {
                self.follow(state, read_at).await?;
                self.update_record();
            }
            GameMessage::OpponentGone(gone) => {
                self.opponent.gone(gone, self.context.http.timeouts().claim_delay, read_at);
            }
            GameMessage::ChatLine(line) => self.read_chat(line),
            GameMessage::Other(unknown) => debug!("ignored: {:?}", unknown.kind),
        }
        Ok(())
    }

    /// Tells the player what is new, and asks for a move where one is due.
    async fn follow(&mut self, state: GameState, read_at: Instant) -> Result<(), Interruption> {
        let change = match self.tracker.follow(&state) {
            Ok(change) => change,
            // The result counts, whatever was played.
            Err(_) if state.status.is_over() => {
                self.state = state;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        (self.state, self.read_at) = (state, read_at);
        self.update_clocks();
        if !change.is_none() {
            self.requests.clear();
            self.resync.moved();
        }
        if change.taken_back > 0 {
            self.seat.send(Event::TakenBack { plies: change.taken_back }).await?;
        }
        for mv in change.moves {
            self.seat.send(Event::Moved(mv)).await?;
        }
        if self.state.status.is_over() {
            return Ok(());
        }
        self.answer_requests().await?;
        let is_our_turn = self.is_our_turn();
        let is_awaited = self.tracker.plies() < 2 && !is_our_turn && !self.is_correspondence();
        let limit = self.state.expiration.map(|expiration| expiration.left);
        let limit = limit.unwrap_or(self.context.http.timeouts().abort_time);
        self.opponent.await_first_move(is_awaited, limit, read_at);
        let is_idle = self.is_correspondence() && !is_our_turn;
        self.idle_since = is_idle.then(|| self.idle_since.unwrap_or_else(Instant::now));
        let clocks = self.clocks(read_at);
        if self.requests.is_none() && is_our_turn {
            self.request_move(clocks).await?;
        } else if let Some(clocks) = clocks.filter(|_| !self.is_correspondence()) {
            self.seat.send(Event::ClocksRead(clocks)).await?;
        }
        Ok(())
    }

    /// Draw offers are the player's matter, takebacks are answered here.
    async fn answer_requests(&mut self) -> Result<(), PlayerGone> {
        let new = self.opponent.read_requests(&self.state);
        if let Some(answer) = new.takeback {
            self.actions.spawn(answer);
        }
        if new.draw {
            info!("the opponent offers a draw");
            self.seat.send(Event::DrawOffered).await?;
        }
        Ok(())
    }

    async fn request_move(&mut self, clocks: Option<Clocks>) -> Result<(), PlayerGone> {
        let turn = self.requests.open();
        self.seat.send(Event::YourTurn { turn, clocks }).await
    }

    fn is_our_turn(&self) -> bool {
        self.tracker.color() == self.info.side
    }

    fn is_correspondence(&self) -> bool {
        self.info.time_control.is_none()
    }

    fn clocks(&self, read_at: Instant) -> Option<Clocks> {
        match self.info.time_control {
            Some(control) => clocks::of_game(control, self.info.side, self.is_berserk, &self.state, read_at),
            None => {
                let move_time = self.context.rules.correspondence.move_time;
                Some(clocks::of_move(move_time, &self.state, self.read_at))
            }
        }
    }

    /// Tells the account's other tasks how much time there is, and until when the next news is due.
    fn update_clocks(&self) {
        if self.is_correspondence() {
            return;
        }
        let timeouts = self.context.http.timeouts();
        let left = self.state.left().0.map(|left| left.unwrap_or(MAX_TIME).min(MAX_TIME));
        let left = ByColor(left);
        let is_our_turn = self.is_our_turn();
        // No clock runs before both have moved.
        let has_begun = self.tracker.plies() >= 2;
        let before_start = match &self.state.expiration {
            Some(expiration) => expiration.left.min(MAX_TIME),
            None if has_begun => Duration::ZERO,
            None => timeouts.abort_time.min(MAX_TIME),
        };
        let news = if has_begun { left[self.tracker.color()] } else { before_start };
        let length = before_start + left[Color::White] + left[Color::Black];
        let clocks = self.context.http.clocks();
        clocks.update(self.id, left[self.info.side], self.read_at, is_our_turn && has_begun, news, length);
    }

    /// Does what the player wants. Answers to old requests are ignored.
    fn act(&mut self, action: Option<Action>) -> Result<(), PlayerGone> {
        match action {
            Some(Action::Play { turn, mv, offers_draw, eval }) if self.requests.awaits(turn) => {
                self.send(turn, mv, offers_draw);
                self.eval = eval.or(self.eval);
                if let Some((record, eval)) = self.record.as_mut().zip(eval) {
                    record.set_eval(self.tracker.plies(), eval);
                }
            }
            Some(Action::Resign { turn }) if self.requests.awaits(turn) => {
                self.actions.spawn(GameAction::Resign);
            }
            Some(Action::Leave { turn }) if self.requests.awaits(turn) => {
                self.is_leaving = true;
                self.actions.spawn(leave_actions(self.state.played().count())[0]);
            }
            Some(late) => debug!("too late: {late:?}"),
            None => return Err(PlayerGone),
        }
        Ok(())
    }

    fn send(&mut self, turn: Turn, mv: MoveText, offers_draw: bool) {
        let mut path = format!("api/bot/game/{}/move/{}", self.id, self.tracker.write(mv));
        if offers_draw {
            path = format!("{path}?{}", MoveQuery { offering_draw: true }.to_form());
        }
        let left = self.info.time_control.and(self.state.left()[self.info.side]);
        let due = left.map(|left| self.read_at + left.min(MAX_TIME));
        // The clocks run once both have moved; before, they tell nothing of the lag.
        let is_timed = self.tracker.plies() >= 2;
        self.requests.send(turn, self.context.http.clone(), path, due, is_timed);
    }

    /// Notes the outcome of our move. Returns whether to open the stream again.
    async fn settle(&mut self, sent: SentMove, outcome: SendOutcome) -> bool {
        if let SendOutcome::Played { at } = outcome
            && self.requests.is_latest(sent.turn)
            && sent.is_timed
        {
            let _ = self.seat.send(Event::Sent { turn: sent.turn, at }).await;
        }
        let refused = self.requests.settle(sent, outcome);
        if let Some(why) = &refused {
            debug!("our move was refused ({why}); opening the stream again");
        }
        refused.is_some()
    }

    /// A state from a stream that was opened again also tells what became of our move.
    async fn settle_reopened(&mut self, state: &GameState) -> Result<(), PlayerGone> {
        let refused = self.requests.reopened(self.opened);
        let is_unchanged = state.played().count() == self.tracker.plies() && !state.status.is_over();
        match refused.filter(|_| is_unchanged) {
            Some((turn, why)) => self.seat.send(Event::Refused { turn, why }).await,
            None => Ok(()),
        }
    }

    fn performed(&mut self, action: GameAction, result: Result<(), HttpError>) {
        let path = action.path();
        let Err(error) = result else { return debug!("{path}: done") };
        warn!("{path} failed: {error}");
        if action == GameAction::Berserk {
            self.is_berserk = false;
        }
        if action == GameAction::Abort && self.is_leaving {
            self.actions.spawn(GameAction::Resign);
        }
        self.opponent.failed(action);
    }

    /// Returns whether to open the stream again, as moves do not fit. An open request may be about another board, and
    /// is made again.
    fn should_resync(&mut self, error: &TrackError) -> bool {
        if self.requests.is_open() {
            self.requests.clear();
        }
        let should = self.resync.start();
        if should {
            debug!("{error}; opening the stream again");
        }
        should
    }

    /// Another player takes over, and is told the game from its beginning.
    async fn replace_player(&mut self) -> Result<(), PlayerGone> {
        self.players += 1;
        warn!("the player left the game; another one takes over");
        self.seat = self.context.open_seat(&self.info).await;
        for mv in self.tracker.moves().to_vec() {
            self.seat.send(Event::Moved(mv)).await?;
        }
        if self.opponent.offers_draw {
            self.seat.send(Event::DrawOffered).await?;
        }
        if self.is_our_turn() && (self.requests.is_none() || self.requests.is_open()) {
            self.request_move(self.clocks(self.read_at)).await?;
        }
        Ok(())
    }

    /// Ends when this game is to be suspended.
    fn suspended(&self, slot_wanted: &CancellationToken) -> impl Future<Output = ()> + use<> {
        let is_busy = self.requests.is_sending() || !self.actions.is_empty();
        let idle_since = self.idle_since.filter(|_| !is_busy);
        let rules = self.context.rules.correspondence;
        or_never(
            self.is_correspondence().then(|| suspended(rules, idle_since, self.read_at, slot_wanted.clone())),
        )
    }

    /// Passes on chat that may be a command.
    fn read_chat(&self, line: ChatLine) {
        debug!("{} in chat: {:?}", line.username, line.text);
        if line.text.trim_start().starts_with('!') {
            self.chat(GameDetails::Line(line));
        }
    }

    fn chat(&self, details: GameDetails) {
        let color = self.info.side;
        let facts = GameFacts {
            opponent: self.info.names[!color].clone(),
            me: self.info.names[color].clone(),
            engine: self.seat.engine.clone(),
            eval: self.eval,
            queue: Vec::new(),
        };
        self.context.chat.send(self.id, facts, details);
    }

    /// Records the state, once the player knows it.
    fn update_record(&mut self) {
        if let Some(record) = &mut self.record {
            record.update(self.state.clone());
        }
    }
}
