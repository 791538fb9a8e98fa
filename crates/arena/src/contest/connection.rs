//! One connection that speaks the contest protocol.

use std::{pin::pin, time::Duration};

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

use super::{delay::DelayLine, wire::from_server};
use crate::{
    client::{Client, Outbox},
    message::Request,
    name::{Name, printable},
    tag::GameTag,
    tournament::{Seat, TournamentRegistry},
};

/// Time in which a connection must send its first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(30);

/// Unreadable lines in a row until the connection is closed.
const MAX_UNREADABLE: u32 = 10;

/// Time for which a client is still read after the close, so that our last words are not lost with its unread ones.
const LINGER: Duration = Duration::from_millis(500);

/// Time in which a closed connection may still send earlier messages.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) async fn serve(
    mut reader: LineReader,
    writer: LineWriter,
    registry: TournamentRegistry,
    delay: Duration,
    closing: &CancellationToken,
) {
    let (client, outbox) = Client::channel(closing.child_token());
    let listening = async {
        let mut guest =
            Guest { client: client.clone(), registry, seat: None, greeted: false, unreadable: 0, delay };
        if let Err(CloseReason(why)) = guest.listen(&mut reader).await {
            client.info(why);
        }
        if let Some(seat) = guest.seat {
            seat.leave().await;
        }
        client.close();
        let _ = timeout(LINGER, async { while let Ok(Some(_)) = reader.next().await {} }).await;
    };
    join!(listening, send_all(&client, outbox, DelayLine::new(delay), writer));
}

pub(super) async fn turn_away(taken: impl Future<Output = Result<(LineReader, LineWriter), NetError>>) {
    let Ok((mut reader, mut writer)) = taken.await else { return };
    let full = FromServer::Info { text: "The arena is full, try again later".into() };
    if writer.send(&full.to_line()).await.is_ok() {
        writer.close().await;
        while let Ok(Some(_)) = reader.next().await {}
    }
}

async fn send_all(
    client: &Client,
    outbox: Outbox,
    travelling: DelayLine<FromServer>,
    mut writer: LineWriter,
) {
    {
        let mut writing = pin!(write(outbox, travelling, &mut writer));
        let done = select! {
            () = &mut writing => true,
            () = client.closed() => false,
        };
        if !done {
            let _ = timeout(LAST_WORDS, writing).await;
        }
        client.close();
    }
    writer.close().await;
}

/// Writes messages; ends when the connection is closed and nothing is left, or cannot be written.
async fn write(mut outbox: Outbox, mut travelling: DelayLine<FromServer>, writer: &mut LineWriter) {
    let mut ended = false;
    while !ended || !travelling.is_empty() {
        select! {
            biased;
            (_, message) = travelling.arrive() => {
                if let Err(error) = writer.send(&message.to_line()).await {
                    tracing::debug!(%error, "a client cannot be written to");
                    return;
                }
            }
            notice = outbox.next(), if !ended && travelling.has_room() => match notice {
                Some(notice) => {
                    let (info, message) = from_server(notice);
                    info.into_iter().chain([message]).for_each(|message| travelling.send(message));
                }
                None => ended = true,
            }
        }
    }
}

struct CloseReason(String);

struct Guest {
    client: Client,
    registry: TournamentRegistry,
    seat: Option<Seat>,
    /// Set by the first valid message.
    greeted: bool,
    unreadable: u32,
    /// Simulated delay of its messages.
    delay: Duration,
}

impl Guest {
    async fn listen(&mut self, reader: &mut LineReader) -> Result<(), CloseReason> {
        let patience = Instant::now() + FIRST_MESSAGE;
        let mut travelling = DelayLine::new(self.delay);
        let mut ended = false;
        loop {
            let incoming = select! {
                () = self.client.closed() => return Ok(()),
                () = sleep_until(patience), if !self.greeted => {
                    return Err(CloseReason("No JOIN or WATCH came in time".into()));
                }
                read = reader.next(), if !ended && travelling.has_room() => {
                    ended = !matches!(read, Ok(Some(_)));
                    travelling.send(read);
                    continue;
                }
                arrived = travelling.arrive() => arrived,
            };
            match incoming {
                (at, Ok(Some(incoming))) => match self.read(&incoming)? {
                    Some(FromClient::Disconnect) => return Ok(()),
                    Some(message) => self.answer(message, at).await?,
                    None => {}
                },
                (_, Ok(None)) => return Ok(()),
                (_, Err(error)) => return Err(CloseReason(error.to_string())),
            }
        }
    }

    /// Parses a line. An unreadable one is answered, and counted.
    fn read(&mut self, incoming: &Incoming) -> Result<Option<FromClient>, CloseReason> {
        let message = match &incoming.line {
            Ok(line) => FromClient::parse(line).map_err(|error| error.to_string()),
            Err(bad) => Err(bad.to_string()),
        };
        match message {
            Ok(message) => {
                self.unreadable = 0;
                Ok(Some(message))
            }
            Err(why) => {
                self.unreadable += 1;
                let why = format!("Cannot read this: {}", printable(&why, 200));
                if !self.greeted || self.unreadable >= MAX_UNREADABLE {
                    return Err(CloseReason(why));
                }
                self.client.info(why);
                Ok(None)
            }
        }
    }

    async fn answer(&mut self, message: FromClient, read_at: Instant) -> Result<(), CloseReason> {
        let request = match message {
            FromClient::Ack { game } => Some(Request::Ack { game }),
            FromClient::Move { game, mv } => Some(Request::Move { game, mv, read_at }),
            FromClient::Resign { game } => Some(Request::Resign { game }),
            FromClient::Say { player, text } => Some(Request::Say { to: player, text }),
            FromClient::Join { .. } if self.seat.is_some() => {
                self.client.info("You have joined already");
                None
            }
            FromClient::Join { tournament, player } => {
                self.join(&tournament, &player).await?;
                None
            }
            FromClient::Watch { game } => {
                self.watch(&game).await;
                None
            }
            FromClient::Unwatch { game } => {
                if let Some(game) = GameTag::read(&game) {
                    self.registry.unwatch(game, &self.client).await;
                }
                None
            }
            FromClient::Disconnect => None,
        };
        match (request, &self.seat) {
            (Some(request), Some(seat)) => seat.send(request).await,
            (Some(_), None) => {
                let why = "First JOIN a tournament, or WATCH a game".to_owned();
                if !self.greeted {
                    return Err(CloseReason(why));
                }
                self.client.info(why);
            }
            (None, _) => {}
        }
        self.greeted = true;
        Ok(())
    }

    async fn join(&mut self, tournament: &str, player: &str) -> Result<(), CloseReason> {
        let name = Name::try_from(player).map_err(|error| CloseReason(error.to_string()))?;
        let seat = self.registry.join(tournament, name, self.client.clone()).await;
        self.seat = Some(seat.map_err(|error| CloseReason(error.to_string()))?);
        Ok(())
    }

    async fn watch(&self, game: &str) {
        let found = match GameTag::read(game) {
            Some(tag) => self.registry.watch(tag, &self.client).await,
            None => false,
        };
        if !found {
            self.client.info(format!("No game {} is being played", printable(game, 50)));
        }
    }
}
