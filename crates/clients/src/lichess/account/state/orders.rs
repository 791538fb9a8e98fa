//! Orders of the owner to an account: challenges, tournaments, blocked players.

use zeitnot_seat::{BotColor, ChallengeOrder, JoinOrder, Order, OrderAnswer, OrderError};
use zeitnot_wire::lichess::{
    ColorWish, NewChallenge, TimeControl, TournamentId, UserId, VariantKey,
    clocks::{BOT_CLOCKS, is_offered},
};

use super::{AccountState, Stage};
use crate::lichess::{Tournament, matchmaking::weights::proposable_variants, terms::terms};

impl AccountState {
    pub(super) fn carry_out(&mut self, order: Order) -> OrderAnswer {
        match order {
            _ if self.stage != Stage::Playing => {
                Err(OrderError::Conflict("the bot takes no new games: it is leaving".into()))
            }
            Order::Challenge(_) if !self.config.site().lets_bots_challenge() => Err(OrderError::Conflict(
                "bots cannot challenge on pychess.org: people challenge them there".into(),
            )),
            Order::Join(_) if !self.config.site().lets_bots_join() => {
                Err(OrderError::Conflict("bots cannot join tournaments on pychess.org".into()))
            }
            Order::Challenge(order) => self.challenge(order),
            Order::Join(order) => self.join(order),
            Order::Block(order) => self.block(&order.player),
            Order::Unblock(order) => self.unblock(&order.player),
        }
    }

    fn challenge(&mut self, order: ChallengeOrder) -> OrderAnswer {
        let opponent = player(&order.opponent)?;
        let variant = VariantKey::from(order.variant);
        if opponent == self.me {
            return Err(OrderError::Invalid(format!("{opponent} is the bot itself: choose somebody else")));
        }
        if !proposable_variants().contains(&variant) {
            let known: Vec<_> = proposable_variants().iter().map(VariantKey::to_string).collect();
            return Err(OrderError::Invalid(format!("variant: choose one of {}", known.join(", "))));
        }
        if !is_offered(order.time_control) {
            let time = order.time_control;
            let why =
                format!("time_control: Lichess has no clock of {time} seconds for bots: choose {BOT_CLOCKS}");
            return Err(OrderError::Invalid(why));
        }
        if !self.players.allows(&opponent) {
            let why = format!("{opponent} is blocked, or not on the allow list: change that first");
            return Err(OrderError::Conflict(why));
        }
        if !self.load().has_room || !self.incoming.queue.capacity.reserve_for_proposal() {
            let why = "no game slot is free: try again when a game is over, or raise `concurrency`";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        let color = match order.color {
            BotColor::Random => ColorWish::Random,
            BotColor::White => ColorWish::White,
            BotColor::Black => ColorWish::Black,
        };
        let time = TimeControl::Clock(order.time_control);
        let games = order.games.get();
        let what = if games == 1 { "a game".to_owned() } else { format!("{games} games, one after another") };
        let terms = terms(&variant, &time, order.rated);
        let will = format!("challenging {opponent} to {what}, {terms}; the answer follows");
        let challenge = NewChallenge { rated: order.rated, color, variant, ..NewChallenge::new(time) };
        let sent = self.outgoing.order(opponent, challenge, games, self.now, &mut self.effects);
        sent.map(|()| will).map_err(|error| OrderError::Conflict(error.to_string()))
    }

    fn join(&mut self, JoinOrder { tournament, password, .. }: JoinOrder) -> OrderAnswer {
        let text = tournament.trim_end_matches('/');
        if text.contains("/swiss/") {
            let why = "Lichess takes no bots in Swiss tournaments: join an arena tournament";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        let id = text.rsplit('/').next().unwrap_or_default();
        let id: TournamentId = id.parse().map_err(|_| {
            OrderError::Invalid(
                "tournament: send the last part of its address, 8 letters and digits".to_owned(),
            )
        })?;
        let tournament = Tournament { password, ..Tournament::new(id) };
        match self.teams.add(tournament, self.now) {
            true => Ok(format!("joining tournament {id}; a refusal follows under the errors")),
            false => Err(OrderError::Conflict(format!("tournament {id} is being joined or played already"))),
        }
    }

    fn unblock(&mut self, name: &str) -> OrderAnswer {
        let player = player(name)?;
        self.players.unblock(&player);
        Ok(match self.players.allows(&player) {
            true => format!("{player} may play us again"),
            false => format!("{player} is still blocked by the configuration"),
        })
    }

    fn block(&mut self, name: &str) -> OrderAnswer {
        let player = player(name)?;
        if !self.players.block(player.clone()) {
            let why = "too many players are blocked: use `players.block_list` in the configuration";
            return Err(OrderError::Conflict(why.to_owned()));
        }
        self.outgoing.withdraw_from(&player, self.now, &mut self.effects);
        self.incoming.decline_of(&player, &mut self.effects);
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
