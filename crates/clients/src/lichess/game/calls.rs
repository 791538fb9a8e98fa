//! What is done in a game besides moving: giving up, claiming, answering the opponent's wishes. Each is a task
//! of its own, so that no move waits for one.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tracing::{debug, info, warn};

use zeitnot_seat::Event;
use zeitnot_wire::lichess::{GameId, OpponentGone};

use super::{Game, LONGEST, PlayerGone};
use crate::lichess::{
    config::Claim,
    http::{Http, HttpError},
    limits::Kind,
};

/// A first move that comes in the last moment still comes.
const ABORT_AFTER: Duration = Duration::from_millis(500);
/// How often something is asked for that did not get through, and the first of the pauses between.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// A claim that came too early is made again after so long, and then less and less often.
const CLAIM_AGAIN: Duration = Duration::from_secs(2);
const RAREST_CLAIM: Duration = Duration::from_secs(60);

/// What can be done besides moving.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Resign,
    Abort,
    ClaimVictory,
    ClaimDraw,
    /// The opponent would like to take moves back.
    AgreeToTakeback,
    RefuseTakeback,
    /// Half the time, for more points in a tournament.
    Berserk,
}

impl Call {
    fn path(self) -> &'static str {
        match self {
            Call::Resign => "resign",
            Call::Abort => "abort",
            Call::ClaimVictory => "claim-victory",
            Call::ClaimDraw => "claim-draw",
            Call::AgreeToTakeback => "takeback/yes",
            Call::RefuseTakeback => "takeback/no",
            Call::Berserk => "berserk",
        }
    }

    /// Is it the same if it is done twice? Who agrees to a takeback that was done asks for one.
    fn may_repeat(self) -> bool {
        self != Call::AgreeToTakeback
    }

    fn is_claim(self) -> bool {
        matches!(self, Call::ClaimVictory | Call::ClaimDraw)
    }
}

/// What came of a call.
pub(super) type Called = (Call, Result<(), HttpError>);

/// Has it done, however often that takes.
pub(super) async fn ask(http: Http, id: GameId, call: Call) -> Called {
    let path = format!("api/bot/game/{id}/{}", call.path());
    let mut pause = PAUSE;
    for _ in 1..ATTEMPTS {
        let error = match http.post(Kind::Game, &path, None).await {
            Err(error) if call.may_repeat() && error.is_passing() => error,
            done => return (call, done),
        };
        debug!("{path}: {error}; once more in {:.0} s", pause.as_secs_f64());
        sleep(pause).await;
        pause *= 2;
    }
    (call, http.post(Kind::Game, &path, None).await)
}

/// An opponent who has left.
#[derive(Copy, Clone, Debug)]
pub(super) struct Away {
    /// When to claim the game; `None` while a claim is made.
    pub claim_at: Option<Instant>,
    /// If a claim is too early, so long before the next.
    again: Duration,
}

impl Game {
    /// Has something done, aside.
    pub(super) fn call(&mut self, call: Call) {
        info!("{}", call.path());
        self.calls.spawn(ask(self.table.http.clone(), self.id, call));
    }

    /// What came of it.
    pub(super) fn called(&mut self, (call, done): Called) {
        let Err(error) = done else {
            debug!("{} done", call.path());
            return;
        };
        warn!("cannot {}: {error}", call.path());
        match call {
            Call::Berserk => self.is_berserk = false,
            // Where the wish still stands, it is answered once more.
            Call::AgreeToTakeback | Call::RefuseTakeback => self.wishes.takeback = false,
            _ => {}
        }
        if let Some(away) = self.away.as_mut().filter(|_| call.is_claim()) {
            away.claim_at = Some(Instant::now() + away.again);
            away.again = (2 * away.again).min(RAREST_CLAIM);
        }
    }

    /// An opponent who does not even begin keeps a place that others want.
    pub(super) fn await_first_move(&mut self, read_at: Instant) {
        let awaited = self.track.plies() < 2 && self.track.side() != self.info.side;
        if !awaited || self.info.time_control.is_none() {
            self.abort_at = None;
        } else if self.abort_at.is_none() {
            let limit = self.state.expiration.map(|expiration| expiration.left);
            let limit = limit.unwrap_or(self.table.http.patience().first_move).min(LONGEST);
            self.abort_at = Some(read_at + limit + ABORT_AFTER);
        }
    }

    pub(super) fn abort(&mut self) {
        // Once: where it is refused, it will be the next time, and we wait like everybody else.
        self.abort_at = Some(Instant::now() + LONGEST);
        self.call(Call::Abort);
    }

    /// The opponent leaves, is still away, or is back.
    pub(super) fn gone(&mut self, gone: OpponentGone, read_at: Instant) {
        let wait = gone.claim_win_in.filter(|_| gone.gone);
        self.away = wait.map(|wait| Away {
            claim_at: Some(read_at + wait.min(LONGEST) + self.table.http.patience().gone),
            again: CLAIM_AGAIN,
        });
    }

    pub(super) fn claim(&mut self) {
        if let Some(away) = &mut self.away {
            away.claim_at = None;
        }
        match self.table.rules.claim {
            Claim::Victory => self.call(Call::ClaimVictory),
            Claim::Draw => self.call(Call::ClaimDraw),
            Claim::Nothing => {}
        }
    }

    /// What the opponent wishes, each wish once: a draw is the player's matter, a takeback is ours.
    pub(super) async fn hear_wishes(&mut self) -> Result<(), PlayerGone> {
        let them = !self.info.side;
        let (draw, takeback) = (self.state.draw_offers()[them], self.state.takebacks()[them]);
        let before = std::mem::replace(&mut self.wishes, Wishes { draw, takeback });
        if takeback && !before.takeback {
            let agrees = self.takebacks > 0;
            self.takebacks = self.takebacks.saturating_sub(1);
            self.call(if agrees { Call::AgreeToTakeback } else { Call::RefuseTakeback });
        }
        if draw && !before.draw {
            info!("a draw is offered");
            self.tell(Event::DrawOffered).await?;
        }
        Ok(())
    }
}

/// What the opponent wishes at the moment.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Wishes {
    pub draw: bool,
    pub takeback: bool,
}
