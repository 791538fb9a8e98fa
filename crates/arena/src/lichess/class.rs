//! Accounts that play in class tournaments: messages of the tournament's referee become events and game states, and
//! actions of players become messages to the referee.

use tokio::{sync::mpsc, time::Instant};
use zeitnot_host::tag::GameTag;
use zeitnot_referee::{Cause, Ending};
use zeitnot_rules::{ByColor, Color, Game as _, GameResult, TimeControl as Clocks, chess::Chess};
use zeitnot_wire::lichess::{GameId, Source, UserId, VariantKey};

use super::{
    accounts::{Accounts, unix_now},
    answer::{Answer, Outcome, Refusal},
    game::{ClassGame, Game, GameAction, GameSetup, Player},
    games::{Games, player, start_event},
    terms::Terms,
};
use crate::message::{GameView, Notice, Request};

const QUEUE: usize = 64;
/// Lichess names have at most 30 characters; a guest's may get two more.
const MAX_GUEST_NAME: usize = 28;

#[derive(Debug)]
pub(super) enum Order {
    /// The account is online: take its seat, if that is not done yet.
    Join,
    Send(Request),
}

#[derive(Debug)]
struct Entrant {
    account: UserId,
    name: String,
    bridge: mpsc::Sender<Order>,
    pairing: Option<Pairing>,
}

#[derive(Debug)]
struct Pairing {
    tag: GameTag,
    time: Clocks,
    /// The account was not online to acknowledge it.
    is_unacknowledged: bool,
}

impl Entrant {
    fn come_online(&mut self) {
        let missed = self.pairing.as_mut().filter(|pairing| pairing.is_unacknowledged);
        let order = match missed {
            Some(pairing) => {
                pairing.is_unacknowledged = false;
                Order::Send(Request::Ack { game: pairing.tag.to_string() })
            }
            None => Order::Join,
        };
        // A full queue holds such an order already.
        let _ = self.bridge.try_send(order);
    }
}

#[derive(Debug, Default)]
pub(super) struct Class(Vec<Entrant>);

impl Class {
    pub(super) fn enter(&mut self, account: UserId, name: String) -> mpsc::Receiver<Order> {
        let (bridge, orders) = mpsc::channel(QUEUE);
        self.0.push(Entrant { account, name, bridge, pairing: None });
        orders
    }

    fn entrant(&mut self, account: &UserId) -> Option<&mut Entrant> {
        self.0.iter_mut().find(|entrant| entrant.account == *account)
    }

    /// The account has opened its event stream.
    pub(super) fn come_online(&mut self, who: &UserId) {
        self.entrant(who).into_iter().for_each(Entrant::come_online);
    }

    /// Applies a message to an account; returns the account's answer.
    pub(super) fn receive(
        &mut self,
        account: &UserId,
        notice: Notice,
        games: &mut Games,
        accounts: &mut Accounts,
        now: Instant,
    ) -> Option<Request> {
        match notice {
            Notice::GamePaired { game, time_control, .. } => {
                let is_online = games.is_online(accounts, account);
                return self.acknowledge(account, game, time_control, is_online);
            }
            Notice::GameStarted(view) => self.start(account, &view, games, accounts, now),
            Notice::PlayerMoved { mv, view, .. } => {
                if let Some(game) = running(games, account, view.game) {
                    game.apply_refereed(mv.as_str(), view.left, now);
                }
            }
            Notice::ClockUpdate(view) | Notice::YourMove(view) => {
                if let Some(game) = running(games, account, view.game) {
                    game.set_clocks(view.left, now);
                }
            }
            Notice::GameOver { game, result, cause, .. } => {
                let ending = Ending { result: Some(result), cause };
                finish(games, accounts, account, now, |class| class.tag == game, |_| ending);
            }
            Notice::GameAborted { .. } => {
                let ending = Ending { result: None, cause: Cause::Aborted };
                finish(games, accounts, account, now, |_| true, |_| ending);
            }
            Notice::Info(_) | Notice::GameState(_) | Notice::Said { .. } => {}
        }
        None
    }

    /// An account that is not online does not acknowledge: the tournament waits, and then takes the seat back.
    fn acknowledge(
        &mut self,
        account: &UserId,
        tag: GameTag,
        time: Clocks,
        is_online: bool,
    ) -> Option<Request> {
        let entrant = self.entrant(account)?;
        entrant.pairing = Some(Pairing { tag, time, is_unacknowledged: !is_online });
        is_online.then(|| Request::Ack { game: tag.to_string() })
    }

    /// The account has lost its seat, and with it the game it played.
    pub(super) fn lose_seat(
        &mut self,
        account: &UserId,
        games: &mut Games,
        accounts: &mut Accounts,
        now: Instant,
    ) {
        let end = |game: &Game| {
            let won = game.color_of(account).map(|color| GameResult::Won(!color));
            Ending { result: won, cause: Cause::Disconnect }
        };
        finish(games, accounts, account, now, |_| true, end);
        let is_online = games.is_online(accounts, account);
        if let Some(entrant) = self.entrant(account) {
            entrant.pairing = None;
            if is_online {
                entrant.come_online();
            }
        }
    }

    fn start(&self, account: &UserId, view: &GameView, games: &mut Games, accounts: &Accounts, now: Instant) {
        let known = games.map.values().find(|game| game.is_class_game(view.game));
        let id = match known.map(|game| (game.id, game.is_over())) {
            Some((_, true)) => return,
            Some((id, false)) => Some(id),
            None => self.create(account, view, games, accounts, now),
        };
        if let Some(game) = id.and_then(|id| games.map.get(&id))
            && let Some(color) = game.color_of(account)
        {
            accounts.tell(account, &start_event(game, color, now));
        }
    }

    /// Creates the game that shows one of a class tournament.
    fn create(
        &self,
        witness: &UserId,
        view: &GameView,
        games: &mut Games,
        accounts: &Accounts,
        now: Instant,
    ) -> Option<GameId> {
        let pairing = self.0.iter().find(|entrant| entrant.account == *witness)?.pairing.as_ref()?;
        let is_usual = view.fen == Chess::start().print();
        let terms = Terms {
            variant: if is_usual { VariantKey::Standard } else { VariantKey::FromPosition },
            rated: false,
            time: pairing.time,
            fen: (!is_usual).then(|| view.fen.clone()),
            source: Source::Api,
        };
        let player_of = |color: Color| {
            let name = view.names[color].as_str();
            let is_paired = |pairing: &Pairing| pairing.tag == view.game;
            let is_it =
                |entrant: &&Entrant| entrant.name == name && entrant.pairing.as_ref().is_some_and(is_paired);
            match self.0.iter().find(is_it) {
                Some(entrant) => player(accounts, &entrant.account, &terms),
                None => guest(name, witness),
            }
        };
        let [Some(white), Some(black)] = Color::BOTH.map(player_of) else { return None };
        let board = terms.begin().ok()?;
        let id = GameId::from(games.free_id());
        let players = ByColor([white, black]);
        let setup = GameSetup { id, terms, board, players, created: unix_now() };
        let class = ClassGame { tag: view.game, witness: witness.clone(), passed_on: None };
        games.mirror(setup, class, view.left, now);
        Some(id)
    }

    /// Passes an action on to the referee, who knows moves and resignations. Their number is not limited, as that of
    /// other participants is not.
    pub(super) fn act(
        &self,
        who: &UserId,
        (game, color): (&mut Game, Color),
        action: GameAction,
        at: Instant,
    ) -> Outcome {
        let entrant = self.0.iter().find(|entrant| entrant.account == *who);
        let Some((tag, entrant)) = game.class.as_ref().map(|class| class.tag.to_string()).zip(entrant) else {
            return Err(Refusal::missing("No such game"));
        };
        let order = entrant.bridge.try_reserve().map_err(|_| Refusal::rate_limited())?;
        match action {
            _ if game.is_over() => return Err(Refusal::bad("Not your turn, or game already over")),
            GameAction::Move { text, .. } => {
                let mv = game.pass_on(color, &text).map_err(|why| Refusal::bad(&why))?.to_string();
                order.send(Order::Send(Request::Move { game: tag, mv, read_at: at }));
            }
            GameAction::Resign => order.send(Order::Send(Request::Resign { game: tag })),
            GameAction::Chat(_) | GameAction::Draw(false) | GameAction::Takeback(false) => {
                game.act(color, action, at).map_err(|why| Refusal::bad(&why))?;
            }
            _ => return Err(Refusal::bad("This is not possible in a tournament of the class")),
        }
        Ok(Answer::done())
    }
}

fn running<'g>(games: &'g mut Games, account: &UserId, tag: GameTag) -> Option<&'g mut Game> {
    let id = games.running().find(|game| game.is_class_game(tag))?.id;
    games.map.get_mut(&id).filter(|game| game.class.as_ref().is_some_and(|class| class.witness == *account))
}

/// Finishes the selected ones of the games that the account is a witness of.
fn finish(
    games: &mut Games,
    accounts: &mut Accounts,
    account: &UserId,
    now: Instant,
    is_selected: impl Fn(&ClassGame) -> bool,
    end: impl Fn(&Game) -> Ending,
) {
    let is_meant = |game: &&Game| {
        game.class.as_ref().is_some_and(|class| class.witness == *account && is_selected(class))
    };
    let ended: Vec<GameId> = games.running().filter(is_meant).map(|game| game.id).collect();
    for id in ended {
        if let Some(game) = games.map.get_mut(&id) {
            let Ending { result, cause } = end(game);
            game.finish(result, cause, now);
        }
        games.conclude(id, accounts, now);
    }
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
