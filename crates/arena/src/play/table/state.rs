//! Views of a table: facts for the live feed, and the state that each player sees.

use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use zeitnot_rules::{ByColor, Color};

use super::Table;
use crate::{
    database::moment,
    live::{
        Header,
        view::{Clocks, Game, GameState, GameSummary, Person, Source},
    },
    play::{
        request::Sitter,
        view::{Can, LegalMove, TableState, millis},
    },
};

impl Table {
    pub(super) fn players(&self) -> ByColor<Person> {
        ByColor(Color::BOTH.map(|color| person(self.seats[color].sitter)))
    }

    /// Returns the facts about the game for the live feed.
    pub(super) fn header(&self) -> Header {
        Header {
            id: self.id.to_string(),
            source: Source::Table,
            kind: self.kind,
            tournament: None,
            number: None,
            players: self.players(),
            time_control: self.time_control,
            start_fen: self.extra.start_fen.clone(),
            repeats: None,
            started: self.started,
        }
    }

    fn clocks(&self, now: Instant) -> Option<Clocks> {
        let clock = &self.referee.clock;
        let left = |color| clock.left(color, now).map(millis);
        Some(Clocks {
            white_ms: left(Color::White)?,
            black_ms: left(Color::Black)?,
            running: clock.running(),
        })
    }

    fn game(&self, now: Instant) -> Game {
        let (extra, ending) = (&self.extra, self.referee.ending);
        let ByColor([white, black]) = self.players();
        let summary = GameSummary {
            id: self.id.to_string(),
            source: Source::Table,
            kind: self.kind.name().to_owned(),
            tournament: None,
            round: None,
            white,
            black,
            time_control: self.time_control.map(|it| it.to_string()),
            state: if ending.is_some() { GameState::Ended } else { GameState::Running },
            result: ending.map(|ending| ending.result_text().to_owned()),
            reason: ending.map(|ending| ending.cause.to_string()),
            fen: extra.moves.last().map_or_else(|| extra.start_fen.clone(), |made| made.fen.clone()),
            last_move: extra.moves.last().map(|made| made.uci.clone()),
            clocks: self.clocks(now),
            ply: extra.moves.len(),
            started: moment(self.started),
        };
        Game {
            summary,
            start_fen: extra.start_fen.clone(),
            plies: extra.plies(&self.referee.plies),
            number: None,
            termination: ending.map(|ending| ending.cause.termination().to_owned()),
            repeats: None,
            result_at_board: None,
            note: None,
        }
    }

    /// Prints the state for one side.
    pub(super) fn print(&self, you: Color, now: Instant) -> Utf8Bytes {
        serde_json::to_string(&self.state(you, now)).unwrap_or_default().into()
    }

    fn state(&self, you: Color, now: Instant) -> TableState {
        let side = |is: &dyn Fn(Color) -> bool| Color::BOTH.into_iter().find(|color| is(*color));
        let legal = match self.can_move(you) {
            true => self.referee.board.game.legal_moves(),
            false => Vec::new(),
        };
        TableState {
            game: self.game(now),
            you,
            legal: legal.into_iter().map(|(uci, san)| LegalMove { uci: uci.to_string(), san }).collect(),
            draw_offer: side(&|color| self.referee.offers_draw(color)),
            takeback_offer: side(&|color| self.referee.asks_takeback(color)),
            rematch_offer: side(&|color| self.seats[color].wants_rematch),
            opponent_here: self.seats[!you].is_there(),
            can: Can {
                takeback: self.can_take_back(you),
                draw: self.can_offer_draw(you),
                rematch: self.is_over() && !self.seats[you].wants_rematch,
            },
        }
    }
}

fn person(sitter: Sitter) -> Person {
    let (name, bot) = match sitter {
        Sitter::Human => ("Guest".to_owned(), false),
        Sitter::Bot(level) => (format!("zeitnot (level {level})"), true),
    };
    Person { name, rating: None, bot: Some(bot) }
}
