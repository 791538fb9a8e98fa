//! Line of one tournament to the database: what happened, in its order, and what may be told once it is on the disk.

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{FuturesOrdered, StreamExt},
};
use time::OffsetDateTime;
use zeitnot_rules::{ByColor, Color, GameKind, GameResult};

use super::{command::CarriedOut, pairing::SeatNo};
use crate::{
    database::{
        Change, Database, FORFEIT, Fact, GameEnd, GameHeader, GameState, History, MoveList, Place, Source,
        TournamentId, TournamentState,
    },
    name::Name,
    referee::Ending,
    tag::GameTag,
};

/// Event that is on the disk now and may be told.
#[derive(Debug)]
pub(super) enum Settled {
    /// The result of a game.
    Game(GameTag),
    /// A player's absence, which has given a point to each of these for each game.
    Withdrawal { seat: SeatNo, name: Name, opponents: Vec<Name>, round: Option<u32> },
    /// An order of the organiser.
    Order(CarriedOut),
}

/// The tournament's line to the database. Without a database all is settled at once.
#[derive(Debug)]
pub(super) struct Journal {
    target: Option<(Database, TournamentId)>,
    next: Place,
    /// On its way to the disk, in the order of the places.
    unsettled: FuturesOrdered<BoxFuture<'static, Settled>>,
    /// Orders among them.
    orders: usize,
}

impl Journal {
    pub(super) fn none() -> Journal {
        Journal { target: None, next: 0, unsettled: FuturesOrdered::new(), orders: 0 }
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

    /// Hands over a game that goes on.
    pub(super) fn note_game(&self, game: GameState) {
        if let Some((database, _)) = &self.target {
            database.note(vec![Change::Game(game)]);
        }
    }

    /// Hands over a game that is over. [`Journal::settled`] returns it when it is on the disk.
    pub(super) fn end_game(&mut self, tag: GameTag, game: GameState, ending: Ending) -> GameEnd {
        let end = GameEnd {
            result: ending.result,
            reason: ending.cause.to_string(),
            termination: ending.cause.termination().to_owned(),
            place: ending.result.map(|_| self.place()),
            at: OffsetDateTime::now_utc(),
        };
        let game = GameState { end: Some(end.clone()), ..game };
        self.settle(vec![Change::Game(game)], Settled::Game(tag));
        end
    }

    /// Hands over that a player forfeits a game to each of these.
    pub(super) fn withdraw(&mut self, seat: SeatNo, name: Name, opponents: Vec<Name>, round: Option<u32>) {
        let mut changes: Vec<_> = self.event(Fact::Withdrawn { player: name.clone() }).into_iter().collect();
        changes.extend(opponents.iter().map(|opponent| self.forfeit(opponent, &name, round)));
        self.settle(changes, Settled::Withdrawal { seat, name, opponents, round });
    }

    /// Hands over an order. [`Journal::settled`] returns it when it is on the disk.
    pub(super) fn order(&mut self, facts: Vec<Fact>, order: CarriedOut) {
        let mut changes = Vec::new();
        for fact in facts {
            let state = match fact {
                Fact::Paused => Some(TournamentState::Paused),
                Fact::Resumed => Some(TournamentState::Running),
                _ => None,
            };
            changes.extend(self.tournament().zip(state).map(|(id, state)| Change::State(id, state)));
            changes.extend(self.event(fact));
        }
        self.orders += 1;
        self.settle(changes, Settled::Order(order));
    }

    /// Returns what is on the disk next; `None` if nothing is on its way. Cancel safe.
    pub(super) async fn settled(&mut self) -> Option<Settled> {
        let settled = self.unsettled.next().await;
        self.orders -= usize::from(matches!(settled, Some(Settled::Order(_))));
        settled
    }

    /// Returns whether an order is on its way to the disk: what it changes is not to be shown yet.
    pub(super) fn has_orders(&self) -> bool {
        self.orders > 0
    }

    pub(super) fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// Notes that all is played, and waits for the disk.
    pub(super) async fn complete(&mut self) {
        if let Some((database, tournament)) = &self.target {
            database.commit(vec![Change::State(*tournament, TournamentState::Complete)]).await;
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

    /// A game that was not played; the winner stands as White.
    fn forfeit(&mut self, winner: &Name, loser: &Name, round: Option<u32>) -> Change {
        let at = OffsetDateTime::now_utc();
        let header = GameHeader {
            id: GameTag::random().to_string().into(),
            source: Source::Contest,
            kind: GameKind::Chess,
            tournament: self.tournament(),
            round,
            opening: None,
            names: ByColor([winner, loser].map(ToString::to_string)),
            time_control: None,
            start: None,
            repeats: None,
            began: at,
        };
        let end = GameEnd {
            result: Some(GameResult::Won(Color::White)),
            reason: "Absence".to_owned(),
            termination: FORFEIT.to_owned(),
            place: Some(self.place()),
            at,
        };
        Change::Game(GameState { header: header.into(), moves: MoveList::default(), end: Some(end) })
    }

    fn settle(&mut self, changes: Vec<Change>, settled: Settled) {
        let database = self.target.as_ref().map(|(database, _)| database.clone());
        let settling = async move {
            if let Some(database) = database {
                database.commit(changes).await;
            }
            settled
        };
        self.unsettled.push_back(settling.boxed());
    }
}
