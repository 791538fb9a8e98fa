//! Says things in chat, one after the other: no game waits for what is said.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use tokio::{
    select,
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;

use zeitnot_wire::lichess::{Chat, ChatLine, Form, GameId};

use super::{
    chat::{Config, Facts, Talk},
    http::Http,
    limits::Kind,
};

/// Words of the games that may wait to be heard; they are heard at once, so more is a flood.
const HEARD: usize = 64;
/// Lines that may wait to be said.
const DUE: usize = 64;
/// What takes longer than this is not said: nobody waits for it any more.
const MOMENT: Duration = Duration::from_secs(5);
/// So many games are kept in mind as greeted: one that sleeps and wakes is not greeted again.
const GREETED: usize = 256;

/// What a game has to do with chat.
#[derive(Debug)]
enum Occasion {
    Begun,
    Ended,
    Said(ChatLine),
}

/// Where the games of an account bring what is to be said.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    words: mpsc::Sender<(GameId, Facts, Occasion)>,
    /// Who waits for a game; the account alone tells.
    queue: watch::Sender<Vec<String>>,
}

impl Voice {
    /// A voice, and its work: it ends when all is said and nobody can bring more.
    pub fn start(config: Config, http: Http) -> (Voice, AbortOnDropHandle<()>) {
        let ((words, heard), (queue, waiting)) = (mpsc::channel(HEARD), watch::channel(Vec::new()));
        let (due, greeted) = (VecDeque::new(), VecDeque::new());
        let speaker = Speaker { talk: Talk::new(config), http, waiting, due, greeted };
        (Voice { words, queue }, AbortOnDropHandle::new(tokio::spawn(speaker.run(heard))))
    }

    /// A game begins.
    pub fn greet(&self, id: GameId, facts: Facts) {
        self.bring(id, facts, Occasion::Begun);
    }

    /// A game is over.
    pub fn farewell(&self, id: GameId, facts: Facts) {
        self.bring(id, facts, Occasion::Ended);
    }

    /// Somebody has said something in a game.
    pub fn hear(&self, id: GameId, facts: Facts, line: ChatLine) {
        self.bring(id, facts, Occasion::Said(line));
    }

    /// Who waits for a game, the next one first.
    pub fn queue(&self, names: Vec<String>) {
        self.queue.send_if_modified(|before| {
            let is_new = *before != names;
            *before = names;
            is_new
        });
    }

    fn bring(&self, id: GameId, facts: Facts, occasion: Occasion) {
        if self.words.try_send((id, facts, occasion)).is_err() {
            debug!("too much is said at once; this is passed over");
        }
    }
}

/// The owner of all that is said.
struct Speaker {
    talk: Talk,
    http: Http,
    waiting: watch::Receiver<Vec<String>>,
    due: VecDeque<(GameId, Chat)>,
    greeted: VecDeque<GameId>,
}

impl Speaker {
    async fn run(mut self, mut heard: mpsc::Receiver<(GameId, Facts, Occasion)>) {
        let mut saying = JoinSet::new();
        loop {
            if saying.is_empty()
                && let Some((id, chat)) = self.due.pop_front()
            {
                saying.spawn(say(self.http.clone(), id, chat));
            }
            select! {
                Some((id, facts, occasion)) = heard.recv() => self.hear(id, facts, occasion),
                Some(_) = saying.join_next() => {}
                else => return,
            }
        }
    }

    fn hear(&mut self, id: GameId, facts: Facts, occasion: Occasion) {
        let facts = Facts { queue: self.waiting.borrow().clone(), ..facts };
        let said = match occasion {
            Occasion::Begun if self.greeted.contains(&id) => Vec::new(),
            Occasion::Begun => {
                self.greeted.truncate(GREETED - 1);
                self.greeted.push_front(id);
                self.talk.greetings(&facts)
            }
            Occasion::Ended => self.talk.farewells(&facts),
            Occasion::Said(line) => self.talk.hear(&line, &facts, Instant::now()).into_iter().collect(),
        };
        for chat in said {
            if self.due.len() < DUE {
                self.due.push_back((id, chat));
            } else {
                debug!("too much waits to be said; this is not: {:?}", chat.text);
            }
        }
    }
}

/// Says one line. That it was not said is of no matter to the game: some opponents and some servers take none.
async fn say(http: Http, id: GameId, chat: Chat) {
    let path = format!("api/bot/game/{id}/chat");
    match timeout(MOMENT, http.post(Kind::Chat, &path, Some(chat.to_form()))).await {
        Ok(Ok(())) => debug!("said in {id}: {:?}", chat.text),
        Ok(Err(error)) => debug!("cannot chat in {id}: {error}"),
        Err(_) => debug!("cannot chat in {id}: no answer in time"),
    }
}
