//! Games of a bot on other servers, as its reports tell them.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;
use zeitnot_rules::{ByColor, Color, DynGame, GameKind, GameResult, MoveText, TimeControl};

use super::{
    feed::{Feed, LiveGame},
    view::{BotView, Person, Source, Thought},
};
use crate::game_info::GameInfo;
use zeitnot_referee::{Allowance, Referee, RefereeRules};

/// Games at once; the one that was silent for longest makes room.
const MAX_GAMES: usize = 64;

/// State of a game that the bot plays on a server.
#[derive(Clone, Debug)]
pub struct BotGame {
    /// Id, unique among the bot's games.
    pub id: String,
    /// Address of the game, or of its server.
    pub site: String,
    /// Rules.
    pub kind: GameKind,
    /// Position at the start; `None`: the usual one.
    pub start: Option<String>,
    /// Both players.
    pub players: ByColor<Person>,
    /// Time control, if the server tells it.
    pub time_control: Option<TimeControl>,
    /// Moves so far, as the game writes them.
    pub moves: Vec<MoveText>,
    /// Time left on both clocks.
    pub left: Option<ByColor<Duration>>,
    /// Thought of a side about the move after so many plies.
    pub thought: Option<(usize, Color, Thought)>,
    /// Result, and the words of the server about it, once the game is over.
    pub end: Option<(Option<GameResult>, String)>,
}

/// Shows the games of a bot, and what else is known of it, on its page.
#[derive(Debug)]
pub struct BotFeed {
    feed: Feed,
    games: HashMap<String, Followed>,
}

#[derive(Debug)]
struct Followed {
    referee: Referee<DynGame>,
    live: LiveGame,
    heard: Instant,
}

impl BotFeed {
    /// Creates the feed of a bot without games.
    pub fn new(feed: Feed) -> BotFeed {
        BotFeed { feed, games: HashMap::new() }
    }

    /// Shows the state of the bot. Returns whether there was room for it.
    pub fn show(&self, view: BotView) -> bool {
        self.feed.bot(view)
    }

    /// Shows the state of a game. What cannot be followed is not shown.
    pub fn update(&mut self, game: BotGame) {
        let now = Instant::now();
        let Some(followed) = self.follow(&game, now) else { return };
        followed.heard = now;
        followed.catch_up(&game, now);
        if let Some((ply, side, thought)) = game.thought {
            self.feed.thoughts().report(game.id.clone(), ply, side, thought);
        }
        if let Some((result, words)) = game.end
            && let Some(Followed { referee, mut live, .. }) = self.games.remove(&game.id)
        {
            let termination = if result.is_some() { "normal" } else { "unterminated" };
            live.ended(result, words, termination, &referee, now);
        }
    }

    /// Finds a game, or begins to follow it.
    fn follow(&mut self, game: &BotGame, now: Instant) -> Option<&mut Followed> {
        if !self.games.contains_key(&game.id) {
            // The last words of one that was not followed.
            if game.end.is_some() {
                return None;
            }
            let board = DynGame::begin(game.kind, game.start.as_deref()).ok()?;
            let info = GameInfo {
                id: game.id.as_str().into(),
                site: Some(game.site.clone()),
                players: game.players.clone(),
                time_control: game.time_control,
                ..GameInfo::new(Source::Bot, &board, ByColor(["", ""]))
            };
            let of_game = |left| {
                let unknown = TimeControl { initial: left, increment: Duration::ZERO };
                Allowance::Game(game.time_control.unwrap_or(unknown))
            };
            let allowance = |color| game.left.map_or(Allowance::Unlimited, |left| of_game(left[color]));
            let allowances = ByColor(Color::BOTH.map(allowance));
            let referee = Referee::new(board, allowances, RefereeRules::default(), now);
            let live = self.feed.begin(info.into(), &referee, now);
            if self.games.len() >= MAX_GAMES {
                let silent = self.games.iter().min_by_key(|(_, followed)| followed.heard);
                if let Some(id) = silent.map(|(id, _)| id.clone()) {
                    self.games.remove(&id);
                }
            }
            self.games.insert(game.id.clone(), Followed { referee, live, heard: now });
        }
        self.games.get_mut(&game.id)
    }
}

impl Followed {
    /// Takes moves back and plays others, until the moves are those of the report.
    fn catch_up(&mut self, game: &BotGame, now: Instant) {
        let Followed { referee, live, .. } = self;
        let same = |(ours, theirs): &(&MoveText, &MoveText)| ours == theirs;
        let known = referee.board.moves().iter().zip(&game.moves).take_while(same).count();
        if known < referee.board.moves().len() {
            referee.board.truncate(known);
            referee.plies.truncate(known);
            live.changed(referee, now);
        }
        for (ply, mv) in game.moves.iter().enumerate().skip(known) {
            let mover = referee.turn();
            let is_last = ply + 1 == game.moves.len();
            let left = game.left.filter(|_| is_last).map(|left| left[mover]);
            if referee.replay(mv.as_str(), left, None).is_err() {
                return;
            }
            set_clocks(referee, game, now);
            live.moved(referee, now);
        }
        if known == game.moves.len() {
            set_clocks(referee, game, now);
            set_time_left(referee, game);
        }
    }
}

/// Sets the clocks as they were reported. That of the side to move runs from the first move on.
fn set_clocks(referee: &mut Referee<DynGame>, game: &BotGame, now: Instant) {
    if let Some(left) = game.left {
        referee.clock.set(left);
        if !referee.plies.is_empty() && game.end.is_none() {
            referee.clock.start(referee.turn(), now);
        }
    }
}

/// Corrects the time left after the last move: most servers tell the clocks only after the move.
fn set_time_left(referee: &mut Referee<DynGame>, game: &BotGame) {
    let (mover, Some(left)) = (!referee.turn(), game.left) else { return };
    if let Some(last) = referee.plies.last_mut().filter(|last| last.left != Some(left[mover])) {
        Arc::make_mut(last).left = Some(left[mover]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Event;

    fn game(moves: &str, end: Option<GameResult>) -> BotGame {
        BotGame {
            id: "lichess.org/abcdefgh".into(),
            site: "https://lichess.org/abcdefgh".into(),
            kind: GameKind::Chess,
            start: None,
            players: ByColor(["zeitnot", "bob"].map(Person::named)),
            time_control: "180+2".parse().ok(),
            moves: moves.split_whitespace().filter_map(MoveText::new).collect(),
            left: Some(ByColor([Duration::from_secs(170), Duration::from_secs(180)])),
            thought: None,
            end: end.map(|end| (Some(end), "mate".into())),
        }
    }

    #[test]
    fn moves_are_followed_and_taken_back() {
        let (feed, mut events) = Feed::channel();
        let mut bot = BotFeed::new(feed);
        for moves in ["", "e2e4", "e2e4 e7e5 g1f3", "e2e4", "e2e4 c7c5", "e2e4 c7c5 nonsense"] {
            bot.update(game(moves, None));
        }
        bot.update(game("e2e4 c7c5 g1f3", Some(GameResult::Won(Color::White))));
        // Late words about it begin no new game.
        bot.update(game("e2e4 c7c5 g1f3", Some(GameResult::Won(Color::White))));
        let mut told = Vec::new();
        while let Ok(event) = events.try_recv() {
            told.push(match event {
                Event::Whole { plies, .. } => format!("whole {}", plies.len()),
                Event::Moved { ply, .. } => format!("move {ply}"),
                Event::Ended(_) => "end".to_owned(),
                _ => "other".to_owned(),
            });
        }
        assert_eq!(told, ["whole 0", "move 1", "move 2", "move 3", "whole 1", "move 2", "move 3", "end"]);
        assert!(bot.games.is_empty());
    }

    #[test]
    fn clocks_that_come_after_a_move_are_those_of_the_move() {
        let (feed, mut events) = Feed::channel();
        let mut bot = BotFeed::new(feed);
        let left = |seconds| Some(ByColor([Duration::from_secs(seconds), Duration::from_secs(180)]));
        for (moves, seconds) in [("", 180), ("e2e4", 180), ("e2e4", 170), ("e2e4 e7e5", 170)] {
            bot.update(BotGame { left: left(seconds), ..game(moves, None) });
        }
        bot.update(game("e2e4 e7e5", Some(GameResult::Draw)));
        let ended = std::iter::from_fn(|| events.try_recv().ok()).find_map(|event| match event {
            Event::Ended(game) => game.end.get().map(|end| end.plies.clone()),
            _ => None,
        });
        let left: Vec<_> = ended.unwrap().iter().map(|made| made.left.map(|left| left.as_secs())).collect();
        assert_eq!(left, [Some(170), Some(180)]);
    }

    #[test]
    fn games_are_bounded() {
        let (feed, _events) = Feed::channel();
        let mut bot = BotFeed::new(feed);
        for number in 0..2 * MAX_GAMES {
            bot.update(BotGame { id: number.to_string(), ..game("e2e4", None) });
        }
        assert_eq!(bot.games.len(), MAX_GAMES);
        bot.update(BotGame { id: "x".into(), start: Some("nonsense".into()), ..game("", None) });
        assert_eq!(bot.games.len(), MAX_GAMES);
    }
}
