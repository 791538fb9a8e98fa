//! Line of one tournament to the database: what happened, in its order, and what may be told once it is settled: on the
//! disk, or kept to be written later because the disk has failed or has not answered for
//! [`MAX_WAIT`](zeitnot_host::database::MAX_WAIT).

use std::collections::VecDeque;

use futures_util::{
    FutureExt,
    future::{BoxFuture, ready},
    stream::{FuturesOrdered, StreamExt},
};
use time::OffsetDateTime;
use zeitnot_pairing::{Name, SeatNo};
use zeitnot_referee::ServerBoard;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::command::{Answer, CarriedOut};
use zeitnot_host::{
    database::{
        Change, Database, FORFEIT, Fact, GameEnd, GameHeader, GameRow, History, MoveList, Person, Place,
        Source, TournamentId, TournamentState,
    },
    hosted_game::HostedGame,
    note::Note,
    tag::GameTag,
};

/// Event that is settled and may be told.
#[derive(Debug)]
pub(super) enum Settled {
    /// The result of a game.
    Game(GameTag),
    /// A player is out, and has forfeited these games.
    Withdrawal { seat: SeatNo, name: Name, games: Vec<GameRow>, told: String },
    /// An order of the organiser.
    Order(Box<CarriedOut>, Answer),
}

/// A game that was not played.
#[derive(Debug)]
pub(super) struct Unplayed {
    pub(super) kind: GameKind,
    pub(super) players: ByColor<Person>,
    pub(super) winner: Color,
    /// Of a game that was paired; one that falls out with a player has none.
    pub(super) opening: Option<u64>,
    pub(super) round: Option<u32>,
    pub(super) reason: &'static str,
    pub(super) note: Option<Note>,
}

/// The tournament's line to the database. Without a database all is settled at once.
#[derive(Debug)]
pub(super) struct Journal {
    target: Option<(Database, TournamentId)>,
    next: Place,
    /// On its way to the disk, in the order of the places.
    unsettled: FuturesOrdered<BoxFuture<'static, Settled>>,
    /// Orders among them, each with the players of the game that it decides or corrects.
    orders: VecDeque<Option<ByColor<Name>>>,
}

impl Journal {
    pub(super) fn none() -> Journal {
        Journal { target: None, next: 0, unsettled: FuturesOrdered::new(), orders: VecDeque::new() }
    }

    pub(super) fn new(database: Database, history: &History) -> Journal {
        let target = Some((database, history.tournament.id));
        Journal { target, next: history.next_place(), ..Journal::none() }
    }

    /// The tournament's id in the database.
    pub(super) fn tournament(&self) -> Option<TournamentId> {
        self.target.as_ref().map(|(_, tournament)| *tournament)
    }

    /// Hands over what nobody waits for.
    pub(super) fn note(&mut self, fact: Fact) {
        let change = self.event(fact);
        if let (Some((database, _)), Some(change)) = (&self.target, change) {
            database.note(vec![change]);
        }
    }

    /// Returns the database, which the tournament's games are written to.
    pub(super) fn database(&self) -> Option<Database> {
        self.target.as_ref().map(|(database, _)| database.clone())
    }

    /// Hands over a game, once, if it is over; returns its end. [`Journal::settled`] returns it later.
    pub(super) fn end_game(
        &mut self,
        tag: GameTag,
        game: &mut HostedGame<ServerBoard>,
        note: Option<Note>,
    ) -> Option<GameEnd> {
        let game = game.take_end(|result| result.map(|_| self.place()), note)?;
        let end = game.end.clone();
        self.settle(vec![Change::Game(game)], Settled::Game(tag));
        end
    }

    /// Hands over that a player is out and forfeits these games.
    pub(super) fn withdraw(&mut self, (seat, name): (SeatNo, Name), games: Vec<Unplayed>, told: String) {
        let mut changes: Vec<_> = self.event(Fact::Withdrawn { player: name.clone() }).into_iter().collect();
        let games: Vec<_> = games.into_iter().map(|game| self.unplayed(game)).collect();
        changes.extend(games.iter().cloned().map(Change::Game));
        self.settle(changes, Settled::Withdrawal { seat, name, games, told });
    }

    /// Hands over an order. [`Journal::settled`] returns it later.
    pub(super) fn order(&mut self, order: CarriedOut, answer: Answer) {
        let mut changes = Vec::new();
        if let Some(fact) = order.fact.clone() {
            let tournament = self.tournament();
            let row = match &fact {
                Fact::Paused => tournament.map(|id| Change::State(id, TournamentState::Paused)),
                Fact::Resumed => tournament.map(|id| Change::State(id, TournamentState::Running)),
                Fact::Corrected { game, result, note } => tournament.map(|tournament| {
                    let (game, note) = (game.clone(), note.clone());
                    Change::Correction { tournament, game, result: *result, note }
                }),
                _ => None,
            };
            changes.extend(row);
            changes.extend(self.event(fact));
        }
        changes.extend(order.game.clone().map(Change::Game));
        self.orders.push_back(order.players.clone());
        self.settle(changes, Settled::Order(Box::new(order), answer));
    }

    /// Records a pause, without waiting for the disk.
    pub(super) fn pause(&mut self) {
        let event = self.event(Fact::Paused);
        if let (Some((database, tournament)), Some(event)) = (&self.target, event) {
            database.note(vec![Change::State(*tournament, TournamentState::Paused), event]);
        }
    }

    /// Returns what is settled next; `None` if nothing is on its way. Cancel safe.
    pub(super) async fn settled(&mut self) -> Option<Settled> {
        let settled = self.unsettled.next().await;
        if let Some(Settled::Order(..)) = &settled {
            self.orders.pop_front();
        }
        settled
    }

    /// Returns whether an order is on its way to the disk: what it changes is not to be shown yet.
    pub(super) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// Returns whether an order about a game of that player is on its way to the disk.
    pub(super) fn has_order_about(&self, player: &Name) -> bool {
        self.orders.iter().flatten().any(|players| players.0.contains(player))
    }

    pub(super) fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// Notes that all is played, and waits for the disk as for a result.
    pub(super) async fn complete(&mut self) {
        if let Some((database, tournament)) = &self.target {
            database.commit(vec![Change::State(*tournament, TournamentState::Complete)]).await;
        }
    }

    /// Notes that the tournament is deleted, and waits for the disk. Nothing about it may be noted afterwards.
    pub(super) async fn delete(&mut self) {
        if let Some((database, tournament)) = self.target.take() {
            database.commit(vec![Change::Deletion(tournament)]).await;
        }
    }

    fn place(&mut self) -> Place {
        let place = self.next;
        self.next = place.saturating_add(1);
        place
    }

    fn event(&mut self, fact: Fact) -> Option<Change> {
        let tournament = self.tournament()?;
        Some(Change::Event { tournament, place: self.place(), at: OffsetDateTime::now_utc(), fact })
    }

    /// Returns a game that is decided without being played, at the next place.
    pub(super) fn unplayed(&mut self, game: Unplayed) -> GameRow {
        let Unplayed { kind, players, winner, opening, round, reason, note } = game;
        let at = OffsetDateTime::now_utc();
        let header = GameHeader {
            id: GameTag::random().to_string().into(),
            source: Source::Contest,
            kind,
            tournament: self.tournament(),
            round,
            opening,
            players,
            time_control: None,
            start: None,
            repeats: None,
            began: at,
        };
        let end = GameEnd {
            result: Some(GameResult::Won(winner)),
            reason: reason.to_owned(),
            termination: FORFEIT.to_owned(),
            place: Some(self.place()),
            at,
            note,
            corrected: None,
        };
        GameRow { header: header.into(), moves: MoveList::default(), end: Some(end) }
    }

    fn settle(&mut self, changes: Vec<Change>, settled: Settled) {
        let database = self.target.as_ref().map(|(database, _)| database.clone());
        let mut settling = async move {
            if let Some(database) = database {
                database.commit(changes).await;
            }
            settled
        }
        .boxed();
        // Hands the changes over now, before those that are noted next: after a kill, a round that is written must not
        // lack a game of the round before.
        let settled = (&mut settling).now_or_never();
        self.unsettled.push_back(settled.map_or(settling, |settled| ready(settled).boxed()));
    }
}
