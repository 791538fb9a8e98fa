//! One connection that speaks the contest protocol.

use std::{
    net::SocketAddr,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use tokio::{
    join, select,
    time::{Instant, sleep_until, timeout},
};
use zeitnot_host::tag::GameTag;
use zeitnot_net::{Incoming, LineWriter};
use zeitnot_pairing::Name;
use zeitnot_web::places::{Place, Pool};
use zeitnot_wire::{
    Message, Secret,
    contest::{Extension, FromClient, VERSION},
    printable,
};

use super::{ContestFront, wire::from_server};
use crate::{
    client::{Client, Outbox},
    message::Request,
    paced::PacedReader,
    tournament::{Applicant, JoinError, Proof, Seat},
};

/// Time in which a connection must join a tournament or watch a game.
const FIRST_MESSAGE: Duration = Duration::from_secs(10);

/// Characters of a client's words that are shown again.
const MAX_SHOWN: usize = 50;

/// Unreadable lines in a row until the connection is closed.
const MAX_UNREADABLE: u32 = 10;

/// Time in which a closed connection may still send earlier messages.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(super) async fn serve(
    front: &ContestFront,
    from: SocketAddr,
    place: &Place,
    mut reader: PacedReader,
    mut writer: LineWriter,
) {
    // A player who thinks need not read: the bounded queue and the clock see to those who never do.
    writer.set_timeout(Duration::MAX);
    let (client, outbox) = Client::channel(front.closing.child_token());
    let with_moves = &AtomicBool::new(false);
    let listening = async {
        let mut guest = Guest {
            client: client.clone(),
            front,
            place,
            with_moves,
            name: "a stranger".to_owned(),
            seat: None,
            is_spectator: false,
            unreadable: 0,
        };
        let closed = guest.listen(&mut reader).await;
        if let Err(reason) = &closed {
            client.info(reason.why.clone());
        }
        let thrown_out = client.fault().map(|why| CloseReason::from(why.to_owned()));
        if let Some(reason) = thrown_out.or(closed.err()) {
            front.log_close(&guest.name, from, &reason);
        }
        if let Some(seat) = guest.seat {
            seat.leave().await;
        }
        client.close();
        reader.linger().await;
    };
    join!(listening, send_all(&client, outbox, writer, with_moves));
}

async fn send_all(client: &Client, outbox: Outbox, mut writer: LineWriter, with_moves: &AtomicBool) {
    {
        let mut writing = pin!(write(outbox, &mut writer, with_moves));
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
async fn write(mut outbox: Outbox, writer: &mut LineWriter, with_moves: &AtomicBool) {
    while let Some(notice) = outbox.next().await {
        let (before, message) = from_server(notice, with_moves.load(Relaxed));
        for message in before.into_iter().chain([message]) {
            if let Err(error) = writer.send(&message.to_line()).await {
                tracing::debug!(%error, "a client cannot be written to");
                return;
            }
        }
    }
}

/// Reason why we close a connection.
pub(super) struct CloseReason {
    pub(super) why: String,
    /// The tournament is over. Clients come back all the same, to ask whether it goes on.
    pub(super) is_over: bool,
}

impl From<String> for CloseReason {
    fn from(why: String) -> CloseReason {
        CloseReason { why, is_over: false }
    }
}

struct Guest<'f> {
    client: Client,
    front: &'f ContestFront,
    place: &'f Place,
    /// The client has asked for the legal moves.
    with_moves: &'f AtomicBool,
    /// For the log.
    name: String,
    seat: Option<Seat>,
    is_spectator: bool,
    unreadable: u32,
}

impl Guest<'_> {
    /// Returns whether the connection has joined a tournament or watches a game.
    fn is_greeted(&self) -> bool {
        self.seat.is_some() || self.is_spectator
    }

    async fn listen(&mut self, reader: &mut PacedReader) -> Result<(), CloseReason> {
        let patience = Instant::now() + FIRST_MESSAGE;
        loop {
            let read = select! {
                () = self.client.closed() => return Ok(()),
                () = sleep_until(patience), if !self.is_greeted() => {
                    return Err("No JOIN or WATCH came in time".to_owned().into());
                }
                read = reader.next() => read,
            };
            match read {
                Ok(Some(incoming)) => match self.read(&incoming)? {
                    Some(FromClient::Disconnect) => return Ok(()),
                    Some(message) => self.answer(message, incoming.read_at.into()).await?,
                    None => {}
                },
                Ok(None) => return Ok(()),
                Err(error) => return Err(error.to_string().into()),
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
                if !self.is_greeted() || self.unreadable >= MAX_UNREADABLE {
                    self.client.blame(why.clone());
                    return Err(why.into());
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
            FromClient::Resign { game } => Some(Request::Resign { game, read_at }),
            FromClient::Say { player, text } => Some(Request::Say { to: player, text }),
            FromClient::Join { .. } if self.seat.is_some() => {
                self.client.info("You have joined already");
                None
            }
            FromClient::Join { tournament, player, key, extensions } => {
                self.join(&tournament, &player, key, &extensions).await?;
                None
            }
            FromClient::Watch { game } => {
                self.watch(&game).await;
                None
            }
            FromClient::Unwatch { game } => {
                if let Some(game) = GameTag::read(&game) {
                    self.front.registry.unwatch(game, &self.client).await;
                }
                None
            }
            FromClient::Disconnect => None,
        };
        match (request, &self.seat) {
            (Some(request), Some(seat)) => seat.send(request).await,
            (Some(_), None) => {
                let why = "First JOIN a tournament, or WATCH a game".to_owned();
                if !self.is_greeted() {
                    return Err(why.into());
                }
                self.client.info(why);
            }
            (None, _) => {}
        }
        Ok(())
    }

    async fn join(
        &mut self,
        tournament: &str,
        player: &str,
        key: Option<Secret>,
        extensions: &[Extension],
    ) -> Result<(), CloseReason> {
        self.name = format!("{} in {}", printable(player, MAX_SHOWN), printable(tournament, MAX_SHOWN));
        if let Some(why) = extensions.iter().find_map(obstacle) {
            return self.refuse(tournament, player, why).await;
        }
        self.with_moves.store(extensions.contains(&Extension::Moves), Relaxed);
        let name = match Name::try_from(player) {
            Ok(name) => name,
            Err(error) => return self.refuse(tournament, player, error.to_string()).await,
        };
        if let Err(error) = self.place.move_to(Pool::Players) {
            return self.refuse(tournament, player, error.to_string()).await;
        }
        let proof = Proof::Shown { from: self.place.from, key };
        let applicant = Applicant { name, proof, client: self.client.clone() };
        match self.front.registry.join(tournament, applicant).await {
            Ok(seat) => {
                self.seat = Some(seat);
                Ok(())
            }
            Err(error) => {
                // The place is for somebody who plays.
                let _ = self.place.move_to(Pool::Newcomers);
                let refusal = CloseReason::from(error.to_string());
                Err(CloseReason { is_over: matches!(error, JoinError::Over(_)), ..refusal })
            }
        }
    }

    /// Refuses somebody who does not get as far as the tournament.
    async fn refuse(&self, tournament: &str, player: &str, why: String) -> Result<(), CloseReason> {
        self.front.registry.note_refusal(tournament, player, why.clone()).await;
        Err(why.into())
    }

    async fn watch(&mut self, game: &str) {
        let found = match GameTag::read(game) {
            Some(tag) => self.front.registry.watch(tag, &self.client).await,
            None => false,
        };
        if !found {
            self.client.info(format!("No game {} is being played", printable(game, MAX_SHOWN)));
        } else if self.seat.is_none() {
            self.is_spectator |= self.place.move_to(Pool::Spectators).is_ok();
        }
    }
}

/// Returns why an extension cannot be used, and what to do.
fn obstacle(extension: &Extension) -> Option<String> {
    let ours = Extension::Protocol(VERSION);
    match extension {
        Extension::Moves | Extension::Protocol(VERSION) => None,
        Extension::Protocol(version) if *version < VERSION => Some(format!(
            "Your program speaks {extension}, this arena {ours}: write its files again with zeitnot kit"
        )),
        Extension::Protocol(_) => Some(format!(
            "Your program speaks {extension}, this arena only {ours}: update the arena, or write the program's files again with \
             the zeitnot kit of the arena's version"
        )),
        // Not repeated: it may be a key or password that begins as an extension does, and refusals are kept.
        Extension::Unknown(_) => Some(format!(
            "Unknown extension; known: {}, {ours}. If your program is newer than the arena, update the arena",
            Extension::Moves
        )),
    }
}
