//! The server's side of one game with a fault.

use std::{
    collections::BTreeSet,
    io,
    net::{SocketAddr, TcpListener},
    time::{Duration, Instant},
};

use tokio::time::{sleep, sleep_until};
use zeitnot_measure::scripted_lichess::{Feed, Post, Server};

use super::fault::{Fault, Refusal};
use crate::bench_game::{BenchGame, Clocks, answer_look_ups};

/// Time between two empty lines of a stream, as on Lichess.
const KEEP_ALIVE: Duration = Duration::from_secs(7);
/// The client's clock for all of its moves.
const CLOCK: Duration = Duration::from_secs(60);
/// Time before each of the server's moves.
const REPLY: Duration = Duration::from_millis(100);
/// Time for a client to open its event stream, and then until its game begins.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const SETTLE: Duration = Duration::from_secs(1);
/// Pause between two halves of a line.
const HALF: Duration = Duration::from_millis(50);
/// Time for which the server is away.
const AWAY: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Plies of a game, and the client's moves between two strikes.
const PLIES: usize = 24;
const STRIKE_EVERY: usize = 3;
const HTML: &str = "<html><head><title>502 Bad Gateway</title></head></html>\n";
const EVENTS: &str = "/api/stream/event";

/// Why a game was lost.
#[derive(Copy, Clone, Debug)]
pub(super) enum Lost {
    NoClient,
    OnTime,
    Resigned,
}

impl Lost {
    pub(super) fn text(self) -> &'static str {
        match self {
            Lost::NoClient => "the client did not open its event stream",
            Lost::OnTime => "lost on time",
            Lost::Resigned => "resigned or aborted",
        }
    }
}

/// Time that the client used.
#[derive(Copy, Clone, Debug)]
pub(super) struct Played {
    /// From the start of the server to the client's event stream.
    pub(super) ready: Duration,
    /// On the client's clock.
    pub(super) used: Duration,
}

pub(super) struct FaultyGame {
    fault: Fault,
    address: SocketAddr,
    server: Server,
    events: Option<Feed>,
    stream: Option<Feed>,
    /// Requests that are never answered.
    held: Vec<Post>,
    game: BenchGame,
    has_begun: bool,
    used: Duration,
    /// Since when the client's clock runs.
    since: Option<Instant>,
    /// When the server's move is due.
    due: Option<Instant>,
    /// Requests with the present move.
    attempts: usize,
    /// Moves at which the fault has struck.
    struck: BTreeSet<usize>,
}

fn serve(listener: TcpListener) -> io::Result<Server> {
    let server = Server::start(listener, KEEP_ALIVE)?;
    answer_look_ups(&server);
    Ok(server)
}

impl FaultyGame {
    pub(super) fn start(fault: Fault, listener: TcpListener) -> io::Result<FaultyGame> {
        let address = listener.local_addr()?;
        Ok(FaultyGame {
            fault,
            address,
            server: serve(listener)?,
            events: None,
            stream: None,
            held: Vec::new(),
            game: BenchGame::new("game0000".to_owned()),
            has_begun: false,
            used: Duration::ZERO,
            since: None,
            due: None,
            attempts: 0,
            struck: BTreeSet::new(),
        })
    }

    /// Waits for the client, and plays the game.
    pub(super) async fn play(mut self) -> io::Result<Result<Played, Lost>> {
        let began = Instant::now();
        while self.events.is_none() {
            if began.elapsed() > START_TIMEOUT {
                return Ok(Err(Lost::NoClient));
            }
            self.serve_until(began + START_TIMEOUT).await?;
        }
        let ready = began.elapsed();
        let begin_at = Instant::now() + SETTLE;
        while Instant::now() < begin_at {
            self.serve_until(begin_at).await?;
        }
        self.begin().await;
        while self.game.history.moves().len() < PLIES && !self.game.is_over() {
            let flag = self.since.map(|since| since + CLOCK.saturating_sub(self.used));
            if flag.is_some_and(|flag| flag <= Instant::now()) {
                return Ok(Err(Lost::OnTime));
            }
            let until = flag.into_iter().chain(self.due).min();
            if self.serve_until(until.unwrap_or_else(|| Instant::now() + REPLY)).await? {
                return Ok(Err(Lost::Resigned));
            }
            if self.due.is_some_and(|due| due <= Instant::now()) {
                self.due = None;
                self.reply().await?;
            }
        }
        Ok(Ok(Played { ready, used: self.used }))
    }

    /// Lists the game among the running ones, as clients look it up when a stream ends.
    fn list(&self) {
        self.server.answer("/api/account/playing", 200, &self.game.now_playing());
    }

    fn clocks(&self) -> Clocks {
        let running = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let white = millis(CLOCK.saturating_sub(self.used + running));
        Clocks { initial: millis(CLOCK), white, black: millis(CLOCK) }
    }

    /// Whether the fault strikes at this move of the client, for the first time.
    fn strikes(&mut self) -> bool {
        let round = self.game.history.moves().len() / 2;
        let is_due = (1..PLIES / 2).contains(&round) && round.is_multiple_of(STRIKE_EVERY);
        is_due && self.struck.insert(round)
    }

    /// Serves one request, or nothing until this moment. Whether the client has given up the game.
    async fn serve_until(&mut self, until: Instant) -> io::Result<bool> {
        tokio::select! {
            Some(feed) = self.server.events.recv() => {
                // A server tells the running games to each new stream.
                if self.has_begun {
                    feed.line(&self.game.event("gameStart"));
                }
                self.events = Some(feed);
            }
            Some(feed) = self.server.games.recv() => {
                feed.line(&self.game.full(self.clocks()));
                self.stream = Some(feed);
            }
            Some(post) = self.server.posts.recv() => return Ok(self.post(post)),
            () = sleep_until(until.into()) => {}
        }
        Ok(false)
    }

    /// Begins the game, whose clock runs at once.
    async fn begin(&mut self) {
        self.has_begun = true;
        self.list();
        self.since = Some(Instant::now());
        let start = self.game.event("gameStart");
        match self.fault {
            Fault::EventsEnd => self.events = None,
            Fault::EventsRefused => {
                (0..3).for_each(|_| self.server.answer_once(EVENTS, 503, HTML));
                self.events = None;
            }
            Fault::EventsSilent => self.events.iter().for_each(Feed::falls_silent),
            _ => {}
        }
        let Some(events) = &self.events else { return };
        match self.fault {
            Fault::EventsSilent => {}
            Fault::EventsHtml => {
                events.bytes(HTML.as_bytes());
                events.line(&start);
            }
            Fault::StartTwice => {
                events.line(&start);
                sleep(HALF).await;
                events.line(&start);
            }
            _ => events.line(&start),
        }
    }

    /// Serves a request with a move, or another one. Whether the client has given up the game.
    fn post(&mut self, post: Post) -> bool {
        let path = post.path.split('?').next().unwrap_or_default().to_owned();
        let Some((_, action)) = path.strip_prefix("/api/bot/game/").and_then(|rest| rest.split_once('/'))
        else {
            post.ok();
            return false;
        };
        match action.strip_prefix("move/") {
            Some(mv) => self.client_move(post, mv),
            None => post.ok(),
        }
        matches!(action, "resign" | "abort")
    }

    fn client_move(&mut self, post: Post, mv: &str) {
        let is_hit = self.struck_now();
        let refusal = self.fault.refusal(self.attempts).filter(|_| is_hit && self.game.is_clients_turn());
        self.attempts += 1;
        let is_played = !matches!(
            refusal,
            Some(
                Refusal::Status(_)
                    | Refusal::Limit
                    | Refusal::Hang { played: false }
                    | Refusal::Break { played: false }
            )
        );
        if is_played && !(self.game.is_clients_turn() && self.game.play(mv)) {
            return post.answer(400, r#"{"error":"Not your turn, or game already over"}"#);
        }
        if is_played {
            self.end_turn();
        }
        match refusal {
            None => post.ok(),
            Some(Refusal::Status(status)) => post.answer(status, HTML),
            Some(Refusal::Limit) => post.limit(RETRY_AFTER),
            Some(Refusal::Hang { .. }) => self.held.push(post),
            Some(Refusal::Break { .. }) => post.breaks(),
        }
    }

    /// Whether the fault strikes at the present move; it may take several requests.
    fn struck_now(&mut self) -> bool {
        let round = self.game.history.moves().len() / 2;
        self.strikes() || self.struck.contains(&round)
    }

    fn end_turn(&mut self) {
        self.used += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        self.attempts = 0;
        self.due = Some(Instant::now() + REPLY);
        self.list();
        let state = self.game.state("started", self.clocks());
        self.say(&state);
    }

    fn say(&self, line: &str) {
        if let Some(stream) = &self.stream {
            stream.line(line);
        }
    }

    /// Plays the opponent's move, and asks the client for its own.
    async fn reply(&mut self) -> io::Result<()> {
        let old = self.game.state("started", self.clocks());
        self.game.reply();
        self.since = Some(Instant::now());
        let is_hit = self.fault.refusal(0).is_none() && self.strikes();
        if is_hit && self.fault == Fault::Takeback {
            self.say(&self.game.state("started", self.clocks()));
            self.game.take_back(2);
        }
        self.list();
        let state = self.game.state("started", self.clocks());
        match self.fault {
            fault if is_hit => self.ask_with(fault, &old, &state).await,
            _ => {
                self.say(&state);
                Ok(())
            }
        }
    }

    /// Asks the client for its move, with a fault.
    async fn ask_with(&mut self, fault: Fault, old: &str, state: &str) -> io::Result<()> {
        match fault {
            Fault::StreamEndsBefore => self.stream = None,
            Fault::StreamRefused => {
                (0..3).for_each(|_| self.server.answer_once(&self.game.stream(), 503, HTML));
                self.stream = None;
            }
            Fault::StreamLimited => {
                self.server.answer_once(&self.game.stream(), 429, r#"{"error":"Too many requests"}"#);
                self.stream = None;
            }
            Fault::StreamSilent => self.stream.iter().for_each(Feed::falls_silent),
            Fault::StreamBreaks => {
                self.bytes(&state.as_bytes()[..state.len() / 2]);
                self.stream = None;
            }
            Fault::StreamSplit => {
                let (first, second) = state.as_bytes().split_at(state.len() / 2);
                self.bytes(first);
                sleep(HALF).await;
                self.bytes(&[second, b"\n"].concat());
            }
            Fault::StreamHtml => {
                self.bytes(HTML.as_bytes());
                self.say(state);
            }
            Fault::StreamUnknown => {
                self.say(r#"{"type":"gameWeather","sky":"blue"}"#);
                self.say(state);
            }
            Fault::StateTwice => {
                self.say(state);
                self.say(state);
            }
            Fault::StateOld => {
                self.say(old);
                self.say(state);
            }
            Fault::StreamEnds => {
                self.say(state);
                self.stream = None;
            }
            Fault::EventsEndInGame => {
                self.events = None;
                self.say(state);
            }
            Fault::ServerAway => self.go_away().await?,
            _ => self.say(state),
        }
        Ok(())
    }

    fn bytes(&self, bytes: &[u8]) {
        if let Some(stream) = &self.stream {
            stream.bytes(bytes);
        }
    }

    /// Closes all connections, and refuses new ones for a while.
    async fn go_away(&mut self) -> io::Result<()> {
        self.struck.extend((0..PLIES).step_by(STRIKE_EVERY));
        (self.events, self.stream) = (None, None);
        self.held.clear();
        self.server.close().await;
        sleep(AWAY).await;
        self.server = serve(TcpListener::bind(self.address)?)?;
        self.list();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
        net::TcpStream,
    };
    use zeitnot_rules::{Game as _, GameHistory, chess::Chess};

    use super::*;

    /// A client that answers each state with a move, repeats a refused one at once, and never reconnects. Returns the
    /// statuses of its requests.
    async fn naive(address: SocketAddr) -> Vec<u16> {
        let mut events = request(address, "GET /api/stream/event").await.unwrap();
        while !events.next_line().await.unwrap().unwrap().contains("gameStart") {}
        let mut stream = request(address, "GET /api/bot/game/stream/game0000").await.unwrap();
        let mut statuses = Vec::new();
        while let Ok(Some(line)) = stream.next_line().await {
            let Some(moves) = line.split_once(r#""moves":""#).and_then(|(_, rest)| rest.split('"').next())
            else {
                continue;
            };
            let mut game = GameHistory::new(Chess::start());
            for mv in moves.split_whitespace() {
                game.play(game.now().read(mv).unwrap());
            }
            if game.moves().len().is_multiple_of(2) && !game.outcome().is_over() {
                let mv = game.now().write(game.now().moves()[0]);
                let mut status = 0;
                while ![200, 400].contains(&status) {
                    let path = format!("POST /api/bot/game/game0000/move/{}", mv.as_str());
                    let Some(head) = head(address, &path).await else { return statuses };
                    status = head.split(' ').nth(1).unwrap().parse().unwrap();
                    statuses.push(status);
                }
            }
        }
        statuses
    }

    async fn request(address: SocketAddr, line: &str) -> io::Result<Lines<BufReader<TcpStream>>> {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await?;
        Ok(BufReader::new(stream).lines())
    }

    /// Returns the first line of the answer, unless the game is over and the server gone.
    async fn head(address: SocketAddr, line: &str) -> Option<String> {
        request(address, line).await.ok()?.next_line().await.ok()?
    }

    #[test]
    async fn a_fault_strikes_at_three_moves() {
        // A takeback asks for its move again, and an old state for one that is not due.
        for (fault, accepted, refused) in [
            (Fault::None, 12, vec![]),
            (Fault::StreamHtml, 12, vec![]),
            (Fault::StateTwice, 12, vec![400; 3]),
            (Fault::Takeback, 15, vec![400; 3]),
            (Fault::Move503, 12, vec![503; 9]),
        ] {
            let game = FaultyGame::start(fault, TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
            let client = tokio::spawn(naive(game.address));
            let played = game.play().await.unwrap().unwrap();
            assert!(played.used < CLOCK, "{fault:?}: {played:?}");
            let (ok, others): (Vec<_>, Vec<_>) =
                client.await.unwrap().into_iter().partition(|&status| status == 200);
            assert_eq!((ok.len(), others), (accepted, refused), "{fault:?}");
        }
    }
}
