//! The whole arena: fronts, tournaments and their files, from the configuration to the summary.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use time::OffsetDateTime;
use tokio::{
    sync::{broadcast, watch},
    task::JoinSet,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_rules::{GameKind, chess::Chess};

use crate::{
    config::Config,
    contest::{ContestFront, Listener, Transport},
    database::{Database, Opened, Opening, WriterThread},
    error::ArenaError,
    imcs, lichess,
    live::{Feed, Thoughts, view::JoinLine},
    name::Name,
    news::{self, News, NewsSender},
    openings, pgn,
    places::PlaceLimits,
    store::{Earlier, GameFile, Store, StoreActor},
    tournament::{
        Admission, Reports, TournamentActor, TournamentConfig, TournamentRegistry, TournamentSummary,
    },
    tuc,
    web::Web,
};

/// Arena with its ports bound and its files open, ready to run.
///
/// ```no_run
/// # async fn example(config: zeitnot_arena::Config) -> Result<(), zeitnot_arena::ArenaError> {
/// use tokio_util::sync::CancellationToken;
/// use zeitnot_arena::Arena;
///
/// let arena = Arena::bind(config).await?;
/// println!("{:?}", arena.tcp());
/// let summary = arena.run(CancellationToken::new()).await;
/// for tournament in summary.tournaments {
///     println!("{}", tournament.standings);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Arena {
    listeners: Vec<Listener>,
    limits: PlaceLimits,
    delay: Duration,
    news: NewsSender,
    registry: TournamentRegistry,
    tournaments: Vec<(TournamentActor, StoreActor)>,
    tables: Vec<tuc::Table>,
    imcs: Option<imcs::Imcs>,
    lichess: Option<lichess::Lichess>,
    web: Option<Web>,
    thoughts: Thoughts,
    writer: Option<WriterThread>,
}

/// Outcome of an arena.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Outcomes of the tournaments, in the order of the configuration.
    pub tournaments: Vec<TournamentSummary>,
}

impl Arena {
    /// Binds the ports, reads the openings, opens the database and creates the files for the games.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub async fn bind(config: Config) -> Result<Arena, ArenaError> {
        config.check()?;
        let mut listeners = Vec::new();
        for (address, transport) in [(config.tcp, Transport::Tcp), (config.websocket, Transport::WebSocket)] {
            if let Some(address) = address {
                listeners.push(Listener::bind(address, transport)?);
            }
        }
        let (web, live) = match config.web.clone().map(Web::bind).transpose()? {
            Some((web, feed)) => (Some(web.with_results(config.database())), feed),
            None => (None, Feed::default()),
        };
        let thoughts = live.thoughts();
        let (database, writer) = match config.database() {
            Some(path) => {
                Database::open(path).await.map(|(database, writer)| (Some(database), Some(writer)))?
            }
            None => (None, None),
        };
        let (news, limits) = (news::channel(), config.place_limits());
        let (mut handles, mut tournaments) = (Vec::new(), Vec::new());
        for tournament in config.tournament {
            let load = |path: &PathBuf| openings::load(path, &Chess::start());
            let openings = tournament.openings.as_ref().map(load).transpose()?;
            let file =
                GameFile::create(&config.games, tournament.name.as_str(), "pgn", OffsetDateTime::now_utc())?;
            let (store, mut file) = Store::channel(file);
            let mut opened = None;
            if let Some(database) = &database {
                let going_on = open_tournament(database, &tournament).await?;
                file = file.after(earlier(&going_on));
                opened = Some((database.clone(), going_on));
            }
            let openings = openings.unwrap_or_default();
            let name = tournament.name.clone();
            let admission = admission(&tournament, config.lichess.as_ref())?;
            let per_address = limits.per_address;
            let reports = Reports { news: news.clone(), live: live.clone(), joins: joins(&listeners, &name) };
            let (handle, actor) = TournamentActor::channel(
                tournament,
                admission,
                per_address,
                openings,
                store,
                reports,
                opened,
            );
            handles.push((name, handle));
            tournaments.push((actor, file));
        }
        let mut tables = Vec::new();
        for table in config.tuc {
            tables.push(tuc::Table::open(table, &config.games, live.clone(), database.clone()).await?);
        }
        let imcs = match config.imcs {
            Some(imcs) => {
                Some(imcs::Imcs::bind(imcs, &config.games, limits, live.clone(), database.clone())?)
            }
            None => None,
        };
        let lichess = match config.lichess {
            Some(lichess) => {
                Some(lichess::Lichess::bind(lichess, &config.games, config.max_connections, live)?)
            }
            None => None,
        };
        let registry = TournamentRegistry::new(handles);
        let delay = config.network_delay;
        Ok(Arena {
            listeners,
            limits,
            delay,
            news,
            registry,
            tournaments,
            tables,
            imcs,
            lichess,
            web,
            thoughts,
            writer,
        })
    }

    /// Address of the TCP listener.
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.address(Transport::Tcp)
    }

    /// Address of the WebSocket listener.
    pub fn websocket(&self) -> Option<SocketAddr> {
        self.address(Transport::WebSocket)
    }

    /// Address of the IMCS listener.
    pub fn imcs(&self) -> Option<SocketAddr> {
        self.imcs.as_ref().map(|imcs| imcs.port.address)
    }

    /// Address of the Lichess Bot API.
    pub fn lichess(&self) -> Option<SocketAddr> {
        self.lichess.as_ref().map(|lichess| lichess.port.address)
    }

    /// Address of the page for browsers.
    pub fn web(&self) -> Option<SocketAddr> {
        self.web.as_ref().map(|web| web.port.address)
    }

    /// URL of the page, as people open it.
    pub fn page(&self) -> Option<String> {
        self.web.as_ref().map(Web::url)
    }

    /// Organiser's token, if it was drawn at this start. It must not reach a log.
    pub fn new_token(&self) -> Option<&str> {
        self.web.as_ref()?.new_token()
    }

    /// Number of browsers and programs that watch over the page's socket.
    pub fn spectators(&self) -> Option<watch::Receiver<usize>> {
        self.web.as_ref().map(|web| web.spectators.subscribe())
    }

    /// Returns the way to show on the page what players think.
    pub fn thoughts(&self) -> Thoughts {
        self.thoughts.clone()
    }

    fn address(&self, transport: Transport) -> Option<SocketAddr> {
        let mut listeners = self.listeners.iter();
        listeners.find(|listener| listener.transport == transport).map(|listener| listener.port.address)
    }

    /// Addresses of the tables for TUC-Chess.
    pub fn tables(&self) -> Vec<SocketAddr> {
        self.tables.iter().map(|table| table.address).collect()
    }

    /// Subscribes to news. A slow subscriber gets [`broadcast::error::RecvError::Lagged`], and goes on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Runs until every tournament and every table has ended or `shutdown` is cancelled. IMCS, the Lichess API
    /// and the page have no end of their own: with them, until the latter, or until IMCS's administrator stops it.
    ///
    /// When it returns, all connections are closed, all games are on the disk and no task is left.
    pub async fn run(self, shutdown: CancellationToken) -> Summary {
        let tracker = TaskTracker::new();
        // Connections end last: a player who loses the connection first would lose the game.
        let (stop, closing) = (shutdown.child_token(), CancellationToken::new());
        let registry = self.registry.clone();
        let front =
            ContestFront::new(self.registry, self.limits, self.delay, tracker.clone(), closing.clone());
        for listener in self.listeners {
            tracker.spawn(front.clone().listen(listener, stop.clone()));
        }
        let page = self.web.map(|web| tracker.spawn(web.run(closing.clone())));
        let imcs = self.imcs.map(|imcs| tracker.spawn(imcs.run(stop.clone())));
        let lichess = self.lichess.map(|lichess| tracker.spawn(lichess.run(registry, stop.clone())));
        let mut running = JoinSet::new();
        for (place, (actor, writer)) in self.tournaments.into_iter().enumerate() {
            let run = actor.run(writer, stop.clone());
            running.spawn(async move { (place, run.await) });
        }
        let tables: JoinSet<()> = self.tables.into_iter().map(|table| table.run(stop.clone())).collect();
        let mut summaries = running.join_all().await;
        tables.join_all().await;
        for (name, server) in [("IMCS", imcs), ("the Lichess API", lichess)] {
            if let Some(server) = server
                && let Err(error) = server.await
            {
                tracing::error!(%error, "{name} has failed; please report it");
            }
        }
        if page.is_some() {
            // The page keeps showing the games and standings.
            stop.cancelled().await;
        }
        stop.cancel();
        closing.cancel();
        tracker.close();
        tracker.wait().await;
        if let Some(writer) = self.writer {
            writer.join().await;
        }
        summaries.sort_by_key(|(place, _)| *place);
        Summary { tournaments: summaries.into_iter().map(|(_, summary)| summary).collect() }
    }
}

/// Ways to join a tournament.
fn joins(listeners: &[Listener], tournament: &Name) -> Vec<JoinLine> {
    let join = |listener: &Listener| {
        let scheme = match listener.transport {
            Transport::Tcp => "tcp",
            Transport::WebSocket => "ws",
        };
        let protocol = format!("{scheme}://{}", listener.port.address);
        JoinLine { protocol, line: format!("JOIN {tournament} NAME") }
    };
    listeners.iter().map(join).collect()
}

/// Takes up a tournament, or begins it.
async fn open_tournament(database: &Database, tournament: &TournamentConfig) -> Result<Opened, ArenaError> {
    let TournamentConfig { name, time, .. } = tournament;
    let opening = Opening { name: name.clone(), kind: GameKind::Chess, time_control: *time };
    let opened = database.open_tournament(opening).await?;
    let ended = opened.history.games.iter().filter(|game| game.end.is_some()).count();
    if ended > 0 {
        let again = opened.interrupted.len();
        tracing::info!("{name} goes on: {ended} games are over, and {again} that ran are played again");
    }
    Ok(opened)
}

/// Returns the games that a kill may have kept from their file.
fn earlier(opened: &Opened) -> Vec<Earlier> {
    let event = opened.history.tournament.name.as_str();
    let over =
        opened.history.games.iter().filter(|game| game.end.as_ref().is_some_and(|end| end.is_played()));
    let earlier = over.filter_map(|game| match pgn::print_stored(event, game) {
        Ok(text) => Some(Earlier { mark: pgn::id_tag(&game.header), text }),
        Err(error) => {
            tracing::warn!("the stored game {} is left out: {error}", game.header.id);
            None
        }
    });
    earlier.collect()
}

/// Reads what decides who may join a tournament.
fn admission(
    tournament: &TournamentConfig,
    lichess: Option<&lichess::Config>,
) -> Result<Admission, ArenaError> {
    let keys = tournament.open_keys()?;
    let accounts = lichess.into_iter().flat_map(|lichess| &lichess.account);
    let theirs = accounts.filter(|account| account.class.as_ref() == Some(&tournament.name));
    let reserved = theirs.filter_map(|account| Name::try_from(account.name.as_str()).ok()).collect();
    Ok(Admission { password: tournament.password.clone(), keys, reserved })
}
