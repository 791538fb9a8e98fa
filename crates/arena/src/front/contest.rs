//! One connection that speaks the contest protocol: from lines to commands, and the manners of the door.

use std::time::Duration;

use tokio::{
    join, select,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use zeitnot_net::{Incoming, LineReader, LineWriter, NetError};
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer},
};

use crate::{
    GameTag, Name,
    client::Client,
    delay::Delay,
    name::printable,
    tournament::{Hall, Seat},
};

/// How long a connection may stay silent before it says what it wants.
const FIRST_MESSAGE: Duration = Duration::from_secs(30);

/// Unreadable lines in a row until we stop listening.
const PATIENCE: u32 = 10;

/// How long a client that we leave is still read, so that our last words are not lost with its unread ones.
const LINGER: Duration = Duration::from_millis(500);

/// Serves one connection to its end.
pub(super) async fn serve(
    mut reader: LineReader,
    writer: LineWriter,
    hall: Hall,
    delay: Delay,
    closing: &CancellationToken,
) {
    let (client, outbox) = Client::channel(closing.child_token(), delay);
    let listening = async {
        let mut guest =
            Guest { client: client.clone(), hall, seat: None, greeted: false, unreadable: 0, delay };
        if let Err(Goodbye(why)) = guest.listen(&mut reader).await {
            client.info(why);
        }
        if let Some(seat) = guest.seat {
            seat.leave().await;
        }
        client.close();
        let _ = timeout(LINGER, async { while let Ok(Some(_)) = reader.next().await {} }).await;
    };
    join!(listening, outbox.run(writer));
}

/// Tells somebody that there is no room.
pub(super) async fn turn_away(taken: impl Future<Output = Result<(LineReader, LineWriter), NetError>>) {
    let Ok((mut reader, mut writer)) = taken.await else { return };
    let mut line = String::new();
    FromServer::Info { text: "The arena is full, try again later".into() }.print(&mut line);
    if writer.send(&line).await.is_ok() {
        writer.close().await;
        while let Ok(Some(_)) = reader.next().await {}
    }
}

/// Why we leave a client.
struct Goodbye(String);

/// Whoever is at the other end.
struct Guest {
    client: Client,
    hall: Hall,
    seat: Option<Seat>,
    /// Has said something sensible.
    greeted: bool,
    /// Unreadable lines in a row.
    unreadable: u32,
    /// What it says travels this late.
    delay: Delay,
}

impl Guest {
    /// Listens until one of the two closes.
    async fn listen(&mut self, reader: &mut LineReader) -> Result<(), Goodbye> {
        let patience = Instant::now() + FIRST_MESSAGE;
        let mut way = self.delay.way();
        let mut ended = false;
        loop {
            let incoming = select! {
                () = self.client.closed() => return Ok(()),
                () = sleep_until(patience), if !self.greeted => {
                    return Err(Goodbye("No JOIN or WATCH came in time".into()));
                }
                read = reader.next(), if !ended && way.has_room() => {
                    ended = !matches!(read, Ok(Some(_)));
                    way.send(read);
                    continue;
                }
                arrived = way.arrive() => arrived,
            };
            match incoming {
                (at, Ok(Some(incoming))) => match self.read(Incoming { read_at: at.into(), ..incoming })? {
                    Some((FromClient::Disconnect, _)) => return Ok(()),
                    Some((message, read_at)) => self.hear(message, read_at).await?,
                    None => {}
                },
                (_, Ok(None)) => return Ok(()),
                (_, Err(error)) => return Err(Goodbye(error.to_string())),
            }
        }
    }

    /// From a line to a message. What cannot be read is answered, and counted.
    fn read(&mut self, incoming: Incoming) -> Result<Option<(FromClient, Instant)>, Goodbye> {
        let message = match &incoming.line {
            Ok(line) => FromClient::parse(line).map_err(|error| error.to_string()),
            Err(bad) => Err(bad.to_string()),
        };
        match message {
            Ok(message) => {
                self.unreadable = 0;
                Ok(Some((message, incoming.read_at.into())))
            }
            Err(why) => {
                self.unreadable += 1;
                let why = format!("Cannot read this: {}", printable(&why, 200));
                if !self.greeted || self.unreadable >= PATIENCE {
                    return Err(Goodbye(why));
                }
                self.client.info(why);
                Ok(None)
            }
        }
    }

    async fn hear(&mut self, message: FromClient, read_at: Instant) -> Result<(), Goodbye> {
        match (message, &self.seat) {
            (FromClient::Watch { game }, _) => self.watch(&game).await,
            (FromClient::Unwatch { game }, _) => {
                if let Some(game) = GameTag::read(&game) {
                    self.hall.unwatch(game, &self.client).await;
                }
            }
            (message, Some(seat)) => seat.say(message, read_at).await,
            (FromClient::Join { tournament, player }, None) => self.join(&tournament, &player).await?,
            (_, None) => {
                let why = "First JOIN a tournament, or WATCH a game".to_owned();
                if !self.greeted {
                    return Err(Goodbye(why));
                }
                self.client.info(why);
            }
        }
        self.greeted = true;
        Ok(())
    }

    async fn join(&mut self, tournament: &str, player: &str) -> Result<(), Goodbye> {
        let name = Name::try_from(player).map_err(|error| Goodbye(error.to_string()))?;
        let seat = self.hall.join(tournament, name, self.client.clone()).await;
        self.seat = Some(seat.map_err(|refusal| Goodbye(refusal.to_string()))?);
        Ok(())
    }

    async fn watch(&self, game: &str) {
        let found = match GameTag::read(game) {
            Some(tag) => self.hall.watch(tag, &self.client).await,
            None => false,
        };
        if !found {
            self.client.info(format!("No game {} is being played", printable(game, 50)));
        }
    }
}
