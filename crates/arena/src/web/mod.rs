//! The arena's part of the page's API: the organiser's endpoints, and the files of results.

mod describe;
mod engines;
mod manage;
mod orders;
mod results;

use std::sync::Arc;

use axum::Extension;
use utoipa_axum::router::OpenApiRouter;
use zeitnot_host::database::Readers;
use zeitnot_web::page::WebState;

use self::results::ResultFiles;
pub(crate) use self::results::readers;
use crate::tournament::{Engines, ManagerHandle, TournamentRegistry};

/// Access to the tournaments, for the handlers.
#[derive(Clone, Debug)]
struct Tournaments {
    registry: TournamentRegistry,
    manager: ManagerHandle,
}

/// Returns the routes. Results are read by these connections, if the arena keeps a database.
pub(crate) fn routes(
    registry: TournamentRegistry,
    manager: ManagerHandle,
    engines: Engines,
    readers: Option<Readers>,
) -> OpenApiRouter<WebState> {
    let files = readers.map(|readers| Arc::new(ResultFiles::new(readers)));
    let routes = OpenApiRouter::new().merge(manage::routes()).merge(orders::routes());
    let routes = routes.merge(engines::routes()).merge(results::routes());
    let mut routes = routes
        .route_layer(Extension(Tournaments { registry, manager }))
        .route_layer(Extension(engines))
        .route_layer(Extension(files));
    describe::complete(routes.get_openapi_mut());
    routes
}
