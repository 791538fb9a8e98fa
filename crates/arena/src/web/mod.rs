//! What the arena adds to the page's API: the organiser's endpoints, and the files of results.

mod describe;
mod manage;
mod orders;
mod results;

use std::sync::Arc;

use axum::Extension;
use utoipa_axum::router::OpenApiRouter;
use zeitnot_host::database::DatabaseLocation;
use zeitnot_web::page::WebState;

use self::results::ResultFiles;
use crate::tournament::{ManagerHandle, TournamentRegistry};

/// Access to the tournaments, for the handlers.
#[derive(Clone, Debug)]
struct Tournaments {
    registry: TournamentRegistry,
    manager: ManagerHandle,
}

/// Returns the routes. Results are those of the database, if the arena keeps one.
pub(crate) fn routes(
    registry: TournamentRegistry,
    manager: ManagerHandle,
    database: Option<Arc<DatabaseLocation>>,
) -> OpenApiRouter<WebState> {
    let files = database.map(|database| Arc::new(ResultFiles::new(database)));
    let routes =
        OpenApiRouter::new().merge(manage::routes()).merge(orders::routes()).merge(results::routes());
    let mut routes =
        routes.route_layer(Extension(Tournaments { registry, manager })).route_layer(Extension(files));
    describe::complete(routes.get_openapi_mut());
    routes
}
