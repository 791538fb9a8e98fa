//! The whole arena: fronts, tournaments and their files, from the configuration to the summary.

use std::{collections::BTreeMap, sync::Arc};

use tokio::{
    sync::{broadcast, watch},
    task::JoinSet,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_engine::{EngineFactory, priority};
use zeitnot_host::{
    database::{Database, WriterThread},
    hosted_game::Host,
    live::{Feed, Thoughts},
};
use zeitnot_web::{hosts::Hosts, page::Web, places::PlaceLimits};

use crate::{
    config::Config,
    contest::{ContestFront, Listener, Transport},
    error::ArenaError,
    imcs, lichess,
    listening::Listening,
    news::{self, News, NewsSender},
    page_searcher::PageSearcher,
    searches::{BuiltInEngines, Searches},
    tournament::{
        Accounts, Engines, Environment, ManagerHandle, TournamentManager, TournamentSummary, stored_view,
    },
    tuc, web,
};

/// Arena with its ports bound and its files open, ready to run.
///
/// ```no_run
/// # async fn example(config: zeitnot_arena::Config) -> Result<(), zeitnot_arena::ArenaError> {
/// use tokio_util::sync::CancellationToken;
/// use zeitnot_arena::Arena;
///
/// let arena = Arena::bind(config).await?;
/// for port in arena.listening() {
///     println!("{port}");
/// }
/// let summary = arena.run(CancellationToken::new()).await;
/// for tournament in summary.tournaments {
///     println!("{}", tournament.standings);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Arena {
    bound: Config,
    listeners: Vec<Listener>,
    hosts: Hosts,
    limits: PlaceLimits,
    news: NewsSender,
    tournaments: TournamentManager,
    tables: Vec<tuc::TucTable>,
    imcs: Option<imcs::Imcs>,
    lichess: Option<lichess::Lichess>,
    web: Option<Web>,
    manager: ManagerHandle,
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
        Arena::with_engines(config, BTreeMap::new()).await
    }

    /// As [`Arena::bind`], with engines that can play in tournaments, by name, besides the built-in players.
    ///
    /// # Errors
    /// [`ArenaError`], which says what to change.
    pub async fn with_engines(
        config: Config,
        engines: BTreeMap<String, EngineFactory>,
    ) -> Result<Arena, ArenaError> {
        config.check()?;
        let mut bound = config.clone();
        let mut listeners = Vec::new();
        let contest = [(&mut bound.tcp, Transport::Tcp), (&mut bound.websocket, Transport::WebSocket)];
        for (address, transport) in contest {
            if let Some(address) = address {
                let listener = Listener::bind(*address, transport)?;
                *address = listener.port.address;
                listeners.push(listener);
            }
        }
        let public = config.web.as_ref().and_then(|web| web.public.clone());
        let hosts = Hosts::new(public, "[arena.web]");
        let (searches, built_in) = (Searches::default(), Arc::<BuiltInEngines>::default());
        let (web, live) = match config.web.clone() {
            Some(web) => {
                let searcher = PageSearcher::with(searches.clone(), built_in.clone())
                    .map_err(|error| ArenaError::Config(format!("web: {error}")))?;
                let (web, feed) = Web::bind(web, Arc::new(searcher))?;
                (Some(web), feed)
            }
            None => (None, Feed::default()),
        };
        let thoughts = live.thoughts();
        let (database, writer) = match config.database() {
            Some(location) => Database::open(location, priority::usual)
                .await
                .map(|(database, writer)| (Some(database), Some(writer)))?,
            None => (None, None),
        };
        let web = match (web, &database) {
            (Some(web), Some(database)) => Some(web.with_database(database.clone(), stored_view)),
            (web, _) => web,
        };
        let host = Host { feed: live.clone(), database: database.clone() };
        let (news, limits) = (news::channel(), config.place_limits());
        let max_players_at_once = config.max_players_at_once();
        let mut accounts = Accounts::default();
        let lichess = match config.lichess {
            Some(lichess) => {
                accounts.entries = lichess.class_accounts().collect();
                let (games, max) = (&config.games, config.max_connections);
                let lichess = lichess::Lichess::bind(lichess, games, max, host.clone()).await?;
                accounts.url = format!("http://{}", lichess.port.address);
                Some(lichess)
            }
            None => None,
        };
        let environment = Environment {
            games: config.games.clone(),
            database: database.clone(),
            news: news.clone(),
            live: live.clone(),
            per_address: limits.per_address,
            max_players_at_once,
            ports: listeners.iter().map(Listener::url).collect(),
            accounts,
            engines: Engines::new(engines, built_in, searches),
        };
        let (manager, mut tournaments) = TournamentManager::channel(environment).await?;
        for tournament in config.tournament {
            tournaments.open(tournament).await?;
        }
        tournaments.open_created().await?;
        let mut tables = Vec::new();
        for table in config.tuc {
            tables.push(tuc::TucTable::open(table, &config.games, host.clone()).await?);
        }
        let imcs = match config.imcs {
            Some(imcs) => Some(imcs::Imcs::bind(imcs, &config.games, limits, host.clone())?),
            None => None,
        };
        bound.imcs.iter_mut().zip(&imcs).for_each(|(config, imcs)| config.listen = imcs.port.address);
        bound
            .lichess
            .iter_mut()
            .zip(&lichess)
            .for_each(|(config, lichess)| config.listen = lichess.port.address);
        bound.web.iter_mut().zip(&web).for_each(|(config, web)| config.listen = web.port.address);
        bound.tuc.iter_mut().zip(&tables).for_each(|(config, table)| config.address = table.address);
        Ok(Arena {
            bound,
            listeners,
            hosts,
            limits,
            news,
            tournaments,
            tables,
            imcs,
            lichess,
            web,
            manager,
            thoughts,
            writer,
        })
    }

    /// The ports that were bound.
    pub fn listening(&self) -> Vec<Listening> {
        self.bound.listening()
    }

    /// The configuration, with the ports that were bound in place of those that were asked for.
    pub fn bound(&self) -> &Config {
        &self.bound
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
        let (registry, engines) = (self.tournaments.registry(), self.tournaments.engines());
        let front =
            ContestFront::new(registry.clone(), self.limits, self.hosts, tracker.clone(), closing.clone());
        for listener in self.listeners {
            tracker.spawn(front.clone().listen(listener, stop.clone()));
        }
        let database = self.web.as_ref().and_then(|web| web.database.clone());
        let readers = database.map(web::readers);
        let page = self.web.map(|web| {
            let routes = web::routes(registry.clone(), self.manager, engines, readers.clone());
            tracker.spawn(web.run(routes, priority::usual, closing.clone()))
        });
        let imcs = self.imcs.map(|imcs| tracker.spawn(imcs.run(stop.clone())));
        let lichess = self.lichess.map(|lichess| tracker.spawn(lichess.run(registry, stop.clone())));
        let catch_up = self.tournaments.catch_up();
        let tournaments = self.tournaments.run(page.is_some(), stop.clone());
        let tables: JoinSet<()> = self.tables.into_iter().map(|table| table.run(stop.clone())).collect();
        let tournaments = tournaments.await;
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
        if let Some((store, thread)) = catch_up {
            drop(store);
            thread.join().await;
        }
        if let Some(readers) = readers {
            readers.close().await;
        }
        if let Some(writer) = self.writer {
            writer.join().await;
        }
        Summary { tournaments }
    }
}
