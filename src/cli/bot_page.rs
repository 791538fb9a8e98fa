//! The bot's own page: gathers what players and clients report, on the thread of the page.

use std::time::Duration;

use tokio::{
    select,
    sync::mpsc,
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::info;
use zeitnot_bot::{Answer, GameStatus};
use zeitnot_clients::Shutdown;
use zeitnot_engine::priority;
use zeitnot_host::live::{BotFeed, BotGame, view::Person};
use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::{News, OrderQueue};
use zeitnot_web::bot_page::BotPage;

use self::{
    orders::ServerControl,
    state::{State, id, site},
};
use super::{CliError, print, service::client_events::Logged, thought};

pub(super) mod orders;
mod state;

/// Reports that may wait.
const QUEUE: usize = 256;
/// Interval of the views.
const TICK: Duration = Duration::from_millis(500);
/// Ways to report to the page. Nobody waits for it: what does not fit is left out.
pub(super) struct Reporter {
    pub(super) statuses: mpsc::Sender<GameStatus>,
    pub(super) answers: mpsc::Sender<Answer>,
    pub(super) news: mpsc::Sender<News>,
    /// Servers that were left, by their numbers, and the reason why we had to.
    pub(super) left: mpsc::Sender<(usize, Option<String>)>,
}

struct Reports {
    statuses: mpsc::Receiver<GameStatus>,
    answers: mpsc::Receiver<Answer>,
    news: mpsc::Receiver<News>,
    orders: OrderQueue,
    logged: mpsc::Receiver<Logged>,
    left: mpsc::Receiver<(usize, Option<String>)>,
    /// Receives the statuses, too.
    to_screen: mpsc::Sender<GameStatus>,
    soon: CancellationToken,
}

/// Link between the page and the bot, beside the reports of players and clients.
pub(super) struct Controls {
    pub(super) servers: Vec<ServerControl>,
    pub(super) orders: OrderQueue,
    pub(super) logged: mpsc::Receiver<Logged>,
}

/// Serves the page until the program stops.
pub(super) fn start(
    page: BotPage,
    Controls { servers, orders, logged }: Controls,
    to_screen: mpsc::Sender<GameStatus>,
    tasks: &TaskTracker,
    shutdown: &Shutdown,
) -> Result<Reporter, CliError> {
    info!("the bot's page: {}", page.url());
    if let Some(token) = page.new_token() {
        // Not by the log, which may be kept.
        let url = page.url();
        print(|out| writeln!(out, "the bot's page with the token for its buttons: {url}/#token={token}"))?;
    }
    let (statuses, of_games) = mpsc::channel(QUEUE);
    let (answers, of_answers) = mpsc::channel(QUEUE);
    let (news, of_clients) = mpsc::channel(QUEUE);
    let (left, of_servers) = mpsc::channel(QUEUE);
    let reports = Reports {
        statuses: of_games,
        answers: of_answers,
        news: of_clients,
        orders,
        logged,
        left: of_servers,
        to_screen,
        soon: shutdown.soon.clone(),
    };
    let collecting = move |feed| collect(reports, servers, feed);
    tasks.spawn(page.run(collecting, priority::usual, shutdown.now.clone()));
    Ok(Reporter { statuses, answers, news, left })
}

/// Shows everything on the page until the players are gone.
async fn collect(mut reports: Reports, servers: Vec<ServerControl>, mut feed: BotFeed) {
    let mut state = State::new(&servers);
    // The web server bounds how many wait.
    let mut carried_out = JoinSet::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut shown = None;
    let mut has_changed = true;
    loop {
        select! {
            status = reports.statuses.recv() => match status {
                Some(status) => {
                    state.hear(&status);
                    feed.update(game(&status));
                    // A stopped terminal misses some, as it would without a page.
                    let _ = reports.to_screen.try_send(status);
                }
                None => break,
            },
            Some(answer) = reports.answers.recv() => state.answered(&answer),
            Some(news) = reports.news.recv() => match news {
                News::Answered(challenge) => state.challenged(challenge),
                News::Challenging(challenge) => state.challenging(challenge),
            },
            request = reports.orders.next() => {
                let servers = servers.clone();
                carried_out.spawn(async move { orders::carry_out(&servers, request).await });
            }
            Some(Ok(Some(change))) = carried_out.join_next() => state.blocked(change),
            Some(logged) = reports.logged.recv() => state.logged(logged),
            Some((number, error)) = reports.left.recv() => state.left(number, error),
            () = reports.soon.cancelled(), if !state.view.stopping => state.view.stopping = true,
            _ = tick.tick(), if has_changed => {
                if shown.as_ref() != Some(&state.view) && feed.show(state.view.clone()) {
                    shown = Some(state.view.clone());
                }
                has_changed = shown.as_ref() != Some(&state.view);
                continue;
            }
        }
        has_changed = true;
    }
}

fn game(status: &GameStatus) -> BotGame {
    let person = |color: Color| Person {
        name: status.names[color].clone(),
        rating: None,
        bot: (color == status.side).then_some(true),
    };
    let line = &status.line;
    BotGame {
        id: id(status),
        site: site(status),
        kind: line.kind,
        start: line.start.clone(),
        players: ByColor(Color::BOTH.map(person)),
        time_control: line.time_control,
        moves: line.moves.clone(),
        left: status.clocks.map(|clocks| clocks.left),
        thought: status.thought.as_ref().map(|it| (it.ply, status.side, thought::view(it, status.side))),
        end: status.result.clone().map(|words| (status.outcome, words)),
    }
}
