//! Part of the API's document that no single type has: settings as one object, and changes of settings.

use utoipa::openapi::{
    Object, ObjectBuilder, OpenApi, RefOr,
    schema::{AllOf, Schema, Type},
};

/// Settings of a new tournament, those that are shown, and those where each field is a change.
const SETTINGS: &str = "Settings_AskedAccess";
const SETTINGS_SHOWN: &str = "Settings_AccessKind";
const SETTINGS_CHANGE: &str = "SettingsChange";

/// Adds it to the document of the endpoints.
pub(super) fn complete(document: &mut OpenApi) {
    let Some(components) = &mut document.components else { return };
    for name in [SETTINGS, SETTINGS_SHOWN] {
        if let Some(RefOr::T(settings)) = components.schemas.get_mut(name)
            && let Schema::AllOf(parts) = settings
        {
            *settings = Schema::Object(merged(parts));
        }
    }
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

/// Returns one object with the fields of all parts. As parts, each would forbid the fields of the others.
fn merged(parts: &AllOf) -> Object {
    let mut whole = ObjectBuilder::new().description(parts.description.clone()).build();
    for part in &parts.items {
        if let RefOr::T(Schema::Object(part)) = part {
            whole.properties.extend(part.properties.clone());
            whole.required.extend(part.required.clone());
            whole.additional_properties = whole.additional_properties.or(part.additional_properties.clone());
        }
    }
    whole
}
