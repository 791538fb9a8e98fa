//! Players that do all that players should not do.

use std::sync::Arc;

use fastrand::Rng;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};
use zeitnot_rules::MoveText;
use zeitnot_seat::{Action, Declined, Event, OpenSeat, Seat, Turn};

use super::{SECOND, SharedLog, note};

/// Plays one game, or does all that a player should not do.
async fn play(
    mut events: mpsc::Receiver<Event>,
    actions: mpsc::Sender<Action>,
    mv: MoveText,
    mut random: Rng,
    log: SharedLog,
) {
    while let Some(event) = events.recv().await {
        match event {
            Event::YourTurn { turn, .. } => {
                let play = move |turn| Action::Play { turn, mv, offers_draw: false, eval: None };
                match random.u32(0..60) {
                    0 => drop(actions.send(Action::Resign { turn }).await),
                    1 => drop(actions.send(Action::Leave { turn }).await),
                    2 => return note(&log, |log| log.ended += 1),
                    3 => {}
                    number @ 4..10 => {
                        let (actions, wait) = (actions.clone(), SECOND * number);
                        tokio::spawn(async move {
                            sleep(wait).await;
                            let _ = actions.send(play(turn)).await;
                        });
                    }
                    10..15 => {
                        let turns = [turn, Turn(turn.0.wrapping_sub(1)), turn];
                        for turn in turns {
                            let _ = actions.send(play(turn)).await;
                        }
                    }
                    _ => drop(actions.send(play(turn)).await),
                }
            }
            Event::Ended { .. } => return note(&log, |log| log.ended += 1),
            _ => {}
        }
    }
    note(&log, |log| log.offences.push("a game was dropped without an end".into()));
}

/// Finds players, except now and then.
pub(super) async fn seat_players(
    mut seats: mpsc::Receiver<OpenSeat>,
    mv: MoveText,
    mut random: Rng,
    log: SharedLog,
) {
    let mut players = JoinSet::new();
    while let Some(OpenSeat { reply, .. }) = seats.recv().await {
        let answer = if random.u32(0..20) == 0 {
            Err(Declined("too many games".into()))
        } else {
            let (events, heard) = mpsc::channel(64);
            let (told, actions) = mpsc::channel(64);
            note(&log, |log| log.games += 1);
            players.spawn(play(heard, told, mv, random.fork(), Arc::clone(&log)));
            Ok(Seat { engine: String::new(), events, actions })
        };
        let _ = reply.send(answer);
    }
    players.join_all().await;
}
