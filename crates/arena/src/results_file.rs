//! Results of a tournament as JSON: `results.json`.

use serde::Serialize;
use utoipa::ToSchema;
use zeitnot_host::{
    database::{GameRow, moment},
    live::view::Standing,
    note::Note,
    schema,
};
use zeitnot_pairing::Name;
use zeitnot_rules::GameResult;

/// Results of one edition of a tournament.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ResultsFile {
    /// Name of the tournament.
    pub name: String,
    /// Tournaments of one name follow each other, from 1.
    pub edition: u32,
    /// Rules, as configurations name them.
    #[schema(schema_with = schema::game_kind)]
    pub kind: String,
    /// Games began from positions of Chess960.
    pub chess960: bool,
    /// Seconds, and seconds added after each move.
    #[schema(example = "3+0.05")]
    pub time_control: String,
    /// `running`, `paused` or `complete`.
    pub state: String,
    /// Beginning, by RFC 3339.
    pub opened: String,
    /// Standings, best first.
    pub players: Vec<ResultsPlayer>,
    /// Byes, and then the games in the order in which they ended.
    pub pairings: Vec<ResultsGame>,
}

/// Player of a tournament with the results.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ResultsPlayer {
    /// Row of the standings.
    #[serde(flatten)]
    pub standing: Standing,
    /// Reason why the player is out; none: plays to the end.
    pub out: Option<String>,
}

/// Game of a tournament or of another front, or a bye.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct ResultsGame {
    /// Id; none of a bye.
    pub game: Option<String>,
    /// Round, or where there are none the number of the game.
    pub round: Option<u32>,
    /// White's name.
    pub white: String,
    /// Black's name; none: White has a point without a game.
    pub black: Option<String>,
    /// Beginning, by RFC 3339.
    pub began: Option<String>,
    /// Id of a game without a result that this one repeats.
    pub repeats: Option<String>,
    /// Result that counts, once there is one.
    #[schema(schema_with = schema::result_or_null)]
    pub result: Option<String>,
    /// Reason of the result at the board.
    pub reason: Option<String>,
    /// Kind of the end, as in PGN, or `forfeit`.
    pub termination: Option<String>,
    /// End, by RFC 3339.
    pub ended: Option<String>,
    /// Note of the organiser.
    pub note: Option<String>,
    /// Result at the board, if the organiser has given the game another one.
    #[schema(schema_with = schema::result_or_null)]
    pub result_at_board: Option<String>,
    /// Moves, as the game writes them.
    pub moves: Vec<String>,
}

impl ResultsGame {
    pub(crate) fn bye(round: usize, player: &Name) -> ResultsGame {
        let (round, white, result) = (u32::try_from(round).ok(), player.to_string(), Some("1-0".to_owned()));
        ResultsGame { round, white, result, ..ResultsGame::default() }
    }

    pub(crate) fn new(game: &GameRow) -> ResultsGame {
        let (header, end) = (&game.header, game.end.as_ref());
        let [white, black] = header.players.0.each_ref().map(|player| player.name.clone());
        let corrected = end.filter(|end| end.corrected.is_some());
        ResultsGame {
            game: Some(header.id.to_string()),
            round: header.round,
            white,
            black: Some(black),
            began: Some(moment(header.began)),
            repeats: header.repeats.clone(),
            result: end.map(|end| end.result_text().to_owned()),
            reason: end.map(|end| end.reason.clone()),
            termination: end.map(|end| end.termination.clone()),
            ended: end.map(|end| moment(end.at)),
            note: end.and_then(|end| end.note.as_ref()).map(|note| Note::as_str(note).to_owned()),
            result_at_board: corrected.map(|end| end.result.map_or("*", GameResult::as_str).to_owned()),
            moves: game.moves.iter().map(|(mv, _)| mv.to_owned()).collect(),
        }
    }
}
