//! One game between two clients. The referee decides on each request; the players and the watchers are told of each change.
//!
//! Nothing waits in a step: messages go into the clients' bounded queues, and time is passed in. A tournament makes the
//! steps of its games itself; any other game has a task of its own, [`OnlineGame::run`].

use std::time::Duration;

use tokio::{select, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    jobs::{self, Jobs},
    panic_guard,
    tag::GameTag,
};
use zeitnot_net::wait::until;
use zeitnot_referee::{Board, Cause, Ending, Referee, Refusal};
use zeitnot_rules::{ByColor, Color};
use zeitnot_wire::printable;

use crate::{
    client::Client,
    message::{GameView, Notice},
};

/// Interval at which both players hear of the clocks.
const CLOCK_UPDATE: Duration = Duration::from_secs(5);

/// Illegal moves in a row that are logged.
const NOTED_ILLEGAL: u32 = 10;

#[derive(Debug)]
pub(crate) struct OnlineGame<B: Board> {
    tag: GameTag,
    clients: ByColor<Client>,
    /// When a player whose connection broke down must be back.
    back_by: ByColor<Option<Instant>>,
    watchers: Vec<Client>,
    pub(crate) hosted: HostedGame<B>,
    next_update: Instant,
    /// When the flag fell that ended the game.
    flag: Option<Instant>,
    /// Illegal moves of the present turn, and how many of them cost the connection.
    illegal: u32,
    max_illegal_moves: u32,
}

impl<B: Board> OnlineGame<B> {
    /// Begins a game, unless the referee has an end already: White is asked for a move.
    pub(crate) fn start(
        tag: GameTag,
        info: GameInfo,
        referee: Referee<B>,
        clients: ByColor<Client>,
        max_illegal_moves: u32,
        host: Host,
    ) -> Self {
        let now = Instant::now();
        let info = GameInfo { id: tag.to_string().into(), ..info };
        let mut game = OnlineGame {
            tag,
            clients,
            back_by: ByColor([None; 2]),
            watchers: Vec::new(),
            hosted: HostedGame::new(info, referee, host),
            next_update: now + CLOCK_UPDATE,
            flag: None,
            illegal: 0,
            max_illegal_moves,
        };
        game.tell_players(&Notice::GameStarted(game.view(now)));
        game.ask_for_move(now);
        game.hosted.begin(now);
        game
    }

    /// Runs a game to its end, which is then to be settled and told: makes the requests of its players, and ends it at
    /// `stop`.
    pub(crate) async fn run(&mut self, requests: &mut Jobs<Self>, stop: &CancellationToken) {
        while !self.is_over() {
            select! {
                Some(request) = requests.recv() => self.contain_panic(request),
                () = until(self.due()) => {
                    jobs::waiting(requests).into_iter().for_each(|request| self.contain_panic(request));
                    self.tick(Instant::now());
                }
                () = stop.cancelled() => self.shut_down(),
            }
        }
    }

    /// Writes the end. [`OnlineGame::finish`] tells it.
    pub(crate) async fn settle(&mut self) {
        if let Some(settling) = self.hosted.settling() {
            settling.await;
        }
    }

    /// Returns when [`OnlineGame::tick`] has something to do; `None` if the game is over.
    pub(crate) fn due(&self) -> Option<Instant> {
        let ends = self.hosted.referee.timeout().into_iter().chain(self.back_by[self.hosted.referee.turn()]);
        (!self.is_over()).then(|| ends.fold(self.next_update, Instant::min))
    }

    /// Ends the game at a flag or for a player who does not come back, or tells the players of the clocks.
    pub(crate) fn tick(&mut self, now: Instant) {
        if !self.is_over() {
            self.contain_panic(|game| game.try_tick(now));
        }
    }

    fn try_tick(&mut self, now: Instant) {
        let turn = self.hosted.referee.turn();
        if self.hosted.referee.timeout().is_some_and(|timeout| now >= timeout) {
            self.flag = self.hosted.referee.deadline();
            self.hosted.referee.time_out(now);
        } else if self.back_by[turn].is_some_and(|back_by| now >= back_by) {
            self.hosted.referee.lose(turn, Cause::Disconnect, now);
        } else if now >= self.next_update {
            self.next_update = now + CLOCK_UPDATE;
            // A player who thinks need not read: the next one tells as much.
            let update = Notice::ClockUpdate(self.view(now));
            let clients = self.clients.0.iter().chain(&self.watchers);
            clients.for_each(|client| client.tell_optional(update.clone()));
        }
    }

    /// Plays a move whose bytes were read at this instant. A panic on the way aborts this game and no other.
    pub(crate) fn play(&mut self, color: Color, text: &str, read_at: Instant) {
        self.contain_panic(|game| game.try_play(color, text, read_at));
    }

    fn contain_panic(&mut self, step: impl FnOnce(&mut Self)) {
        // A referee that panicked is only asked how the game ended.
        if let Err(panic) = panic_guard::contain(|| step(self)) {
            tracing::error!(game = %self.tag, "the game broke down and is aborted: {panic}; please report it");
            self.hosted.referee.end(None, Cause::InternalError, Instant::now());
        }
    }

    fn try_play(&mut self, color: Color, text: &str, read_at: Instant) {
        if self.is_thrown_out(color) {
            return;
        }
        let now = Instant::now();
        self.flag = self.hosted.referee.deadline().or(self.flag);
        match self.hosted.referee.play(color, text, read_at, None) {
            Ok(_) => self.report(color, now),
            Err(Refusal::NotYourTurn) => self.clients[color].info("It is not your turn"),
            Err(Refusal::Illegal) if self.is_over() => {}
            Err(Refusal::Illegal) => {
                self.illegal += 1;
                let (illegal, max) = (self.illegal, self.max_illegal_moves);
                if illegal >= max {
                    let plural = if max == 1 { "" } else { "s in a row" };
                    return self.clients[color]
                        .throw_out(format!("You have sent {max} illegal move{plural}"));
                }
                if illegal == NOTED_ILLEGAL {
                    let name = &self.hosted.info.players[color].name;
                    tracing::info!(game = %self.tag, "{name} has sent {illegal} illegal moves in a row");
                }
                self.clients[color].info(format!("Move {} is not legal", printable(text, 20)));
                self.clients[color].tell(Notice::YourMove(self.view(now)));
            }
            Err(Refusal::TooLate | Refusal::Over) => self.note_late(color, text, read_at),
        }
    }

    /// Logs the first move that came after the flag: its player will ask by how much.
    fn note_late(&mut self, color: Color, text: &str, read_at: Instant) {
        let is_lost = self.ending().is_some_and(|ending| ending.cause == Cause::OutOfTime);
        if let Some(flag) = self.flag.take().filter(|_| is_lost) {
            let late = read_at.saturating_duration_since(flag);
            let (name, mv) = (&self.hosted.info.players[color].name, printable(text, 20));
            tracing::info!(game = %self.tag, ?late, "the move {mv} of {name} came after the flag had fallen");
        }
    }

    /// Tells a move that the referee has played, and asks for the next one.
    pub(crate) fn report(&mut self, mover: Color, now: Instant) {
        self.illegal = 0;
        if let Some(made) = self.hosted.referee.plies.last().cloned() {
            self.tell_all(&Notice::PlayerMoved { mover, made, view: self.view(now) });
        }
        self.ask_for_move(now);
        self.hosted.moved(now);
    }

    /// Returns whether a player's illegal moves have cost the connection, which is about to close.
    fn is_thrown_out(&self, color: Color) -> bool {
        self.illegal >= self.max_illegal_moves && self.hosted.referee.turn() == color
    }

    /// A player's connection is gone, and with it the game.
    pub(crate) fn leave(&mut self, color: Color) {
        let cause = if self.is_thrown_out(color) { Cause::IllegalMove } else { Cause::Disconnect };
        self.lose(color, cause);
    }

    /// A player's connection broke down. It comes back by then, while the clock runs on, or loses on its next turn: to reset
    /// the connection must not be better than to lose.
    pub(crate) fn disconnect(&mut self, color: Color, back_by: Instant) {
        tracing::info!(game = %self.tag, "{} has lost the connection", self.hosted.info.players[color].name);
        self.back_by[color] = Some(back_by);
    }

    /// Replaces the connection of the player of that name, and tells the new one how the game stands. Returns the side; if
    /// both have the name, it is the one that is away.
    pub(crate) fn rejoin(&mut self, name: &str, client: Client) -> Option<Color> {
        let is_named = |color: &Color| self.hosted.info.players[*color].name == name;
        let color =
            Color::BOTH.into_iter().filter(is_named).min_by_key(|color| self.back_by[*color].is_none())?;
        tracing::info!(game = %self.tag, "{name} is back");
        self.back_by[color] = None;
        std::mem::replace(&mut self.clients[color], client.clone()).close();
        let view = self.view(Instant::now());
        client.tell(Notice::GameStarted(view.clone()));
        if color == self.hosted.referee.turn() {
            if let Some(last) = self.hosted.referee.plies.last() {
                let made = last.clone();
                client.tell(Notice::PlayerMoved { mover: !color, made, view: view.clone() });
            }
            client.tell(Notice::YourMove(view));
        }
        Some(color)
    }

    /// A player resigns, unless the flag has fallen before these bytes were read.
    pub(crate) fn resign(&mut self, color: Color, read_at: Instant) {
        if !self.hosted.referee.check_time(read_at) {
            self.lose(color, Cause::Resignation);
        }
    }

    pub(crate) fn lose(&mut self, color: Color, cause: Cause) {
        self.hosted.referee.lose(color, cause, Instant::now());
    }

    #[cfg(test)]
    pub(crate) fn end(&mut self, result: zeitnot_rules::GameResult) {
        self.hosted.referee.end(Some(result), Cause::Agreement, Instant::now());
    }

    pub(crate) fn shut_down(&mut self) {
        self.hosted.referee.end(None, Cause::Shutdown, Instant::now());
    }

    pub(crate) fn is_over(&self) -> bool {
        self.hosted.referee.ending.is_some()
    }

    /// Returns how it ended; `None` while it goes on.
    pub(crate) fn ending(&self) -> Option<Ending> {
        self.hosted.referee.ending
    }

    pub(crate) fn watch(&mut self, client: Client) {
        client.tell(Notice::GameState(self.view(Instant::now())));
        if !self.watchers.iter().any(|watcher| watcher.is(&client)) {
            self.watchers.push(client);
        }
    }

    pub(crate) fn unwatch(&mut self, client: &Client) {
        self.watchers.retain(|watcher| !watcher.is(client));
    }

    /// Tells everybody how the game ended.
    pub(crate) fn finish(&mut self) {
        if let Some(Ending { result, cause }) = self.ending() {
            let game = self.tag;
            let over = |is_player| match result {
                Some(result) => Notice::GameOver { game, result, cause, is_player },
                None => Notice::GameAborted { reason: cause.to_string() },
            };
            self.clients.0.iter().for_each(|client| client.tell(over(true)));
            self.watchers.iter().for_each(|client| client.tell(over(false)));
            self.hosted.tell_end(Instant::now());
        }
    }

    fn ask_for_move(&mut self, now: Instant) {
        if self.is_over() {
            return;
        }
        self.hosted.referee.await_move(now);
        self.clients[self.hosted.referee.turn()].tell(Notice::YourMove(self.view(now)));
    }

    fn view(&self, now: Instant) -> GameView {
        let left = |color| self.hosted.referee.clock.left(color, now).unwrap_or_default();
        GameView {
            game: self.tag,
            info: self.hosted.info.clone(),
            left: ByColor(Color::BOTH.map(left)),
            fen: self.hosted.referee.board.fen(),
            turn: (!self.is_over()).then(|| self.hosted.referee.turn()),
        }
    }

    pub(crate) fn names(&self) -> ByColor<String> {
        self.hosted.info.names()
    }

    fn tell_players(&self, notice: &Notice) {
        self.clients.0.iter().for_each(|client| client.tell(notice.clone()));
    }

    fn tell_all(&mut self, notice: &Notice) {
        self.tell_players(notice);
        self.watchers.retain(Client::is_open);
        self.watchers.iter().for_each(|watcher| watcher.tell(notice.clone()));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;
    use tokio_util::sync::CancellationToken;
    use zeitnot_rules::GameResult;

    use zeitnot_host::{jobs, live::view::Source};
    use zeitnot_referee::{Allowance, RefereeRules, TRANSIT};
    use zeitnot_rules::DynGame;
    use zeitnot_rules::chess::Chess;

    use super::*;
    use crate::client::Outbox;

    const SECOND: Duration = Duration::from_secs(1);

    /// Game with both players' messages.
    struct Table {
        game: OnlineGame<DynGame>,
        white: Outbox,
        black: Outbox,
    }

    impl Table {
        fn new(time_control: &str) -> Self {
            let [(alice, white), (bob, black)] = [(); 2].map(|()| Client::channel(CancellationToken::new()));
            let clock = Allowance::Game(time_control.parse().unwrap());
            let rules = RefereeRules { transit: TRANSIT, ..RefereeRules::default() };
            let board = DynGame::from(Chess::start());
            let info = GameInfo::new(Source::Contest, &board, ByColor(["alice", "bob"]));
            let referee = Referee::new(board, ByColor::both(clock), rules, Instant::now());
            let clients = ByColor([alice, bob]);
            let game = OnlineGame::start(GameTag::random(), info, referee, clients, 100, Host::default());
            Table { game, white, black }
        }

        /// Lets time pass until the game is over.
        async fn run(&mut self) {
            while !self.game.is_over() {
                advance(self.game.due().unwrap() - Instant::now()).await;
                self.game.tick(Instant::now());
            }
        }
    }

    /// Names of the messages, in order.
    fn kinds(outbox: &mut Outbox) -> Vec<String> {
        let kind = |notice: Notice| format!("{notice:?}").split(['(', ' ']).next().unwrap().to_owned();
        outbox.drain().into_iter().map(kind).collect()
    }

    #[test(start_paused = true)]
    async fn clock_updates_come_every_five_seconds_and_the_flag_ends_the_game() {
        let (mut table, began) = (Table::new("12+1"), Instant::now());
        table.run().await;
        assert_eq!(began.elapsed(), 12 * SECOND + TRANSIT);
        let lost = Ending { result: Some(GameResult::Won(Color::Black)), cause: Cause::OutOfTime };
        assert_eq!((table.game.ending(), table.game.due()), (Some(lost), None));
        table.game.finish();
        let notices = table.white.drain();
        let Notice::ClockUpdate(view) = &notices[3] else { panic!("{notices:?}") };
        assert_eq!(view.left, ByColor([2 * SECOND, 12 * SECOND]));
        assert!(matches!(notices[4], Notice::GameOver { is_player: true, .. }));
        let expected = ["GameStarted", "ClockUpdate", "ClockUpdate", "GameOver"];
        assert_eq!(kinds(&mut table.black), expected);
    }

    #[test(start_paused = true)]
    async fn an_illegal_move_is_asked_for_again_and_the_clock_runs_on() {
        let mut table = Table::new("10+0");
        advance(2 * SECOND).await;
        table.game.play(Color::White, "e2-e5", Instant::now());
        table.game.play(Color::Black, "e7-e5", Instant::now());
        let notices = table.white.drain();
        assert!(matches!(&notices[2], Notice::Info(text) if text == "Move e2-e5 is not legal"));
        let Notice::YourMove(view) = &notices[3] else { panic!("{notices:?}") };
        assert_eq!(view.left[Color::White], 8 * SECOND);
        assert!(matches!(&table.black.drain()[1], Notice::Info(text) if text == "It is not your turn"));
        assert!(!table.game.is_over());
    }

    #[test(start_paused = true)]
    async fn a_move_that_was_read_in_time_counts_however_late_its_game_gets_to_it() {
        // Which of two ready branches a loop takes first is drawn by lot.
        for _ in 0..20 {
            let mut table = Table::new("10+0");
            let (requests, mut jobs) = jobs::channel();
            let read_at = Instant::now() + 9 * SECOND;
            requests.send(move |game: &mut OnlineGame<_>| game.play(Color::White, "e2e4", read_at)).await;
            advance(11 * SECOND).await;
            let stop = CancellationToken::new();
            let _ = tokio::time::timeout(SECOND, table.game.run(&mut jobs, &stop)).await;
            assert_eq!((table.game.ending(), table.game.hosted.referee.plies.len()), (None, 1));
        }
    }

    #[test(start_paused = true)]
    async fn a_resignation_after_the_flag_is_a_loss_on_time() {
        let mut table = Table::new("10+0");
        table.game.resign(Color::White, Instant::now() + 11 * SECOND);
        assert_eq!(table.game.ending().map(|ending| ending.cause), Some(Cause::OutOfTime));
    }

    #[test(start_paused = true)]
    async fn a_panic_aborts_its_game_without_a_result() {
        let mut table = Table::new("10+0");
        table.game.contain_panic(|_| panic!("a bug in the rules"));
        let ending = Ending { result: None, cause: Cause::InternalError };
        assert_eq!(table.game.ending(), Some(ending));
        table.game.finish();
        assert!(kinds(&mut table.white).contains(&"GameAborted".to_owned()));
    }

    #[test(start_paused = true)]
    async fn a_panic_in_a_request_ends_a_game_with_a_task_of_its_own() {
        let mut table = Table::new("10+0");
        let (handle, mut jobs) = jobs::channel();
        handle.send(|_| panic!("a bug in the rules")).await;
        table.game.run(&mut jobs, &CancellationToken::new()).await;
        assert_eq!(table.game.ending().unwrap().cause, Cause::InternalError);
    }

    #[test(start_paused = true)]
    async fn a_player_who_is_away_comes_back_or_loses() {
        let mut table = Table::new("60+0");
        let back_by = Instant::now() + 2 * SECOND;
        table.game.disconnect(Color::White, back_by);
        let (client, mut seen) = Client::channel(CancellationToken::new());
        assert_eq!(table.game.rejoin("alice", client), Some(Color::White));
        assert_eq!(kinds(&mut seen), ["GameStarted", "YourMove"]);
        table.game.disconnect(Color::White, back_by);
        table.run().await;
        let lost = Ending { result: Some(GameResult::Won(Color::Black)), cause: Cause::Disconnect };
        assert_eq!((table.game.ending(), Instant::now()), (Some(lost), back_by));
    }

    #[test(start_paused = true)]
    async fn watchers_see_the_game_from_where_they_came() {
        let mut table = Table::new("10+0");
        let (watcher, mut seen) = Client::channel(CancellationToken::new());
        table.game.watch(watcher.clone());
        table.game.watch(watcher.clone());
        table.game.play(Color::White, "e4", Instant::now());
        assert_eq!(kinds(&mut seen), ["GameState", "GameState", "PlayerMoved"]);
        table.game.unwatch(&watcher);
        table.game.play(Color::Black, "e5", Instant::now());
        assert!(seen.drain().is_empty());
        table.game.watch(watcher);
        table.game.shut_down();
        assert_eq!(table.game.ending().unwrap().cause, Cause::Shutdown);
        table.game.finish();
        assert_eq!(table.game.hosted.referee.plies.len(), 2);
        assert_eq!(kinds(&mut seen), ["GameState", "GameAborted"]);
    }
}
