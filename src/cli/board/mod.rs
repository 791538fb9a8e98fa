//! `zeitnot board`: a person against the bot, in the terminal.
//!
//! The game is played at a table of the arena within this process, as on its page: the same referee, clocks, levels and
//! searches. [`app`] is what the player sees and does, [`ui`] draws it, [`table`] is what the arena tells.

use std::{sync::Arc, time::Instant};

use serde_json::json;
use tokio::{select, sync::mpsc};
use zeitnot_arena::PageSearcher;
use zeitnot_rules::{GameKind, TimeControl};
use zeitnot_web::play::LocalTables;

use super::{
    CliError, network, print,
    screen::{panel::plain, terminal::Screen, theme::Theme},
    table as text, usage,
};

mod app;
mod input;
mod table;
#[cfg(test)]
mod tests;
mod ui;

use app::{App, Wish};
use table::TableState;

/// Play against the bot on a board in the terminal
///
/// Type moves as records write them (Nf3, exd5, O-O, e8=Q, N@f3) or in coordinates (g1f3); Tab completes. Or choose a
/// piece by the arrows and Enter, then its target. The keys for all else stand below the board.
///
/// Clocks begin to run when both sides have moved. Without --tc there are none, and the bot takes up to two seconds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot board                                            chess, with White, level 4
  zeitnot board --level 8 --color black --tc 300+3         the full strength, five minutes and 3 s a move
  zeitnot board --game crazyhouse
  zeitnot board --game minichess-imcs --level 2
  zeitnot board --fen '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1'

The exit gives the terminal back, also after Ctrl-C, a signal or a crash, and prints the moves.")]
pub(super) struct Args {
    /// Game
    #[arg(long, default_value = "chess", value_parser = str::parse::<GameKind>)]
    game: GameKind,
    /// Chess960: a random start position
    #[arg(long)]
    chess960: bool,
    /// Strength of the bot, from 1 to 8
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    level: u8,
    /// Your side: white, black or random
    #[arg(long, visible_alias = "colour", default_value = "white", value_parser = ["white", "black", "random"])]
    color: String,
    /// Clock of both sides in seconds [default: none]
    #[arg(long, value_name = "TIME+INCREMENT")]
    tc: Option<TimeControl>,
    /// Position to begin from, in the form of the game
    #[arg(long)]
    fen: Option<String>,
    /// Letters instead of coloured pieces; also chosen by the environment's NO_COLOR
    #[arg(long)]
    letters: bool,
}

/// News that may wait for the screen, and wishes that may wait for the table.
const QUEUE: usize = 64;
/// Advice where there is no terminal.
const INSTEAD: &str = "`zeitnot board` needs one: programs play by `zeitnot uci`, and people in a browser on the page of `zeitnot arena`";

enum News {
    State(Box<TableState>),
    /// Answer to a request that was refused.
    Refused(String),
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    Screen::require(INSTEAD)?;
    let (to_screen, mut news) = mpsc::channel(QUEUE);
    let (wish, wishes) = mpsc::channel(QUEUE);
    let request = args.request();
    let network = network::Network::start("network", move |_| serve(request, wishes, to_screen))?;
    let first = match news.blocking_recv() {
        Some(News::State(table)) => *table,
        Some(News::Refused(why)) => return Err(usage(why)),
        None => return network.join(),
    };
    let mut app = App::new(first, Instant::now());
    let mut screen = Screen::open()?;
    let theme = Theme::choose(args.letters);
    loop {
        screen.draw(|frame| ui::draw(frame, &app, theme, Instant::now()))?;
        let asked = screen.input()?.and_then(|key| app.key(key));
        let is_over = match asked {
            Some(Wish::Quit) => true,
            // Fails if the network has ended, which its result tells.
            Some(asked) => wish.blocking_send(asked).is_err(),
            None => false,
        };
        if is_over {
            break;
        }
        while let Ok(news) = news.try_recv() {
            match news {
                News::State(table) => app.update(*table, Instant::now()),
                News::Refused(why) => app.refused(&plain(&why)),
            }
        }
    }
    drop((screen, wish, news));
    network.join()?;
    report(&app)
}

/// Prints what was played.
fn report(app: &App) -> Result<(), CliError> {
    let view = app.view(Instant::now());
    let moves = view.game.plies.iter().map(|ply| plain(&ply.san)).collect::<Vec<_>>().join(" ");
    let end = view.end().unwrap_or_else(|| "*".to_owned());
    print(|out| writeln!(out, "{}", text::fold(&format!("{moves} {end}"), text::width(), 0)))
}

impl Args {
    /// Request for a table, as of the web API.
    fn request(&self) -> String {
        json!({
            "kind": self.game.name(),
            "chess960": self.chess960,
            "opponent": { "bot": { "level": self.level } },
            "color": self.color,
            "time_control": self.tc.map(|tc| tc.to_string()),
            "fen": self.fen,
        })
        .to_string()
    }
}

/// Plays game after game at tables, until there are no more wishes.
async fn serve(
    request: String,
    mut wishes: mpsc::Receiver<Wish>,
    news: mpsc::Sender<News>,
) -> Result<(), CliError> {
    let tables = LocalTables::start(Arc::new(PageSearcher::new()?));
    let mut seat = None;
    // Without a screen nobody needs to know.
    let tell = async |told| drop(news.send(told).await);
    match tables.open(&request).await {
        Ok(opened) => seat = Some(opened),
        Err(why) => tell(News::Refused(why)).await,
    }
    while let Some(at) = &mut seat {
        select! {
            state = at.next() => match state.and_then(|state| serde_json::from_str(&state).ok()) {
                Some(state) => tell(News::State(Box::new(state))).await,
                None => seat = None,
            },
            wish = wishes.recv() => match wish {
                None | Some(Wish::Quit) => seat = None,
                Some(Wish::NewGame) => match tables.open(&request).await {
                    Ok(next) => {
                        // An ended game cannot be resigned, and need not.
                        let _ = at.act(&message(&Wish::Resign)).await;
                        seat = Some(next);
                    }
                    Err(why) => tell(News::Refused(why)).await,
                },
                Some(wish) => {
                    if let Err(why) = at.act(&message(&wish)).await {
                        tell(News::Refused(why)).await;
                    }
                }
            },
        }
    }
    tables.close().await;
    Ok(())
}

/// Message of the web API for a wish at a table.
fn message(wish: &Wish) -> String {
    match wish {
        Wish::Move(mv, ply) => json!({ "move": mv, "ply": ply }),
        Wish::OfferDraw => json!({ "draw": "offer" }),
        Wish::TakeBack => json!({ "takeback": "offer" }),
        Wish::Resign | Wish::NewGame | Wish::Quit => json!({ "resign": true }),
    }
    .to_string()
}
