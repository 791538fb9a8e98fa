//! One game at a table: whose turn it is, what is legal, prizes and points.

use std::{fmt, net::SocketAddr, time::Duration};

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use zeitnot_rules::{
    ByColor, Color, Game as _, Outcome,
    tuc::{Move, POINT, SQUARES, Square, Tuc},
};
use zeitnot_wire::{
    Message,
    tuc::{FromServer, Points},
};

use super::{Player, Stop, Table};

/// A game that runs.
pub(super) struct Game<'t> {
    table: &'t Table,
    players: ByColor<Player>,
    board: Tuc,
    began: Instant,
    /// The longest that each took for a move.
    longest: ByColor<Duration>,
    messages: Vec<String>,
}

/// A game that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub names: ByColor<String>,
    pub points: ByColor<u16>,
    pub end: End,
    pub rules: String,
    /// The longest that each took for a move.
    pub longest: ByColor<Duration>,
    /// What both were told, and the last move, which they were not.
    pub messages: Vec<String>,
}

/// How a game ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By the rules.
    Rules,
    /// A move came after the time limit.
    Time,
    /// Nobody moved for so long.
    Silence(Duration),
    /// Something came that was no legal move.
    BadDatagram,
    /// The arena stops.
    Stopped,
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
        match self.end {
            End::Rules => Ok(()),
            End::Time => f.write_str(", at the time limit"),
            End::Silence(silence) => write!(f, ", broken off: nobody moved for {silence:?}"),
            End::BadDatagram => f.write_str(", dead: not a legal move of the side to move"),
            End::Stopped => f.write_str(", broken off"),
        }
    }
}

impl<'t> Game<'t> {
    pub fn new(table: &'t Table, players: ByColor<Player>) -> Self {
        let board = Tuc::start_by(table.config.rules);
        let longest = ByColor([Duration::ZERO; 2]);
        Game { table, players, board, began: Instant::now(), longest, messages: Vec::new() }
    }

    /// Referees to the end.
    pub async fn run(mut self, stop: &CancellationToken) -> Result<Finished, Stop> {
        let patience = self.table.config.patience;
        let mut moved = Instant::now();
        let end = loop {
            let received = match timeout_at(moved + patience, self.table.receive(stop)).await {
                Err(_) => break End::Silence(patience),
                Ok(Err(Stop::Asked)) => break End::Stopped,
                Ok(received) => received?,
            };
            let (datagram, from) = received;
            let Some(mv) = self.legal(&datagram, from) else {
                if self.table.config.unforgiving {
                    break End::BadDatagram;
                }
                continue;
            };
            let (asked, mover) = (moved, self.board.side());
            moved = Instant::now();
            self.longest[mover] = self.longest[mover].max(moved - asked);
            if let Some(end) = self.play(mv, moved).await? {
                break end;
            }
        };
        Ok(self.finish(end))
    }

    /// The move, if it is one that may be played now, from the one who may play it.
    fn legal(&self, datagram: &[u8], from: SocketAddr) -> Option<Move> {
        let mover = &self.players[self.board.side()];
        let text = String::from_utf8_lossy(datagram);
        // The original compares the machine, not the port.
        let is_mover = if self.table.config.unforgiving {
            from.ip() == mover.address.ip()
        } else {
            from == mover.address
        };
        let mv = Move::parse(&text).filter(|mv| self.board.moves().contains(mv));
        match mv {
            _ if !is_mover => debug!(%from, "{text:?} from somebody who is not to move"),
            None => warn!(%from, "{text:?} is no legal move in {}", self.board.print()),
            Some(mv) => return Some(mv),
        }
        None
    }

    async fn play(&mut self, mv: Move, now: Instant) -> Result<Option<End>, Stop> {
        // Nobody knows what a prize is worth before it is taken: it may as well be drawn now.
        let worth = if fastrand::f64() < self.table.config.worth_chance() { POINT } else { 0 };
        self.board.play_for(mv, worth);
        let end = if self.board.outcome() != Outcome::Ongoing {
            Some(End::Rules)
        } else {
            (now - self.began > self.table.config.time_limit()).then_some(End::Time)
        };
        let points = Points::new(self.points());
        let message = match end {
            Some(_) => {
                self.messages.push(mv.to_string());
                FromServer::Over { points }
            }
            None => FromServer::Moved { to_move: self.board.side(), mv, prize: self.new_prize(), points },
        };
        self.messages.push(message.to_line());
        self.table.tell_both(&self.players, &message).await?;
        Ok(end)
    }

    fn new_prize(&mut self) -> Option<Square> {
        if fastrand::f64() >= self.table.config.prize_chance() {
            return None;
        }
        let free: Vec<_> = (0..SQUARES)
            .map(Square::new)
            .filter(|s| self.board.board().free() >> s.index() & 1 == 1)
            .collect();
        let square = fastrand::choice(&free).copied()?;
        self.board.put_prize(square);
        Some(square)
    }

    fn points(&self) -> ByColor<u16> {
        ByColor(self.board.points().0.map(|points| (points / POINT) as u16))
    }

    fn finish(self, end: End) -> Finished {
        let names = ByColor(Color::BOTH.map(|side| self.players[side].name.clone()));
        let rules = self.table.config.rules.to_string();
        Finished { names, points: self.points(), end, rules, longest: self.longest, messages: self.messages }
    }
}
