//! A game as its deltas so far tell it.

use std::{collections::BTreeMap, time::Duration};

use zeitnot_rules::{ByColor, Color, GameResult};

use super::delta::{Delta, HistoryDelta, MAX_OBJECTS, PlayerDelta};

/// State of a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameState {
    fen: Option<String>,
    history: Vec<String>,
    players: BTreeMap<String, PlayerDelta>,
}

impl GameState {
    /// Changes the state.
    pub fn merge(&mut self, delta: Delta) {
        let Delta { fen, history, players } = delta;
        self.fen = fen.or(self.fen.take());
        if let Some(HistoryDelta { length, moves }) = history {
            self.history.resize(length, String::new());
            for (number, mv) in moves {
                if let Some(known) = self.history.get_mut(number) {
                    *known = mv;
                }
            }
        }
        for (id, player) in players {
            if self.players.len() < MAX_OBJECTS || self.players.contains_key(&id) {
                self.players.entry(id).or_default().merge(player);
            }
        }
    }

    /// Returns the position; `None` before the first delta.
    pub fn fen(&self) -> Option<&str> {
        self.fen.as_deref()
    }

    /// Returns the moves so far. An unknown one is empty.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Returns the color of the player with this id.
    pub fn color_of(&self, id: &str) -> Option<Color> {
        self.players.get(id)?.color
    }

    /// Returns the names of both players, as far as they are known.
    pub fn names(&self) -> ByColor<String> {
        ByColor(self.of_both(|player| player.name.clone()).map(Option::unwrap_or_default))
    }

    /// Returns the time left on both clocks, unless one of them is unknown.
    pub fn left(&self) -> Option<ByColor<Duration>> {
        let [white, black] = self.of_both(|player| player.left);
        Some(ByColor([white?, black?]))
    }

    /// Returns the result, once the game is over. Both players have lost a drawn game.
    pub fn result(&self) -> Option<GameResult> {
        let won = self.of_both(|player| player.won).map(Option::unwrap_or_default);
        let lost = self.of_both(|player| player.lost).map(Option::unwrap_or_default);
        match (won, lost) {
            ([true, false], _) | ([false, false], [false, true]) => Some(GameResult::Won(Color::White)),
            ([false, true], _) | ([false, false], [true, false]) => Some(GameResult::Won(Color::Black)),
            ([false, false], [true, true]) => Some(GameResult::Draw),
            ([true, true], _) | ([false, false], [false, false]) => None,
        }
    }

    /// Returns why this player has won or lost.
    pub fn reason(&self, color: Color) -> Option<&str> {
        let player = self.player(color)?;
        let reasons = [&player.reason_won, &player.reason_lost];
        reasons.into_iter().flatten().map(String::as_str).find(|reason| !reason.is_empty())
    }

    fn player(&self, color: Color) -> Option<&PlayerDelta> {
        self.players.values().find(|player| player.color == Some(color))
    }

    fn of_both<T>(&self, part: impl Fn(&PlayerDelta) -> Option<T>) -> [Option<T>; 2] {
        Color::BOTH.map(|color| self.player(color).and_then(&part))
    }
}

impl PlayerDelta {
    fn merge(&mut self, new: PlayerDelta) {
        let old = std::mem::take(self);
        *self = PlayerDelta {
            color: new.color.or(old.color),
            name: new.name.or(old.name),
            left: new.left.or(old.left),
            won: new.won.or(old.won),
            lost: new.lost.or(old.lost),
            reason_won: new.reason_won.or(old.reason_won),
            reason_lost: new.reason_lost.or(old.reason_lost),
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        Message,
        cerveau::{
            FromServer,
            delta::{MAX_MOVE, MAX_PLIES},
        },
    };

    fn merged(deltas: &[&str]) -> GameState {
        let mut state = GameState::default();
        for data in deltas {
            let text = format!(r#"{{"event":"delta","data":{data}}}"#);
            let Ok(FromServer::Delta(delta)) = FromServer::parse(&text) else { panic!("{text}") };
            state.merge(delta);
        }
        state
    }

    const FIRST: &str = r#"{"fen":"start","history":{"&LEN":0},"gameObjects":{
        "0":{"color":"white","name":"one","timeRemaining":5000000000,"won":false,"lost":false,"reasonWon":"","reasonLost":""},
        "1":{"color":"Black","name":"two","timeRemaining":5e9,"won":false,"lost":false,"reasonWon":"","reasonLost":""}}}"#;

    #[test]
    fn a_game_from_its_deltas() {
        let second = Duration::from_secs(1);
        let state = merged(&[FIRST]);
        assert_eq!((state.fen(), state.history().len(), state.result()), (Some("start"), 0, None));
        assert_eq!(state.names().0, ["one", "two"]);
        assert_eq!(state.left(), Some(ByColor([5 * second; 2])));
        assert_eq!(
            [state.color_of("0"), state.color_of("1"), state.color_of("2")],
            [Some(Color::White), Some(Color::Black), None]
        );
        let state = merged(&[
            FIRST,
            r#"{"gameObjects":{"0":{"timeRemaining":-7}}}"#,
            r#"{"fen":"after","history":{"&LEN":1,"0":"e2e4"}}"#,
            r#"{"history":{"&LEN":3,"2":"g1f3"}}"#,
            r#"{"gameObjects":{"0":{"lost":true,"reasonLost":"Checkmated"},"1":{"won":true,"reasonWon":"Checkmate!"}}}"#,
        ]);
        assert_eq!(state.fen(), Some("after"));
        assert_eq!(state.history(), ["e2e4", "", "g1f3"]);
        assert_eq!(state.left(), Some(ByColor([Duration::ZERO, 5 * second])));
        assert_eq!(state.result(), Some(GameResult::Won(Color::Black)));
        assert_eq!(Color::BOTH.map(|color| state.reason(color)), [Some("Checkmated"), Some("Checkmate!")]);
    }

    #[test]
    fn both_lose_a_drawn_game() {
        let drawn = r#"{"gameObjects":{"0":{"lost":true},"1":{"lost":true}}}"#;
        assert_eq!(merged(&[FIRST, drawn]).result(), Some(GameResult::Draw));
        let left = r#"{"gameObjects":{"1":{"lost":true}}}"#;
        assert_eq!(merged(&[FIRST, left]).result(), Some(GameResult::Won(Color::White)));
    }

    #[test]
    fn what_is_not_a_change_changes_nothing() {
        let state = merged(&[FIRST, r#"{"history":{"&LEN":1,"0":"e2e4"}}"#]);
        for odd in [
            "{}",
            r#"{"fen":"&RM","history":"&RM","gameObjects":"&RM"}"#,
            r#"{"fen":null,"history":7,"gameObjects":[]}"#,
            r#"{"history":{"&LEN":12001},"gameObjects":{"0":"&RM","1":{"color":"red","won":"yes","timeRemaining":null}}}"#,
            r#"{"history":{"&LEN":1,"1":"e7e5","-1":"a","x":"b"}}"#,
            r#"{"history":{"0":"e7e5"}}"#,
        ] {
            let mut changed = state.clone();
            let text = format!(r#"{{"event":"delta","data":{odd}}}"#);
            let Ok(FromServer::Delta(delta)) = FromServer::parse(&text) else { panic!("{text}") };
            changed.merge(delta);
            assert_eq!(changed, state, "{odd}");
        }
    }

    #[test]
    fn a_move_is_cut() {
        let moved = format!(r#"{{"history":{{"&LEN":1,"0":"{}"}}}}"#, "x".repeat(60_000));
        assert_eq!(merged(&[FIRST, &moved]).history()[0].len(), MAX_MOVE);
    }

    proptest! {
        #[test]
        fn a_state_is_bounded(deltas in vec((0..20_000usize, 0..20_000usize, "[a-z]{0,2}", any::<bool>()), 0..40)) {
            let mut state = GameState::default();
            for (length, number, id, won) in deltas {
                let data = format!(
                    r#"{{"history":{{"&LEN":{length},"{number}":"e2e4"}},"gameObjects":{{"{id}":{{"won":{won}}}}}}}"#
                );
                let parsed = FromServer::parse(&format!(r#"{{"event":"delta","data":{data}}}"#));
                let Ok(FromServer::Delta(delta)) = parsed else { panic!() };
                state.merge(delta);
                prop_assert!(state.history.len() <= MAX_PLIES && state.players.len() <= MAX_OBJECTS);
            }
        }
    }
}
