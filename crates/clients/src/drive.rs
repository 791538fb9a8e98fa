//! Drives the state machine of a protocol: brings it what happens, and performs what it wants done.
//!
//! A machine knows neither sockets nor timers nor players, so a test can bring it anything at any time.

use std::{collections::VecDeque, convert::Infallible, fmt, future::pending, time::Instant};

use tokio::select;
use zeitnot_seat::{Action, Declined, Event, GameInfo, Lobby, PlayerGone, Reservation, Seat, Seats, Turn};

use crate::{
    game_clock::GameClock,
    wait::{now, or_never, until},
};

#[cfg(test)]
pub(crate) mod simulation;

/// Input of a machine.
#[derive(Debug)]
pub(crate) enum Input<M> {
    /// The connection is open.
    Start,
    /// A message of the server, and when it was read.
    Message(M, Instant),
    /// A message that cannot be read.
    Unreadable,
    /// Our answer to this turn was handed to the socket then.
    Sent(Turn, Instant),
    /// The player has decided.
    Action(Action),
    /// The game has no player, for this reason; or one that began now would have none.
    NoPlayer(String),
    /// The time is up that [`due`](Machine::due) named.
    Time,
}

/// Effect that a machine requests.
#[derive(Debug)]
pub(crate) enum Effect<C> {
    /// Send a message, which may be the answer to a turn.
    Send(C, Option<Turn>),
    /// Find a player.
    Open(Box<GameInfo>),
    /// Send an event to the player, if there is one. The end of the game is the last.
    Tell(Event),
}

/// Effects in their order.
pub(crate) type Effects<C> = VecDeque<Effect<C>>;

/// State machine of one connection.
pub(crate) trait Machine: Send {
    type Message: Send;
    type Command: Send;
    /// End of the connection that is no error.
    type End: Send;
    /// Error of the socket.
    type Lost: Send;
    type Error: fmt::Display + Send;

    /// Changes the state. Returns the end if this was the last input.
    fn on(&mut self, input: Input<Self::Message>, now: Instant) -> Result<Option<Self::End>, Self::Error>;

    /// Effects that are to be performed.
    fn effects(&mut self) -> &mut Effects<Self::Command>;

    /// Returns when the next [`Input::Time`] is due.
    fn due(&self) -> Option<Instant>;

    /// Explains the end of the connection.
    fn lost(&mut self, error: Self::Lost, now: Instant) -> Self::Error;

    /// Returns whether a stop ends the connection now, as no game runs.
    fn may_stop(&self) -> bool;

    /// Returns whether a game may begin at any time, so that it must be known when it would have no player.
    fn needs_free_seat(&self) -> bool {
        false
    }
}

/// Connection of a machine to its server.
pub(crate) trait Wire<M: Machine>: Send {
    fn send(
        &mut self,
        command: M::Command,
        answers: Option<Turn>,
    ) -> impl Future<Output = Result<(), M::Lost>> + Send;

    /// Returns the next input from the server. Cancel safe.
    fn next(&mut self) -> impl Future<Output = Result<Input<M::Message>, M::Lost>> + Send;
}

/// Reservation of a game's seat. It outlasts a lost connection while the game may go on: with its seat taken by another
/// game, the resumed one would be resigned.
#[derive(Debug, Default)]
pub(crate) struct KeptSeat {
    reservation: Option<Reservation>,
    /// Latest end of the game whose connection was lost.
    until: Option<Instant>,
}

impl KeptSeat {
    /// Keeps the seat until this game is over, whose connection was lost; frees it if none runs any more.
    pub(crate) fn keep_for(&mut self, lost: Option<GameClock>, now: Instant) {
        match lost.filter(|clock| clock.time_left(now).is_some()) {
            Some(clock) => self.until = clock.ends_at(),
            None => *self = KeptSeat::default(),
        }
    }

    /// Returns the seat that was kept, or another one.
    fn take(&mut self, lobby: &Lobby) -> Result<Reservation, Declined> {
        self.until = None;
        let reservation = match self.reservation.take() {
            Some(kept) => kept,
            None => lobby.reserve()?,
        };
        Ok(self.reservation.insert(reservation).clone())
    }

    /// Frees the seat once the lost game must be over. Never ends, so that nothing else is affected.
    async fn expire(&mut self) -> Infallible {
        until(self.until).await;
        *self = KeptSeat::default();
        pending().await
    }
}

/// Drives a machine to its end, or until `stop` and no game runs: then there is no [`Machine::End`]. A game that is
/// still open then is ended for its player, and `kept` still holds its seat.
pub(crate) async fn drive<M: Machine>(
    machine: &mut M,
    wire: &mut impl Wire<M>,
    lobby: &Lobby,
    kept: &mut KeptSeat,
    stop: impl Future<Output = ()> + Send,
) -> Result<Option<M::End>, M::Error> {
    let mut driver = Driver { machine, wire, lobby, kept, seat: None };
    let ended = driver.run(stop).await;
    let result = match &ended {
        Ok(_) => "no result: left".to_owned(),
        Err(error) => format!("no result: {error}"),
    };
    if let Some(seat) = driver.seat {
        let _ = seat.send(Event::Ended { result, outcome: None }).await;
    }
    ended
}

/// Waits until no seat is free. Cancel safe.
async fn full(seats: &Seats) -> Declined {
    let mut changes = seats.changes();
    while seats.has_free() {
        changes.next().await;
    }
    seats.full()
}

struct Driver<'a, M, W> {
    machine: &'a mut M,
    wire: &'a mut W,
    lobby: &'a Lobby,
    kept: &'a mut KeptSeat,
    seat: Option<Seat>,
}

impl<M: Machine, W: Wire<M>> Driver<'_, M, W> {
    async fn run(&mut self, stop: impl Future<Output = ()> + Send) -> Result<Option<M::End>, M::Error> {
        let mut stop = std::pin::pin!(stop);
        let mut input = Input::Start;
        loop {
            let is_message = matches!(input, Input::Message(..));
            if let Some(end) = self.on(input).await? {
                return Ok(Some(end));
            }
            // A flood of messages must not hold back our move.
            if let Some(seat) = self.seat.as_mut().filter(|_| is_message)
                && let Ok(action) = seat.actions.try_recv()
            {
                input = Input::Action(action);
                continue;
            }
            input = select! {
                biased;
                () = &mut stop, if self.machine.may_stop() => return Ok(None),
                input = self.wire.next() => input.map_err(|lost| self.machine.lost(lost, now()))?,
                action = or_never(self.seat.as_mut().map(|seat| seat.actions.recv())) => match action {
                    Some(action) => Input::Action(action),
                    None => self.no_player(&PlayerGone),
                },
                full = full(self.lobby.seats()), if self.machine.needs_free_seat() => self.no_player(&full),
                never = self.kept.expire() => match never {},
                () = until(self.machine.due()) => Input::Time,
            };
        }
    }

    /// Brings the machine an input, and performs the effects.
    async fn on(&mut self, input: Input<M::Message>) -> Result<Option<M::End>, M::Error> {
        let mut end = self.machine.on(input, now())?;
        while let Some(effect) = self.machine.effects().pop_front() {
            let no_player = match effect {
                Effect::Send(command, answers) => {
                    let sent = self.wire.send(command, answers).await;
                    sent.map_err(|lost| self.machine.lost(lost, now()))?;
                    None
                }
                Effect::Open(info) => match self.open(*info).await {
                    Ok(seat) => {
                        self.seat = Some(seat);
                        None
                    }
                    Err(declined) => Some(self.no_player(&declined)),
                },
                Effect::Tell(event) => self.tell(event).await.err().map(|gone| self.no_player(&gone)),
            };
            if let Some(input) = no_player {
                end = self.machine.on(input, now())?.or(end);
            }
        }
        Ok(end)
    }

    async fn open(&mut self, info: GameInfo) -> Result<Seat, Declined> {
        let reservation = self.kept.take(self.lobby)?;
        self.lobby.open_reserved(info, reservation).await
    }

    async fn tell(&mut self, event: Event) -> Result<(), PlayerGone> {
        let is_last = matches!(event, Event::Ended { .. });
        let told = match &self.seat {
            Some(seat) => seat.send(event).await,
            None => Ok(()),
        };
        if is_last {
            self.seat = None;
            *self.kept = KeptSeat::default();
            return Ok(());
        }
        told
    }

    fn no_player(&mut self, why: &impl fmt::Display) -> Input<M::Message> {
        self.seat = None;
        *self.kept = KeptSeat::default();
        Input::NoPlayer(why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::sync::mpsc;
    use zeitnot_rules::{ByColor, Color, GameKind};
    use zeitnot_seat::GameDetails;

    use super::*;

    /// A machine that ends with its player's action, and a server that always has one more message.
    #[derive(Default)]
    struct Flood {
        effects: Effects<()>,
        messages: u32,
    }

    impl Machine for Flood {
        type Message = ();
        type Command = ();
        type End = ();
        type Lost = &'static str;
        type Error = &'static str;

        fn on(&mut self, input: Input<()>, _: Instant) -> Result<Option<()>, &'static str> {
            match input {
                Input::Start => self.effects.push_back(Effect::Open(Box::new(info()))),
                Input::Action(_) => return Ok(Some(())),
                Input::Message((), _) => self.messages += 1,
                other => panic!("{other:?}"),
            }
            if self.messages < 1000 { Ok(None) } else { Err("the player is not heard") }
        }

        fn effects(&mut self) -> &mut Effects<()> {
            &mut self.effects
        }

        fn due(&self) -> Option<Instant> {
            None
        }

        fn lost(&mut self, error: &'static str, _: Instant) -> &'static str {
            error
        }

        fn may_stop(&self) -> bool {
            false
        }
    }

    struct FloodWire;

    impl Wire<Flood> for FloodWire {
        async fn send(&mut self, (): (), _: Option<Turn>) -> Result<(), &'static str> {
            Ok(())
        }

        fn next(&mut self) -> impl Future<Output = Result<Input<()>, &'static str>> + Send {
            ready(Ok(Input::Message((), now())))
        }
    }

    fn info() -> GameInfo {
        GameInfo {
            id: "g".to_owned(),
            server: "s".to_owned(),
            game: GameKind::Chess,
            start: None,
            side: Color::White,
            names: ByColor([String::new(), String::new()]),
            time_control: None,
            details: GameDetails::default(),
        }
    }

    #[test]
    async fn a_flood_of_messages_does_not_hold_back_our_move() {
        let (lobby, mut asked) = Lobby::channel(1);
        tokio::spawn(async move {
            let opened = asked.recv().await.unwrap();
            let (events, _told) = mpsc::channel(1);
            let (player, actions) = mpsc::channel(1);
            player.send(Action::Resign { turn: Turn(1) }).await.unwrap();
            opened.reply.send(Ok(Seat { engine: String::new(), events, actions })).unwrap();
            pending::<()>().await;
        });
        let kept = &mut KeptSeat::default();
        let ended = drive(&mut Flood::default(), &mut FloodWire, &lobby, kept, pending()).await;
        assert_eq!(ended, Ok(Some(())));
    }
}
