//! Metrics of the cache: its counts, as they are when the exporter asks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use metrics::{counter, describe_counter};

use super::{Cache, Reason};

const LOOKUPS: &str = "zeitnot_cache_lookups_total";
const DROPPED: &str = "zeitnot_cache_dropped_total";
const SHARED: &str = "zeitnot_shared_cache_lookups_total";
const ENTRIES: &str = "zeitnot_shared_cache_entries_total";

/// Describes the metrics to the exporter.
pub(crate) fn describe() {
    describe_counter!(LOOKUPS, "Positions looked up in the cache, by result");
    describe_counter!(DROPPED, "Entries not written to the cache's file, as too many waited");
    describe_counter!(SHARED, "Positions looked up in the shared cache, by result");
    describe_counter!(ENTRIES, "Entries for the shared cache, by result");
}

impl Cache {
    /// Hands the counts over to the exporter of the metrics. Cheap enough for each time that it is asked.
    pub fn publish_metrics(&self) {
        let Some(counts) = self.levels.as_ref().map(|levels| &levels.counts) else { return };
        let set = |name: &'static str, result: String, count: &AtomicU64| {
            counter!(name, "result" => result).absolute(count.load(Relaxed));
        };
        set(LOOKUPS, "played".into(), &counts.hits);
        set(LOOKUPS, "unknown".into(), &counts.misses);
        for reason in Reason::ALL {
            set(LOOKUPS, reason.to_string(), &counts.refused[reason as usize]);
        }
        counter!(DROPPED).absolute(counts.dropped.load(Relaxed));
        let shared = &counts.shared;
        for (result, count) in [
            ("found", &shared.found),
            ("unknown", &shared.unknown),
            ("unanswered", &shared.unanswered),
            ("not asked", &shared.not_asked),
        ] {
            set(SHARED, result.into(), count);
        }
        set(ENTRIES, "stored".into(), &shared.stored);
        set(ENTRIES, "not stored".into(), &shared.not_stored);
    }
}
