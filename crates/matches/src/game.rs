//! One game of a match: asks each engine for its moves, and drives the referee.

use std::time::Duration;

use tokio::{
    select,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use zeitnot_external::{Fault, Reply};
use zeitnot_referee::{Cause, Referee};
use zeitnot_rules::{ByColor, Color, DynGame};

use crate::player::{Player, Request, Thought};

/// An engine that still thinks this long after the end of its game is replaced.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// Text that is not a move in any game.
const NO_MOVE: &str = "(none)";

pub(crate) struct Seat {
    /// `None` once it cannot play on.
    pub(crate) player: Option<Box<dyn Player>>,
    pub(crate) fault: Option<String>,
}

pub(crate) async fn play(
    referee: &mut Referee<DynGame>,
    seats: &mut ByColor<Seat>,
    stop: &CancellationToken,
) {
    while referee.ending.is_none() {
        let color = referee.turn();
        let now = Instant::now();
        match seats[color].player.take() {
            Some(player) => {
                referee.await_move(now);
                seats[color] = turn(referee, player, now, stop).await;
            }
            None => referee.lose(color, Cause::Disconnect, now),
        }
    }
}

async fn turn(
    referee: &mut Referee<DynGame>,
    player: Box<dyn Player>,
    now: Instant,
    stop: &CancellationToken,
) -> Seat {
    let color = referee.turn();
    let left = ByColor(Color::BOTH.map(|color| referee.clock.left(color, now).unwrap_or_default()));
    let request = Request { game: &referee.board, left, asked_at: now.into_std() };
    let (flag, mut thinking) = player.think(&request);
    let deadline = referee.timeout();
    let thought = select! {
        biased;
        thought = &mut thinking => Some(thought),
        () = stop.cancelled() => {
            referee.end(None, Cause::Shutdown, Instant::now());
            None
        }
        () = sleep_until(deadline.unwrap_or(now)), if deadline.is_some() => {
            referee.time_out(Instant::now());
            None
        }
    };
    let returned = match thought {
        Some(returned) => returned,
        None => {
            flag.stop();
            match timeout(LAST_WAIT, thinking).await {
                Ok(returned) => returned,
                Err(_) => return Seat { player: None, fault: Some(Fault::Deaf.to_string()) },
            }
        }
    };
    match returned {
        Ok((player, thought)) => {
            let fault = thought.as_ref().err().map(Fault::to_string);
            play_answer(referee, color, thought);
            Seat { player: Some(player), fault }
        }
        Err(crashed) => {
            referee.lose(color, Cause::Disconnect, Instant::now());
            Seat { player: None, fault: Some(crashed.to_string()) }
        }
    }
}

/// Passes on what an engine answered. A game that is over by then stays as it is.
fn play_answer(referee: &mut Referee<DynGame>, color: Color, answer: Result<Thought, Fault>) {
    let now = Instant::now();
    // Whatever it refuses has ended the game.
    let _ = match answer {
        Ok(Thought { reply: Reply::Move, text, opinion, read_at }) => {
            referee.play(color, &text, read_at.into(), opinion)
        }
        Ok(Thought { reply: Reply::NoMove, read_at, .. }) => {
            referee.play(color, NO_MOVE, read_at.into(), None)
        }
        // Not its text: the part of it that was kept may be a move.
        Err(Fault::IllegalMove(_) | Fault::NotAMove(_)) => referee.play(color, NO_MOVE, now, None),
        Ok(Thought { reply: Reply::Resigns, .. }) => return referee.lose(color, Cause::Resignation, now),
        Err(_) => return referee.lose(color, Cause::Disconnect, now),
    };
}
