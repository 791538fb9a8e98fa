//! Task that owns the state of IMCS: users, offers and running games.

use std::{collections::BTreeMap, time::Duration};

use time::{OffsetDateTime, macros::format_description};
use tokio::{sync::oneshot, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use zeitnot_host::{
    hosted_game::Host,
    jobs::{self, Handle, Jobs, WeakHandle},
    origin::Origin,
    panic_guard,
    store::Store,
};
use zeitnot_net::{Rate, secret::is_same};
use zeitnot_rules::{ByColor, Color};
use zeitnot_web::{
    guesses::{Guesses, WrongSecret},
    keyed::Rations,
};
use zeitnot_wire::imcs::{ColorChoice, Command, Entry, FromServer, Times, VERSION, Verdict, dashed, letter};

use super::{
    config::Config,
    connection::{lines, reply},
    game::{self, ImcsGame, PlayerLink},
    users::{FIRST_RATING, RegisterError, User, Users, is_password},
};

/// User who may stop the server.
const ADMIN: &str = "admin";
const TOP: usize = 10;
/// Time in which the owner of an offer confirms that it is still connected.
const ARRIVAL: Duration = Duration::from_secs(5);
/// New users of one address.
const REGISTRATIONS: Rate = Rate { burst: 100, interval: Duration::from_secs(10) };

#[derive(Debug)]
pub(super) enum OfferOutcome {
    Taken {
        link: PlayerLink,
        /// Hears whether the owner is still connected; then the game begins.
        is_there: oneshot::Sender<bool>,
    },
    /// The owner withdrew it.
    Countermanded,
}

pub(super) struct Response {
    pub(super) text: String,
    /// New login; `None`: no change.
    pub(super) login: Option<String>,
    pub(super) next: Next,
}

pub(super) enum Next {
    Stay,
    Leave,
    /// Wait until somebody accepts the offer.
    Wait(oneshot::Receiver<OfferOutcome>),
    Play(PlayerLink),
    /// Come back to a game on another connection.
    Rejoin {
        game: Handle<ImcsGame>,
        name: String,
        reconnect: Duration,
    },
    WrongPassword,
}

impl Response {
    pub(super) fn say(text: String) -> Response {
        Response { text, login: None, next: Next::Stay }
    }

    fn reply(code: u16, text: impl Into<String>) -> Response {
        Response::say(reply(code, text))
    }

    fn hello(code: u16, greeting: &str, name: String) -> Response {
        Response { login: Some(name.clone()), ..Response::reply(code, format!("{greeting} {name}")) }
    }
}

pub(super) struct Offer {
    name: String,
    color: ColorChoice,
    times: Times,
    outcome: oneshot::Sender<OfferOutcome>,
}

/// Game that is being played.
pub(super) struct Running {
    names: ByColor<String>,
    began: OffsetDateTime,
    game: Handle<ImcsGame>,
}

pub(super) struct Lobby {
    /// For the games; a strong handle would keep this task alive.
    pub(super) handle: WeakHandle<Lobby>,
    pub(super) users: Users,
    /// The users have changed since they were saved.
    pub(super) has_changed: bool,
    pub(super) config: Config,
    pub(super) games: TaskTracker,
    pub(super) stop: CancellationToken,
    pub(super) offers: BTreeMap<u64, Offer>,
    pub(super) running: BTreeMap<u64, Running>,
    /// Number of the latest offer.
    pub(super) last: u64,
    pub(super) registrations: Rations,
    /// Wrong passwords of an address for a user.
    pub(super) guesses: Guesses<(Origin, String)>,
    pub(super) records: Vec<String>,
    pub(super) host: Host,
}

impl Lobby {
    /// Creates a lobby without users, whose games are neither stored nor shown.
    pub(super) fn new(handle: WeakHandle<Lobby>, config: Config) -> Lobby {
        Lobby {
            handle,
            users: Users::default(),
            has_changed: false,
            config,
            games: TaskTracker::new(),
            stop: CancellationToken::new(),
            offers: BTreeMap::new(),
            running: BTreeMap::new(),
            last: 0,
            registrations: Rations::new(REGISTRATIONS),
            guesses: Guesses::default(),
            records: Vec::new(),
            host: Host::default(),
        }
    }

    /// Serves until no guest and no game is left.
    pub(super) async fn run(mut self, mut jobs: Jobs<Lobby>, store: Store) {
        let mut is_saved = true;
        while let Some(job) = jobs.recv().await {
            job(&mut self);
            // Of many changes at once, the last is written.
            if self.has_changed && jobs.is_empty() {
                is_saved = self.users.save(&self.config.users).await;
                self.has_changed = false;
            }
            for record in self.records.drain(..) {
                store.write(|| record);
            }
        }
        if !is_saved {
            self.users.save(&self.config.users).await;
        }
    }

    pub(super) fn obey(&mut self, name: Option<String>, from: Origin, command: Command) -> Response {
        const LOG_IN: &str = "please use the me command first";
        const NAME_FIRST: &str = "must set name first using me command";
        match (command, name) {
            (Command::Help, _) => help(),
            (Command::Register { name, password }, _) => self.register(name, from, &password),
            (Command::Me { name, password }, _) => self.log_in(name, from, &password),
            (Command::List, _) => self.list(),
            (Command::Ratings, name) => self.ratings(name.as_deref()),
            (Command::Quit, _) => Response { next: Next::Leave, ..Response::reply(200, "Goodbye") },
            (Command::Password { .. } | Command::Rerate, None) => Response::reply(403, LOG_IN),
            (Command::Offer { .. }, None) => Response::reply(404, NAME_FIRST),
            (Command::Accept { .. } | Command::Clean | Command::Stop, None) => {
                Response::reply(406, NAME_FIRST)
            }
            (Command::Showpass { .. }, None) => Response::reply(502, "admin only"),
            (Command::Password { password }, Some(name)) => self.password(&name, password),
            (Command::Rerate, Some(name)) => self.rerate(&name),
            (Command::Offer { color, times }, Some(name)) => self.offer(name, color, times),
            (Command::Accept { game, color }, Some(name)) => self.accept(name, &game, color),
            (Command::Clean, Some(name)) => self.clean(&name),
            (Command::Stop | Command::Showpass { .. }, Some(name)) if name != ADMIN => {
                Response::reply(502, "admin only")
            }
            (Command::Stop, Some(_)) => self.stop(),
            (Command::Showpass { name }, Some(_)) => match self.users.users.get(&name) {
                Some(User { password, .. }) => {
                    Response::reply(207, format!("password for {name} is {password}"))
                }
                None => Response::reply(400, "no such username"),
            },
        }
    }

    fn log_in(&self, name: String, from: Origin, password: &str) -> Response {
        let Some(user) = self.users.users.get(&name) else {
            return Response::reply(400, "no such username: please use register command");
        };
        let is_right = is_same(&user.password, password);
        let wrong = |text| Response { next: Next::WrongPassword, ..Response::reply(401, text) };
        match self.guesses.judge_password((from, name.clone()), password, is_right) {
            Ok(()) => Response::hello(201, "hello", name),
            Err(WrongSecret::Wrong) => wrong("wrong password"),
            Err(WrongSecret::TooMany) => wrong("too many wrong passwords from your address: wait a minute"),
        }
    }

    fn register(&mut self, name: String, from: Origin, password: &str) -> Response {
        if !self.registrations.take(from) {
            return Response::reply(499, "internal error: too many new users from your address");
        }
        match self.users.register(&name, password) {
            Ok(()) => {
                self.has_changed = true;
                tracing::info!("IMCS: {name} has registered");
                Response::hello(202, "hello new user", name)
            }
            Err(RegisterError::Taken) => {
                Response::reply(402, "username already exists: please use password command to change")
            }
            Err(RegisterError::Name) => Response::reply(410, "illegal characters in username"),
            Err(RegisterError::Password) => Response::reply(411, "illegal characters in password"),
            Err(RegisterError::Full) => Response::reply(499, "internal error: too many users"),
        }
    }

    /// Changes a user who is logged in.
    fn change(&mut self, name: &str, code: u16, done: &str, change: impl FnOnce(&mut User)) -> Response {
        let Some(user) = self.users.users.get_mut(name) else {
            return Response::reply(500, "you do not exist: go away");
        };
        change(user);
        self.has_changed = true;
        Response::reply(code, format!("{done} {name}"))
    }

    fn password(&mut self, name: &str, password: String) -> Response {
        if !is_password(&password) {
            return Response::reply(411, "illegal characters in password");
        }
        self.change(name, 203, "password change for user", |user| user.password = password)
    }

    fn rerate(&mut self, name: &str) -> Response {
        self.change(name, 206, "rating reset for user", |user| user.rating = FIRST_RATING)
    }

    fn rating(&self, name: &str) -> i32 {
        self.users.users.get(name).map_or(FIRST_RATING, |user| user.rating)
    }

    fn list(&mut self) -> Response {
        self.drop_abandoned();
        let mut entries: BTreeMap<u64, Entry> = BTreeMap::new();
        for (&game, Offer { name, color, times, .. }) in &self.offers {
            let (theirs, yours, rating) = (times.ours, times.theirs, self.rating(name));
            let (name, color) = (name.clone(), *color);
            entries.insert(game, Entry::Offer { game, name, color, theirs, yours, rating });
        }
        for (&game, Running { names, .. }) in &self.running {
            let ratings = ByColor(Color::BOTH.map(|side| self.rating(&names[side])));
            entries.insert(game, Entry::Game { game, names: names.clone(), ratings });
        }
        listing(211, format!("{} available games", entries.len()), entries.into_values())
    }

    /// Drops the offers whose owners have left.
    fn drop_abandoned(&mut self) {
        self.offers.retain(|_, offer| !offer.outcome.is_closed());
    }

    fn ratings(&self, name: Option<&str>) -> Response {
        let ranking = self.users.ranking();
        let shown = ranking.iter().enumerate().filter(|(at, (of, _))| *at < TOP || Some(*of) == name);
        let entries =
            shown.map(|(_, (of, rating))| Entry::Rating { name: (*of).to_owned(), rating: *rating });
        listing(212, "ratings".to_owned(), entries)
    }

    fn offer(&mut self, name: String, color: ColorChoice, times: Option<Times>) -> Response {
        let usual = Times { ours: self.config.time, theirs: self.config.time };
        let (outcome, waiting) = oneshot::channel();
        self.drop_abandoned();
        self.last += 1;
        self.offers.insert(self.last, Offer { name, color, times: times.unwrap_or(usual), outcome });
        let text = lines([FromServer::Waiting { game: self.last }]);
        Response { next: Next::Wait(waiting), ..Response::say(text) }
    }

    fn accept(&mut self, name: String, game: &str, color: ColorChoice) -> Response {
        let Ok(number) = game.parse::<u64>() else { return Response::reply(407, "bad game id") };
        if let Some(response) = self.take_up(&name, number) {
            return response;
        }
        let Some(offer) = self.offers.get(&number) else { return Response::reply(408, "no such game") };
        let offered = match (offer.color, color) {
            (ColorChoice::Of(theirs), ColorChoice::Of(ours)) if theirs == ours => {
                return Response::reply(405, format!("bad color {}", letter(ours)));
            }
            (ColorChoice::Of(theirs), _) => theirs,
            (ColorChoice::Any, ColorChoice::Of(ours)) => !ours,
            (ColorChoice::Any, ColorChoice::Any) => Color::BOTH[usize::from(fastrand::bool())],
        };
        let Some(offer) = self.offers.remove(&number) else { return Response::reply(408, "no such game") };
        let (game, jobs) = jobs::channel();
        let link = |color| PlayerLink::new(color, game.clone(), self.config.reconnect);
        let [(link, client), (their_link, their_client)] = [!offered, offered].map(link);
        let (is_there, there) = oneshot::channel();
        if offer.outcome.send(OfferOutcome::Taken { link: their_link, is_there }).is_err() {
            return Response::reply(408, "no such game");
        }
        let mut clients = ByColor([client, their_client]);
        if offered == Color::White {
            clients.0.reverse();
        }
        let mut names = ByColor::both(name);
        names[offered] = offer.name;
        let mut clocks = ByColor::both(offer.times.theirs);
        clocks[offered] = offer.times.ours;
        tracing::info!("IMCS: game {number}: {} – {}", names[Color::White], names[Color::Black]);
        let began = OffsetDateTime::now_utc();
        self.running.insert(number, Running { names: names.clone(), began, game });
        let late = self.config.late;
        let (host, stop) = (self.host.clone(), self.stop.clone());
        self.begin(number, jobs, async move {
            let is_there = timeout(ARRIVAL, stop.run_until_cancelled(there)).await;
            let absent = (is_there != Ok(Some(Ok(true)))).then_some(offered);
            game::start(&names, clocks, late, absent, clients, host)
        });
        Response { next: Next::Play(link), ..Response::say(String::new()) }
    }

    /// Lets a player whose connection broke down go on with the game: nobody else can accept it.
    fn take_up(&self, name: &str, number: u64) -> Option<Response> {
        let Running { names, game, .. } = self.running.get(&number)?;
        let next =
            Next::Rejoin { game: game.clone(), name: name.to_owned(), reconnect: self.config.reconnect };
        names.0.iter().any(|player| player == name).then(|| Response { next, ..Response::say(String::new()) })
    }

    /// Has a task play a game.
    fn begin(
        &self,
        number: u64,
        mut jobs: Jobs<ImcsGame>,
        start: impl Future<Output = ImcsGame> + Send + 'static,
    ) {
        // Somebody asked for the game, so there is a handle.
        let Some(lobby) = self.handle.upgrade() else { return };
        let stop = self.stop.clone();
        self.games.spawn(async move {
            // A panic ends this game and no other.
            let played = panic_guard::contain_all(async {
                let mut game = start.await;
                game.run(&mut jobs, &stop).await;
                game.settle().await;
                let moves = game.hosted.referee.plies.iter().map(|ply| dashed(&ply.mv)).collect::<Vec<_>>();
                let ending = game.ending();
                let verdict = ending.and_then(|ending| Some(game::verdict(ending.result?, ending.cause)));
                // The ratings count before anybody hears of the result.
                lobby.call(move |lobby| lobby.finish(number, verdict.as_ref(), &moves)).await;
                game.finish();
            });
            if let Err(panic) = played.await {
                tracing::error!("IMCS: game {number} broke down: {panic}; please report it");
                lobby.call(move |lobby| lobby.finish(number, None, &[])).await;
            }
        });
    }

    fn clean(&mut self, name: &str) -> Response {
        let before = self.offers.len();
        for (game, offer) in std::mem::take(&mut self.offers) {
            if offer.name == name {
                let _ = offer.outcome.send(OfferOutcome::Countermanded);
            } else {
                self.offers.insert(game, offer);
            }
        }
        Response::reply(204, format!("{} games cleaned", before - self.offers.len()))
    }

    fn stop(&self) -> Response {
        tracing::info!("IMCS: stopped by its administrator");
        self.stop.cancel();
        let text = reply(104, "stopping server") + &reply(205, "server stopped");
        Response { next: Next::Leave, ..Response::say(text) }
    }

    /// Records the end of a game, once.
    fn finish(&mut self, game: u64, verdict: Option<&Verdict>, moves: &[String]) {
        let Some(Running { names: ByColor([white, black]), began, .. }) = self.running.remove(&game) else {
            return;
        };
        let (result, how) = match verdict {
            None => ("*", "no result".to_owned()),
            Some(verdict) => {
                let (result, score) = match verdict.winner {
                    Some(Color::White) => ("1-0", 1.0),
                    Some(Color::Black) => ("0-1", 0.0),
                    None => ("1/2-1/2", 0.5),
                };
                self.users.rate([&white, &black], score);
                self.has_changed = true;
                (result, verdict.to_string())
            }
        };
        tracing::info!("IMCS: game {game}: {white} – {black}: {how} ({} plies)", moves.len());
        let when = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
        let when = began.format(when).unwrap_or_default();
        let how = if verdict.is_some() { &how } else { "broken off" };
        // Start, players, result, its cause, moves.
        self.records.push(format!("{when}\t{white}\t{black}\t{result}\t{how}\t{}\n", moves.join(" ")));
    }
}

fn listing(code: u16, heading: String, entries: impl Iterator<Item = Entry>) -> Response {
    let heading = [FromServer::Reply { code, text: heading }];
    let entries = entries.map(FromServer::Entry);
    Response::say(lines(heading.into_iter().chain(entries).chain([FromServer::End])))
}

fn help() -> Response {
    const HELP: [&str; 13] = [
        "help: this help",
        "quit: quit imcs",
        "me <name> <password>: log in",
        "register <name> <password>: register a new name and log in",
        "password <password>: change password",
        "list: list available games (<id> <opponent> <color> <opponent-time> <your-time> <rating>)",
        "ratings: show the top ratings and yours",
        "rerate: reset your rating",
        "offer [<color> [<time> [<opponent-time>]]]: offer a game as W, B or ?",
        "accept <id> [<color>]: accept a game with an opponent",
        "clean: take back all your offers",
        "stop: stop the server (admin only)",
        "showpass <name>: show a password (admin only)",
    ];
    listing(210, format!("imcs {VERSION} help"), HELP.iter().map(|line| Entry::Text((*line).to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lobby, its queue, and the handle that keeps the queue open.
    fn lobby() -> (Lobby, Handle<Lobby>, Jobs<Lobby>) {
        let (handle, jobs) = jobs::channel();
        let config = toml::from_str("listen = '127.0.0.1:0'").unwrap();
        let lobby = Lobby::new(handle.downgrade(), config);
        (lobby, handle, jobs)
    }

    /// Has bob accept alice's offer; returns the owner's side, which has not confirmed it yet.
    fn accepted(lobby: &mut Lobby) -> OfferOutcome {
        let Next::Wait(mut outcome) = lobby.offer("alice".to_owned(), ColorChoice::Any, None).next else {
            panic!("an offer waits")
        };
        lobby.accept("bob".to_owned(), "1", ColorChoice::Of(Color::Black));
        outcome.try_recv().unwrap()
    }

    #[test(start_paused = true)]
    async fn a_panic_in_a_game_breaks_off_this_game_only() {
        let (mut lobby, _handle, mut queue) = lobby();
        let (game, jobs) = jobs::channel();
        let names = ByColor(["alice", "bob"].map(str::to_owned));
        lobby.running.insert(7, Running { names, began: OffsetDateTime::UNIX_EPOCH, game });
        lobby.begin(7, jobs, async { panic!("a bug") });
        queue.recv().await.unwrap()(&mut lobby);
        assert!(lobby.running.is_empty());
        assert_eq!(lobby.records, ["1970-01-01T00:00:00Z\talice\tbob\t*\tbroken off\t\n"]);
    }

    #[test(start_paused = true)]
    async fn a_game_waits_for_its_offerer_until_the_limit_or_the_stop() {
        for stops in [false, true] {
            let (mut lobby, _handle, mut queue) = lobby();
            let since = tokio::time::Instant::now();
            let _unanswered = accepted(&mut lobby);
            if stops {
                lobby.stop.cancel();
            }
            queue.recv().await.unwrap()(&mut lobby);
            assert_eq!(since.elapsed(), if stops { Duration::ZERO } else { ARRIVAL });
            assert!(lobby.running.is_empty() && lobby.records[0].contains("broken off"));
        }
    }
}
