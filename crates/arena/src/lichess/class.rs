//! Accounts that play in class tournaments: notices of the tournament become events and states of the game, which
//! passes actions of its players on.

use tokio::{sync::mpsc, time::Instant};
use zeitnot_host::tag::GameTag;
use zeitnot_pairing::Name;
use zeitnot_referee::Cause;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};
use zeitnot_wire::lichess::{GameId, Source, UserId, VariantKey};

use super::{
    accounts::{Accounts, unix_now},
    game::{ClassGame, Game, GameSetup, Order, Owner, Player},
    games::{Games, player, start_event},
    terms::Terms,
};
use crate::message::{GameView, Notice};

const QUEUE: usize = 64;
/// Lichess names have at most 30 characters; a guest's may get two more.
const MAX_GUEST_NAME: usize = 28;

#[derive(Debug)]
struct Entrant {
    account: UserId,
    name: Name,
    tournament: Name,
    orders: mpsc::Sender<Order>,
}

#[derive(Debug, Default)]
pub(super) struct Class(Vec<Entrant>);

impl Class {
    pub(super) fn enter(&mut self, account: UserId, name: Name, tournament: Name) -> mpsc::Receiver<Order> {
        let (orders, received) = mpsc::channel(QUEUE);
        self.0.push(Entrant { account, name, tournament, orders });
        received
    }

    /// The account has opened its event stream.
    pub(super) fn come_online(&self, who: &UserId) {
        for entrant in self.0.iter().filter(|entrant| entrant.account == *who) {
            // A full queue holds such an order already.
            let _ = entrant.orders.try_send(Order::Online);
        }
    }

    /// Applies a notice to an account.
    pub(super) fn receive(
        &self,
        account: &UserId,
        notice: Notice,
        games: &mut Games,
        accounts: &mut Accounts,
        now: Instant,
    ) {
        match notice {
            Notice::GameStarted(view) => self.start(account, &view, games, accounts, now),
            Notice::PlayerMoved { made, view, .. } => {
                if let Some(game) = running(games, view.game)
                    && let Owner::Class(class) = &mut game.owner
                    && class.add(made)
                {
                    class.set_clocks(&view, now);
                    // The last move is told with the end.
                    if view.turn.is_some() {
                        game.tell_state(now);
                    }
                }
            }
            Notice::ClockUpdate(view) | Notice::YourMove(view) => {
                if let Some(Game { owner: Owner::Class(class), .. }) = running(games, view.game) {
                    class.set_clocks(&view, now);
                }
            }
            Notice::GameOver { result, cause, .. } => {
                finish(games, accounts, account, now, |_| Some(result), cause);
            }
            Notice::GameAborted { .. } => finish(games, accounts, account, now, |_| None, Cause::Aborted),
            // The bridge acknowledges a pairing.
            Notice::GamePaired { .. } | Notice::Info(_) | Notice::GameState(_) | Notice::Said { .. } => {}
        }
    }

    fn start(&self, account: &UserId, view: &GameView, games: &mut Games, accounts: &Accounts, now: Instant) {
        if !games.map.values().any(|game| is_of(game, view.game)) {
            let game = self.game(account, view, games.free_id().into(), accounts, now);
            game.into_iter().for_each(|game| games.map.insert(game.id, game));
        }
        if let Some(game) = running(games, view.game)
            && let Some(color) = game.color_of(account)
        {
            accounts.tell(account, &start_event(game, color, now));
        }
    }

    /// Creates the game that shows one of a class tournament; `None` if the name of its other player is no name here.
    fn game(
        &self,
        account: &UserId,
        view: &GameView,
        id: GameId,
        accounts: &Accounts,
        now: Instant,
    ) -> Option<Game> {
        let info = &view.info;
        let terms = Terms {
            variant: match info.kind {
                GameKind::Chess if info.is_chess960() => VariantKey::Chess960,
                GameKind::Chess if info.is_own_start => VariantKey::FromPosition,
                kind => VariantKey::of(kind)?,
            },
            rated: false,
            time: info.time_control?,
            fen: info.is_own_start.then(|| info.start_fen.clone()),
            source: Source::Api,
        };
        let tournament = info.tournament.as_ref()?.name.as_str();
        let entrant = |color: Color| {
            let name = info.players[color].name.as_str();
            self.0.iter().find(|it| it.name.as_str() == name && it.tournament.as_str() == tournament)
        };
        let player_of = |color: Color| match entrant(color) {
            Some(entrant) => player(accounts, &entrant.account, &terms),
            None => guest(&info.players[color].name, account),
        };
        let [Some(white), Some(black)] = Color::BOTH.map(player_of) else { return None };
        let seats = Color::BOTH.map(|color| entrant(color).map(|entrant| entrant.orders.clone()));
        let class = ClassGame::new(view, &terms, ByColor(seats), now);
        let setup = GameSetup { id, terms, players: ByColor([white, black]), created: unix_now() };
        Some(Game::new(setup, Owner::Class(class.into()), now))
    }
}

fn is_of(game: &Game, tag: GameTag) -> bool {
    matches!(&game.owner, Owner::Class(class) if class.tag == tag)
}

fn running(games: &mut Games, tag: GameTag) -> Option<&mut Game> {
    games.map.values_mut_clean().find(|game| !game.is_over() && is_of(game, tag))
}

/// The account has lost its seat, and with it the game it played.
pub(super) fn lose_seat(games: &mut Games, accounts: &mut Accounts, account: &UserId, now: Instant) {
    finish(games, accounts, account, now, |color| Some(GameResult::Won(!color)), Cause::Disconnect);
}

/// Finishes the account's game, with a result that may depend on its side.
fn finish(
    games: &mut Games,
    accounts: &mut Accounts,
    account: &UserId,
    now: Instant,
    result: impl Fn(Color) -> Option<GameResult>,
    cause: Cause,
) {
    let mut ended = Vec::new();
    for game in games.map.values_mut_clean().filter(|game| !game.is_over()) {
        if let (Owner::Class(_), Some(color)) = (&game.owner, game.color_of(account)) {
            game.finish(result(color), cause, now);
            ended.push(game.id);
        }
    }
    ended.into_iter().for_each(|id| games.conclude(id, accounts, now));
}

/// A participant that speaks another protocol, or has not been heard of yet, under a name that is valid on Lichess.
/// Clients tell their side by the names, so no guest has the name of its opponent.
fn guest(name: &str, opponent: &UserId) -> Option<Player> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut name: String = name.chars().map(plain).take(MAX_GUEST_NAME).collect();
    if name.eq_ignore_ascii_case(opponent.as_str()) {
        name += "-2";
    }
    let id = name.parse().ok()?;
    Some(Player { id, name, title: None, rating: None, provisional: false, is_guest: true })
}
