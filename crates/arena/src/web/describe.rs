//! Parts of the API's document that no single endpoint has: how the organiser shows the token, and changes of settings.

use utoipa::openapi::{
    ObjectBuilder, OpenApi, RefOr,
    schema::{Schema, Type},
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

/// Security scheme of the endpoints that take the organiser's token.
const ORGANISER: &str = "organiser";
/// Settings of a new tournament, and the same where each field is a change.
const SETTINGS: &str = "Settings_AskedAccess";
const SETTINGS_CHANGE: &str = "SettingsChange";

/// Adds them to the document of the endpoints.
pub(super) fn complete(document: &mut OpenApi) {
    let Some(components) = &mut document.components else { return };
    let token = "The organiser's token; on the page of a bot, that of its owner.";
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(token)).build();
    components.add_security_scheme(ORGANISER, SecurityScheme::Http(bearer));
    if let Some(RefOr::T(Schema::Object(settings))) = components.schemas.get(SETTINGS) {
        let mut change = settings.clone();
        change.description = Some("Settings to change; the others stay. The name cannot change.".to_owned());
        change.required.clear();
        if let Some(RefOr::T(Schema::OneOf(access))) = change.properties.get_mut("access") {
            // `null`: it stays.
            access.items.push(RefOr::T(ObjectBuilder::new().schema_type(Type::Null).into()));
        }
        components.schemas.insert(SETTINGS_CHANGE.to_owned(), RefOr::T(Schema::Object(change)));
    }
}
