//! Three hours without the server: thirty games with one minute for each side run when it dies. It answers nothing for
//! eleven minutes, and then 502.

use std::time::Duration;

use zeitnot_clients::lichess::Config;

use super::{
    super::{
        law::Planted,
        run::{Checked, Run},
    },
    laws::{BOUNDED_RATE, OLD_LOOKUPS},
    plan::{Outage, OutageKind, Plan},
    sent_requests::Kind,
    world::{World, WorldEvent},
};

const GAMES: u32 = 30;
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const FROM: Duration = MINUTE;
const BAD_GATEWAY: Duration = Duration::from_secs(12 * 60);
const UNTIL: Duration = Duration::from_secs(181 * 60);

/// Returns the most look-ups of each kind in a minute.
fn live_through(planted: Planted) -> Checked<[usize; 4]> {
    let mut run = Run::new(0, planted);
    let plan = Plan {
        config: Config::default(),
        seats: GAMES as usize,
        active: Duration::ZERO,
        challenge_every: Duration::ZERO,
        foreign_games: 0,
        outages: vec![
            Outage { from: FROM, to: BAD_GATEWAY, kind: OutageKind::Dead },
            Outage { from: BAD_GATEWAY, to: UNTIL, kind: OutageKind::BadGateway },
        ],
        request_faults: 0,
        event_faults: 0,
        stream_breaks: 0,
        kills: 0,
        orders: 0,
        stop: None,
        revoked: None,
        game_length: Some(2 * MINUTE),
    };
    let mut world = World::new(plan, &mut run);
    world.queue.add(Duration::ZERO, WorldEvent::Start);
    world.queue.add(FROM, WorldEvent::StreamBreaks);
    for game in 0..GAMES {
        world.queue.add(SECOND * (game + 1), WorldEvent::ForeignGame);
    }
    world.run_until(UNTIL + 15 * MINUTE)?;
    let kinds = [Kind::RunningGames, Kind::Token, Kind::Online, Kind::Opponents];
    Ok(kinds.map(|kind| world.requests.most[kind as usize]))
}

#[test]
fn look_ups_do_not_multiply() {
    let most = live_through(Planted::default()).unwrap();
    assert!(most.iter().sum::<usize>() <= 10, "{most:?}");
    let broken = live_through(Planted(Some((&BOUNDED_RATE, &OLD_LOOKUPS)))).unwrap_err();
    assert_eq!(broken.law, BOUNDED_RATE.name, "{broken:?}");
}
