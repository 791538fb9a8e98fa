//! Orders of the owner to an account: challenges, tournaments, blocked players.

use zeitnot_rules::Color;
use zeitnot_wire::lichess::{ColorWish, NewChallenge, TimeControl, TournamentId, UserId, VariantKey};

use super::Account;
use crate::{
    ChallengeOrder, Order, OrderError,
    lichess::{
        Password, RequestKind, Tournament, challenges::incoming::cancel_path, is_offered,
        matchmaking::config::proposable_variants, terms::terms,
    },
    orders::OrderRequest,
};

impl Account<'_> {
    pub(super) fn carry_out(&mut self, request: OrderRequest) {
        let done = match request.order.clone() {
            _ if self.is_leaving => {
                Err(OrderError::Conflict("the bot takes no new games: it is leaving".into()))
            }
            Order::Challenge(order) => self.challenge(order),
            Order::Join { tournament, password } => self.join(&tournament, password),
            Order::Block { player, is_blocked } => self.block(&player, is_blocked),
            Order::Reconfigure(config) => {
                self.reconfigure(*config);
                Ok("playing by the new configuration".to_owned())
            }
        };
        request.answer(done);
    }

    fn challenge(&mut self, order: ChallengeOrder) -> Result<String, OrderError> {
        let opponent = player(&order.opponent)?;
        let variant = VariantKey::from(order.variant);
        if opponent == self.context.me {
            return Err(OrderError::Invalid(format!("{opponent} is the bot itself: choose somebody else")));
        }
        if !proposable_variants().contains(&variant) {
            let known: Vec<_> = proposable_variants().iter().map(VariantKey::to_string).collect();
            return Err(OrderError::Invalid(format!("variant: choose one of {}", known.join(", "))));
        }
        if !is_offered(order.clock) {
            let why = format!(
                "time_control: Lichess has no clock of {} seconds for bots: choose 15, 30, 45, 60, 90 or whole minutes \
                 up to three hours, with an increment of at most 60 seconds, and no UltraBullet",
                order.clock
            );
            return Err(OrderError::Invalid(why));
        }
        if !self.players.players.allows(&opponent) {
            let why = format!("{opponent} is blocked, or not on the allow list: change that first");
            return Err(OrderError::Conflict(why));
        }
        if !self.load().has_room {
            let why = "no game slot is free: try again when a game is over, or raise `concurrency`";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        let color = match order.color {
            None => ColorWish::Random,
            Some(Color::White) => ColorWish::White,
            Some(Color::Black) => ColorWish::Black,
        };
        let time = TimeControl::Clock(order.clock);
        let will = format!(
            "challenging {opponent} to a game, {}; the answer follows",
            terms(&variant, &time, order.rated)
        );
        let challenge = NewChallenge { rated: order.rated, color, variant, ..NewChallenge::new(time) };
        let sent = self.outgoing.order(opponent, challenge);
        sent.map(|()| will).map_err(|error| OrderError::Conflict(error.to_string()))
    }

    fn join(&mut self, text: &str, password: Option<Password>) -> Result<String, OrderError> {
        if text.contains("/swiss/") {
            let why = "Lichess takes no bots in Swiss tournaments: join an arena tournament";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        let text = text.trim_end_matches('/');
        let id = text.rsplit('/').next().unwrap_or_default();
        let id: TournamentId = id.parse().map_err(|_| {
            OrderError::Invalid(
                "tournament: send the last part of its address, 8 letters and digits".to_owned(),
            )
        })?;
        match self.teams.add(Tournament { password, ..Tournament::new(id) }) {
            true => Ok(format!("joining tournament {id}; a refusal follows under the errors")),
            false => Err(OrderError::Conflict(format!("tournament {id} is being joined or played already"))),
        }
    }

    fn block(&mut self, name: &str, is_blocked: bool) -> Result<String, OrderError> {
        let player = player(name)?;
        if !is_blocked {
            self.players.players.unblock(&player);
            return Ok(match self.players.players.allows(&player) {
                true => format!("{player} may play us again"),
                false => format!("{player} is still blocked by the configuration"),
            });
        }
        if !self.players.players.block(player.clone()) {
            let why = "too many players are blocked: use `players.block_list` in the configuration";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        if let Some(ours) = self.outgoing.withdraw_from(&player) {
            self.background.post(RequestKind::Challenge, cancel_path(ours), None);
        }
        self.incoming.decline_of(&player, &mut self.background);
        Ok(format!(
            "{player} is blocked until the program ends; a running game goes on. \
             `players.block_list` blocks for good"
        ))
    }
}

fn player(name: &str) -> Result<UserId, OrderError> {
    name.trim().parse().map_err(|_| {
        OrderError::Invalid(
            "a name on Lichess has up to 30 letters, digits, hyphens and underscores".to_owned(),
        )
    })
}
