//! Orders of the page, on their way to the clients.

use futures_util::future::join_all;
use zeitnot_clients::Server;
use zeitnot_seat::{
    BlockOrder, Order, OrderAnswer, OrderError, OrderKind, OrderQueue, OrderRequest, Orders, PAGE_TIMEOUT,
};

/// Means by which the page controls the client of one server.
#[derive(Clone, Debug)]
pub(in crate::cli) struct ServerControl {
    pub(super) name: String,
    orders: Orders,
    takes: [(OrderKind, Result<(), &'static str>); 3],
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct BlockChange {
    pub(super) player: String,
    pub(super) is_blocked: bool,
}

impl ServerControl {
    /// Creates the means, and the end for the client.
    pub(in crate::cli) fn new(server: &Server) -> (ServerControl, OrderQueue) {
        let (orders, queue) = Orders::channel(PAGE_TIMEOUT);
        let takes = OrderKind::ALL.map(|kind| (kind, server.takes(kind)));
        (ServerControl { name: server.to_string(), orders, takes }, queue)
    }

    /// Returns the names of the orders that are possible there.
    pub(super) fn possible(&self) -> Vec<String> {
        self.takes.iter().filter(|(_, takes)| takes.is_ok()).map(|(kind, _)| kind.name().to_owned()).collect()
    }

    fn takes(&self, kind: OrderKind) -> Result<(), &'static str> {
        self.takes.iter().find(|(known, _)| *known == kind).map_or(Ok(()), |(_, takes)| *takes)
    }
}

/// Carries out an order, or passes it on. Returns the change of the blocked players.
pub(super) async fn carry_out(
    servers: &[ServerControl],
    OrderRequest { order, answer }: OrderRequest,
) -> Option<BlockChange> {
    let (server, kind) = match &order {
        Order::Challenge(order) => (order.server.as_deref(), OrderKind::Challenge),
        Order::Join(order) => (order.server.as_deref(), OrderKind::Join),
        Order::Block(_) | Order::Unblock(_) => (None, OrderKind::Block),
    };
    let chosen = choose(servers, server, kind);
    let (done, change) = match (order, chosen) {
        (Order::Block(order), chosen) => block(servers, chosen.err(), order, true).await,
        (Order::Unblock(order), chosen) => block(servers, chosen.err(), order, false).await,
        (order, Ok(server)) => {
            server.orders.pass_on(OrderRequest { order, answer });
            return None;
        }
        (_, Err(error)) => (Err(error), None),
    };
    let _ = answer.send(done);
    change
}

/// Chooses the server by its name, or the first that takes such orders.
fn choose<'s>(
    servers: &'s [ServerControl],
    name: Option<&str>,
    kind: OrderKind,
) -> Result<&'s ServerControl, OrderError> {
    let known = || servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join("; ");
    let chosen = match name {
        Some(name) => servers.iter().find(|server| server.name == name).ok_or_else(|| {
            OrderError::Invalid(format!("server: none has that name: choose one of {}", known()))
        })?,
        None => servers
            .iter()
            .find(|server| server.takes(kind).is_ok())
            .or(servers.first())
            .ok_or_else(|| OrderError::Conflict("the bot plays on no server".to_owned()))?,
    };
    chosen.takes(kind).map(|()| chosen).map_err(|why| OrderError::Conflict(why.to_owned()))
}

/// Blocks a player wherever that is possible, or ends that.
async fn block(
    servers: &[ServerControl],
    mut refused: Option<OrderError>,
    order: BlockOrder,
    is_blocked: bool,
) -> (OrderAnswer, Option<BlockChange>) {
    let mut messages = Vec::new();
    let able = servers.iter().filter(|server| server.takes(OrderKind::Block).is_ok());
    let kind = if is_blocked { Order::Block } else { Order::Unblock };
    let asked = able.map(|server| server.orders.give(kind(order.clone())));
    for answer in join_all(asked).await {
        match answer {
            Ok(message) => messages.push(message),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if messages.is_empty() => (Err(error), None),
        _ => (Ok(messages.join("; ")), Some(BlockChange { player: order.player, is_blocked })),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn server(name: &str, can: &'static [OrderKind]) -> ServerControl {
        let (orders, _) = Orders::channel(PAGE_TIMEOUT);
        let takes = OrderKind::ALL.map(|kind| {
            (kind, if can.contains(&kind) { Ok(()) } else { Err("not there: it pairs its players") })
        });
        ServerControl { name: name.to_owned(), orders, takes }
    }

    #[test]
    fn the_first_server_that_can_is_chosen_and_the_others_say_why_not() {
        let servers = [server("class", &[]), server("lichess", &[OrderKind::Challenge])];
        let chosen = |name: Option<&str>, kind| {
            choose(&servers, name, kind).map(|server| server.name.clone()).map_err(|error| error.to_string())
        };
        assert_eq!(chosen(None, OrderKind::Challenge), Ok("lichess".into()));
        assert_eq!(chosen(None, OrderKind::Join), Err("not there: it pairs its players".into()));
        assert_eq!(
            chosen(Some("class"), OrderKind::Challenge),
            Err("not there: it pairs its players".into())
        );
        let unknown = chosen(Some("x"), OrderKind::Challenge).unwrap_err();
        assert!(unknown.ends_with("choose one of class; lichess"), "{unknown}");
        assert!(choose(&[], None, OrderKind::Block).is_err());
        assert_eq!(servers[1].possible(), ["challenge"]);
    }

    #[test]
    async fn a_player_whom_no_server_blocks_is_not_shown_as_blocked() {
        let answer = async |servers: &[ServerControl]| {
            let (answer, answered) = oneshot::channel();
            let order = Order::Block(BlockOrder { player: "eve".into() });
            let change = carry_out(servers, OrderRequest { order, answer }).await;
            (answered.await.unwrap(), change)
        };
        let (done, change) = answer(&[server("class", &[])]).await;
        assert!(matches!(done, Err(OrderError::Conflict(why)) if why.contains("pairs")) && change.is_none());
        // It has left.
        let (done, change) = answer(&[server("lichess", &[OrderKind::Block])]).await;
        assert!(matches!(done, Err(OrderError::Conflict(why)) if why.contains("left")) && change.is_none());
    }
}
