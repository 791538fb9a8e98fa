//! `zeitnot watch`: games of an arena in the terminal, over its web API.
//!
//! [`client`] holds the connection, [`app`] is what is watched, [`ui`] draws it.

use std::time::Instant;

use tokio::sync::mpsc;
use zeitnot_net::Address;

use super::{
    CliError, network,
    screen::{terminal::Screen, theme::Theme},
};

mod app;
mod client;
mod ui;

use app::{App, Wish};

/// Watch the games of an arena in the terminal
///
/// Without GAME the running and the latest games are listed; Enter opens one. The arrows step back and forth while it
/// goes on. The connection is taken up again by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot watch                                        the games of the arena on this machine
  zeitnot watch Xk4dQ2aB                               one of them, by its id
  zeitnot watch --server http://192.0.2.7:8080         another arena")]
pub(super) struct Args {
    /// Id of a game, as in its link
    #[arg(value_name = "GAME")]
    game: Option<String>,
    /// Address of the arena's page
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080", value_parser = server)]
    server: Server,
    /// Letters instead of coloured pieces; also chosen by the environment's NO_COLOR
    #[arg(long)]
    letters: bool,
}

/// News and wishes that may wait.
const QUEUE: usize = 256;
const INSTEAD: &str =
    "`zeitnot watch` needs one: open the arena's page in a browser, or read its API, which `/api` describes";

/// An arena's page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Server {
    page: String,
    /// Its live WebSocket.
    live: Address,
}

fn server(url: &str) -> Result<Server, String> {
    let expected = "expected the address of an arena's page, such as http://127.0.0.1:8080";
    // Without a host, what follows would be taken for one.
    let rest = url.strip_prefix("http://").filter(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let rest = rest.ok_or(expected)?;
    let host = rest.trim_end_matches('/');
    let live = format!("ws://{host}/api/live").parse().map_err(|_| expected.to_owned())?;
    Ok(Server { page: format!("http://{host}"), live })
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    Screen::require(INSTEAD)?;
    let Server { page, live } = args.server.clone();
    let mut app = App::new(page, args.game.clone());
    let (to_screen, mut news) = mpsc::channel(QUEUE);
    let (want, wanted) = mpsc::channel(QUEUE);
    let topic = app.topic();
    let network =
        network::Network::start("network", move |_| client::follow(live, topic, wanted, to_screen))?;
    let theme = Theme::choose(args.letters);
    let mut screen = Screen::open()?;
    'watching: loop {
        screen.draw(|frame| ui::draw(frame, &app, theme, Instant::now()))?;
        let asked = screen.input()?.and_then(|key| app.key(key));
        let told =
            std::iter::from_fn(|| news.try_recv().ok()).filter_map(|news| app.news(news, Instant::now()));
        for wish in asked.into_iter().chain(told.collect::<Vec<_>>()) {
            match wish {
                Wish::Watch(topic) => drop(want.blocking_send(topic)),
                Wish::Quit => break 'watching,
            }
        }
    }
    drop((screen, want, news));
    network.join();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_page_leads_to_its_live_games() {
        let address = |url| server(url).map(|server| server.live.to_string());
        assert_eq!(server("http://[::1]:8080/").unwrap().page, "http://[::1]:8080");
        assert_eq!(address("http://localhost:8080"), Ok("ws://localhost:8080/api/live".into()));
        assert_eq!(address("http://[::1]:8080/"), Ok("ws://[::1]:8080/api/live".into()));
        for wrong in ["", "localhost:8080", "https://x", "http://", "ws://x"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
