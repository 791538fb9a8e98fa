//! Between the referee and an engine: hears for it, asks it, and says what it answers.

use std::time::{Duration, Instant};

use tokio::{select, time::timeout};

use zeitnot_engine::{
    Playable,
    external::{Fault, Reply},
};
use zeitnot_rules::GameHistory;

use super::player::{Player, Request, Returned, Thought};
use crate::{Chair, Heard};

/// An engine that is still at it so long after the end of its game is left behind.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Who comes back from a game, if anybody does, and what went wrong.
pub(super) struct Risen<G: Playable> {
    pub player: Option<Player<G>>,
    pub fault: Option<String>,
}

impl<G: Playable> Risen<G> {
    fn sound(player: Player<G>) -> Self {
        Risen { player: Some(player), fault: None }
    }
}

/// Plays one game to its end.
pub(super) async fn sit<G: Playable>(
    mut chair: Chair,
    mut player: Player<G>,
    mut line: GameHistory<G>,
) -> Risen<G> {
    loop {
        let left = match chair.hear().await {
            Heard::Over => return Risen::sound(player),
            Heard::Moved(text) => {
                // The referee has played it.
                if let Ok(mv) = line.now().read(&text) {
                    line.play(mv);
                }
                continue;
            }
            Heard::YourMove(left) => left,
        };
        let request = Request { line: line.clone(), left, asked_at: Instant::now() };
        let (stop, mut thinking) = player.think(request);
        let thought = loop {
            select! {
                biased;
                thought = &mut thinking => break thought,
                heard = chair.hear() => if heard == Heard::Over {
                    stop.stop();
                    return called_off(timeout(LAST_WAIT, thinking).await.ok());
                },
            }
        };
        match thought {
            Ok((sound, Ok(thought))) => {
                say(&chair, thought).await;
                player = sound;
            }
            Ok((sound, Err(fault))) => {
                fail(&chair, &fault).await;
                return Risen { player: Some(sound), fault: Some(fault.to_string()) };
            }
            Err(crashed) => {
                chair.leave().await;
                return Risen { player: None, fault: Some(crashed.to_string()) };
            }
        }
    }
}

async fn say(chair: &Chair, Thought { reply, text, opinion, read_at }: Thought) {
    match reply {
        Reply::Move => chair.play(text, read_at.into(), opinion).await,
        // What is no move the referee will call so.
        Reply::NoMove => chair.play("(none)".to_owned(), read_at.into(), None).await,
        Reply::Resigns => chair.resign().await,
    }
}

async fn fail(chair: &Chair, fault: &Fault) {
    match fault {
        Fault::IllegalMove(text) => chair.play(text.clone(), Instant::now().into(), None).await,
        _ => chair.leave().await,
    }
}

/// The game was over while it thought: mostly by its flag.
fn called_off<G: Playable>(thought: Option<Returned<G>>) -> Risen<G> {
    match thought {
        Some(Ok((player, Ok(_)))) => Risen::sound(player),
        Some(Ok((player, Err(fault)))) => Risen { player: Some(player), fault: Some(fault.to_string()) },
        Some(Err(crashed)) => Risen { player: None, fault: Some(crashed.to_string()) },
        None => Risen { player: None, fault: Some(Fault::Deaf.to_string()) },
    }
}
