//! Owner of the arena's tournaments: opens those of the configuration and those that the organiser creates, runs their
//! tasks, and collects their outcomes.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use tokio::{
    select,
    sync::{mpsc, oneshot, watch},
    task::{JoinError, JoinSet},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_engine::priority;
use zeitnot_pairing::Name;
use zeitnot_wire::printable;

use super::{
    actor::{EditError, TournamentActor, TournamentSummary},
    config::TournamentConfig,
    engine_player::EnginePlayer,
    engines::Engines,
    environment::{Environment, OpenTournament},
    refusals::Refusals,
    registry::{Stranger, TournamentRegistry, Tournaments},
    settings::{Access, AccessKind, AskedAccess, Drawn, Settings, SettingsChange, SettingsError},
    starts::Starts,
};
use crate::error::ArenaError;
use zeitnot_host::{
    database::{Change, SettingsText, TournamentId},
    jobs::Handle,
    live::view::RefusalRow,
    panic_guard::{self, Panic},
    store::{Store, StoreThread},
};
use zeitnot_net::secret::Secret;

/// Requests that may wait.
const QUEUE: usize = 64;
/// Tournaments at once that are not complete.
const MAX_RUNNING: usize = 64;
/// Tournaments of one run, with those that are over.
const MAX_TOURNAMENTS: usize = 1000;

/// Reason why the organiser cannot have a tournament so.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManageError {
    #[error("there is no tournament {0}: /api/tournaments lists them")]
    Unknown(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("tournament {0} already exists: choose another name")]
    Exists(Name),
    #[error("the name {name} looks like {other}, which is taken: choose another one")]
    LooksLike { name: Name, other: Name },
    #[error("{MAX_RUNNING} tournaments are already running: wait until one is complete")]
    TooMany,
    #[error("the arena has run {MAX_TOURNAMENTS} tournaments: restart it for more")]
    TooManyInAll,
    #[error("nobody could join: set tcp = \"127.0.0.1:8000\" in [arena]")]
    NoPort,
    #[error("tournament {0} is one of the configuration file: change it there, and restart the arena")]
    Configured(Name),
    #[error("tournament {0} requires no keys: change its access to {{\"keys\": [\"NAME\"]}}")]
    NoKeys(Name),
    #[error("tournament {0} is over")]
    Over(Name),
    #[error("tournament {0} has begun: only one without a pairing can be deleted")]
    Begun(Name),
    #[error(transparent)]
    Arena(#[from] ArenaError),
    #[error("the arena is shutting down")]
    Stopping,
}

type Reply<T> = oneshot::Sender<Result<T, ManageError>>;

#[derive(Debug)]
enum Request {
    Create { settings: Box<Settings<AskedAccess>>, reply: Reply<()> },
    Edit { tournament: String, change: SettingsChange, reply: Reply<()> },
    Delete { tournament: String, reply: Reply<()> },
    DrawKeys { tournament: String, names: BTreeSet<Name>, reply: Reply<Vec<(Name, Secret)>> },
    Settings { tournament: String, reply: Reply<Settings<AccessKind>> },
    Refusals { reply: Reply<Vec<RefusalRow>> },
}

/// The organiser's access to the owner of the tournaments.
#[derive(Clone, Debug)]
pub(crate) struct ManagerHandle(mpsc::Sender<Request>);

impl ManagerHandle {
    /// Creates a tournament.
    pub(crate) async fn create(&self, settings: Settings<AskedAccess>) -> Result<(), ManageError> {
        self.ask(|reply| Request::Create { settings: Box::new(settings), reply }).await
    }

    /// Changes some settings of a tournament before its first pairing.
    pub(crate) async fn edit(&self, tournament: String, change: SettingsChange) -> Result<(), ManageError> {
        self.ask(|reply| Request::Edit { tournament, change, reply }).await
    }

    /// Deletes a tournament before its first pairing.
    pub(crate) async fn delete(&self, tournament: String) -> Result<(), ManageError> {
        self.ask(|reply| Request::Delete { tournament, reply }).await
    }

    /// Draws keys for these names.
    pub(crate) async fn draw_keys(
        &self,
        tournament: String,
        names: BTreeSet<Name>,
    ) -> Result<Vec<(Name, Secret)>, ManageError> {
        self.ask(|reply| Request::DrawKeys { tournament, names, reply }).await
    }

    /// Returns the settings of a tournament.
    pub(crate) async fn settings(&self, tournament: String) -> Result<Settings<AccessKind>, ManageError> {
        self.ask(|reply| Request::Settings { tournament, reply }).await
    }

    /// Returns the refusals that belong to no tournament, the latest last.
    pub(crate) async fn refusals(&self) -> Result<Vec<RefusalRow>, ManageError> {
        self.ask(|reply| Request::Refusals { reply }).await
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, ManageError> {
        let (reply, answer) = oneshot::channel();
        let _ = self.0.send(request(reply)).await;
        answer.await.unwrap_or(Err(ManageError::Stopping))
    }
}

/// Owner of the tournaments.
#[derive(Debug)]
pub(crate) struct TournamentManager {
    environment: Environment,
    requests: mpsc::Receiver<Request>,
    /// All of this run, those that are over too; not those that were deleted.
    known: BTreeMap<Name, Known>,
    /// For the fronts.
    published: watch::Sender<Arc<Tournaments>>,
    strangers: (mpsc::Sender<Stranger>, mpsc::Receiver<Stranger>),
    refusals: Refusals,
    /// Number of those that were opened.
    opened: usize,
    /// Open, and not running yet.
    open: Vec<(Name, OpenTournament)>,
    running: JoinSet<(usize, Result<TournamentSummary, Panic>)>,
    /// Tasks of the players that the arena runs itself.
    engine_players: TaskTracker,
    ended: BTreeMap<usize, TournamentSummary>,
}

/// Tournament of this run.
#[derive(Debug)]
struct Known {
    /// Place in the order in which they were opened.
    place: usize,
    handle: Handle<TournamentActor>,
    /// Cancelled when all is played.
    over: CancellationToken,
    stored: Option<TournamentId>,
    config: TournamentConfig,
    /// `None` for one of the configuration file.
    access: Option<Access>,
    /// Players that the arena runs itself, each with what ends it.
    engines: BTreeMap<Name, CancellationToken>,
}

impl Known {
    fn access_kind(&self) -> AccessKind {
        match &self.access {
            Some(access) => access.kind(),
            None if self.config.keys.is_some() => AccessKind::Keys,
            None if self.config.password.is_some() => AccessKind::Password,
            None => AccessKind::Open,
        }
    }
}

impl TournamentManager {
    /// Creates the owner of no tournaments yet.
    pub(crate) async fn channel(
        environment: Environment,
    ) -> Result<(ManagerHandle, TournamentManager), ArenaError> {
        let (handle, requests) = mpsc::channel(QUEUE);
        let stored = match &environment.database {
            Some(database) => database.refusals().await?,
            None => Vec::new(),
        };
        let refusals = Refusals::of_strangers(environment.database.clone(), stored);
        let manager = TournamentManager {
            environment,
            requests,
            known: BTreeMap::new(),
            published: watch::Sender::default(),
            strangers: mpsc::channel(QUEUE),
            refusals,
            opened: 0,
            open: Vec::new(),
            running: JoinSet::new(),
            engine_players: TaskTracker::new(),
            ended: BTreeMap::new(),
        };
        Ok((ManagerHandle(handle), manager))
    }

    /// Returns the access of the fronts.
    pub(crate) fn registry(&self) -> TournamentRegistry {
        TournamentRegistry::new(self.published.subscribe(), self.strangers.0.clone())
    }

    /// Returns the engines that can play.
    pub(crate) fn engines(&self) -> Engines {
        self.environment.engines.clone()
    }

    /// Opens a tournament of the configuration.
    pub(crate) async fn open(&mut self, config: TournamentConfig) -> Result<(), ArenaError> {
        if let Some(why) = self.environment.engines.obstacle(&config) {
            return Err(ArenaError::Config(format!("tournament '{}': {why}", config.name)));
        }
        self.add(config, None, false).await
    }

    /// Opens the tournaments that the organiser has created earlier and that are not complete, unless the configuration
    /// has one of the same name.
    pub(crate) async fn open_created(&mut self) -> Result<(), ArenaError> {
        let Some(database) = &self.environment.database else { return Ok(()) };
        for (name, SettingsText(text)) in database.created().await? {
            if self.known.contains_key(&name) {
                continue;
            }
            let (config, access) = match Settings::from_stored(&name, &text) {
                Ok(settings) => settings,
                Err(why) => {
                    tracing::error!(
                        "{name}: its settings in the database cannot be read ({why}); it is left out: create it anew"
                    );
                    continue;
                }
            };
            if let Some(why) = self.environment.obstacle(&config) {
                tracing::warn!("{name}: play cannot begin: {why}");
            }
            match self.add(config, Some(access), false).await {
                Err(error) if error.is_taken() => {
                    tracing::info!("{name}: another arena on this database runs it");
                }
                added => added?,
            }
        }
        Ok(())
    }

    async fn add(
        &mut self,
        config: TournamentConfig,
        access: Option<Access>,
        is_new: bool,
    ) -> Result<(), ArenaError> {
        let open = self.environment.open(&config, access.as_ref(), is_new).await?;
        let (name, handle, stored) = (config.name.clone(), open.handle.clone(), open.stored);
        let (place, over, engines) = (self.opened, CancellationToken::new(), BTreeMap::new());
        self.opened += 1;
        let known = Known { place, handle: handle.clone(), over, stored, config, access, engines };
        self.known.insert(name.clone(), known);
        self.published
            .send_modify(|tournaments| drop(Arc::make_mut(tournaments).insert(name.clone(), handle)));
        self.open.push((name, open));
        Ok(())
    }

    /// Runs the tournaments until all have ended, or if the organiser may create others, until `stop`; then they end.
    /// Returns their outcomes in the order in which they were opened.
    pub(crate) async fn run(mut self, is_managed: bool, stop: CancellationToken) -> Vec<TournamentSummary> {
        self.start(&stop);
        while is_managed || !self.running.is_empty() {
            select! {
                () = stop.cancelled() => break,
                Some(request) = self.requests.recv() => {
                    self.answer(request).await;
                    self.start(&stop);
                }
                Some(ended) = self.running.join_next() => self.note_end(ended),
                Some(Stranger { name, reason }) = self.strangers.1.recv() => self.refusals.note(&name, &reason),
            }
        }
        // Whoever asks now hears that the arena stops.
        self.requests.close();
        while let Some(ended) = self.running.join_next().await {
            self.note_end(ended);
        }
        self.engine_players.close();
        self.engine_players.wait().await;
        self.ended.into_values().collect()
    }

    /// Starts to write the games of tournaments that ended in an earlier run, if that run did not come to it. While the
    /// folder or the database fails, it tries again until the sender is dropped.
    pub(crate) fn catch_up(&self) -> Option<(Store, StoreThread)> {
        let Environment { database, games, .. } = &self.environment;
        let running = self.known.keys().cloned().collect();
        Some(StoreThread::catch_up(database.as_ref()?, running, games.clone(), priority::usual))
    }

    /// Starts the tasks of those that are open.
    fn start(&mut self, stop: &CancellationToken) {
        for (name, OpenTournament { actor, file, .. }) in mem::take(&mut self.open) {
            let Some(Known { place, over, .. }) = self.known.get(&name) else { continue };
            let (place, run) = (*place, actor.run(file, stop.clone(), over.clone()));
            self.running.spawn(async move { (place, panic_guard::contain_all(run).await) });
            self.run_engines(&name);
        }
    }

    /// Starts the engines of a tournament that do not play in it yet, and ends those that are no longer to play.
    fn run_engines(&mut self, tournament: &Name) {
        let registry = self.registry();
        let Some(known) = self.known.get_mut(tournament) else { return };
        let wanted = &known.config.engines;
        known.engines.extract_if(.., |name, _| !wanted.contains(name)).for_each(|(_, stop)| stop.cancel());
        for name in wanted.iter().filter(|name| !known.engines.contains_key(*name)).collect::<Vec<_>>() {
            let Some(engine) = self.environment.engines.find(name) else { continue };
            let player = EnginePlayer { tournament: tournament.clone(), name: name.clone(), engine };
            let stop = known.over.child_token();
            self.engine_players.spawn(player.run(registry.clone(), stop.clone()));
            known.engines.insert(name.clone(), stop);
        }
    }

    fn note_end(&mut self, ended: Result<(usize, Result<TournamentSummary, Panic>), JoinError>) {
        // Panics are caught in the task.
        let Ok((place, outcome)) = ended else { return };
        let Some((name, known)) = self.known.iter().find(|(_, known)| known.place == place) else { return };
        match outcome {
            Ok(summary) => drop(self.ended.insert(place, summary)),
            Err(panic) => {
                tracing::error!("{name}: the tournament has failed and is closed: {panic}; please report it");
                known.over.cancel();
            }
        }
    }

    async fn answer(&mut self, request: Request) {
        // Whoever does not wait for the answer has it nevertheless done.
        match request {
            Request::Create { settings, reply } => drop(reply.send(self.create(*settings).await)),
            Request::Edit { tournament, change, reply } => {
                drop(reply.send(self.edit(&tournament, change).await));
            }
            Request::Delete { tournament, reply } => drop(reply.send(self.delete(&tournament).await)),
            Request::DrawKeys { tournament, names, reply } => {
                drop(reply.send(self.draw_keys(&tournament, names).await));
            }
            Request::Refusals { reply } => drop(reply.send(Ok(self.refusals.rows()))),
            Request::Settings { tournament, reply } => {
                let settings = |known: &mut Known| Settings::new(&known.config, known.access_kind());
                drop(reply.send(self.known(&tournament).map(settings)));
            }
        }
    }

    fn known(&mut self, tournament: &str) -> Result<&mut Known, ManageError> {
        self.known.get_mut(tournament).ok_or_else(|| ManageError::Unknown(printable(tournament, 50)))
    }

    async fn create(&mut self, settings: Settings<AskedAccess>) -> Result<(), ManageError> {
        let (config, asked) = settings.checked()?;
        self.check_new(&config.name)?;
        self.check_beginning(&config)?;
        let access = Access::default().grant(asked)?;
        let name = config.name.clone();
        self.add(config, Some(access), true).await?;
        tracing::info!("{name}: created by the organiser");
        Ok(())
    }

    fn check_beginning(&self, config: &TournamentConfig) -> Result<(), SettingsError> {
        let running = self.known.values().filter(|known| !known.over.is_cancelled());
        let excess = || self.environment.engines.excess(config, running.map(|known| &known.config));
        let why = self.environment.obstacle(config).or_else(excess);
        why.map_or(Ok(()), |why| Err(SettingsError::Invalid(why)))
    }

    fn check_new(&self, name: &Name) -> Result<(), ManageError> {
        if self.known.contains_key(name) {
            return Err(ManageError::Exists(name.clone()));
        }
        let look = name.look();
        if let Some(other) = self.known.keys().find(|known| known.look() == look) {
            return Err(ManageError::LooksLike { name: name.clone(), other: other.clone() });
        }
        let running = self.known.values().filter(|known| !known.over.is_cancelled()).count();
        match (running, self.known.len()) {
            (MAX_RUNNING.., _) => Err(ManageError::TooMany),
            (_, MAX_TOURNAMENTS..) => Err(ManageError::TooManyInAll),
            _ if !self.environment.can_be_joined(name) => Err(ManageError::NoPort),
            _ => Ok(()),
        }
    }

    async fn edit(&mut self, tournament: &str, change: SettingsChange) -> Result<(), ManageError> {
        let known = self.known(tournament)?;
        let name = known.config.name.clone();
        let Some(present) = known.access.clone() else { return Err(ManageError::Configured(name)) };
        let (config, asked) = Settings::changed(&known.config, change)?.checked()?;
        let access = asked.map_or(Ok(present.clone()), |asked| present.grant(asked))?;
        let handle = known.handle.clone();
        let starts = Starts::open(&config)?;
        self.check_beginning(&config)?;
        let over = || ManageError::Over(name.clone());
        let checked = config.clone();
        handle.call(move |actor| actor.check_edit(&checked)).await.ok_or_else(over)??;
        // On the disk first: whatever is played by these settings is found there with them.
        self.store(&name, &config, &access).await;
        let (admission, joins) = self.environment.admission(&config, access.proofs());
        let edited = config.clone();
        let edit = move |actor: &mut TournamentActor| {
            actor.edit(edited, starts)?;
            actor.admit_by(admission, joins);
            Ok::<_, EditError>(())
        };
        let edited = handle.call(edit).await.ok_or_else(over).and_then(|edited| Ok(edited?));
        let known = self.known(name.as_str())?;
        match edited {
            Ok(()) => {
                (known.config, known.access) = (config, Some(access));
                self.run_engines(&name);
                Ok(())
            }
            Err(error) => {
                // It began meanwhile.
                let config = known.config.clone();
                self.store(&name, &config, &present).await;
                Err(error)
            }
        }
    }

    async fn delete(&mut self, tournament: &str) -> Result<(), ManageError> {
        let known = self.known(tournament)?;
        let (name, over) = (known.config.name.clone(), known.over.clone());
        if known.access.is_none() {
            return Err(ManageError::Configured(name));
        }
        match known.handle.clone().call(TournamentActor::delete).await {
            Some(true) => {}
            Some(false) => return Err(ManageError::Begun(name)),
            None => return Err(ManageError::Over(name)),
        }
        // Then it is deleted on the disk, and its connections are closed.
        over.cancelled().await;
        self.known.remove(&name);
        self.published.send_modify(|tournaments| drop(Arc::make_mut(tournaments).remove(&name)));
        tracing::info!("{name}: deleted by the organiser");
        Ok(())
    }

    async fn draw_keys(
        &mut self,
        tournament: &str,
        names: BTreeSet<Name>,
    ) -> Result<Vec<(Name, Secret)>, ManageError> {
        let known = self.known(tournament)?;
        let (name, config, handle) = (known.config.name.clone(), known.config.clone(), known.handle.clone());
        let Some(access) = &known.access else { return Err(ManageError::Configured(name)) };
        let Some(Drawn { access, new }) = access.draw_keys(names)? else {
            return Err(ManageError::NoKeys(name));
        };
        known.access = Some(access.clone());
        self.store(&name, &config, &access).await;
        let (admission, joins) = self.environment.admission(&config, access.proofs());
        let admitted = handle.call(move |actor| actor.admit_by(admission, joins)).await;
        admitted.map(|()| new).ok_or(ManageError::Over(name))
    }

    /// Writes settings to the database, and waits for the disk. Exclusive access, as actors cannot be shared.
    async fn store(&mut self, name: &Name, config: &TournamentConfig, access: &Access) {
        let stored = self.known.get(name).and_then(|known| known.stored);
        if let (Some(database), Some(id)) = (&self.environment.database, stored) {
            let text = SettingsText(Settings::to_stored(config, access));
            database
                .commit(vec![Change::Settings(id, config.game, config.time, config.format(), text)])
                .await;
        }
    }
}
