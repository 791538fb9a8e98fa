//! Relay between a client and its server, whose connections break down as in a failing network.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

pub struct Relay {
    pub address: SocketAddr,
    cut: Arc<Notify>,
    _task: AbortOnDropHandle<()>,
}

impl Relay {
    pub async fn start(server: &str) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, server) = (listener.local_addr().unwrap(), server.to_owned());
        let cut = Arc::new(Notify::new());
        let cuts = cut.clone();
        let task = tokio::spawn(async move {
            let mut relayed = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                relayed.spawn(relay([client, server], cuts.clone()));
            }
        });
        Relay { address, cut, _task: AbortOnDropHandle::new(task) }
    }

    /// Breaks all connections down, on both sides.
    pub fn cut(&self) {
        self.cut.notify_waiters();
    }
}

async fn relay([mut client, mut server]: [TcpStream; 2], cut: Arc<Notify>) {
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        () = cut.notified() => [client, server].iter().for_each(|side| side.set_zero_linger().unwrap()),
    }
}
