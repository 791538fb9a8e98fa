//! The start of a game: what is played, and against whom.

use std::time::Instant;

use tokio::sync::oneshot;
use tracing::{debug, info, warn};
use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::{GameDetails, GameInfo, Opponent};
use zeitnot_wire::lichess::{GameFull, GameMessage, Player, TimeControl};

use super::{
    context::{GameContext, GameEnd},
    desync::give_up,
    result,
    tracker::MoveTracker,
};
use crate::lichess::{Stream, StreamEvent, records::record::name, terms::terms};

/// A game that can be played.
#[derive(Debug)]
pub(crate) struct StartedGame {
    pub(crate) full: GameFull,
    pub(crate) read_at: Instant,
    pub(crate) info: GameInfo,
    pub(crate) tracker: MoveTracker,
}

/// Reads which game it is, and tells the kind of opponent.
pub(crate) async fn start(
    context: &GameContext,
    stream: &mut Stream<GameMessage>,
    opponent: &mut Option<oneshot::Sender<Opponent>>,
) -> Result<StartedGame, GameEnd> {
    let (full, read_at) = first_message(context, stream).await?;
    let players = full.players();
    let is_ours = |color: &Color| players[*color].id.as_ref() == Some(&context.me);
    let Some(color) = Color::BOTH.into_iter().find(is_ours) else {
        warn!("left the game: neither player is {}", context.me);
        return Err(GameEnd::Unplayed);
    };
    if full.state.status.is_over() {
        return Err(over_already(context, full, color));
    }
    let kind = kind(players[!color]);
    if let Some(opponent) = opponent.take() {
        // The account may have ended.
        let _ = opponent.send(kind);
    }
    let tracker = match MoveTracker::new(&full) {
        Ok(tracker) => tracker,
        Err(error) => {
            give_up(&context.http, full.id, full.state.played().count(), &error.to_string()).await;
            return Err(GameEnd::Unplayed);
        }
    };
    let info = GameInfo {
        id: full.id.to_string(),
        server: context.http.base().to_string(),
        game: tracker.kind,
        start: full.start().map(str::to_owned),
        side: color,
        names: ByColor([name(&full.white), name(&full.black)]),
        time_control: full.clock,
        details: GameDetails {
            rated: Some(full.rated),
            opponent: Some(kind),
            opponent_rating: players[!color].rating,
            correspondence: full.clock.is_none(),
        },
    };
    info!("{}", announce(&full, color, &context.http.base().join(&full.id.to_string())));
    Ok(StartedGame { full, read_at, info, tracker })
}

/// Returns the line of the log for a game in which we have this colour.
fn announce(full: &GameFull, color: Color, url: &str) -> String {
    let opponent = full.players()[!color];
    let title = opponent.title.as_ref().map_or_else(String::new, |title| format!("{title} "));
    let rating = opponent.rating.map_or_else(String::new, |rating| {
        format!(" ({rating}{})", if opponent.provisional { "?" } else { "" })
    });
    let days = full.days_per_turn.map(|days| TimeControl::Correspondence { days });
    let time = full.clock.map(TimeControl::Clock).or(days).unwrap_or(TimeControl::Unlimited);
    let terms = terms(&full.variant.key, &time, full.rated);
    format!("playing {color} against {title}{}{rating}: {terms}: {url}", name(opponent))
}

/// A correspondence game may have ended while it was suspended; it is recorded now.
fn over_already(context: &GameContext, full: GameFull, color: Color) -> GameEnd {
    let result = result::describe(&full.state.status, full.state.winner);
    if full.clock.is_some() {
        debug!("already over: {result}");
        return GameEnd::Unplayed;
    }
    info!("over: {result}");
    if let Some(record) = context.pgn.begin(&full, color) {
        context.pgn.write(record);
    }
    GameEnd::Over
}

/// Returns the game in full, which comes first, and when it was read.
async fn first_message(
    context: &GameContext,
    stream: &mut Stream<GameMessage>,
) -> Result<(GameFull, Instant), GameEnd> {
    loop {
        match stream.next().await {
            StreamEvent::Message(GameMessage::GameFull(full), read_at) => return Ok((*full, read_at)),
            StreamEvent::Closed(error) => {
                let message = format_args!("cannot follow the game: {error}");
                context.http.log().warn("games that cannot be followed", message);
                return Err(GameEnd::Unplayed);
            }
            StreamEvent::Opened(_) | StreamEvent::Message(..) => {}
        }
    }
}

fn kind(player: &Player) -> Opponent {
    let is_bot =
        player.ai_level.is_some() || player.title.as_ref().is_some_and(|title| title.as_str() == "BOT");
    if is_bot { Opponent::Bot } else { Opponent::Human }
}

#[cfg(test)]
mod tests {
    use super::{super::super::records::record::tests::full, *};

    #[test]
    fn a_game_is_announced_with_all_that_it_is() {
        let mut game = full("Bob", "");
        let url = "https://lichess.org/abcdefgh";
        let line = announce(&game, Color::Black, url);
        assert_eq!(
            line,
            "playing black against Bob (1500): standard 3+2, rated: https://lichess.org/abcdefgh"
        );
        (game.clock, game.days_per_turn, game.rated) = (None, Some(3), false);
        (game.black.rating, game.black.provisional) = (Some(1840), true);
        let line = announce(&game, Color::White, url);
        assert!(
            line.starts_with("playing white against BOT Zeitnot (1840?): standard 3 days, casual: "),
            "{line}"
        );
        (game.days_per_turn, game.black.ai_level) = (None, Some(8));
        let line = announce(&game, Color::White, url);
        assert!(
            line.contains("against BOT Stockfish level 8 (1840?): standard unlimited, casual: "),
            "{line}"
        );
    }
}
