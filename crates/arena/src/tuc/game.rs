//! One game of TUC-Chess: drives the referee, whose board deals the prizes, and tells both players of each move.

use std::{cmp::Ordering, fmt, net::SocketAddr, time::Duration};

use tokio::{select, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::{Host, HostedGame},
    live::view::Source,
    timer::until,
};
use zeitnot_net::LogThrottle;
use zeitnot_referee::{
    Allowance, Board as _, Cause, Ending, Expiry, Referee, RefereeRules, ServedGame, Untimed,
};
use zeitnot_rules::{
    ByColor, Color, Game as _, GameResult,
    tuc::{Move, POINT, Square, Tuc},
};
use zeitnot_wire::{
    Message, printable,
    tuc::{FromServer, MAX_DATAGRAM, Points},
};

use super::{
    config::TucConfig,
    socket::{Player, Stop, TableSocket},
};

/// Subject of the log.
pub(super) const IGNORED: &str = "datagrams ignored";

pub(super) struct Game<'t> {
    config: &'t TucConfig,
    socket: &'t TableSocket,
    log: &'t LogThrottle,
    players: ByColor<Player>,
    hosted: HostedGame<ServedGame<Tuc>>,
    began: Instant,
    /// Longest time that each took for a move.
    longest: ByColor<Duration>,
    messages: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Finished {
    pub(super) names: ByColor<String>,
    pub(super) points: ByColor<u16>,
    pub(super) ending: Ending,
    pub(super) rules: String,
    /// Longest time that each took for a move.
    pub(super) longest: ByColor<Duration>,
    /// Messages to both players, and the last move, which they do not get.
    pub(super) messages: Vec<String>,
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ByColor([white, black]) = &self.names;
        let ByColor([first, second]) = self.points;
        let [slowest, slower] = self.longest.0.map(|longest| longest.as_secs_f64());
        write!(
            f,
            "{white:?} – {black:?}: {first} – {second}, longest moves {slowest:.2} s and {slower:.2} s"
        )?;
        match self.ending.cause {
            Cause::Rules(_) => Ok(()),
            Cause::TimeLimit => f.write_str(", at the time limit"),
            Cause::NoMove => f.write_str(", broken off: nobody moved for too long"),
            Cause::IllegalMove => f.write_str(", dead: not a legal move of the side to move"),
            _ => f.write_str(", broken off"),
        }
    }
}

impl<'t> Game<'t> {
    pub(super) fn new(
        config: &'t TucConfig,
        socket: &'t TableSocket,
        log: &'t LogThrottle,
        players: ByColor<Player>,
        host: Host,
    ) -> Self {
        let board = config.prizes().begin(config.rules);
        let untimed = Untimed { plies: usize::MAX, limit: config.move_timeout, expiry: Expiry::Abort };
        let rules = RefereeRules { untimed: Some(untimed), ..RefereeRules::default() };
        let now = Instant::now();
        let names = ByColor(players.0.each_ref().map(|player| &player.name));
        let info = GameInfo::new(Source::Tuc, &board, names);
        let referee = Referee::new(board, ByColor::both(Allowance::Unlimited), rules, now);
        let mut hosted = HostedGame::new(info, referee, host);
        hosted.begin(now);
        Game {
            config,
            socket,
            log,
            players,
            hosted,
            began: now,
            longest: ByColor([Duration::ZERO; 2]),
            messages: Vec::new(),
        }
    }

    /// Plays to the end.
    pub(super) async fn run(mut self, stop: &CancellationToken) -> Result<Finished, Stop> {
        let ending = loop {
            if let Some(ending) = self.hosted.referee.ending {
                break ending;
            }
            let received = select! {
                received = self.socket.receive(stop) => received,
                () = until(self.deadline()) => {
                    self.hosted.referee.time_out(Instant::now());
                    continue;
                }
            };
            match received {
                Ok((datagram, from)) => self.hear(&String::from_utf8_lossy(&datagram), from).await?,
                Err(Stop::Shutdown) => self.hosted.referee.end(None, Cause::Shutdown, Instant::now()),
                Err(error) => return Err(error),
            }
        };
        self.hosted.settle().await;
        Ok(self.finish(ending))
    }

    /// Returns the time at which the game is aborted. A player without a move may have left, so the limit of the first
    /// move is short.
    fn deadline(&self) -> Option<Instant> {
        let is_first = self.hosted.referee.board.ply_count() < Color::BOTH.len();
        let first = is_first.then(|| self.hosted.referee.asked.checked_add(self.config.first_move)).flatten();
        first.into_iter().chain(self.hosted.referee.timeout()).min()
    }

    /// Plays a datagram, if it is a legal move from the player who is to move.
    async fn hear(&mut self, text: &str, from: SocketAddr) -> Result<(), Stop> {
        let (mover, asked, now) = (self.hosted.referee.turn(), self.hosted.referee.asked, Instant::now());
        let address = self.players[mover].address;
        let strict = self.config.strict;
        // The original compares the machine, not the port.
        let is_mover = if strict { from.ip() == address.ip() } else { from == address };
        let mv = Move::parse(text).filter(|_| is_mover);
        let before = self.hosted.referee.board.position.prizes();
        let played = mv.filter(|_| self.hosted.referee.play(mover, text, now, None).is_ok());
        let Some(mv) = played else {
            let text = printable(text, MAX_DATAGRAM);
            self.log.info(IGNORED, || match is_mover {
                true => {
                    format!(
                        "{text:?} from {from} is no legal move in {}",
                        self.hosted.referee.board.position.print()
                    )
                }
                false => format!("ignored {text:?} from {from}, who is not to move"),
            });
            if strict {
                self.hosted.referee.end(None, Cause::IllegalMove, now);
            }
            return Ok(());
        };
        self.longest[mover] = self.longest[mover].max(now - asked);
        self.hosted.referee.await_move(now);
        if now - self.began > self.config.time_limit() {
            self.hosted.referee.end(Some(self.result()), Cause::TimeLimit, now);
        }
        self.hosted.moved(now);
        self.tell(mv, before).await
    }

    /// Tells a move, and the prize that has appeared since those of before.
    async fn tell(&mut self, mv: Move, before: u64) -> Result<(), Stop> {
        let message = if self.hosted.referee.ending.is_some() {
            self.messages.push(mv.to_string());
            FromServer::Over { points: Points::new(self.points()) }
        } else {
            let new = self.hosted.referee.board.position.prizes() & !before;
            let prize = (new != 0).then(|| Square::new(new.trailing_zeros() as usize));
            let to_move = self.hosted.referee.turn();
            FromServer::Moved { to_move, mv, prize, points: Points::new(self.points()) }
        };
        self.hosted.settle().await;
        self.messages.push(message.to_line());
        self.socket.send_both(&self.players, &message).await
    }

    fn points(&self) -> ByColor<u16> {
        ByColor(self.hosted.referee.board.position.points().0.map(|points| (points / POINT) as u16))
    }

    fn result(&self) -> GameResult {
        let [white, black] = self.hosted.referee.board.position.points().0;
        match white.cmp(&black) {
            Ordering::Greater => GameResult::Won(Color::White),
            Ordering::Equal => GameResult::Draw,
            Ordering::Less => GameResult::Won(Color::Black),
        }
    }

    fn finish(self, ending: Ending) -> Finished {
        let points = self.points();
        let rules = self.config.rules.to_string();
        let names = ByColor(self.players.0.map(|player| player.name));
        Finished { names, points, ending, rules, longest: self.longest, messages: self.messages }
    }
}
