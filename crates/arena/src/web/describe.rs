//! Part of the API's document that no single endpoint has: changes of settings.

use utoipa::openapi::{
    ObjectBuilder, OpenApi, RefOr,
    schema::{Schema, Type},
};

/// Settings of a new tournament, and the same where each field is a change.
const SETTINGS: &str = "Settings_AskedAccess";
const SETTINGS_CHANGE: &str = "SettingsChange";

/// Adds it to the document of the endpoints.
pub(super) fn complete(document: &mut OpenApi) {
    let Some(components) = &mut document.components else { return };
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
