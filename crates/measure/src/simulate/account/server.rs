//! Model of the Lichess server, as far as one bot account sees it: games, challenges, a tournament, other players.

use std::{collections::BTreeMap, sync::LazyLock, time::Duration};

use zeitnot_rules::{Color, TimeControl as Clock};
use zeitnot_wire::lichess::{
    Challenge, ChallengeEnd, ChallengeId, ChallengeUser, Compat, DeclineReason, Direction, Event, GameEvent,
    GameId, Opponent, Perf, PerfKey, Speed, Status, TimeControl, Title, TournamentId, TournamentState, User,
    UserId, Variant, VariantKey,
};

/// Our name.
pub(super) const ME: &str = "zeitnot";
/// Humans among the players; the others are bots.
const HUMANS: usize = 4;
pub(super) const PLAYERS: usize = 9;

static USERS: LazyLock<Vec<ChallengeUser>> = LazyLock::new(|| (0..=PLAYERS).map(user).collect());
static VARIANT: LazyLock<Variant> = LazyLock::new(|| VariantKey::Standard.into());

/// Player by number; the last one is us.
fn user(number: usize) -> ChallengeUser {
    let name = if number == PLAYERS { ME.to_owned() } else { format!("player{number}") };
    let is_bot = number >= HUMANS;
    ChallengeUser {
        id: name.parse().unwrap_or_else(|error| panic!("{name}: {error}")),
        name,
        title: is_bot.then_some(Title::Bot),
        rating: Some(2000),
        provisional: false,
        online: true,
    }
}

pub(super) fn player(number: usize) -> &'static ChallengeUser {
    &USERS[number]
}

pub(super) fn number_of(player: &UserId) -> Option<usize> {
    USERS.iter().position(|user| user.id == *player)
}

pub(super) fn account(number: usize) -> User {
    let user = player(number);
    let perf = Perf { games: 100, rating: Some(2000), ..Perf::default() };
    User {
        id: user.id.clone(),
        username: user.name.clone(),
        title: user.title.clone(),
        perfs: BTreeMap::from([(PerfKey::Blitz, perf)]),
        disabled: false,
        tos_violation: false,
        created_at: None,
        seen_at: None,
        url: None,
        count: None,
    }
}

pub(super) fn bots() -> Vec<User> {
    (HUMANS..PLAYERS).map(account).collect()
}

/// Origin of a game of ours.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// We accepted a challenge.
    Accepted,
    /// Our challenge was accepted.
    Ours,
    /// Another program of our account began it.
    Foreign,
    Tournament,
}

/// Game of ours on the server.
#[derive(Clone, Debug)]
pub(super) struct ServerGame {
    pub(super) opponent: usize,
    pub(super) color: Color,
    pub(super) origin: Origin,
    pub(super) is_correspondence: bool,
    /// Time by which its clocks have run out.
    pub(super) ends: Duration,
    pub(super) status: Status,
    pub(super) winner: Option<Color>,
    pub(super) has_moved: bool,
    pub(super) is_my_turn: bool,
    /// Only the list of running games tells its end.
    pub(super) is_unnoticed: bool,
    /// Time since which the account knows of it.
    pub(super) known: Option<Duration>,
    /// A task has played it, in this run of the program.
    pub(super) is_begun: bool,
}

impl ServerGame {
    pub(super) fn is_over(&self) -> bool {
        self.status.is_over()
    }

    fn event(&self, id: GameId, tournament: TournamentId) -> GameEvent {
        let opponent = player(self.opponent);
        GameEvent {
            full_id: None,
            game_id: id,
            id: Some(id),
            fen: String::new(),
            color: self.color,
            last_move: String::new(),
            source: None,
            status: self.status.clone(),
            variant: VARIANT.clone(),
            speed: Some(if self.is_correspondence { Speed::Correspondence } else { Speed::Rapid }),
            perf: None,
            rating: None,
            rated: false,
            has_moved: self.has_moved,
            opponent: Opponent {
                id: Some(opponent.id.clone()),
                username: opponent.name.clone(),
                rating: Some(2000),
                ..Opponent::default()
            },
            is_my_turn: self.is_my_turn,
            seconds_left: None,
            winner: self.winner,
            rating_diff: None,
            tournament_id: (self.origin == Origin::Tournament).then_some(tournament),
            compat: Some(Compat { bot: true, board: true }),
        }
    }
}

/// Open challenge: to us, or by us.
#[derive(Clone, Debug)]
pub(super) struct ServerChallenge {
    pub(super) player: usize,
    pub(super) is_ours: bool,
    pub(super) is_correspondence: bool,
    /// Time since which the account knows of it.
    pub(super) known: Option<Duration>,
    /// The account has answered it, whatever became of that.
    pub(super) is_answered: bool,
    /// Generation of the program whose connection keeps it open.
    pub(super) kept_by: Option<u32>,
}

impl ServerChallenge {
    fn challenge(&self, id: ChallengeId, declined: Option<DeclineReason>) -> Box<Challenge> {
        let time_control = match self.is_correspondence {
            true => TimeControl::Correspondence { days: 2 },
            false => {
                TimeControl::Clock(Clock { initial: Duration::from_secs(600), increment: Duration::ZERO })
            }
        };
        let (ours, theirs) = (player(PLAYERS).clone(), player(self.player).clone());
        let (challenger, dest_user) = if self.is_ours { (ours, theirs) } else { (theirs, ours) };
        Box::new(Challenge {
            id,
            url: String::new(),
            status: None,
            challenger: Some(challenger),
            dest_user: Some(dest_user),
            variant: VARIANT.clone(),
            rated: false,
            speed: Some(time_control.speed()),
            time_control,
            color: None,
            final_color: None,
            perf: None,
            direction: Some(if self.is_ours { Direction::Out } else { Direction::In }),
            initial_fen: None,
            decline_reason: None,
            decline_reason_key: declined,
            rules: Vec::new(),
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tournament {
    pub(super) id: TournamentId,
    pub(super) starts: Duration,
    pub(super) ends: Duration,
    pub(super) is_joined: bool,
}

impl Tournament {
    pub(super) fn is_running(&self, now: Duration) -> bool {
        (self.starts..self.ends).contains(&now)
    }

    pub(super) fn state(&self, now: Duration) -> TournamentState {
        TournamentState {
            id: Some(self.id),
            full_name: String::new(),
            is_started: now >= self.starts,
            is_finished: now >= self.ends,
            to_start: (now < self.starts).then(|| self.starts - now),
        }
    }
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) games: BTreeMap<GameId, ServerGame>,
    pub(super) challenges: BTreeMap<ChallengeId, ServerChallenge>,
    pub(super) tournament: Tournament,
    last_id: u32,
}

impl Server {
    pub(super) fn new(tournament: Tournament) -> Server {
        Server { games: BTreeMap::new(), challenges: BTreeMap::new(), tournament, last_id: 0 }
    }

    /// Returns the id of a new challenge; its game has the same.
    pub(super) fn new_id(&mut self) -> ChallengeId {
        self.last_id += 1;
        let text = format!("{:08}", self.last_id);
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub(super) fn running(&self) -> impl Iterator<Item = (GameId, &ServerGame)> {
        self.games.iter().filter(|(_, game)| !game.is_over()).map(|(id, game)| (*id, game))
    }

    pub(super) fn list(&self) -> Vec<GameEvent> {
        self.running().map(|(id, game)| game.event(id, self.tournament.id)).collect()
    }

    pub(super) fn game_event(&self, id: GameId) -> Option<Event> {
        let game = self.games.get(&id)?;
        let event = Box::new(game.event(id, self.tournament.id));
        Some(if game.is_over() {
            Event::GameFinish { game: event }
        } else {
            Event::GameStart { game: event }
        })
    }

    pub(super) fn challenge_event(&self, id: ChallengeId) -> Option<Event> {
        let challenge = self.challenges.get(&id)?.challenge(id, None);
        Some(Event::Challenge { challenge, compat: Some(Compat { bot: true, board: true }) })
    }

    /// Removes a challenge that ended without a game. Returns the event that tells it.
    pub(super) fn end_challenge(&mut self, id: ChallengeId, end: &ChallengeEnd) -> Option<Event> {
        let challenge = self.challenges.remove(&id)?;
        Some(match end {
            ChallengeEnd::Declined => {
                Event::ChallengeDeclined { challenge: challenge.challenge(id, Some(DeclineReason::Later)) }
            }
            _ => Event::ChallengeCanceled { challenge: challenge.challenge(id, None) },
        })
    }

    pub(super) fn begin(&mut self, id: GameId, game: ServerGame) {
        self.games.insert(id, game);
    }

    /// Ends a running game. Returns whether it ran.
    pub(super) fn end(&mut self, id: GameId, status: Status, winner: Option<Color>) -> bool {
        let Some(game) = self.games.get_mut(&id).filter(|game| !game.is_over()) else { return false };
        (game.status, game.winner) = (status, winner);
        true
    }
}
