//! State of the bot, as its page shows it: gathered from reports, each list bounded.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use zeitnot_bot::{Answer, GameStatus};
use zeitnot_host::live::view::{
    BotAnswer, BotChallenge, BotChallengeState, BotError, BotOwnChallenge, BotRecord, BotServer,
    BotServerState, BotView,
};
use zeitnot_rules::GameResult;
use zeitnot_seat::{ChallengeNews, ChallengeState, OwnChallenge};

use super::orders::{BlockChange, ServerControl};
use crate::cli::service::client_events::{Logged, LoggedKind};

/// Words of each warning that a connection was lost …
const LOST: &str = "reconnecting in";
/// … and text where it is back.
const BACK: &str = "connected again";
/// Answers, challenges and opponents that are shown.
const MAX_ANSWERS: usize = 300;
const MAX_CHALLENGES: usize = 100;
const MAX_OPPONENTS: usize = 200;
const MAX_ERRORS: usize = 100;
/// Games that are counted as running.
const MAX_GAMES: usize = 64;

/// State of the bot, as far as its page shows it.
#[derive(Default)]
pub(super) struct State {
    pub(super) view: BotView,
    running: VecDeque<String>,
    record: BTreeMap<String, BotRecord>,
}

impl State {
    pub(super) fn new(servers: &[ServerControl]) -> State {
        let playing = |server: &ServerControl| {
            let name = server.name.clone();
            let orders = server.possible();
            BotServer { name, state: BotServerState::Playing, error: None, orders }
        };
        let mut state = State::default();
        state.view.servers = servers.iter().map(playing).collect();
        (state.view.blocked, state.view.errors) = (Some(Vec::new()), Some(Vec::new()));
        state
    }

    pub(super) fn hear(&mut self, status: &GameStatus) {
        let id = id(status);
        let is_known = self.running.contains(&id);
        match &status.result {
            None if !is_known => push(&mut self.running, id, MAX_GAMES),
            None => {}
            Some(_) if is_known => {
                self.running.retain(|running| *running != id);
                self.count(status);
            }
            Some(_) => {}
        }
        self.view.games = self.running.len();
    }

    fn count(&mut self, status: &GameStatus) {
        let opponent = status.names[!status.side].clone();
        if self.record.len() >= MAX_OPPONENTS && !self.record.contains_key(&opponent) {
            return;
        }
        let new = || BotRecord { opponent: opponent.clone(), wins: 0, draws: 0, losses: 0, aborted: 0 };
        let record = self.record.entry(opponent.clone()).or_insert_with(new);
        let count = match status.outcome {
            Some(GameResult::Won(winner)) if winner == status.side => &mut record.wins,
            Some(GameResult::Won(_)) => &mut record.losses,
            Some(GameResult::Draw) => &mut record.draws,
            None => &mut record.aborted,
        };
        *count = count.saturating_add(1);
        self.view.record = self.record.values().cloned().collect();
    }

    pub(super) fn answered(&mut self, answer: &Answer) {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let [spent_ms, limit_ms, lag_ms] = [answer.spent(), answer.budget.hard, answer.lag].map(milliseconds);
        if let Some(late_ms) = answer.lateness().map(milliseconds) {
            let text = format!("game {}: a move left {late_ms:.1} ms after its limit", answer.game);
            self.error(None, text);
        }
        let answer = BotAnswer {
            at: now(),
            game: answer.game.clone(),
            ply: answer.ply,
            spent_ms,
            limit_ms,
            slack_ms: limit_ms - spent_ms,
            lag_ms,
            left_ms: answer.left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            origin: answer.origin.name().to_owned(),
        };
        keep_last(&mut self.view.answers, answer, MAX_ANSWERS);
    }

    pub(super) fn challenged(&mut self, ChallengeNews { server, by, terms, declined }: ChallengeNews) {
        let accepted = declined.is_none();
        let challenge = BotChallenge { at: now(), server, by, terms, accepted, reason: declined };
        keep_last(&mut self.view.challenges, challenge, MAX_CHALLENGES);
    }

    /// Shows a challenge of ours, or its new state.
    pub(super) fn challenging(&mut self, OwnChallenge { server, id, to, terms, state }: OwnChallenge) {
        let (state, reason) = match state {
            ChallengeState::Open => (BotChallengeState::Open, None),
            ChallengeState::Accepted => (BotChallengeState::Accepted, None),
            ChallengeState::Ended(reason) => (BotChallengeState::Ended, Some(reason)),
        };
        let is_same = |shown: &&mut BotOwnChallenge| {
            let has_same_id = shown.id.is_some() && shown.id == id;
            let is_about_it =
                shown.server == server && shown.to == to && (shown.id.is_none() || id.is_none());
            has_same_id || (is_about_it && shown.state == BotChallengeState::Open)
        };
        match self.view.own_challenges.iter_mut().rev().find(is_same) {
            Some(shown) => (shown.id, shown.state, shown.reason) = (id.or(shown.id.take()), state, reason),
            None => {
                let challenge = BotOwnChallenge { at: now(), server, id, to, terms, state, reason };
                keep_last(&mut self.view.own_challenges, challenge, MAX_CHALLENGES);
            }
        }
    }

    pub(super) fn blocked(&mut self, BlockChange { player, is_blocked }: BlockChange) {
        let blocked = self.view.blocked.get_or_insert_default();
        blocked.retain(|known| !known.eq_ignore_ascii_case(&player));
        if is_blocked {
            blocked.push(player);
        }
    }

    /// Shows a warning, and a connection that is back after one.
    pub(super) fn logged(&mut self, Logged { server, text, kind }: Logged) {
        let of_server = self.view.errors.iter().flatten().rev().filter(|error| error.server == server);
        let mut since = of_server.take_while(|error| error.text != BACK);
        let was_lost = since.any(|error| error.text.contains(LOST));
        match kind {
            LoggedKind::Trouble => self.error(server, text),
            LoggedKind::Lost if !was_lost => self.error(server, text),
            LoggedKind::Connected if was_lost => self.error(server, BACK.to_owned()),
            LoggedKind::Lost | LoggedKind::Connected => {}
        }
    }

    fn error(&mut self, server: Option<String>, text: String) {
        keep_last(self.view.errors.get_or_insert_default(), BotError { at: now(), server, text }, MAX_ERRORS);
    }

    pub(super) fn left(&mut self, number: usize, error: Option<String>) {
        if let Some(server) = self.view.servers.get_mut(number) {
            server.state = if error.is_some() { BotServerState::Refused } else { BotServerState::Left };
            server.error = error;
        }
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, max: usize) {
    if queue.len() >= max {
        queue.pop_front();
    }
    queue.push_back(item);
}

fn keep_last<T>(items: &mut Vec<T>, item: T, max: usize) {
    if items.len() >= max {
        items.remove(0);
    }
    items.push(item);
}

fn now() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}

/// Id of a game on the page: two servers may use the same.
pub(super) fn id(status: &GameStatus) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("{}-{}", status.line.server, status.game).chars().map(plain).collect()
}

/// Address of a game; where games have none, of its server.
pub(super) fn site(status: &GameStatus) -> String {
    let (server, game) = (&status.line.server, &status.game);
    if server.starts_with("http") {
        format!("{}/{game}", server.trim_end_matches('/'))
    } else {
        server.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use zeitnot_bot::MoveOrigin;
    use zeitnot_engine::time::Budget;
    use zeitnot_rules::{ByColor, Color};

    use super::*;
    use crate::cli::live::tests::news;

    fn status(ply: usize, outcome: Option<GameResult>) -> GameStatus {
        GameStatus {
            game: "abcdefgh".into(),
            names: ByColor(["bob", "zeitnot"].map(str::to_owned)),
            clocks: None,
            last_move: None,
            eval: None,
            origin: None,
            result: outcome.map(|_| "over".into()),
            outcome,
            ..news(Color::Black, ply, Instant::now())
        }
    }

    #[test]
    fn games_are_counted_once_and_for_the_opponent() {
        let mut state = State::default();
        state.hear(&status(0, None));
        assert_eq!(state.view.games, 1);
        for _ in 0..2 {
            state.hear(&status(9, Some(GameResult::Won(Color::Black))));
        }
        let record = BotRecord { opponent: "bob".into(), wins: 1, draws: 0, losses: 0, aborted: 0 };
        assert_eq!((state.view.games, &state.view.record), (0, &vec![record]));
    }

    #[test]
    fn a_challenge_of_ours_is_one_row_from_the_order_to_the_reason() {
        let mut state = State::default();
        let challenge = |id: Option<&str>, state| OwnChallenge {
            server: "https://lichess.org/".into(),
            id: id.map(str::to_owned),
            to: "bob".into(),
            terms: "standard 3+2, rated".into(),
            state,
        };
        state.challenging(challenge(None, ChallengeState::Open));
        state.challenging(challenge(Some("abcdefgh"), ChallengeState::Open));
        state.challenging(challenge(Some("abcdefgh"), ChallengeState::Ended("declined".into())));
        state.challenging(challenge(Some("abcdefgh"), ChallengeState::Ended("declined: later".into())));
        let [shown] = &state.view.own_challenges[..] else { panic!("{:?}", state.view.own_challenges) };
        assert_eq!(
            (shown.state, shown.reason.as_deref()),
            (BotChallengeState::Ended, Some("declined: later"))
        );
        state.challenging(challenge(None, ChallengeState::Open));
        state.challenging(challenge(None, ChallengeState::Ended("the server knows no such player".into())));
        assert_eq!(state.view.own_challenges.len(), 2);
        assert_eq!(state.view.own_challenges[1].state, BotChallengeState::Ended);
    }

    #[test]
    fn errors_are_bounded_and_a_connection_is_back_only_after_a_loss() {
        let mut state = State::default();
        let logged = |text: &str, kind| Logged { server: None, text: text.into(), kind };
        state.logged(logged("connected", LoggedKind::Connected));
        assert_eq!(state.view.errors, None);
        state.logged(logged("timed out; reconnecting in 1.0 s", LoggedKind::Trouble));
        state.logged(logged("timed out; reconnecting in 2.0 s", LoggedKind::Lost));
        state.logged(logged("cannot list running games", LoggedKind::Trouble));
        state.logged(logged("connected", LoggedKind::Connected));
        state.logged(logged("connected", LoggedKind::Connected));
        let texts: Vec<_> = state.view.errors.iter().flatten().map(|error| error.text.as_str()).collect();
        assert_eq!(
            texts,
            ["timed out; reconnecting in 1.0 s", "cannot list running games", "connected again"]
        );
        (0..2 * MAX_ERRORS).for_each(|_| state.logged(logged("odd", LoggedKind::Trouble)));
        assert_eq!(state.view.errors.map(|errors| errors.len()), Some(MAX_ERRORS));
    }

    #[test]
    fn a_move_is_late_if_what_is_kept_back_for_the_network_does_not_cover_it() {
        let mut state = State::default();
        let asked_at = Instant::now();
        for late_ms in [0, 4, 6] {
            let [hard, late, lag] = [1000, late_ms, 5].map(Duration::from_millis);
            state.answered(&Answer {
                game: "abcdefgh".into(),
                side: Color::White,
                ply: 30,
                origin: MoveOrigin::HardLimit,
                asked_at,
                budget: Budget { soft: hard, hard },
                left: None,
                lag,
                sent_at: asked_at + hard + late,
            });
        }
        let texts: Vec<_> = state.view.errors.iter().flatten().map(|error| error.text.as_str()).collect();
        assert_eq!(texts, ["game abcdefgh: a move left 6.0 ms after its limit"]);
    }

    #[test]
    fn a_player_is_blocked_once() {
        let mut state = State::default();
        for (player, is_blocked) in [("Eve", true), ("eve", true), ("bob", true), ("BOB", false)] {
            state.blocked(BlockChange { player: player.into(), is_blocked });
        }
        assert_eq!(state.view.blocked, Some(vec!["eve".to_owned()]));
    }

    #[test]
    fn games_of_two_servers_have_ids_and_addresses_of_their_own() {
        assert_eq!(id(&status(2, None)), "https---lichess-org-abcdefgh");
        assert_eq!(site(&status(2, None)), "https://lichess.org/abcdefgh");
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let mut state = State::default();
        for number in 0..2 * MAX_CHALLENGES {
            let server = String::new();
            let by = number.to_string();
            let declined = (number % 2 == 0).then(|| "later".to_owned());
            state.challenged(ChallengeNews { server, by, terms: "standard 3+2".into(), declined });
        }
        let shown = &state.view.challenges;
        assert_eq!((shown.len(), shown[0].by.as_str()), (MAX_CHALLENGES, "100"));
        assert_eq!((shown[0].accepted, shown[0].reason.as_deref()), (false, Some("later")));
    }
}
