//! Lines of pychess.org, whose API for bots resembles Lichess's, read as messages of Lichess.
//!
//! Users have no ids but their names, variants have other names, "960" is a flag beside the variant, increments and
//! dates are in seconds, and of a game's end nothing is told but that it is there.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeitnot_rules::{Color, TimeControl as Clock};

use super::{
    Challenge, ChallengeId, ChallengeUser, ColorWish, Event, GameEvent, GameFull, GameId, GameMessage,
    GameState, Opponent, Player, Speed, Status, TimeControl, Unknown, Variant, VariantKey, WireError,
    codec::nullable, read, write,
};
use crate::Message;

/// Type of the lines that only keep a stream alive.
const PING: &str = "ping";

/// Header of the request for the event stream, without which it is refused.
pub const CAPABILITIES: &str = "X-PyChess-Bot-Capabilities";

/// Returns the value of [`CAPABILITIES`]: the variants in which people can challenge us. There must be one.
///
/// ```
/// use zeitnot_wire::lichess::{VariantKey, pychess::capabilities};
/// let variants = [VariantKey::Standard, VariantKey::ThreeCheck, VariantKey::FromPosition];
/// assert_eq!(capabilities(&variants), r#"{"version":1,"variants":["chess","3check"]}"#);
/// ```
pub fn capabilities(variants: &[VariantKey]) -> String {
    #[derive(Serialize)]
    struct Capabilities {
        version: u32,
        variants: Vec<String>,
    }
    write(&Capabilities { version: 1, variants: variants.iter().filter_map(name).collect() })
}

/// Returns the site's name of a variant; a game from a position is one of chess there.
fn name(variant: &VariantKey) -> Option<String> {
    match variant {
        VariantKey::FromPosition | VariantKey::Other(_) => None,
        VariantKey::Standard => Some("chess".to_owned()),
        VariantKey::ThreeCheck => Some("3check".to_owned()),
        variant => Some(variant.as_str().to_ascii_lowercase()),
    }
}

/// Returns the variant of this name. The site has Chess960 forms of many variants.
fn variant(name: &str, is_960: bool) -> VariantKey {
    let plain = match name {
        "chess" => VariantKey::Standard,
        "3check" => VariantKey::ThreeCheck,
        name => name.into(),
    };
    match (plain, is_960) {
        (plain, false) => plain,
        (VariantKey::Standard, true) => VariantKey::Chess960,
        (_, true) => VariantKey::Other(format!("{name}960")),
    }
}

/// Parses a line of the event stream. Returns `None` for a keepalive. The variant of a game that starts is Chess960 or,
/// for any other, standard: only that much is told.
///
/// # Errors
/// [`WireError`] if the line is not an event.
pub fn event(line: &str) -> Result<Option<Event>, WireError> {
    let Some(unknown) = kind("event", line)? else { return Ok(None) };
    Ok(Some(match unknown.kind.as_str() {
        "challenge" => {
            let NewChallenge { challenge } = read("challenge", line)?;
            Event::Challenge { challenge: Box::new(challenge.into()), compat: None }
        }
        "gameStart" => {
            let NewGame { game } = read("gameStart", line)?;
            Event::GameStart { game: Box::new(game.into()) }
        }
        _ => Event::Other(unknown),
    }))
}

/// Parses a line of a game's stream. Returns `None` for a keepalive. `is_960`: the start of this game was told as one of
/// Chess960, which its stream does not tell.
///
/// # Errors
/// [`WireError`] if the line is not such a message.
pub fn game_message(line: &str, is_960: impl Fn(GameId) -> bool) -> Result<Option<GameMessage>, WireError> {
    let Some(unknown) = kind("game's line", line)? else { return Ok(None) };
    Ok(Some(match unknown.kind.as_str() {
        "gameFull" => {
            let full: Full = read("gameFull", line)?;
            let is_960 = is_960(full.id);
            GameMessage::GameFull(Box::new(full.translated(is_960)))
        }
        "gameState" => GameMessage::GameState(in_seconds(read("gameState", line)?)),
        "gameEnd" => GameMessage::GameEnd,
        _ => GameMessage::parse(line)?,
    }))
}

fn kind(message: &'static str, line: &str) -> Result<Option<Unknown>, WireError> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(None);
    }
    let unknown: Unknown = read(message, line)?;
    Ok((unknown.kind != PING).then_some(unknown))
}

/// Increments are in seconds, and were read as milliseconds.
fn in_seconds(state: GameState) -> GameState {
    GameState { winc: state.winc.saturating_mul(1000), binc: state.binc.saturating_mul(1000), ..state }
}

#[derive(Deserialize)]
struct NewChallenge {
    challenge: Proposal,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Proposal {
    id: ChallengeId,
    #[serde(default, deserialize_with = "nullable")]
    challenger: Named,
    variant: Key,
    #[serde(default, deserialize_with = "nullable")]
    chess960: bool,
    #[serde(default, deserialize_with = "nullable")]
    rated: bool,
    speed: Option<Speed>,
    time_control: TimeControl,
    color: Option<ColorWish>,
}

#[derive(Deserialize)]
struct Key {
    #[serde(alias = "name")]
    key: String,
}

#[derive(Default, Deserialize)]
struct Named {
    #[serde(default, deserialize_with = "nullable")]
    name: String,
    #[serde(default, deserialize_with = "nullable")]
    title: String,
    rating: Option<i32>,
}

impl Named {
    /// Returns the challenger; `None` if the name is that of an anonymous user.
    fn challenger(self) -> Option<ChallengeUser> {
        Some(ChallengeUser {
            id: self.name.parse().ok()?,
            title: (!self.title.is_empty()).then(|| self.title.as_str().into()),
            rating: self.rating,
            name: self.name,
            provisional: false,
            online: false,
        })
    }

    fn player(self) -> Player {
        Player { id: self.name.parse().ok(), name: self.name, ..Player::default() }
    }
}

impl From<Proposal> for Challenge {
    fn from(proposal: Proposal) -> Challenge {
        Challenge {
            id: proposal.id,
            url: String::new(),
            status: None,
            challenger: proposal.challenger.challenger(),
            dest_user: None,
            variant: variant(&proposal.variant.key, proposal.chess960).into(),
            rated: proposal.rated,
            speed: proposal.speed,
            time_control: proposal.time_control,
            color: proposal.color,
            final_color: None,
            perf: None,
            direction: None,
            initial_fen: None,
            decline_reason: None,
            decline_reason_key: None,
            rules: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
struct NewGame {
    game: Start,
}

#[derive(Deserialize)]
struct Start {
    id: GameId,
    /// "True" or "False".
    #[serde(default, deserialize_with = "nullable")]
    chess960: String,
}

impl From<Start> for GameEvent {
    fn from(start: Start) -> GameEvent {
        let is_960 = start.chess960.eq_ignore_ascii_case("true");
        GameEvent {
            full_id: None,
            game_id: start.id,
            id: Some(start.id),
            fen: String::new(),
            // Not told here; the game's stream has the players.
            color: Color::White,
            last_move: String::new(),
            source: None,
            status: Status::Started,
            variant: Variant::from(variant("chess", is_960)),
            speed: None,
            perf: None,
            rating: None,
            rated: false,
            has_moved: false,
            opponent: Opponent::default(),
            is_my_turn: false,
            seconds_left: None,
            winner: None,
            rating_diff: None,
            tournament_id: None,
            compat: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Full {
    id: GameId,
    variant: Key,
    white: Named,
    black: Named,
    #[serde(default, deserialize_with = "nullable")]
    initial_fen: String,
    /// In seconds since 1970.
    created_at: Option<u64>,
    state: GameState,
}

impl Full {
    /// The clock is not told: its initial time is what is left before the first moves.
    fn translated(self, is_960: bool) -> GameFull {
        let state = in_seconds(self.state);
        let initial = state.wtime.max(state.btime);
        GameFull {
            id: self.id,
            variant: variant(&self.variant.key, is_960).into(),
            clock: initial.map(|initial| Clock { initial, increment: state.winc }),
            days_per_turn: None,
            speed: None,
            perf: None,
            rated: false,
            created_at: self.created_at.map(Duration::from_secs),
            white: self.white.player(),
            black: self.black.player(),
            initial_fen: self.initial_fen,
            tournament_id: None,
            state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the server writes it, without ids, with the variant's flag beside it.
    const CHALLENGE: &str = r#"{"type":"challenge","challenge":{"id":"Zn4tQw8e","challenger":{"name":"Them","rating":1500,
        "title":""},"variant":{"key":"standard"},"rated":false,"timeControl":{"type":"clock","limit":180,"increment":2},
        "color":"random","finalColor":"white","speed":"blitz","perf":{"name":"chess960"},"level":6,"chess960":true}}"#;
    const FULL: &str = r#"{"type": "gameFull", "id": "Zn4tQw8e", "variant": {"name": "3check"}, "white": {"name": "Them"},
        "black": {"name": "Anon–x"}, "initialFen": "", "createdAt": 1800000000, "state": {"type": "gameState", "moves": "",
        "wtime": 180000, "btime": 180000.0, "winc": 2, "binc": 2, "wdraw": false, "bdraw": false, "wtakeback": false,
        "btakeback": false, "status": "started"}}"#;

    #[test]
    fn a_challenge_has_its_variant_and_its_challenger() {
        let Ok(Some(Event::Challenge { challenge, .. })) = event(CHALLENGE) else { panic!() };
        assert_eq!(challenge.variant.key, VariantKey::Chess960);
        assert_eq!(challenge.time_control.to_string(), "3+2");
        let them = challenge.challenger.unwrap();
        assert_eq!((them.id.as_str(), them.title, them.rating), ("them", None, Some(1500)));
        let atomic = CHALLENGE.replace("standard", "atomic");
        let Ok(Some(Event::Challenge { challenge, .. })) = event(&atomic) else { panic!() };
        assert_eq!(challenge.variant.key, VariantKey::Other("atomic960".into()));
        assert_eq!(challenge.variant.key.game(), None);
    }

    #[test]
    fn a_game_that_starts_tells_its_id_and_whether_it_is_chess960() {
        let line =
            r#"{"type": "gameStart", "game": {"id": "Zn4tQw8e", "skill_level": "6", "chess960": "True"}}"#;
        let Ok(Some(Event::GameStart { game })) = event(line) else { panic!() };
        assert_eq!((game.game_id.as_str(), game.variant.key), ("Zn4tQw8e", VariantKey::Chess960));
        let Ok(Some(Event::GameStart { game })) = event(&line.replace("True", "False")) else { panic!() };
        assert_eq!(game.variant.key, VariantKey::Standard);
    }

    #[test]
    fn increments_and_dates_are_in_seconds() {
        let Ok(Some(GameMessage::GameFull(full))) = game_message(FULL, |_| false) else { panic!() };
        assert_eq!(full.clock.unwrap().to_string(), "180+2");
        assert_eq!(full.state.binc, Duration::from_secs(2));
        assert_eq!(full.created_at, Some(Duration::from_secs(1_800_000_000)));
        assert_eq!((full.variant.key, full.initial_fen.as_str()), (VariantKey::ThreeCheck, ""));
        assert_eq!((full.white.id.unwrap().as_str(), full.black.id), ("them", None));
    }

    #[test]
    fn pings_are_keepalives_and_ends_are_told_alone() {
        for line in [r#"{"type":"ping"}"#, " \r\n"] {
            assert_eq!(event(line), Ok(None));
            assert_eq!(game_message(line, |_| false), Ok(None));
        }
        let end = r#"{"type": "gameEnd", "game": {"id": "Zn4tQw8e"}}"#;
        assert_eq!(game_message(end, |_| false), Ok(Some(GameMessage::GameEnd)));
        let chat = r#"{"type":"chatLine","username":"Them","room":"player","text":"hi"}"#;
        assert!(matches!(game_message(chat, |_| false), Ok(Some(GameMessage::ChatLine(_)))));
        assert!(matches!(event(r#"{"type": "terminated"}"#), Ok(Some(Event::Other(_)))));
        assert!(event("<html>").is_err());
    }

    #[test]
    fn names_of_variants_lead_there_and_back() {
        for key in VariantKey::KNOWN.iter().filter(|key| **key != VariantKey::FromPosition) {
            let name = name(key).unwrap();
            let (plain, is_960) =
                name.strip_suffix("960").map_or((name.as_str(), false), |plain| (plain, true));
            let plain = if plain == "chess" { "standard" } else { plain };
            assert_eq!(variant(plain, is_960), *key, "{name}");
        }
    }
}
