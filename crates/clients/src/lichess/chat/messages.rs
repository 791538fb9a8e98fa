//! Messages in chat: what to say, and to whom. No I/O and no clock.

use std::time::{Duration, Instant};

use serde::{Deserialize, Deserializer, de::Error};
use zeitnot_settings::{HumanTime, settings};
use zeitnot_wire::lichess::{Chat, ChatLine, Room};

use super::{
    commands::Command,
    facts::{AccountFacts, GameFacts},
    limits::AnswerLimits,
};

/// The server's limit for a line.
const MAX_CHARS: usize = 140;
/// Words in messages that stand for facts of the game.
const PLACEHOLDERS: [&str; 4] = ["{opponent}", "{me}", "{engine}", "{version}"];

settings! {
    /// Messages in games.
    #[derive(PartialEq, Eq)]
    pub struct Config {
        /// To the opponent when a game begins, such as "Good luck, {opponent}! I am {me}. Ask me: !help"
        #[serde(deserialize_with = "message")]
        hello: String = String::new(),
        /// To the opponent when a game ends.
        #[serde(deserialize_with = "message")]
        goodbye: String = String::new(),
        /// To spectators when a game begins.
        #[serde(deserialize_with = "message")]
        hello_spectators: String = String::new(),
        /// To spectators when a game ends.
        #[serde(deserialize_with = "message")]
        goodbye_spectators: String = String::new(),
        /// Commands that are answered, such as !help; !eval only to spectators, !wait only to the opponent.
        commands: Vec<Command> = Command::ALL.to_vec(),
        /// Time that !wait gives the opponent for the first move, once a game.
        #[serde(with = "HumanTime")]
        wait_time: Duration = Duration::from_secs(60),
        /// Maximum number of answers to one person within `answer_window`.
        max_answers: usize = 3,
        /// Maximum number of answers to all opponents together within `answer_window`, and to all spectators together.
        max_answers_in_total: usize = 30,
        /// Time in which answers are counted.
        #[serde(with = "HumanTime")]
        #[schemars(extend("x-min" = "1ms"))]
        answer_window: Duration = Duration::from_secs(60),
    }
}

impl Config {
    /// Returns the time that `!wait` gives, if the command is answered.
    pub(crate) fn wait_time(&self) -> Option<Duration> {
        self.commands.contains(&Command::Wait).then_some(self.wait_time)
    }
}

/// Reads a message, in which no placeholder is misspelt.
fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let unknown = words_in_braces(&text).find(|(_, word)| !PLACEHOLDERS.contains(word));
    if let Some((_, word)) = unknown {
        let known = PLACEHOLDERS.join(", ");
        return Err(D::Error::custom(format!("unknown placeholder {word}; known: {known}")));
    }
    Ok(text)
}

/// Returns words such as `{me}`, each with its place; other braces are text.
fn words_in_braces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |inner: &str| {
        !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    text.match_indices('{').filter_map(move |(at, _)| {
        let (_, after) = text.split_at(at + 1);
        let end = after.find('}').filter(|end| is_word(&after[..*end]))?;
        Some((at, &text[at..at + end + 2]))
    })
}

/// Composes the messages of an account.
#[derive(Debug)]
pub(crate) struct Messages {
    config: Config,
    limits: AnswerLimits,
}

impl Messages {
    pub(crate) fn new(config: Config) -> Messages {
        let Config { max_answers, max_answers_in_total, answer_window, .. } = config;
        let limits = AnswerLimits::new(max_answers, max_answers_in_total, answer_window);
        Messages { config, limits }
    }

    pub(crate) fn hello(&self, facts: &GameFacts) -> Vec<Chat> {
        facts.compose([(Room::Player, &self.config.hello), (Room::Spectator, &self.config.hello_spectators)])
    }

    pub(crate) fn goodbye(&self, facts: &GameFacts) -> Vec<Chat> {
        facts.compose([
            (Room::Player, &self.config.goodbye),
            (Room::Spectator, &self.config.goodbye_spectators),
        ])
    }

    /// Returns the answer to a line, if one is due. Our own lines and the server's get none.
    pub(crate) fn answer(
        &mut self,
        line: &ChatLine,
        facts: &GameFacts,
        account: &AccountFacts,
        now: Instant,
    ) -> Option<Chat> {
        let user = line.username.to_ascii_lowercase();
        if user == "lichess" || user == facts.me.to_ascii_lowercase() {
            return None;
        }
        let commands = &self.config.commands;
        let command = Command::parse(&line.text).filter(|command| commands.contains(command))?;
        let text = command.answer(line, commands, facts, account);
        let chat = || Chat { room: line.room.clone(), text: clean(&text) };
        self.limits.admit(&line.room, user, now).then(chat)
    }
}

impl GameFacts {
    fn compose(&self, messages: [(Room, &String); 2]) -> Vec<Chat> {
        let chat = |(room, text): (Room, &String)| Chat { room, text: clean(&self.fill(text)) };
        messages.into_iter().map(chat).filter(|chat| !chat.text.is_empty()).collect()
    }

    /// Replaces the placeholders. Those in the facts themselves stay.
    fn fill(&self, text: &str) -> String {
        let (mut out, mut end) = (String::new(), 0);
        for (at, word) in words_in_braces(text) {
            let fact = match word {
                "{opponent}" => &self.opponent,
                "{me}" => &self.me,
                "{engine}" => &self.engine,
                "{version}" => env!("CARGO_PKG_VERSION"),
                _ => continue,
            };
            out += &text[end..at];
            out += fact;
            end = at + word.len();
        }
        out + &text[end..]
    }
}

/// Makes one line that the server takes.
fn clean(text: &str) -> String {
    let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = printable.trim();
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(MAX_CHARS - 1).collect();
    let end = cut.rfind(' ').map_or(cut.len(), |space| space + 1);
    format!("{}…", &cut[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts() -> GameFacts {
        let name = |text: &str| text.to_owned();
        GameFacts {
            opponent: name("{me}"),
            me: name("Zeitnot"),
            engine: name("search"),
            ..GameFacts::default()
        }
    }

    fn line(room: Room, username: &str, text: &str) -> ChatLine {
        ChatLine { room, username: username.into(), text: text.into() }
    }

    #[test]
    fn placeholders_are_replaced_once() {
        let greeting = "Hi {opponent}, I am {me} on {engine} {what ever} {".to_owned();
        let config = Config { hello: greeting, goodbye: " \n ".into(), ..Config::default() };
        let messages = Messages::new(config);
        let text = "Hi {me}, I am Zeitnot on search {what ever} {".to_owned();
        assert_eq!(messages.hello(&facts()), [Chat { room: Room::Player, text }]);
        assert_eq!(messages.goodbye(&facts()), []);
    }

    #[test]
    fn every_placeholder_stands_for_something_and_no_other_word_is_taken() {
        let facts = facts();
        assert!(PLACEHOLDERS.iter().all(|word| facts.fill(word) != *word));
        let read = |hello: &str| toml::from_str::<Config>(&format!("hello = '{hello}'"));
        for fine in ["Hi {opponent}{me}", "{ }", "{}", "{:)}", "{ {me}", "}{"] {
            assert!(read(fine).is_ok(), "{fine}");
        }
        for wrong in ["Hi {oponent}!", "{{Me}", "{my-name}"] {
            assert!(read(wrong).unwrap_err().message().starts_with("unknown placeholder {"), "{wrong}");
        }
    }

    #[test]
    fn only_commands_of_others_are_answered() {
        let now = Instant::now();
        let mut messages = Messages::new(Config { max_answers: 100, ..Config::default() });
        let mut answer = |user: &str, text: &str| {
            messages.answer(&line(Room::Spectator, user, text), &facts(), &AccountFacts::default(), now)
        };
        let text = "Nobody is waiting.".to_owned();
        assert_eq!(answer("bob", "!QUEUE please"), Some(Chat { room: Room::Spectator, text }));
        for (user, text) in
            [("bob", "!quit"), ("bob", "hello"), ("bob", ""), ("zeitnot", "!name"), ("lichess", "!name")]
        {
            assert_eq!(answer(user, text), None, "{user}: {text}");
        }
    }

    #[test]
    fn a_long_line_is_cut_at_a_word() {
        let text = "standard, ".repeat(20);
        let cut = clean(&text);
        assert!(cut.ends_with("standard, …") && cut.chars().count() <= MAX_CHARS, "{cut}");
        assert_eq!(clean(&"a".repeat(200)).chars().count(), MAX_CHARS);
        assert_eq!(clean(&"a".repeat(140)), "a".repeat(140));
    }

    #[test]
    fn only_answers_count_and_names_have_no_case() {
        let now = Instant::now();
        let mut messages = Messages::new(toml::from_str("max_answers = 2\ncommands = ['name']").unwrap());
        let mut ask = |user: &str, text: &str| {
            let account = AccountFacts::default();
            messages.answer(&line(Room::Player, user, text), &facts(), &account, now).is_some()
        };
        assert!(!ask("bob", "!help") && ask("bob", "!name") && ask("Bob", "!name") && !ask("bob", "!name"));
    }

    proptest! {
        #[test]
        fn messages_are_short_and_without_control_characters(text in "\\PC*|[{}a-z\\x00-\\x20]*", name in ".*") {
            let facts = GameFacts { opponent: name.clone(), ..facts() };
            let account = AccountFacts { queue: vec![name], ..AccountFacts::default() };
            let mut messages = Messages::new(Config { hello: text.clone(), ..Config::default() });
            let mut said = messages.hello(&facts);
            for text in [&text, "!queue"] {
                let line = line(Room::Player, "bob", text);
                said.extend(messages.answer(&line, &facts, &account, Instant::now()));
            }
            for chat in said {
                prop_assert!(chat.text.chars().count() <= MAX_CHARS && !chat.text.chars().any(char::is_control));
            }
        }
    }
}
