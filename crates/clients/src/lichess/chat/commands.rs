//! Commands in chat, and the answers to them. No I/O and no clock.

use serde::{Deserialize, Serialize};
use zeitnot_seat::{Eval, EvalScore};
use zeitnot_settings::{JsonSchema, schemars};
use zeitnot_wire::lichess::{ChatLine, Room};

use super::facts::{AccountFacts, GameFacts};

/// Commands of users, as `!help` and so on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Lists the commands.
    Help,
    /// Names the bot and its engine.
    Name,
    /// Tells the evaluation, to spectators only.
    Eval,
    /// Names those who wait for a game.
    Queue,
    /// Asks for more time for the first move, which only the opponent can.
    Wait,
    /// Tells which speeds and modes are accepted.
    Challenge,
    /// Tells which variants are accepted.
    Variants,
}

impl Command {
    pub(super) const ALL: [Command; 7] = [
        Command::Help,
        Command::Name,
        Command::Eval,
        Command::Queue,
        Command::Wait,
        Command::Challenge,
        Command::Variants,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Command::Help => "!help",
            Command::Name => "!name",
            Command::Eval => "!eval",
            Command::Queue => "!queue",
            Command::Wait => "!wait",
            Command::Challenge => "!challenge",
            Command::Variants => "!variants",
        }
    }

    /// Returns the command that a line begins with.
    pub(crate) fn parse(text: &str) -> Option<Command> {
        let word = text.split_whitespace().next()?;
        Command::ALL.into_iter().find(|command| command.as_str().eq_ignore_ascii_case(word))
    }

    /// Returns whether the opponent, or a spectator, may ask for it.
    fn is_for(self, is_opponent: bool) -> bool {
        match self {
            Command::Eval => !is_opponent,
            Command::Wait => is_opponent,
            _ => true,
        }
    }

    /// Returns the answer to the user of a line. `commands` are those that are answered.
    pub(super) fn answer(
        self,
        line: &ChatLine,
        commands: &[Command],
        game: &GameFacts,
        account: &AccountFacts,
    ) -> String {
        let is_opponent = is_opponent(line, &game.opponent);
        match self {
            Command::Eval if !self.is_for(is_opponent) => "Only spectators can ask for that.".to_owned(),
            Command::Wait if !self.is_for(is_opponent) => "Only my opponent can ask for that.".to_owned(),
            Command::Help => {
                let commands = commands.iter().filter(|command| command.is_for(is_opponent));
                format!(
                    "Commands: {}",
                    commands.map(|command| command.as_str()).collect::<Vec<_>>().join(", ")
                )
            }
            Command::Name => {
                format!("{} running {} (Zeitnot {})", game.me, game.engine, env!("CARGO_PKG_VERSION"))
            }
            Command::Eval => game.eval.map_or("No evaluation yet.".into(), eval_text),
            Command::Queue if account.queue.is_empty() => "Nobody is waiting.".to_owned(),
            Command::Queue => format!("Waiting: {}", account.queue.join(", ")),
            Command::Wait => match game.granted {
                Some(time) => format!("I will wait {} s for your first move.", time.as_secs()),
                None => "I wait only for your first move, and only once.".to_owned(),
            },
            Command::Challenge => account.challenges.clone(),
            Command::Variants => account.variants.clone(),
        }
    }
}

/// Returns whether the opponent of a game wrote a line; in the spectators' room, under the same name.
pub(crate) fn is_opponent(line: &ChatLine, opponent: &str) -> bool {
    line.room != Room::Spectator || line.username.eq_ignore_ascii_case(opponent)
}

fn eval_text(eval: Eval) -> String {
    let Eval { score, depth } = eval;
    match score {
        EvalScore::Centipawns(cp) => format!("Evaluation: {:+.2} (depth {depth})", f64::from(cp) / 100.0),
        EvalScore::Mate(moves) if moves < 0 => {
            format!("I will be mated in {} (depth {depth})", moves.unsigned_abs())
        }
        EvalScore::Mate(moves) => format!("I will mate in {moves} (depth {depth})"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn commands_are_answered_to_those_who_may_ask() {
        let game = GameFacts {
            opponent: "Bob".into(),
            me: "Zeitnot".into(),
            engine: "search".into(),
            eval: Some(Eval { score: EvalScore::Centipawns(-123), depth: 12 }),
            granted: None,
        };
        let account = AccountFacts {
            queue: vec!["a".into(), "b".into()],
            challenges: "I accept blitz (rated).".into(),
            variants: "I accept standard.".into(),
        };
        let secret = "Only spectators can ask for that.";
        for (room, user, text, expected) in [
            (Room::Player, "Bob", "!HELP me", "Commands: !help, !name, !queue, !wait, !challenge, !variants"),
            (Room::Spectator, "Eve", "!help", "Commands: !help, !name, !eval, !queue, !challenge, !variants"),
            (Room::Spectator, "Eve", "!eval", "Evaluation: -1.23 (depth 12)"),
            (Room::Player, "Bob", "!eval", secret),
            // The opponent in the spectators' room.
            (Room::Spectator, "bob", "!eval", secret),
            (Room::Player, "Bob", "!queue", "Waiting: a, b"),
            (Room::Spectator, "Eve", "!wait", "Only my opponent can ask for that."),
            (Room::Player, "Bob", "!wait", "I wait only for your first move, and only once."),
            (Room::Spectator, "Eve", "!challenge", "I accept blitz (rated)."),
            (Room::Player, "Bob", "!variants", "I accept standard."),
        ] {
            let line = ChatLine { room, username: user.into(), text: text.into() };
            let command = Command::parse(&line.text).unwrap();
            assert_eq!(command.answer(&line, &Command::ALL, &game, &account), expected, "{text}");
        }
        let line = ChatLine { room: Room::Player, username: "Bob".into(), text: "!wait".into() };
        let granted = GameFacts { granted: Some(Duration::from_secs(60)), ..game };
        let answer = Command::Wait.answer(&line, &Command::ALL, &granted, &account);
        assert_eq!(answer, "I will wait 60 s for your first move.");
        assert_eq!(
            eval_text(Eval { score: EvalScore::Mate(-2), depth: 9 }),
            "I will be mated in 2 (depth 9)"
        );
    }
}
