//! Performs what an account's [`AccountState`] wants, and tells it what happens.

use std::time::Duration;

use tokio::{
    select,
    sync::{oneshot, watch},
    time::timeout,
};
use tracing::{debug, info};
use zeitnot_seat::{ChallengeNews, News, Opponent, OrderAnswer, OrderQueue, SeatChanges};
use zeitnot_wire::lichess::{Event, GameId};

use super::{
    game_tasks::GameTasks,
    interface::{Effect, Input, Reply, Request},
    requests::{Requests, challenge_end},
    state::AccountState,
};
use crate::{
    Shutdown,
    lichess::{
        Config, HttpError, Lines, Stream, StreamEvent, Tasks, challenges::list_updates::WatchedLists,
        game::context::GameContext,
    },
    wait::{now, until},
};

/// Limit for the last requests when the session ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// For the end of a challenge of ours, whose stream a server might keep open for ever.
const CHALLENGE_TIMEOUT: Duration = Duration::from_secs(86_400);

/// Result of a task beside the games.
enum Outcome {
    /// A reply; that of a challenge of ours goes on.
    Reply(Reply, Option<Box<Lines>>),
    Opponent(GameId, Option<Opponent>),
}

pub(crate) struct Performer<'a> {
    state: AccountState,
    context: GameContext,
    requests: Requests,
    updates: watch::Receiver<Config>,
    orders: OrderQueue,
    /// Receives the answer to the order that was taken last.
    answer: Option<oneshot::Sender<OrderAnswer>>,
    players: WatchedLists,
    seats: SeatChanges,
    shutdown: &'a Shutdown,
    is_stopping: bool,
    events: Stream<Event>,
    games: GameTasks,
    tasks: Tasks<Outcome>,
    /// Requests that are still sent when the session ends.
    owed: Tasks<Outcome>,
    result: Option<Result<(), HttpError>>,
}

impl<'a> Performer<'a> {
    pub(crate) fn new(
        state: AccountState,
        context: GameContext,
        requests: Requests,
        updates: watch::Receiver<Config>,
        players: WatchedLists,
        orders: OrderQueue,
        shutdown: &'a Shutdown,
    ) -> Performer<'a> {
        Performer {
            events: Stream::of_account(context.http.clone(), false),
            seats: context.lobby.seats().changes(),
            state,
            context,
            requests,
            updates,
            orders,
            answer: None,
            players,
            shutdown,
            is_stopping: false,
            games: GameTasks::default(),
            tasks: Tasks::default(),
            owed: Tasks::default(),
            result: None,
        }
    }

    /// Plays until told to stop, or until enough games are played.
    pub(crate) async fn run(mut self) -> Result<(), HttpError> {
        let result = loop {
            let input = self.next().await;
            self.take(input);
            self.context.http.log().summarise(now());
            if let Some(result) = self.result.take() {
                break result;
            }
        };
        self.context.http.log().close();
        let last = async {
            while !self.owed.is_empty() {
                let outcome = self.owed.next().await;
                let input = self.settled(outcome);
                self.take(input);
            }
        };
        if timeout(CLOSE_TIMEOUT, last).await.is_err() {
            debug!("left without replies to the last requests");
        }
        result
    }

    /// Waits for what happens next.
    async fn next(&mut self) -> Input {
        let http = &self.context.http;
        let overdue = http.clocks().take_overdue(now());
        if !overdue.is_empty() {
            return Input::Overdue(overdue);
        }
        let due = [self.state.due(), http.clocks().due(), http.log().next_due()].into_iter().flatten().min();
        select! {
            biased;
            () = self.shutdown.soon.cancelled(), if !self.is_stopping => {
                self.is_stopping = true;
                Input::Stop
            }
            Some((id, end)) = self.games.next() => {
                http.clocks().end(id);
                Input::GameEnded(id, end)
            }
            outcome = self.tasks.next() => self.settled(outcome),
            outcome = self.owed.next() => self.settled(outcome),
            request = self.orders.next() => {
                self.answer = Some(request.answer);
                Input::Order(request.order)
            }
            Ok(()) = self.updates.changed() => {
                let config = self.updates.borrow_and_update().clone();
                self.players.reconfigure(&config.players);
                self.context.rules = config.game_rules();
                self.context.chat.set_accepted(&config.challenge);
                if self.context.http.dialect().offer(&config) {
                    self.events = Stream::of_account(self.context.http.clone(), true);
                }
                Input::Reconfigured(Box::new(config))
            }
            () = self.seats.next() => Input::Wake,
            () = http.unauthorized() => Input::Unauthorized,
            event = self.events.next() => match event {
                StreamEvent::Opened(_) => Input::StreamOpened,
                StreamEvent::Message(event, _) => Input::Event(event),
                StreamEvent::Closed(error) => Input::StreamClosed(error),
            },
            () = until(due) => Input::Wake,
        }
    }

    fn take(&mut self, input: Input) {
        for effect in self.state.on(input, now()) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send(request) => self.send(request),
            Effect::Begin { game, has_clock } => self.begin(game, has_clock),
            Effect::Seat(id, seat) => self.games.seat(id, seat),
            Effect::Finish(id, finish) => self.games.finish(id, finish),
            Effect::RequestSlot(id) => self.games.request_slot(id),
            Effect::ReopenStream => self.events = Stream::of_account(self.context.http.clone(), true),
            Effect::Answer(answer) => {
                // The owner may have gone.
                let _ = self.answer.take().map(|owner| owner.send(answer));
            }
            Effect::News(news) => self.report(news),
            Effect::Waiting(names) => self.context.chat.set_queue(names),
            Effect::Leave(result) => self.result = Some(result),
        }
    }

    /// Tells viewers, and the log of challenges that are declined.
    fn report(&self, news: News) {
        if let News::Answered(ChallengeNews { by, terms, declined: Some(reason), .. }) = &news
            && self.context.http.log().admits(&format!("challenges declined: {reason}"), now())
        {
            info!("declining {by}'s challenge ({terms}): {reason}");
        }
        self.context.lobby.report(news);
    }

    fn send(&mut self, request: Request) {
        let tasks = if request.is_owed() { &mut self.owed } else { &mut self.tasks };
        let requests = self.requests.clone();
        let if_crashed = Outcome::Reply(request.failed(HttpError::crashed()), None);
        let task = async move {
            let (reply, lines) = requests.perform(request).await;
            Outcome::Reply(reply, lines.map(Box::new))
        };
        tasks.spawn(task, if_crashed);
    }

    /// Converts a finished task to an input.
    fn settled(&mut self, outcome: Outcome) -> Input {
        match outcome {
            Outcome::Reply(reply, lines) => {
                if let (Reply::Created(Ok(id)), Some(lines)) = (&reply, lines) {
                    let id = *id;
                    let ended = move |end| Outcome::Reply(Reply::ChallengeEnded(id, end), None);
                    let end = timeout(CHALLENGE_TIMEOUT, challenge_end(*lines));
                    self.tasks.spawn(async move { ended(end.await.ok().flatten()) }, ended(None));
                }
                Input::Reply(reply)
            }
            Outcome::Opponent(id, Some(opponent)) => Input::OpponentKnown(id, opponent),
            Outcome::Opponent(_, None) => Input::Wake,
        }
    }

    fn begin(&mut self, id: GameId, has_clock: bool) {
        if has_clock {
            self.context.http.clocks().begin(id, now());
        }
        let opponent = self.games.begin(id, &self.context);
        let task = async move { Outcome::Opponent(id, opponent.await.ok()) };
        self.tasks.spawn(task, Outcome::Opponent(id, None));
    }
}
