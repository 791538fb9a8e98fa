//! A server that is asked for moves: it answers as it is told to, well or badly, and counts.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::sleep,
};
use zeitnot_net::http::BaseUrl;

/// Behaviour of the server.
#[derive(Clone, Debug)]
pub enum Manner {
    Says(u16, String),
    /// To another server.
    Redirects(String),
    SaysLate(Duration, String),
    /// Neither an answer nor an end.
    Hangs,
    /// The connection breaks behind the first words.
    Breaks,
    /// Ten MiB.
    Endless,
    /// One line at once, and then nothing more, without an end.
    Streams(String),
}

pub struct StandIn {
    pub url: BaseUrl,
    manner: Arc<Mutex<Manner>>,
    asked: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl StandIn {
    pub async fn start(manner: Manner) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = BaseUrl::try_from(format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let manner = Arc::new(Mutex::new(manner));
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let mut task = JoinSet::new();
        let shared = (manner.clone(), asked.clone());
        task.spawn(async move {
            let mut served = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (manner, asked) = shared.clone();
                served.spawn(serve(stream, manner, asked));
            }
        });
        StandIn { url, manner, asked, _task: task }
    }

    pub fn now(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// The heads of all requests so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, manner: Arc<Mutex<Manner>>, asked: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(stream.read_line(&mut head).await, Ok(1..)) {
                return;
            }
        }
        asked.lock().unwrap().push(head);
        let manner = manner.lock().unwrap().clone();
        let streams = matches!(manner, Manner::Streams(_));
        let location = match &manner {
            Manner::Redirects(url) => format!("Location: {url}\r\n"),
            _ => String::new(),
        };
        let (status, length, body) = match manner {
            Manner::Says(status, body) => (status, body.len(), body),
            Manner::Redirects(_) => (302, 0, String::new()),
            Manner::SaysLate(late, body) => {
                sleep(late).await;
                (200, body.len(), body)
            }
            Manner::Hangs => return std::future::pending().await,
            Manner::Breaks => (200, 1000, r#"{"moves":["#.to_owned()),
            Manner::Endless => (200, 10 << 20, " ".repeat(10 << 20)),
            Manner::Streams(line) => (200, 1 << 20, line + "\n"),
        };
        let whole = length == body.len();
        let text = format!("HTTP/1.1 {status} X\r\n{location}Content-Length: {length}\r\n\r\n{body}");
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
        match whole {
            true => {}
            false if streams => return std::future::pending().await,
            false => return,
        }
    }
}
