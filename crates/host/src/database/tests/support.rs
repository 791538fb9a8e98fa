//! Support of the integration tests, which these share: databases of both kinds.

#[path = "../../../../../tests/support/storage/mod.rs"]
#[allow(dead_code, unreachable_pub)]
pub(super) mod storage;
