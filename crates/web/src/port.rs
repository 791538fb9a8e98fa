//! Listening port: a source of connections until shutdown, at a bounded pace for each address and in all.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    select,
    time::{sleep, sleep_until},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use zeitnot_net::{LogThrottle, Rate, Ration};

use crate::{
    error::ServerError,
    keyed::Rations,
    places::{Place, Places},
};

/// Pause after a failed accept, most likely for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Connections of one address. A class behind one router that begins all at once is far below it, and so are its
/// programs if they make a connection for each game.
const CONNECTIONS: Rate = Rate { burst: 256, interval: Duration::from_millis(10) };
/// Connections of all addresses: so few at once, that games are looked after in between.
const PACE: Rate = Rate { burst: 8, interval: Duration::from_micros(125) };
/// Connections that wait to be accepted; beyond that the system makes the others try again after a second.
const BACKLOG: u32 = 1024;

/// Listening port.
#[derive(Debug)]
pub struct Port {
    /// Bound address, with the port that the system chose if any was asked for.
    pub address: SocketAddr,
    listener: TcpListener,
    pace: Ration,
    rations: Rations,
    log: LogThrottle,
}

impl Port {
    /// Listens on an address.
    ///
    /// # Errors
    /// [`ServerError::Listen`].
    pub fn open(address: SocketAddr) -> Result<Port, ServerError> {
        listen(address)
            .and_then(|listener| Port::new(listener, CONNECTIONS))
            .map_err(|source| ServerError::Listen { address, source })
    }

    fn new(listener: TcpListener, rate: Rate) -> io::Result<Port> {
        Ok(Port {
            address: listener.local_addr()?,
            listener,
            pace: Ration::new(PACE),
            rations: Rations::new(rate),
            log: LogThrottle::default(),
        })
    }

    /// Moves it into the present runtime. From now on, an address may make connections at this rate.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn take_over(self, rate: Rate) -> io::Result<Port> {
        Port::new(TcpListener::from_std(self.listener.into_std()?)?, rate)
    }

    /// Takes connections until `stop`, each of which is served by a task of its own as long as it keeps its place.
    pub async fn serve<F: Future<Output = ()> + Send + 'static>(
        mut self,
        places: &Places,
        tasks: &TaskTracker,
        stop: &CancellationToken,
        serve: impl Fn(TcpStream, SocketAddr, Place) -> F,
    ) {
        while let Some((stream, from)) = self.next(stop).await {
            let place = places.enter(from.ip());
            let evicted = place.evicted.clone();
            let serving = serve(stream, from, place);
            tasks.spawn(async move {
                select! {
                    () = serving => {}
                    // No last words: there may be thousands of them.
                    () = evicted.cancelled() => tracing::debug!(%from, "its place went to another connection"),
                }
            });
        }
    }

    /// Accepts the next connection; `None` at `stop`.
    async fn next(&mut self, stop: &CancellationToken) -> Option<(TcpStream, SocketAddr)> {
        loop {
            if let Some(due) = self.pace.due() {
                stop.run_until_cancelled(sleep_until(due)).await?;
            }
            match stop.run_until_cancelled(self.listener.accept()).await? {
                Ok((stream, from)) => {
                    if self.admits(from) {
                        return Some((stream, from));
                    }
                    // A reset leaves nothing behind; if it fails, the drop closes all the same.
                    let _ = stream.set_zero_linger();
                }
                Err(error) => {
                    self.cannot_accept(&error);
                    stop.run_until_cancelled(sleep(ACCEPT_PAUSE)).await?;
                }
            }
        }
    }

    fn cannot_accept(&self, error: &io::Error) {
        self.log.summarise(std::time::Instant::now());
        let hint =
            if is_full(error) { "; let the process open more files (ulimit -n, LimitNOFILE)" } else { "" };
        let message = format_args!("cannot accept a connection to {}: {error}{hint}", self.address);
        self.log.warn("connections that cannot be accepted", message);
    }

    /// Counts a connection, and returns whether its address may make one now.
    fn admits(&mut self, from: SocketAddr) -> bool {
        self.pace.spend();
        let is_admitted = self.rations.take(from.ip().into());
        if !is_admitted {
            self.log.info("connections beyond an address's ration", || {
                format!("{from} is disconnected: too many connections from its address to {}", self.address)
            });
        }
        is_admitted
    }
}

/// Returns whether the process, or the system, has no file descriptor left.
fn is_full(error: &io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    cfg!(unix) && matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}

/// Listens as [`TcpListener::bind`], with a longer queue.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Elsewhere it would let another program take the port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::AsyncReadExt,
        time::{Instant, advance},
    };

    use super::*;

    fn port() -> Port {
        Port::open(([127, 0, 0, 1], 0).into()).unwrap()
    }

    fn from(last: u8) -> SocketAddr {
        ([10, 0, 0, last], 1000).into()
    }

    #[test(start_paused = true)]
    async fn a_class_is_admitted_at_once_and_a_flood_at_a_bounded_rate() {
        let mut port = port();
        let mut admitted = |tries: usize, last| (0..tries).filter(|_| port.admits(from(last))).count();
        // Sixty who begin together, and one game a second each.
        assert_eq!(admitted(60, 1), 60);
        for _ in 0..100 {
            assert_eq!(admitted(60, 1), 60);
            advance(Duration::from_secs(1)).await;
        }
        assert_eq!(admitted(10_000, 2), 256);
        assert_eq!(admitted(60, 3), 60, "others are admitted during a flood");
        advance(Duration::from_secs(1)).await;
        assert_eq!(admitted(10_000, 2), 100);
    }

    #[test(start_paused = true)]
    async fn many_addresses_are_accepted_a_few_at_a_time() {
        let (mut port, stop) = (port(), CancellationToken::new());
        let _clients = [(); 24].map(|()| std::net::TcpStream::connect(port.address).unwrap());
        let since = Instant::now();
        let mut accepted = 0;
        while accepted < 24 {
            port.next(&stop).await.unwrap();
            accepted += 1;
            assert!(accepted <= PACE.burst + (since.elapsed().as_micros() / 125) as u32, "{accepted}");
        }
    }

    /// Other systems have a limit of their own.
    #[cfg(target_os = "linux")]
    #[test]
    async fn those_who_wait_to_be_accepted_are_kept() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let expected = allowed.trim().parse::<usize>().unwrap().min(300);
        let port = port();
        let connect = || std::net::TcpStream::connect_timeout(&port.address, Duration::from_millis(900));
        let waiting: Vec<_> = (0..expected).map_while(|_| connect().ok()).collect();
        assert_eq!(waiting.len(), expected);
    }

    #[test]
    async fn an_address_that_cannot_be_listened_on_is_answered_with_what_to_do() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        // The second is for documentation, so that no machine has it.
        for (address, hint) in [
            (taken.local_addr().unwrap(), "; is another server running there?"),
            (([192, 0, 2, 1], 8000).into(), "; choose an address of this machine, such as 127.0.0.1"),
        ] {
            let error = Port::open(address).unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot listen on {address}: ")), "{error}");
            assert!(error.ends_with(hint), "{error}");
        }
    }

    #[test]
    async fn a_connection_too_many_is_reset_without_a_word() {
        let once = Rate { burst: 1, interval: Duration::from_secs(3600) };
        let (mut port, stop) = (port().take_over(once).unwrap(), CancellationToken::new());
        let first = TcpStream::connect(port.address).await.unwrap();
        let mut second = TcpStream::connect(port.address).await.unwrap();
        assert_eq!(port.next(&stop).await.unwrap().1, first.local_addr().unwrap());
        tokio::select! {
            _ = port.next(&stop) => panic!("it was admitted"),
            read = second.read_u8() => assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
        }
    }
}
