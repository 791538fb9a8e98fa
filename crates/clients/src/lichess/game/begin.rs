//! The beginning of a game for us: which one it is, and who plays it.

use std::{mem, time::Instant};

use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use zeitnot_rules::{ByColor, Color};
use zeitnot_seat::{Event, GameInfo, Occasion, Opponent, Seat, Turn};
use zeitnot_wire::lichess::{GameFull, GameMessage};

use super::{
    Game, Left, PLAYER_HANGS, PlayerGone, Table,
    answer::Request,
    calls::{Call, Wishes},
    misfit::Looks,
    words::{kind, name, result},
};
use crate::lichess::{
    http::HttpError,
    stream::{Heard, Stream},
    track::Track,
};

/// So many players may leave a game; then it is not theirs that is at fault.
pub(super) const PLAYERS: u32 = 3;

/// Reads what game it is, says who the opponent is, and finds a player for it.
pub(super) async fn begin(
    table: Table,
    stream: &mut Stream<GameMessage>,
    met: &mut Option<oneshot::Sender<Opponent>>,
) -> Result<Game, Left> {
    let (full, read_at) = first(stream).await?;
    let id = full.id;
    let players = full.players();
    let ours = |side: &Color| players[*side].id.as_ref() == Some(&table.me);
    let Some(side) = Color::BOTH.into_iter().find(ours) else {
        warn!("we are not in this game");
        return Err(Left::Unplayed);
    };
    if full.state.status.is_over() {
        let how = result(&full.state);
        if full.clock.is_some() {
            debug!("over already: {how}");
            return Err(Left::Unplayed);
        }
        // Nobody was awake to see it.
        info!("over: {how}");
        if let Some(mut record) = table.clerk.begin(&full, side) {
            record.state(full.state);
            table.clerk.keep(record);
        }
        return Err(Left::Over);
    }
    let opponent = kind(players[!side]);
    if let Some(met) = met.take() {
        // Nobody need be there to hear it.
        let _ = met.send(opponent);
    }
    let track = match Track::new(&full) {
        Ok(track) => track,
        Err(lost) => {
            table.leave(id, full.state.played().count(), &lost.to_string()).await;
            return Err(Left::Unplayed);
        }
    };
    let info = GameInfo {
        id: id.to_string(),
        server: table.http.base().to_string(),
        game: track.game(),
        start: full.start().map(str::to_owned),
        side,
        names: ByColor([name(&full.white), name(&full.black)]),
        time_control: full.clock,
        occasion: Occasion {
            rated: Some(full.rated),
            opponent: Some(opponent),
            by_post: full.clock.is_none(),
        },
    };
    info!("{} against {}", info.names[Color::White], info.names[Color::Black]);
    let seat = table.seat(&info).await;
    let mut game = Game {
        id,
        info,
        seat,
        track,
        read_at,
        turn: Turn::default(),
        request: Request::None,
        sending: JoinSet::new(),
        calls: JoinSet::new(),
        opened: Instant::now(),
        abort_at: None,
        idle_since: None,
        away: None,
        wishes: Wishes::default(),
        takebacks: table.rules.takebacks,
        looks: Looks::default(),
        is_berserk: table.rules.berserk.applies(&full, side),
        eval: None,
        record: table.clerk.begin(&full, side),
        players: 1,
        state: full.state,
        table,
    };
    game.greet();
    if game.is_berserk && !game.has_moved() {
        game.call(Call::Berserk);
    }
    Ok(game)
}

/// The game in full, which comes first, and when it was read.
async fn first(stream: &mut Stream<GameMessage>) -> Result<(Box<GameFull>, Instant), Left> {
    loop {
        match stream.next().await {
            Heard::Message(GameMessage::GameFull(full), read_at) => return Ok((full, read_at)),
            Heard::Over(HttpError::Unauthorized) => return Err(Left::Unauthorized),
            Heard::Over(error) => {
                warn!("cannot follow the game: {error}");
                return Err(Left::Unplayed);
            }
            Heard::Opened | Heard::Message(..) => {}
        }
    }
}

impl Table {
    /// A player for this game. Where there is no room now there may be soon: the game waits for us.
    async fn seat(&self, info: &GameInfo) -> Seat {
        let mut asked = false;
        loop {
            let why = match timeout(PLAYER_HANGS, self.lobby.open(info.clone())).await {
                Ok(Ok(seat)) => return seat,
                Ok(Err(declined)) => declined.to_string(),
                Err(_) => "nobody came to play".to_owned(),
            };
            if !mem::replace(&mut asked, true) {
                warn!("{why}; asking again until somebody does");
            }
            sleep(PLAYER_HANGS).await;
        }
    }
}

impl Game {
    /// Have we moved yet, when this game was taken up?
    fn has_moved(&self) -> bool {
        let ours = usize::from(self.track.first() != self.info.side);
        self.state.played().count() > ours
    }

    /// The player is gone: another one takes the seat, and hears the game from its beginning.
    pub(super) async fn another_player(&mut self) -> Result<(), PlayerGone> {
        self.players += 1;
        warn!("the player left the game; another one takes over");
        self.seat = self.table.seat(&self.info).await;
        for mv in self.track.played().to_vec() {
            self.tell(Event::Moved(mv)).await?;
        }
        if self.wishes.draw {
            self.tell(Event::DrawOffered).await?;
        }
        let is_ours = self.track.side() == self.info.side;
        match self.request {
            Request::None | Request::Open if is_ours => self.ask(self.clocks(self.read_at)).await,
            _ => Ok(()),
        }
    }
}
