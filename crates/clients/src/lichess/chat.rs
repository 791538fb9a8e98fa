//! What we say in chat, and what we answer there.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use serde::Deserialize;

use zeitnot_seat::{Eval, Worth};
use zeitnot_wire::lichess::{Chat, ChatLine, Room};

/// The server takes no more characters in a line.
const LONGEST: usize = 140;
/// Talkers that are kept in mind; beyond that nobody new gets an answer until one is quiet again.
const TALKERS: usize = 256;

/// The `chat` table.
///
/// In texts, `{opponent}`, `{me}`, `{engine}` and `{version}` stand for what they say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// To the opponent as a game begins; empty: nothing.
    pub greeting: String,
    /// To the opponent as a game ends.
    pub farewell: String,
    /// The same to those who watch.
    pub greeting_spectators: String,
    #[allow(missing_docs)]
    pub farewell_spectators: String,
    /// What is answered.
    pub commands: Vec<Command>,
    /// So many answers to one user …
    pub answers: usize,
    /// … within this time.
    #[serde(with = "humantime_serde")]
    pub within: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            greeting: String::new(),
            farewell: String::new(),
            greeting_spectators: String::new(),
            farewell_spectators: String::new(),
            commands: vec![Command::Help, Command::Name, Command::Eval, Command::Queue],
            answers: 3,
            within: Duration::from_secs(60),
        }
    }
}

/// What can be asked, as `!name` and so on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// What can be asked?
    Help,
    /// Who plays here?
    Name,
    /// How do you stand? Answered to those who watch; the opponent would like to know as well.
    Eval,
    /// Who plays next?
    Queue,
}

impl Command {
    const ALL: [Command; 4] = [Command::Help, Command::Name, Command::Eval, Command::Queue];

    fn word(self) -> &'static str {
        match self {
            Command::Help => "!help",
            Command::Name => "!name",
            Command::Eval => "!eval",
            Command::Queue => "!queue",
        }
    }

    fn read(text: &str) -> Option<Command> {
        let word = text.split_whitespace().next()?;
        Command::ALL.into_iter().find(|command| command.word().eq_ignore_ascii_case(word))
    }
}

/// What there is to be told of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The opponent's name.
    pub opponent: String,
    /// Our own.
    pub me: String,
    /// Who thinks.
    pub engine: String,
    /// What our last search came to.
    pub eval: Option<Eval>,
    /// Who waits for a game, the next one first.
    pub queue: Vec<String>,
}

/// Chat in all games; it knows who asks too much.
#[derive(Debug)]
pub struct Talk {
    config: Config,
    answered: HashMap<String, VecDeque<Instant>>,
}

impl Talk {
    /// As the configuration says.
    pub fn new(config: Config) -> Talk {
        Talk { config, answered: HashMap::new() }
    }

    /// What is said as a game begins.
    pub fn greetings(&self, facts: &Facts) -> Vec<Chat> {
        facts
            .say([(Room::Player, &self.config.greeting), (Room::Spectator, &self.config.greeting_spectators)])
    }

    /// What is said as a game ends.
    pub fn farewells(&self, facts: &Facts) -> Vec<Chat> {
        facts
            .say([(Room::Player, &self.config.farewell), (Room::Spectator, &self.config.farewell_spectators)])
    }

    /// The answer to a line of chat, if one is due. Our own lines and the server's get none.
    pub fn hear(&mut self, line: &ChatLine, facts: &Facts, now: Instant) -> Option<Chat> {
        let user = line.username.to_ascii_lowercase();
        if user == "lichess" || user == facts.me.to_ascii_lowercase() {
            return None;
        }
        let command = Command::read(&line.text).filter(|command| self.config.commands.contains(command))?;
        let text = match command {
            Command::Help => {
                let words: Vec<_> = self.config.commands.iter().map(|command| command.word()).collect();
                format!("I answer {}.", words.join(", "))
            }
            Command::Name => format!("{}, on {} {}", facts.me, facts.engine, env!("CARGO_PKG_VERSION")),
            Command::Eval if line.room == Room::Spectator => {
                facts.eval.map_or("I have not thought yet.".into(), told)
            }
            Command::Eval => "I tell that only to those who watch.".to_owned(),
            Command::Queue if facts.queue.is_empty() => "Nobody waits.".to_owned(),
            Command::Queue => format!("Next: {}", facts.queue.join(", ")),
        };
        self.may_answer(user, now).then(|| Chat { room: line.room.clone(), text: clean(&text) })
    }

    fn may_answer(&mut self, user: String, now: Instant) -> bool {
        let Config { answers, within, .. } = self.config;
        if self.answered.len() >= TALKERS {
            let is_recent = |time: &Instant| now.saturating_duration_since(*time) < within;
            self.answered.retain(|_, times| times.back().is_some_and(is_recent));
        }
        if self.answered.len() >= TALKERS && !self.answered.contains_key(&user) {
            return false;
        }
        let times = self.answered.entry(user).or_default();
        while times.front().is_some_and(|time| now.saturating_duration_since(*time) >= within) {
            times.pop_front();
        }
        let may = times.len() < answers;
        if may {
            times.push_back(now);
        }
        may
    }
}

impl Facts {
    fn say(&self, texts: [(Room, &String); 2]) -> Vec<Chat> {
        let said = |(room, text): (Room, &String)| Chat { room, text: clean(&self.fill(text)) };
        texts.into_iter().map(said).filter(|chat| !chat.text.is_empty()).collect()
    }

    /// Puts the facts into a text. What they say is not looked into again.
    fn fill(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find('{') {
            let (before, after) = rest.split_at(at);
            out.push_str(before);
            let word = after.find('}').map(|end| &after[..=end]);
            let fact = match word {
                Some("{opponent}") => Some(self.opponent.as_str()),
                Some("{me}") => Some(self.me.as_str()),
                Some("{engine}") => Some(self.engine.as_str()),
                Some("{version}") => Some(env!("CARGO_PKG_VERSION")),
                _ => None,
            };
            // What stands for nothing stays as it is.
            let (said, length) = fact.zip(word).map_or(("{", 1), |(fact, word)| (fact, word.len()));
            out.push_str(said);
            rest = &after[length..];
        }
        out + rest
    }
}

fn told(eval: Eval) -> String {
    let Eval { worth, depth } = eval;
    match worth {
        Worth::Centipawns(cp) => format!("{:+.2} at depth {depth}", f64::from(cp) / 100.0),
        Worth::Mate(moves) if moves < 0 => format!("I am mated in {} at depth {depth}", moves.unsigned_abs()),
        Worth::Mate(moves) => format!("I mate in {moves} at depth {depth}"),
    }
}

/// One line that the server takes.
fn clean(text: &str) -> String {
    let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    printable.trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts() -> Facts {
        let name = |text: &str| text.to_owned();
        Facts { opponent: name("{me}"), me: name("Zeitnot"), engine: name("search"), ..Facts::default() }
    }

    fn line(room: Room, username: &str, text: &str) -> ChatLine {
        ChatLine { room, username: username.into(), text: text.into() }
    }

    #[test]
    fn texts_are_filled_in_once() {
        let greeting = "Hi {opponent}, I am {me} on {engine} {what} {".to_owned();
        let config = Config { greeting, farewell: " \n ".into(), ..Config::default() };
        let talk = Talk::new(config);
        let text = "Hi {me}, I am Zeitnot on search {what} {".to_owned();
        assert_eq!(talk.greetings(&facts()), [Chat { room: Room::Player, text }]);
        assert_eq!(talk.farewells(&facts()), []);
    }

    #[test]
    fn questions_are_answered() {
        let now = Instant::now();
        let mut talk = Talk::new(Config { answers: 100, ..Config::default() });
        let eval = Some(Eval { worth: Worth::Centipawns(-123), depth: 12 });
        let facts = Facts { eval, queue: vec!["a".into(), "b".into()], ..facts() };
        let mut answer = |room, user: &str, text: &str| talk.hear(&line(room, user, text), &facts, now);
        for (room, text, expected) in [
            (Room::Player, "!HELP me", Some("I answer !help, !name, !eval, !queue.")),
            (Room::Spectator, "!eval", Some("-1.23 at depth 12")),
            (Room::Player, "!eval", Some("I tell that only to those who watch.")),
            (Room::Player, "!queue", Some("Next: a, b")),
            (Room::Player, "!quit", None),
            (Room::Player, "hello", None),
            (Room::Player, "", None),
        ] {
            let expected = expected.map(|text| Chat { room: room.clone(), text: text.to_owned() });
            assert_eq!(answer(room, "bob", text), expected, "{text}");
        }
        assert_eq!(answer(Room::Player, "zeitnot", "!name"), None);
        assert_eq!(answer(Room::Player, "lichess", "!name"), None);
        assert_eq!(told(Eval { worth: Worth::Mate(-2), depth: 9 }), "I am mated in 2 at depth 9");
    }

    #[test]
    fn who_asks_too_much_is_not_answered() {
        let now = Instant::now();
        let mut talk = Talk::new(toml::from_str("answers = 2\ncommands = ['name']").unwrap());
        let mut ask = |user: &str, text: &str, seconds| {
            talk.hear(&line(Room::Player, user, text), &facts(), now + Duration::from_secs(seconds)).is_some()
        };
        assert!(ask("bob", "!name", 0) && ask("Bob", "!name", 1) && !ask("bob", "!name", 2));
        assert!(ask("eve", "!name", 2) && !ask("eve", "!help", 2));
        assert!(ask("bob", "!name", 60) && !ask("bob", "!name", 60));
        let answered = (0..1000).filter(|i| ask(&format!("u{i}"), "!name", 62)).count();
        assert!(answered <= TALKERS && talk.answered.len() <= TALKERS);
    }

    proptest! {
        #[test]
        fn whatever_is_said_fits_and_moves_no_cursor(text in "\\PC*|[{}a-z\\x00-\\x20]*", name in ".*") {
            let facts = Facts { opponent: name.clone(), queue: vec![name], ..facts() };
            let mut talk = Talk::new(Config { greeting: text.clone(), ..Config::default() });
            let mut said = talk.greetings(&facts);
            said.extend(talk.hear(&line(Room::Player, "bob", &text), &facts, Instant::now()));
            said.extend(talk.hear(&line(Room::Player, "bob", "!queue"), &facts, Instant::now()));
            for chat in said {
                prop_assert!(chat.text.chars().count() <= LONGEST && !chat.text.chars().any(char::is_control));
            }
        }
    }
}
