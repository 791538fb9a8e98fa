//! One game of TUC-Chess, whose board deals the prizes: datagrams become moves, and both players get the answers.

use std::{fmt, io, net::SocketAddr, time::Duration};

use tokio::{select, time::Instant};
use tokio_util::sync::CancellationToken;
use zeitnot_host::{
    game_info::GameInfo,
    hosted_game::Host,
    jobs::{self, Handle},
    live::view::Source,
    tag::GameTag,
};
use zeitnot_net::{LogThrottle, wait::until};
use zeitnot_referee::{Allowance, Board, Cause, Ending, Expiry, Referee, RefereeRules, ServedGame, Untimed};
use zeitnot_rules::{
    ByColor, Color, Game as _,
    tuc::{Move, POINT, Square, Tuc},
};
use zeitnot_wire::{
    Message, printable,
    tuc::{FromServer, MAX_DATAGRAM, Points},
};

use super::{
    config::TucConfig,
    socket::{TablePlayer, TableSocket},
};
use crate::{client::Client, online_game::OnlineGame};

/// Subject of the log.
pub(super) const IGNORED: &str = "datagrams ignored";

type TucGame = OnlineGame<ServedGame<Tuc>>;

/// Way between the players at a table and their game.
pub(super) struct Translator<'t> {
    pub(super) config: &'t TucConfig,
    pub(super) socket: &'t TableSocket,
    pub(super) log: &'t LogThrottle,
    pub(super) players: ByColor<TablePlayer>,
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

impl Translator<'_> {
    /// Plays a game to its end.
    pub(super) async fn play(self, host: Host, stop: &CancellationToken) -> io::Result<Finished> {
        let (handle, mut jobs) = jobs::channel();
        let mut game = self.start(host);
        let mut messages = Vec::new();
        let told = select! {
            () = game.run(&mut jobs, stop) => Ok(()),
            told = self.talk(&handle, &mut messages) => told,
        };
        // Without a port, a game cannot go on.
        game.shut_down();
        game.settle().await;
        game.finish();
        told?;
        let mut finished = self.finished(&game.hosted.referee, messages);
        if finished.ending.result.is_some() {
            let over = FromServer::Over { points: Points::new(finished.points) };
            self.tell(over, &mut finished.messages).await?;
        }
        Ok(finished)
    }

    fn finished(&self, referee: &Referee<ServedGame<Tuc>>, mut messages: Vec<String>) -> Finished {
        let ending = referee.ending.unwrap_or(Ending { result: None, cause: Cause::InternalError });
        let last = referee.plies.last().filter(|_| ending.result.is_some());
        messages.extend(last.map(|last| last.mv.to_string()));
        let longest = |color| {
            let moves = referee.plies.iter().skip(color as usize).step_by(Color::BOTH.len());
            moves.filter_map(|made| made.spent).max().unwrap_or_default()
        };
        Finished {
            names: ByColor(self.players.0.each_ref().map(|player| player.name.clone())),
            points: points(&referee.board.position),
            ending,
            rules: self.config.rules.to_string(),
            longest: ByColor(Color::BOTH.map(longest)),
            messages,
        }
    }

    fn start(&self, host: Host) -> TucGame {
        let board = self.config.prizes().begin(self.config.rules);
        let limit = self.config.move_timeout;
        let untimed = Untimed { plies: usize::MAX, limit, expiry: Expiry::Abort };
        let rules = RefereeRules { untimed: Some(untimed), ..RefereeRules::default() };
        let names = ByColor(self.players.0.each_ref().map(|player| &player.name));
        let info = GameInfo::new(Source::Tuc, &board, names);
        let referee = Referee::new(board, ByColor::both(Allowance::Unlimited), rules, Instant::now());
        // The answers to the datagrams tell all.
        let (unread, _) = Client::channel(CancellationToken::new());
        OnlineGame::start(GameTag::random(), info, referee, ByColor::both(unread), u32::MAX, host)
    }

    /// Passes datagrams on to the game, and tells its moves, as long as the port works.
    async fn talk(&self, game: &Handle<TucGame>, messages: &mut Vec<String>) -> io::Result<()> {
        let mut asked = Instant::now();
        let last = asked + self.config.time_limit();
        loop {
            // A player without a move may have left, so the limit of the first move is short.
            let is_first = messages.len() < Color::BOTH.len();
            let first_move = is_first.then(|| asked + self.config.first_move);
            let (datagram, from) = select! {
                received = self.socket.receive() => received?,
                () = until(first_move) => {
                    game.call(|game| game.hosted.referee.time_out(Instant::now())).await;
                    continue;
                }
            };
            let text = String::from_utf8_lossy(&datagram).into_owned();
            let shown = printable(&text, MAX_DATAGRAM);
            let senders = ByColor(self.players.0.each_ref().map(|player| self.is_from(player, from)));
            match game.call(move |game| hear(game, &text, senders, last)).await {
                Some(Ok(Some(message))) => {
                    asked = Instant::now();
                    self.tell(message, messages).await?;
                }
                Some(Err(why)) => {
                    self.log.info(IGNORED, || format!("ignored {shown:?} from {from}: {why}"));
                    if self.config.strict {
                        let now = Instant::now();
                        game.send(move |game| game.hosted.referee.end(None, Cause::IllegalMove, now)).await;
                    }
                }
                Some(Ok(None)) | None => {}
            }
        }
    }

    /// Returns whether a datagram is from that player. The original compares the machine, not the port.
    fn is_from(&self, player: &TablePlayer, from: SocketAddr) -> bool {
        if self.config.strict { from.ip() == player.address.ip() } else { from == player.address }
    }

    async fn tell(&self, message: FromServer, messages: &mut Vec<String>) -> io::Result<()> {
        messages.push(message.to_line());
        self.socket.send_both(&self.players, &message).await
    }
}

/// Plays a datagram, if it is a legal move from the player who is to move. A move later than `last` is the last one.
/// Returns what to tell while the game goes on, with the prize that has appeared, or why the datagram is ignored.
fn hear(
    game: &mut TucGame,
    text: &str,
    senders: ByColor<bool>,
    last: Instant,
) -> Result<Option<FromServer>, String> {
    let now = Instant::now();
    let referee = &mut game.hosted.referee;
    let mover = referee.turn();
    if !senders[mover] {
        return Err("it is the other player's move".to_owned());
    }
    let before = referee.board.position.prizes();
    let played = Move::parse(text).filter(|_| referee.play(mover, text, now, None).is_ok());
    let Some(mv) = played else {
        return Err(format!("not a legal move in {}", referee.board.position.print()));
    };
    if now > last {
        referee.end(Some(referee.board.result_so_far()), Cause::TimeLimit, now);
    }
    let position = &referee.board.position;
    let new = position.prizes() & !before;
    let prize = (new != 0).then(|| Square::new(new.trailing_zeros() as usize));
    let points = Points::new(points(position));
    let message = FromServer::Moved { to_move: referee.turn(), mv, prize, points };
    let goes_on = referee.ending.is_none();
    game.report(mover, now);
    Ok(goes_on.then_some(message))
}

fn points(position: &Tuc) -> ByColor<u16> {
    ByColor(position.points().0.map(|points| (points / POINT) as u16))
}
