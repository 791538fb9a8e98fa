//! Declaration of the configuration's keys. A key is a field of a table's struct: its doc comment is the description for
//! users, and attributes give the rest. All documents, bounds and lists of keys are made from the schema of these structs.
//!
//! | what | how |
//! |---|---|
//! | type, default | the field's, by `schemars` |
//! | duration | `#[serde(with = "HumanTime")]` |
//! | default of a type that is written as text | `#[serde(serialize_with = "shown")]` |
//! | bounds | `#[schemars(range(min = 1, max = 48))]`; of a duration, `extend("x-min" = "1s", "x-max" = "1day")` |
//! | example, of a key without default | `example = 1500`, `example = &"text"` |
//! | may change while games run | `extend("x-reload" = true)` on a key or a table; `false` on a key of such a table |
//! | example of a table's name, where users name it | `extend("x-name" = "stockfish")` |
//! | what is meant by words that are not among the values | `extend("x-hints" = json!({ "chess960": "chess960 = true" }))` |
//! | table that is written as a value | `extend("x-inline" = true)` on the struct |

mod bounds;
mod fault;
mod hint;
mod page;
mod sample;
mod schema;
mod tables;
mod text;
mod value;

pub use fault::{Got, fault};
pub use hint::hint;
pub use page::page;
pub use sample::{Sample, sample};
pub use schema::{is_reloadable, list_of, schema_of, words};
pub use schemars::{self, JsonSchema, Schema, SchemaGenerator};
pub use tables::{Key, Table, tables};
pub use text::{HumanTime, shown};
pub use value::changed;

/// Declares a table, each key with its default: `key: Type = default,`. A second table after `overridden by` has the keys
/// of its own as options, which replace those of the first.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$key_meta:meta])* $key:ident: $type:ty = $default:expr,)*
        }
    ) => {
        #[derive(Clone, Debug, serde::Deserialize, $crate::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(crate = "zeitnot_settings::schemars")]
        $(#[$meta])*
        pub struct $name {
            $($(#[$key_meta])* pub $key: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($key: $default,)* }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$key_meta:meta])* $key:ident: $type:ty = $default:expr,)*
        }
        overridden by
        $(#[$other_meta:meta])*
        pub struct $other:ident {
            $($(#[$both_meta:meta])* $both:ident: $both_type:ty = $both_default:expr,)*
        }
    ) => {
        $crate::settings! {
            $(#[$meta])*
            pub struct $name {
                $($(#[$both_meta])* $both: $both_type = $both_default,)*
                $($(#[$key_meta])* $key: $type = $default,)*
            }
        }
        $crate::settings! {
            $(#[$other_meta])*
            pub struct $other {
                $($(#[$both_meta])* $both: Option<$both_type> = None,)*
            }
        }

        impl $other {
            /// Returns the first table with the keys that this one has.
            pub fn over(self, table: &$name) -> $name {
                let mut table = table.clone();
                $(if let Some(value) = self.$both { table.$both = value; })*
                table
            }
        }
    };
}

#[cfg(test)]
#[macro_use]
extern crate zeitnot_testing;
#[cfg(test)]
extern crate self as zeitnot_settings;
#[cfg(test)]
mod tests;
