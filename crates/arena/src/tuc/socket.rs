//! Socket of a table: datagrams in and out.

use std::{io, net::SocketAddr};

use tokio::{net::UdpSocket, select};
use tokio_util::sync::CancellationToken;
use zeitnot_rules::ByColor;
use zeitnot_wire::{
    Message,
    tuc::{FromServer, MAX_DATAGRAM},
};

#[derive(Clone, Debug)]
pub(super) struct Player {
    pub(super) name: String,
    pub(super) address: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    #[error("the arena shuts down")]
    Shutdown,
    #[error("the table's port fails: {0}")]
    Io(#[from] io::Error),
}

#[derive(Debug)]
pub(super) struct TableSocket(pub(super) UdpSocket);

impl TableSocket {
    pub(super) async fn receive(&self, stop: &CancellationToken) -> Result<(Vec<u8>, SocketAddr), Stop> {
        let mut buffer = [0; MAX_DATAGRAM];
        loop {
            let received = select! {
                () = stop.cancelled() => return Err(Stop::Shutdown),
                received = self.0.recv_from(&mut buffer) => received,
            };
            match received {
                Ok((length, from)) => return Ok((buffer[..length].to_vec(), from)),
                // Some systems report so that an earlier datagram reached nobody.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) async fn send(&self, address: SocketAddr, message: &FromServer) -> Result<(), Stop> {
        match self.0.send_to(message.to_line().as_bytes(), address).await {
            Ok(_) => Ok(()),
            // A player has left: the game finds that out.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a message to both players, White first as in the original.
    pub(super) async fn send_both(
        &self,
        players: &ByColor<Player>,
        message: &FromServer,
    ) -> Result<(), Stop> {
        for player in &players.0 {
            self.send(player.address, message).await?;
        }
        Ok(())
    }
}
