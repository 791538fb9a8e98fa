//! A `[[server]]` table with `protocol = "lichess"`.

use std::{env, fmt, fs::File, num::NonZeroU32, path::PathBuf};

use serde::{Deserializer, de::Error};
use zeitnot_net::{Contradictions, http::BaseUrl, secret, secret_file};
use zeitnot_wire::lichess::{Speed, Token};

use super::{
    challenges::{config as challenge, filter::ChallengeFilter, players},
    chat,
    game::rules::{Berserk, Claim, Correspondence, GameRules},
    matchmaking,
    records::pgn_writer::{PgnFiles, PgnGrouping},
    teams::schedule::{Team, Tournament},
    timeouts::Timeouts,
    token::{self, TokenError},
};
use crate::{
    findings::{Findings, Written},
    settings::settings,
};

settings! {
    /// Configuration of a Lichess account.
    pub struct Config {
        /// The server.
        url: BaseUrl = BaseUrl::default(),
        /// A private file with nothing but the token.
        token_file: Option<PathBuf> = None,
        /// The environment variable with the token, if not the default one.
        token_env: Option<String> = None,
        /// The token itself.
        #[serde(deserialize_with = "read_token")]
        token: Option<Token> = None,
        /// Games with clocks at once; `[bot]` has the limit for all servers.
        concurrency: NonZeroU32 = const { NonZeroU32::new(4).unwrap() },
        /// Leave after so many games.
        games: Option<NonZeroU32> = None,
        /// Claim when the opponent has left.
        claim: Claim = Claim::default(),
        /// Takebacks that are accepted, in each game.
        max_takebacks_accepted: u32 = 0,
        /// Tournament games to play with half the time, for more points.
        berserk: Berserk = Berserk::default(),
        /// Games without clocks.
        correspondence: Correspondence = Correspondence::default(),
        /// Directory for games as PGN; without it, none are written.
        pgn_directory: Option<PathBuf> = None,
        /// Games in one file.
        pgn_file_grouping: PgnGrouping = PgnGrouping::default(),
        /// Chat in games.
        chat: chat::messages::Config = chat::messages::Config::default(),
        /// Challenges that are accepted.
        challenge: challenge::Config = challenge::Config::default(),
        /// Players that are accepted and challenged.
        players: players::Config = players::Config::default(),
        /// Challenges to bots when nobody plays us; without it, none.
        matchmaking: Option<matchmaking::config::Config> = None,
        /// Teams to join.
        team: Vec<Team> = Vec::new(),
        /// Arena tournaments to play in.
        tournament: Vec<Tournament> = Vec::new(),
        /// Time limits and intervals.
        timeouts: Timeouts = Timeouts::default(),
    }
}

/// Keys that can change while games run, with those of their tables: who is played, and how many.
const CHANGEABLE: [&str; 8] = [
    "concurrency",
    "claim",
    "max_takebacks_accepted",
    "berserk",
    "correspondence",
    "challenge",
    "players",
    "matchmaking",
];
/// Keys of those tables that the account reads at its start only.
const READ_AT_START: [&str; 2] = ["correspondence.checkin_period", "matchmaking.history_file"];

/// Returns whether a key can change while games run.
pub(super) fn can_change(key: &str) -> bool {
    let table = key.split('.').next().unwrap_or_default();
    CHANGEABLE.contains(&table) && !READ_AT_START.contains(&key)
}

impl Config {
    pub(crate) fn game_rules(&self) -> GameRules {
        GameRules {
            claim: self.claim,
            max_takebacks: self.max_takebacks_accepted,
            berserk: self.berserk,
            correspondence: self.correspondence,
        }
    }

    /// Takes over what [can change](can_change) from another configuration.
    pub(super) fn take_over(&mut self, new: Config) {
        let Config { concurrency, claim, max_takebacks_accepted, berserk, correspondence, .. } = new;
        let checkin_period = self.correspondence.checkin_period;
        let history_file = self.matchmaking.take().and_then(|matchmaking| matchmaking.history_file);
        (self.concurrency, self.claim, self.berserk) = (concurrency, claim, berserk);
        self.max_takebacks_accepted = max_takebacks_accepted;
        self.correspondence = Correspondence { checkin_period, ..correspondence };
        (self.challenge, self.players) = (new.challenge, new.players);
        self.matchmaking =
            new.matchmaking.map(|matchmaking| matchmaking::config::Config { history_file, ..matchmaking });
    }

    pub(crate) fn pgn_files(&self) -> Option<PgnFiles> {
        let directory = self.pgn_directory.clone()?;
        Some(PgnFiles { server: self.url.clone(), directory, grouping: self.pgn_file_grouping })
    }

    /// Finds the token: in the table's own file or variable; else in the environment's `LICHESS_BOT_TOKEN` or the
    /// credential `lichess-token` of a service, which go before the text in the table.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn find_token(&self) -> Result<Token, TokenError> {
        let variable = self.token_env.as_deref();
        let file = self.token_file.as_deref();
        let text = self.token.as_ref();
        token::find(variable, file, text, |name| env::var(name).ok(), secret_file::credential)
    }

    /// Checks what the table's text does not tell.
    pub(super) fn check(&self, findings: &mut Findings) {
        if let Err(error) = self.find_token() {
            findings.mistakes.push(error.to_string());
        }
        let is_written = self.token_file.is_none() && self.token_env.is_none() && self.token.is_some();
        if is_written {
            findings
                .warnings
                .push("the token stands in the configuration: do not share it, or use `token_file`".into());
        }
        if !self.url.is_private() {
            findings.warnings.push(format!("the token is sent unencrypted to {}: use https://", self.url));
        }
        for (key, file) in [
            ("players.allow_list_file", &self.players.allow_list_file),
            ("players.block_list_file", &self.players.block_list_file),
        ] {
            if let Some((file, error)) = file.as_ref().and_then(|file| Some((file, File::open(file).err()?)))
            {
                findings.warnings.push(format!("{key}: {} cannot be read yet: {error}", file.display()));
            }
        }
        let games = self.pgn_directory.clone().map(|folder| ("pgn_directory", Written::Folder(folder)));
        let history = self.matchmaking.as_ref().and_then(|matchmaking| matchmaking.history_file.clone());
        let history = history.map(|file| ("matchmaking.history_file", Written::File(file)));
        findings.written.extend(games.into_iter().chain(history));
    }

    /// Returns the games that the account plays at once, each with a player.
    pub fn games_at_once(&self) -> usize {
        let correspondence =
            if self.plays_correspondence() { self.correspondence.max_active.get() } else { 0 };
        self.concurrency.get() as usize + correspondence
    }

    fn plays_correspondence(&self) -> bool {
        let accepts =
            |filter: &ChallengeFilter| filter.accept && filter.time_controls.contains(&Speed::Correspondence);
        let challenges = self.matchmaking.as_ref().is_some_and(|config| config.plays_correspondence());
        accepts(&self.challenge.human) || accepts(&self.challenge.bot) || challenges
    }

    /// Finds keys that contradict each other.
    pub(super) fn contradictions(&self, found: &mut Contradictions) {
        let concurrency = self.concurrency.get() as usize;
        found.within("challenge", |found| self.challenge.contradictions(concurrency, found));
        found.within("correspondence", |found| self.correspondence.contradictions(found));
        found.within("players", |found| self.players.contradictions(found));
        found.within("timeouts", |found| self.timeouts.contradictions(found));
        if let Some(matchmaking) = &self.matchmaking {
            found.within("matchmaking", |found| matchmaking.contradictions(found));
            if self.challenge.reserved_for_humans == concurrency {
                let what = "leaves no game for the challenges of [server.matchmaking]: raise concurrency, or lower it";
                found.add(&["challenge.reserved_for_humans"], what);
            }
        }
        let teams: Vec<_> = self.team.iter().map(|team| &team.id).collect();
        found.distinct("team", "id", &teams);
        let tournaments: Vec<_> = self.tournament.iter().map(|tournament| tournament.id).collect();
        found.distinct("tournament", "id", &tournaments);
    }

    /// Describes what would be played, a line each.
    pub fn describe(&self) -> Vec<String> {
        let challenge::Config { human, bot, reserved_for_humans, max_queue, .. } = &self.challenge;
        let mut lines = vec![format!("from humans: {human}"), format!("from bots: {bot}")];
        lines.push(format!(
            "at once: {} games, {reserved_for_humans} of them for humans only; {max_queue} more may wait",
            self.concurrency
        ));
        if let Some(games) = self.challenge.max_simultaneous_games_per_user {
            lines.push(format!("at once against the same opponent: {games}"));
        }
        if self.plays_correspondence() {
            let Correspondence { max_games, max_active, .. } = &self.correspondence;
            lines.push(format!(
                "without a clock: {max_games} more games, {max_active} of them active at once"
            ));
        }
        lines.extend(self.matchmaking.as_ref().map(|matchmaking| format!("challenges bots: {matchmaking}")));
        lines.extend(self.tournament.iter().map(|tournament| format!("tournament: {tournament}")));
        lines.extend(self.team.iter().map(|team| format!("team: {}", team.id)));
        lines
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "accept challenges at {}, at most {} games at once", self.url, self.concurrency)?;
        if self.matchmaking.is_some() {
            f.write_str(", challenge bots when idle")?;
        }
        self.games.map_or(Ok(()), |games| write!(f, ", and leave after {games}"))
    }
}

fn read_token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Token>, D::Error> {
    let text = secret::text(deserializer)?;
    let malformed = |_| D::Error::custom("expected a token of letters, digits and underscores");
    text.parse().map(Some).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_played_can_change_while_games_run() {
        for key in ["concurrency", "challenge", "challenge.bot.accept", "players.block_list", "matchmaking"] {
            assert!(can_change(key), "{key}");
        }
        for key in ["url", "token", "token_file", "chat.hello", "challenges", "matchmaking.history_file"] {
            assert!(!can_change(key), "{key}");
        }
    }

    #[test]
    fn a_token_is_never_shown() {
        let config: Config = toml::from_str("token = 'lip_hush'").unwrap();
        assert!(!format!("{config:?} {config}").contains("hush"));
        for odd in ["token = 4711", "token = '4711 4711'"] {
            let error = toml::from_str::<Config>(odd).unwrap_err();
            assert!(!error.message().contains("4711"), "{error}");
        }
    }
}
