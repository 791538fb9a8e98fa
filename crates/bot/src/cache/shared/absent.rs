//! Stand-in for the shared cache in a build without the feature `redis`: none is ever opened.

use std::{future::Ready, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::entry::SharedKey;
use crate::cache::{CachedMove, Config, Counts};

/// Handle of a shared cache, which cannot exist.
#[derive(Debug)]
pub(in crate::cache) enum SharedCache {}

impl SharedCache {
    pub(in crate::cache) fn check(_: &Config) -> Result<(), String> {
        Ok(())
    }

    pub(in crate::cache) fn start(_: &Config, _: &Arc<Counts>) -> Option<SharedCache> {
        None
    }

    pub(in crate::cache) fn wait_until(&self, _: Duration) -> Option<Instant> {
        match *self {}
    }

    pub(in crate::cache) fn look_up(&self, _: SharedKey, _: Instant) -> Option<Ready<Option<CachedMove>>> {
        match *self {}
    }

    pub(in crate::cache) fn store(&self, _: SharedKey, _: CachedMove) {
        match *self {}
    }

    pub(in crate::cache) fn remove(&self, _: SharedKey) {
        match *self {}
    }

    pub(in crate::cache) fn close(&self) {
        match *self {}
    }
}
