//! A `[[server]]` table with `protocol = "lichess"`.

use std::{env, fmt, fs::File, num::NonZeroU32, path::PathBuf};

use serde::{Deserializer, de::Error};
use zeitnot_net::{Contradictions, http::BaseUrl, secret, secret_file};
use zeitnot_settings::{settings, shown};
use zeitnot_wire::lichess::{Speed, Token};

use super::{
    challenges::{accepted_time::AcceptedTime, config as challenge, filter::ChallengeFilter, players},
    chat,
    game::rules::{Berserk, Claim, Correspondence, GameRules},
    matchmaking,
    records::pgn_files::{PgnFiles, PgnGrouping},
    site::Site,
    teams::tournament::{Team, Tournament},
    timeouts::Timeouts,
    token::{self, TokenError},
};
use crate::findings::{Findings, Written};

settings! {
    /// A bot account on Lichess, or on any server with its API. `zeitnot lichess check` shows whether the account can play;
    /// see docs/lichess.md.
    pub struct Config {
        /// Private file (chmod 600) with nothing but the account's token. Make the token as the bot, with the scope
        /// bot:play, at https://lichess.org/account/oauth/token. Without this key and `token_env`, it is in the
        /// environment's LICHESS_BOT_TOKEN.
        #[schemars(example = &"lichess.token")]
        token_file: Option<PathBuf> = None,
        /// The token itself; do not share the configuration then.
        #[serde(deserialize_with = "read_token")]
        #[schemars(with = "String", example = &"lip_…")]
        token: Option<Token> = None,
        /// Environment variable with the token: for several accounts, each with one of its own.
        #[schemars(example = &"SECOND_BOT_TOKEN")]
        token_env: Option<String> = None,
        /// The server.
        #[serde(serialize_with = "shown")]
        #[schemars(with = "String")]
        url: BaseUrl = BaseUrl::default(),
        /// Site whose rules the server follows, "lichess" or "pychess". Default: "pychess" if `url` is at pychess.org, else
        /// "lichess".
        #[schemars(example = &"pychess")]
        site: Option<Site> = None,
        /// Maximum number of games with clocks on this server; `[bot]` has the limit for all servers together.
        #[schemars(extend("x-reload" = true))]
        concurrency: NonZeroU32 = const { NonZeroU32::new(4).unwrap() },
        /// Number of games after which to leave. Without it, no limit.
        #[schemars(example = 10)]
        games: Option<NonZeroU32> = None,
        /// Claim when the opponent has left.
        #[schemars(extend("x-reload" = true))]
        claim: Claim = Claim::default(),
        /// Maximum number of accepted takebacks in each game.
        #[schemars(extend("x-reload" = true))]
        max_takebacks_accepted: u32 = 0,
        /// Berserk in tournament games: "weaker" is against lower rated opponents.
        #[schemars(extend("x-reload" = true))]
        berserk: Berserk = Berserk::default(),
        /// Directory for games as PGN with clocks and scores. Without it, none are written.
        #[schemars(example = &"games")]
        pgn_directory: Option<PathBuf> = None,
        /// One file for each "game", for each "opponent", or for "all".
        pgn_file_grouping: PgnGrouping = PgnGrouping::default(),
        /// Challenges that are accepted.
        #[schemars(extend("x-reload" = true))]
        challenge: challenge::Config = challenge::Config::default(),
        /// Only players of the allow list, if there is one, and none of the block list.
        #[schemars(extend("x-reload" = true))]
        players: players::Config = players::Config::default(),
        /// With this table the bot challenges online bots when no game is running, or with `allow_during_games` at any time.
        #[schemars(extend("x-reload" = true))]
        matchmaking: Option<matchmaking::config::Config> = None,
        /// Messages in games, to the opponent and to spectators; empty ones are not sent. {opponent}, {me}, {engine} and
        /// {version} are replaced.
        chat: chat::messages::Config = chat::messages::Config::default(),
        /// Correspondence and unlimited games; accepted if `time_controls` of [server.challenge.human] or
        /// [server.challenge.bot] contains "correspondence". They are suspended between moves.
        #[schemars(extend("x-reload" = true))]
        correspondence: Correspondence = Correspondence::default(),
        /// Time limits and intervals.
        timeouts: Timeouts = Timeouts::default(),
        /// Teams to join; needs the scope team:write.
        team: Vec<Team> = Vec::new(),
        /// Arena tournaments to play in; needs the scope tournament:write.
        tournament: Vec<Tournament> = Vec::new(),
    }
}

impl Config {
    pub(crate) fn site(&self) -> Site {
        self.site.unwrap_or_else(|| Site::of(&self.url))
    }

    pub(crate) fn game_rules(&self) -> GameRules {
        GameRules {
            claim: self.claim,
            max_takebacks: self.max_takebacks_accepted,
            wait_time: self.chat.wait_time(),
            berserk: self.berserk,
            correspondence: self.correspondence,
        }
    }

    /// Takes over the keys that are declared as reloadable.
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
        let accepts = |filter: &ChallengeFilter| {
            let correspondence = AcceptedTime::Speed(Speed::Correspondence);
            filter.accept && filter.time_controls.contains(&correspondence)
        };
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
        self.site_contradictions(found);
        let teams: Vec<_> = self.team.iter().map(|team| &team.id).collect();
        found.distinct("team", "id", &teams);
        let tournaments: Vec<_> = self.tournament.iter().map(|tournament| tournament.id).collect();
        found.distinct("tournament", "id", &tournaments);
    }

    /// Finds what the site does not have.
    fn site_contradictions(&self, found: &mut Contradictions) {
        let site = self.site();
        if site == Site::Pychess && self.url.is_of_lichess() {
            found.add(
                &["site"],
                format!("\"pychess\" is not the site of {}: set url = \"https://www.pychess.org\"", self.url),
            );
        }
        if !site.lets_bots_challenge() && self.matchmaking.is_some() {
            found.add(&["matchmaking"], "bots cannot challenge on pychess.org: remove the table");
        }
        for (key, is_set) in [("team", !self.team.is_empty()), ("tournament", !self.tournament.is_empty())] {
            if is_set && !site.lets_bots_join() {
                found.add(&[key], "bots cannot join any on pychess.org: remove the table");
            }
        }
        if !site.has_correspondence() && self.plays_correspondence() {
            let what = "bots cannot play correspondence on pychess.org: remove \"correspondence\" from time_controls";
            found.add(&["challenge"], what);
        }
    }

    /// Describes what would be played, a line each.
    pub fn describe(&self) -> Vec<String> {
        let challenge::Config { human, bot, reserved_for_humans, max_queue, .. } = &self.challenge;
        let mut lines = vec![format!("from humans: {human}"), format!("from bots: {bot}")];
        lines.push(format!(
            "limits: {} games at once, {reserved_for_humans} reserved for humans; up to {max_queue} challenges \
             queued",
            self.concurrency
        ));
        if let Some(games) = self.challenge.max_simultaneous_games_per_user {
            lines.push(format!("limit against one opponent: {games} games at once"));
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
    let malformed = |_| D::Error::custom("expected a token of letters, digits, hyphens and underscores");
    text.parse().map(Some).map_err(malformed)
}

#[cfg(test)]
mod tests {
    use zeitnot_settings::{is_reloadable, schema_of};

    use super::*;

    #[test]
    fn who_is_played_can_change_while_games_run() {
        let can_change = |key| is_reloadable(&schema_of::<Config>(), key);
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
