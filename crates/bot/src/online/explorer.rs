//! What people have played: the opening explorer, of masters, of all, or of one player.

use zeitnot_net::http::ReadUntil;
use zeitnot_rules::{Color, GameKind};
use zeitnot_wire::{
    Message, WireError,
    lichess::{Explored, ExploredMove, Speed},
};

use super::{Database, Explorer, Popularity, Question, Suggestion};

/// So many moves are enough to choose from.
const MOVES: usize = 12;

pub(super) fn query(
    config: &Explorer,
    question: &Question,
) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    // Masters play standard chess, and so do all others by this name.
    if question.plies >= config.max_ply || question.game != GameKind::Chess {
        return None;
    }
    let mut query = vec![("fen", question.fen.clone()), ("moves", MOVES.to_string())];
    let path = match config.database {
        Database::Masters => "masters",
        Database::Lichess => "lichess",
        Database::Player => "player",
    };
    if config.database != Database::Masters {
        query.push(("variant", "standard".to_owned()));
        if !config.speeds.is_empty() {
            let speeds: Vec<_> = config.speeds.iter().map(Speed::as_str).collect();
            query.push(("speeds", speeds.join(",")));
        }
    }
    if config.database == Database::Lichess && !config.ratings.is_empty() {
        let ratings: Vec<_> = config.ratings.iter().map(u16::to_string).collect();
        query.push(("ratings", ratings.join(",")));
    }
    if config.database == Database::Player {
        query.push(("player", config.player.clone()));
        query.push(("color", question.side.to_string()));
    } else {
        query.push(("topGames", "0".to_owned()));
    }
    if config.database != Database::Masters {
        query.push(("recentGames", "0".to_owned()));
    }
    Some((path, query))
}

/// The explorer of one player goes on and on, as more of the player's games are found.
pub(super) fn end(config: &Explorer) -> ReadUntil {
    if config.database == Database::Player { ReadUntil::FirstLine } else { ReadUntil::End }
}

pub(super) fn read(config: &Explorer, body: &str, question: &Question) -> Result<Vec<Suggestion>, WireError> {
    let mut moves = Explored::parse(body)?.moves;
    moves.retain(|played| games(played) >= config.min_games.max(1));
    match config.select {
        Popularity::Games => moves.sort_by_key(|played| std::cmp::Reverse(games(played))),
        Popularity::Score => moves.sort_by_key(|played| std::cmp::Reverse(score(played, question.side))),
        Popularity::Weighted => shuffle(&mut moves),
    }
    Ok(moves.into_iter().map(|played| Suggestion { mv: played.uci, eval: None }).collect())
}

fn games(played: &ExploredMove) -> u64 {
    played.white.saturating_add(played.draws).saturating_add(played.black)
}

/// Points of a thousand games.
fn score(played: &ExploredMove, side: Color) -> u64 {
    let wins = if side == Color::White { played.white } else { played.black };
    wins.saturating_mul(2).saturating_add(played.draws).saturating_mul(500) / games(played).max(1)
}

/// Each in front as often as it was played, among those that are left.
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

    fn question(side: Color, plies: usize) -> Question {
        let time = Duration::from_secs(9);
        Question { game: GameKind::Chess, fen: "FEN".into(), side, men: 32, plies, left: None, time }
    }

    const BODY: &str = r#"{"moves":[{"uci":"e2e4","white":40,"draws":30,"black":30},
        {"uci":"d2d4","white":30,"draws":30,"black":0},{"uci":"a2a4","white":2,"draws":0,"black":0}]}"#;

    fn chosen(select: Popularity, side: Color) -> Vec<String> {
        let config = Explorer { select, ..Explorer::default() };
        let moves = read(&config, BODY, &question(side, 0)).unwrap();
        assert!(moves.iter().all(|suggestion| suggestion.eval.is_none()));
        moves.into_iter().map(|suggestion| suggestion.mv).collect()
    }

    #[test]
    fn by_games_by_score_or_by_chance_but_not_what_hardly_anybody_plays() {
        assert_eq!(chosen(Popularity::Games, Color::White), ["e2e4", "d2d4"]);
        assert_eq!(chosen(Popularity::Score, Color::White), ["d2d4", "e2e4"]);
        assert_eq!(chosen(Popularity::Score, Color::Black), ["e2e4", "d2d4"]);
        let first = |_| chosen(Popularity::Weighted, Color::White)[0] == "e2e4";
        let kings_pawn = (0..800).map(first).filter(|is| *is).count();
        assert!((430..570).contains(&kings_pawn), "{kings_pawn} of 800, expected 500");
    }

    #[test]
    fn each_database_is_asked_in_its_way() {
        let asked = |config: &Explorer| {
            let (path, query) = query(config, &question(Color::Black, 0)).unwrap();
            format!("{path}?{}", serde_urlencoded::to_string(query).unwrap())
        };
        let masters = Explorer::default();
        assert_eq!(asked(&masters), "masters?fen=FEN&moves=12&topGames=0");
        let (speeds, ratings) = (vec![Speed::Blitz, Speed::Rapid], vec![2200, 2500]);
        let lichess = Explorer { database: Database::Lichess, speeds, ratings, ..masters.clone() };
        assert_eq!(
            asked(&lichess),
            "lichess?fen=FEN&moves=12&variant=standard&speeds=blitz%2Crapid&ratings=2200%2C2500&topGames=0&recentGames=0"
        );
        let player = Explorer { database: Database::Player, player: "me".into(), ..masters.clone() };
        assert_eq!(
            asked(&player),
            "player?fen=FEN&moves=12&variant=standard&player=me&color=black&recentGames=0"
        );
        assert_eq!((end(&player), end(&lichess)), (ReadUntil::FirstLine, ReadUntil::End));
        assert!(query(&masters, &question(Color::White, 20)).is_none());
    }
}
