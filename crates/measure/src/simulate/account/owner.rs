//! Orders of the bot's owner, and changes of its configuration.

use std::{num::NonZeroU32, time::Duration};

use zeitnot_clients::lichess::{Config, simulation::Input};
use zeitnot_rules::TimeControl as Clock;
use zeitnot_seat::{BlockOrder, BotColor, ChallengeOrder, JoinOrder, Order};

use super::{
    super::run::Checked,
    plan,
    server::{PLAYERS, player},
    world::World,
};

impl World<'_> {
    pub(super) fn order(&mut self) -> Checked {
        let name = player(self.run.rng.usize(..PLAYERS)).name.clone();
        let clock = Clock { initial: Duration::from_secs(180), increment: Duration::from_secs(2) };
        let order = match self.run.rng.u8(..4) {
            0 => Order::Challenge(ChallengeOrder {
                server: None,
                opponent: name,
                time_control: clock,
                rated: false,
                variant: "standard".to_owned(),
                color: BotColor::Random,
                games: NonZeroU32::MIN,
            }),
            1 => Order::Join(JoinOrder { server: None, tournament: "tourney1".to_owned(), password: None }),
            2 => Order::Block(BlockOrder { player: name }),
            _ => Order::Unblock(BlockOrder { player: name }),
        };
        self.tell(Input::Order(order))
    }

    pub(super) fn reconfigure(&mut self) -> Checked {
        let config = plan::config(self.run);
        let Some(program) = &mut self.program else { return Ok(()) };
        // The rest cannot change while games run.
        let Config { concurrency, challenge, correspondence, matchmaking, .. } = config.clone();
        let Config { games, team, tournament, .. } = program.config.clone();
        program.config =
            Config { games, team, tournament, concurrency, challenge, correspondence, matchmaking, ..config };
        self.disturbed = self.disturbed.max(self.run.now);
        let config = Box::new(program.config.clone());
        self.tell(Input::Reconfigured(config))
    }
}
