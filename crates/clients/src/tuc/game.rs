//! State machine of one socket: from our name to the final points.

use std::{
    io,
    time::{Duration, Instant},
};

use tracing::{debug, info, warn};
use zeitnot_rules::{
    ByColor, Color, Game as _, GameKind, MoveText,
    tuc::{Move, Tuc},
};
use zeitnot_seat::{Action, Clocks, Event, GameDetails, GameInfo, OpenRequest, PlayerGone, Turn};
use zeitnot_wire::{
    Message,
    tuc::{FromClient, FromServer},
};

use super::{
    config::Config,
    end::{GameEnd, GameError},
    playing::Playing,
    silence::Silence,
};
use crate::{
    drive::{Effect, Effects, Input, Machine},
    skipped::Skipped,
};

/// Time after the beginning of a game in which a duplicate of an earlier datagram may come.
const DUPLICATES: Duration = Duration::from_secs(10);

/// Phase of the game.
pub(super) enum Phase {
    /// Our name was sent; a seat is due until then.
    Joining {
        until: Instant,
    },
    /// We wait for an opponent, without a limit: it may come late, or never.
    Seated(Color),
    Playing(Box<Playing>),
}

pub(super) struct Game<'a> {
    config: &'a Config,
    phase: Phase,
    effects: Effects<FromClient>,
    skipped: Skipped,
    silence: Silence,
}

impl Machine for Game<'_> {
    type Message = FromServer;
    type Command = FromClient;
    type End = GameEnd;
    type Lost = io::Error;
    type Error = GameError;

    fn on(&mut self, input: Input<FromServer>, now: Instant) -> Result<Option<GameEnd>, GameError> {
        match input {
            // Sending it twice would take both seats.
            Input::Start => self.send(FromClient::Name(self.config.player.to_string()), None),
            Input::Message(message, read_at) => {
                self.silence = Silence::new(now);
                return self.message(message, read_at, now);
            }
            Input::Unreadable => self.silence = Silence::new(now),
            Input::Sent(turn, at) => self.tell(Event::Sent { turn, at }),
            Input::Action(Action::Play { turn, mv, .. }) => self.answer(turn, mv, now),
            Input::Action(Action::Resign { .. } | Action::Leave { .. }) => {
                return Err(GameError::NoPlayer(PlayerGone.to_string()));
            }
            Input::NoPlayer(why) => return Err(GameError::NoPlayer(why)),
            Input::Time => self.time(now)?,
        }
        Ok(None)
    }

    fn effects(&mut self) -> &mut Effects<FromClient> {
        &mut self.effects
    }

    fn due(&self) -> Option<Instant> {
        let phase = match &self.phase {
            Phase::Joining { until } => Some(*until),
            Phase::Seated(_) => None,
            Phase::Playing(game) => {
                let silent_at = self.silence.ends(self.config.timeouts.silence);
                Some(game.confirmation_due().map_or(silent_at, |due| due.min(silent_at)))
            }
        };
        let report = self.silence.report_due();
        Some(phase.map_or(report, |due| due.min(report)))
    }

    /// Before the game an unreachable server may still have to start; during the game it is gone.
    fn lost(&mut self, error: io::Error, _: Instant) -> GameError {
        match self.phase {
            Phase::Playing(_) => GameError::ServerGone(error),
            Phase::Joining { .. } | Phase::Seated(_) => GameError::NoServer(error),
        }
    }

    fn may_stop(&self) -> bool {
        !matches!(self.phase, Phase::Playing(_))
    }
}

impl<'a> Game<'a> {
    pub(super) fn new(config: &'a Config, now: Instant) -> Game<'a> {
        let phase = Phase::Joining { until: now + config.timeouts.seat };
        let silence = Silence::new(now);
        Game { config, phase, effects: Effects::new(), skipped: Skipped::default(), silence }
    }

    fn message(
        &mut self,
        message: FromServer,
        read_at: Instant,
        now: Instant,
    ) -> Result<Option<GameEnd>, GameError> {
        match (&mut self.phase, &message) {
            (Phase::Joining { .. }, FromServer::Seat(color)) => self.seated(*color),
            (Phase::Seated(_), FromServer::Seat(_)) => debug!("seated again"),
            (Phase::Seated(color), FromServer::Begins) => {
                let color = *color;
                self.begin(color, read_at, now);
            }
            (Phase::Playing(game), _) => {
                let is_repeated = game.last.as_ref() == Some(&message);
                // A repeated message is a duplicated datagram: the same move cannot come twice in a row.
                return if is_repeated { Ok(None) } else { Ok(self.in_game(message, read_at, now)) };
            }
            _ => self.skipped.report(&format!("not expected here: {}", message.to_line())),
        }
        Ok(None)
    }

    fn seated(&mut self, color: Color) {
        info!("seated as {color}; waiting for the game to begin");
        self.phase = Phase::Seated(color);
    }

    fn begin(&mut self, color: Color, read_at: Instant, now: Instant) {
        let board = Tuc::start_by(self.config.rules);
        let mut names = ByColor(["opponent".to_owned(), "opponent".to_owned()]);
        names[color] = self.config.player.to_string();
        self.effects.push_back(Effect::Open(Box::new(GameInfo {
            id: format!("tuc-{:08x}", fastrand::u32(..)),
            server: format!("udp://{}", self.config.address),
            game: GameKind::Tuc,
            start: Some(board.print()),
            side: color,
            names,
            time_control: None,
            details: GameDetails::default(),
        })));
        let request = OpenRequest::default();
        let points = ByColor([0; 2]);
        self.phase =
            Phase::Playing(Box::new(Playing { began: now, color, board, points, request, last: None }));
        if color == Color::White {
            self.ask(read_at);
        }
    }

    /// Handles a message of a running game. Returns the result if it was the last one.
    fn in_game(&mut self, message: FromServer, read_at: Instant, now: Instant) -> Option<GameEnd> {
        let Phase::Playing(game) = &mut self.phase else { return None };
        match message {
            FromServer::Moved { to_move, mv, prize, points } => {
                game.last = Some(message);
                let events = game.moved(mv, to_move, prize, points);
                let is_our_turn = to_move == game.color;
                self.effects.extend(events.into_iter().map(Effect::Tell));
                if is_our_turn {
                    self.ask(read_at);
                }
            }
            FromServer::Over { points } => {
                let last = game.last_move();
                let end = GameEnd { color: game.color, points: points.after(game.points) };
                let (result, outcome) = (end.to_string(), Some(end.outcome()));
                self.effects.extend(last.map(Effect::Tell));
                self.tell(Event::Ended { result, outcome });
                return Some(end);
            }
            // A seat answers a name, and a server that is new takes our move for one.
            FromServer::Seat(color) if now >= game.began + DUPLICATES => self.restarted(color),
            FromServer::Seat(_) | FromServer::Begins => debug!("repeated"),
        }
        None
    }

    fn restarted(&mut self, color: Color) {
        const WHY: &str =
            "the server has begun anew in the middle of the game, and has taken our move for a name";
        warn!("{WHY}: the game is lost, and we have a seat in the next one");
        self.tell(Event::Ended { result: format!("no result: {WHY}"), outcome: None });
        self.seated(color);
    }

    fn ask(&mut self, read_at: Instant) {
        let Phase::Playing(game) = &mut self.phase else { return };
        let turn = game.request.open();
        let clocks = Clocks {
            left: ByColor([self.config.move_time; 2]),
            increment: Duration::ZERO,
            moves_to_go: Some(1),
            resolution: Duration::from_millis(1),
            read_at,
        };
        self.tell(Event::YourTurn { turn, clocks: Some(clocks) });
    }

    fn answer(&mut self, turn: Turn, text: MoveText, now: Instant) {
        let Phase::Playing(game) = &mut self.phase else { return };
        self.silence = Silence::new(now);
        let due = Some(now + self.config.timeouts.confirmation);
        match Move::parse(text.as_str()).filter(|mv| game.request.answer(turn, (*mv, due))) {
            Some(mv) => self.send(FromClient::Move(mv), Some(turn)),
            None => debug!("{text} came too late for turn {}", turn.0),
        }
    }

    fn time(&mut self, now: Instant) -> Result<(), GameError> {
        let timeouts = &self.config.timeouts;
        match &mut self.phase {
            Phase::Joining { until } if now >= *until => return Err(GameError::NoSeat(timeouts.seat)),
            Phase::Playing(_) if now >= self.silence.ends(timeouts.silence) => {
                return Err(GameError::Silent(timeouts.silence));
            }
            Phase::Playing(game) if game.confirmation_due().is_some_and(|due| now >= due) => {
                self.unconfirmed(now);
            }
            _ => {}
        }
        if let Some(seconds) = self.silence.report(now) {
            let waiting = match self.phase {
                Phase::Joining { .. } => "waiting for a seat".to_owned(),
                Phase::Seated(_) => "waiting for an opponent".to_owned(),
                Phase::Playing(_) => format!(
                    "a player thinks, or the server is gone, which it does not say; leaving the game after {} s",
                    timeouts.silence.as_secs()
                ),
            };
            warn!("nothing from the server for {seconds} s: {waiting}");
        }
        Ok(())
    }

    /// Handles a move that the server did not confirm in time.
    fn unconfirmed(&mut self, now: Instant) {
        let Phase::Playing(game) = &mut self.phase else { return };
        let Some((mv, due)) = game.request.sent_mut() else { return };
        let confirmation = self.config.timeouts.confirmation;
        let waited = confirmation.as_secs_f64();
        *due = self.config.resend.then(|| now + confirmation);
        if self.config.resend {
            warn!("our move {mv} was not confirmed within {waited:.1} s; sending it again");
            let again = FromClient::Move(*mv);
            return self.send(again, None);
        }
        warn!(
            "our move {mv} was not confirmed within {waited:.1} s; waiting (resend = true would send it again)"
        );
    }

    fn send(&mut self, message: FromClient, answers: Option<Turn>) {
        debug!("> {}", message.to_line());
        self.effects.push_back(Effect::Send(message, answers));
    }

    fn tell(&mut self, event: Event) {
        self.effects.push_back(Effect::Tell(event));
    }
}
