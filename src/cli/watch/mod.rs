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
  zeitnot watch ID                                     one of them, by its id
  zeitnot watch http://192.0.2.7:8080/game/ID          a game by its link, of another arena
  zeitnot watch --server http://192.0.2.7:8080         the games of another arena")]
pub(super) struct Args {
    /// Id of a game, or its link; that of an arena's page shows all games there
    #[arg(value_name = "GAME", value_parser = target)]
    game: Option<Target>,
    /// Address of the arena's page [default: http://127.0.0.1:8080]
    #[arg(long, value_name = "URL", value_parser = server)]
    server: Option<Server>,
    /// Letters instead of coloured pieces; also chosen by the environment's NO_COLOR
    #[arg(long)]
    letters: bool,
}

/// News and wishes that may wait.
const QUEUE: usize = 256;
const DEFAULT: &str = "http://127.0.0.1:8080";
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

/// Target to watch: a game, an arena, or a game of an arena.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    server: Option<Server>,
    game: Option<String>,
}

/// Reads the id of a game, or the address of a game or an arena.
fn target(text: &str) -> Result<Target, String> {
    if !text.contains("://") {
        return Ok(Target { server: None, game: Some(text.to_owned()) });
    }
    let (page, id) = text.split_once("/game/").unwrap_or((text, ""));
    let id = id.trim_end_matches('/');
    let game = (!id.is_empty()).then(|| id.to_owned());
    Ok(Target { server: Some(server(page)?), game })
}

/// Returns the arena and the game to watch.
fn chosen(args: &Args) -> Result<(Server, Option<String>), CliError> {
    let (linked, game) = args.game.clone().map_or((None, None), |target| (target.server, target.game));
    let server = match (args.server.clone(), linked) {
        (Some(_), Some(_)) => {
            return Err(CliError::Usage("the link names the arena: leave out --server".to_owned()));
        }
        (given, linked) => given.or(linked).map_or_else(|| server(DEFAULT).map_err(CliError::Usage), Ok)?,
    };
    Ok((server, game))
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    Screen::require(INSTEAD)?;
    let (Server { page, live }, game) = chosen(args)?;
    let mut app = App::new(page, game);
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
    fn a_game_is_given_by_its_id_or_by_its_link() {
        let of = |text: &str| {
            let target = target(text).unwrap();
            (target.server.map_or(String::new(), |server| server.page), target.game.unwrap_or_default())
        };
        let page = "http://192.0.2.7:8080";
        assert_eq!(of("Xk4dQ2aB"), (String::new(), "Xk4dQ2aB".into()));
        assert_eq!(of("http://192.0.2.7:8080/game/Xk4dQ2aB"), (page.into(), "Xk4dQ2aB".into()));
        assert_eq!(of("http://192.0.2.7:8080/game/Xk4dQ2aB/"), (page.into(), "Xk4dQ2aB".into()));
        assert_eq!(of("http://192.0.2.7:8080/"), (page.into(), String::new()));
        for wrong in ["https://x/game/a", "http:///game/a"] {
            assert!(target(wrong).is_err(), "{wrong}");
        }
    }

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
