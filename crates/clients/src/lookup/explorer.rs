//! The opening explorer: moves played by masters, on Lichess, or by one player.

use std::cmp::Reverse;

use zeitnot_net::http::ReadUntil;
use zeitnot_rules::{Color, GameKind};
use zeitnot_seat::{PositionQuery, Suggestion};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Explored, ExploredMove, Speed},
};

use super::{
    Database, Explorer, Selection,
    service::{Api, Request},
};

/// Moves that the server lists at most.
const MOVES: usize = 12;

impl Api for Explorer {
    fn request(&self, query: &PositionQuery) -> Option<Request> {
        if query.game != GameKind::Chess {
            return None;
        }
        let mut parameters = vec![("fen", query.fen.clone()), ("moves", MOVES.to_string())];
        if self.source != Database::Masters {
            parameters.push(("variant", "standard".to_owned()));
            if !self.speeds.is_empty() {
                let speeds: Vec<_> = self.speeds.iter().map(Speed::as_str).collect();
                parameters.push(("speeds", speeds.join(",")));
            }
        }
        let path = match self.source {
            Database::Masters => "masters",
            Database::Lichess => {
                if !self.ratings.is_empty() {
                    let ratings: Vec<_> = self.ratings.iter().map(u16::to_string).collect();
                    parameters.push(("ratings", ratings.join(",")));
                }
                "lichess"
            }
            Database::Player => {
                parameters.push(("player", self.player_name.clone()));
                parameters.push(("color", query.side.to_string()));
                "player"
            }
        };
        if self.source != Database::Player {
            parameters.push(("topGames", "0".to_owned()));
        }
        if self.source != Database::Masters {
            parameters.push(("recentGames", "0".to_owned()));
        }
        Some((path, parameters))
    }

    fn parse(&self, body: &str, query: &PositionQuery) -> Result<Vec<Suggestion>, WireError> {
        let mut moves = Explored::parse(body)?.moves;
        moves.retain(|played| games(played) >= self.min_games.max(1));
        match self.selection {
            Selection::GamesPlayed => moves.sort_by_key(|played| Reverse(games(played))),
            Selection::WinRate => moves.sort_by_key(|played| Reverse(score(played, query.side))),
            Selection::Weighted => shuffle(&mut moves),
        }
        Ok(moves.into_iter().map(|played| Suggestion { mv: played.uci, eval: None }).collect())
    }

    /// The explorer of one player sends a line each time it has found more of the player's games.
    fn read_until(&self) -> ReadUntil {
        if self.source == Database::Player { ReadUntil::FirstLine } else { ReadUntil::End }
    }
}

fn games(played: &ExploredMove) -> u64 {
    played.white.saturating_add(played.draws).saturating_add(played.black)
}

/// Returns the score per thousand games.
fn score(played: &ExploredMove, side: Color) -> u64 {
    let wins = if side == Color::White { played.white } else { played.black };
    wins.saturating_mul(2).saturating_add(played.draws).saturating_mul(500) / games(played).max(1)
}

/// Shuffles moves, each weighted by its number of games.
fn shuffle(moves: &mut [ExploredMove]) {
    for at in 0..moves.len() {
        let Some(rest) = moves.get_mut(at..) else { return };
        let sum = rest.iter().map(games).fold(0, u64::saturating_add);
        let mut left = fastrand::u64(..sum.max(1));
        let chosen = rest.iter().position(|played| match left.checked_sub(games(played)) {
            Some(after) => {
                left = after;
                false
            }
            None => true,
        });
        rest.swap(0, chosen.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn query(side: Color) -> PositionQuery {
        let time = Duration::from_secs(9);
        PositionQuery {
            game: GameKind::Chess,
            fen: "FEN".into(),
            side,
            piece_count: 32,
            plies: 0,
            left: None,
            time,
        }
    }

    const BODY: &str = r#"{"moves":[{"uci":"e2e4","white":40,"draws":30,"black":30},
        {"uci":"d2d4","white":30,"draws":30,"black":0},{"uci":"a2a4","white":2,"draws":0,"black":0}]}"#;

    fn chosen(selection: Selection, side: Color) -> Vec<String> {
        let config = Explorer { selection, ..Explorer::default() };
        let moves = config.parse(BODY, &query(side)).unwrap();
        assert!(moves.iter().all(|suggestion| suggestion.eval.is_none()));
        moves.into_iter().map(|suggestion| suggestion.mv).collect()
    }

    #[test]
    fn moves_are_selected_by_games_by_score_or_at_random_but_not_rare_ones() {
        assert_eq!(chosen(Selection::GamesPlayed, Color::White), ["e2e4", "d2d4"]);
        assert_eq!(chosen(Selection::WinRate, Color::White), ["d2d4", "e2e4"]);
        assert_eq!(chosen(Selection::WinRate, Color::Black), ["e2e4", "d2d4"]);
        let first = |_| chosen(Selection::Weighted, Color::White)[0] == "e2e4";
        let kings_pawn = (0..800).map(first).filter(|is| *is).count();
        assert!((430..570).contains(&kings_pawn), "{kings_pawn} of 800, expected 500");
    }

    #[test]
    fn each_database_has_its_parameters() {
        let asked = |config: &Explorer| {
            let (path, parameters) = config.request(&query(Color::Black)).unwrap();
            format!("{path}?{}", serde_urlencoded::to_string(parameters).unwrap())
        };
        let masters = Explorer::default();
        assert_eq!(asked(&masters), "masters?fen=FEN&moves=12&topGames=0");
        let speeds = vec![Speed::Blitz, Speed::Rapid];
        let ratings = vec![2200, 2500];
        let lichess = Explorer { source: Database::Lichess, speeds, ratings, ..masters.clone() };
        assert_eq!(
            asked(&lichess),
            "lichess?fen=FEN&moves=12&variant=standard&speeds=blitz%2Crapid&ratings=2200%2C2500&topGames=0&recentGames=0"
        );
        let player = Explorer { source: Database::Player, player_name: "me".into(), ..masters.clone() };
        assert_eq!(
            asked(&player),
            "player?fen=FEN&moves=12&variant=standard&player=me&color=black&recentGames=0"
        );
        assert_eq!((player.read_until(), lichess.read_until()), (ReadUntil::FirstLine, ReadUntil::End));
    }
}
