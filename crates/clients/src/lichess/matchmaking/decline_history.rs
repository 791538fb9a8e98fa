//! Decline history: which opponents declined which games, until when not to ask again, and how many challenges were
//! sent today. Kept in a small file between runs.

use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    path::Path,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use zeitnot_net::{FileVersion, replace_file};
use zeitnot_wire::lichess::{DeclineReason, Speed, UserId, VariantKey};

use crate::lichess::challenges::filter::Mode;

const MAX_DELAY: Duration = Duration::from_secs(30 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);
const VERSION: u64 = 1;
/// Opponents that are remembered; beyond that, those are dropped first whose delay ends first.
const MAX_OPPONENTS: usize = 4096;

/// Declines and challenges. Times are counted from 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(not(feature = "simulation"), allow(unreachable_pub))]
pub struct DeclineHistory {
    opponents: BTreeMap<UserId, Vec<Entry>>,
    /// Times of the challenges of the last day, the oldest first.
    sent: VecDeque<Timestamp>,
}

#[derive(Serialize)]
struct Stored<'h> {
    version: u64,
    #[serde(flatten)]
    history: &'h DeclineHistory,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Timestamp(#[serde(with = "seconds")] Duration);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    about: Aspect,
    /// Declines in a row.
    times: u32,
    #[serde(with = "seconds")]
    until: Duration,
}

/// Aspect of a game that an opponent declines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Aspect {
    Anything,
    Speed(Speed),
    Variant(VariantKey),
    Mode(Mode),
}

/// Kind of game that may be proposed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GameType {
    pub(crate) speed: Speed,
    pub(crate) variant: VariantKey,
    pub(crate) mode: Mode,
}

impl Aspect {
    fn of(reason: &DeclineReason, game: &GameType) -> Aspect {
        match reason {
            DeclineReason::TooFast | DeclineReason::TooSlow | DeclineReason::TimeControl => {
                Aspect::Speed(game.speed.clone())
            }
            DeclineReason::Rated | DeclineReason::Casual => Aspect::Mode(game.mode),
            // A server may name any number of variants; ours are known.
            DeclineReason::Standard | DeclineReason::Variant if VariantKey::KNOWN.contains(&game.variant) => {
                Aspect::Variant(game.variant.clone())
            }
            _ => Aspect::Anything,
        }
    }

    fn matches(&self, game: &GameType) -> bool {
        match self {
            Aspect::Anything => true,
            Aspect::Speed(speed) => *speed == game.speed,
            Aspect::Variant(variant) => *variant == game.variant,
            Aspect::Mode(mode) => *mode == game.mode,
        }
    }
}

impl DeclineHistory {
    /// Returns whether this opponent may be asked for such a game.
    pub(crate) fn allows(&self, opponent: &UserId, game: &GameType, now: Duration) -> bool {
        let entries = self.opponents.get(opponent).map_or(&[][..], Vec::as_slice);
        !entries.iter().any(|entry| entry.until > now && entry.about.matches(game))
    }

    /// Notes a decline. The delay before the next challenge doubles with each in a row.
    pub(crate) fn declined(
        &mut self,
        opponent: &UserId,
        reason: &DeclineReason,
        game: &GameType,
        delay: Duration,
        now: Duration,
    ) {
        // An opponent that takes no bots will not take one tomorrow.
        let is_final = matches!(reason, DeclineReason::NoBot | DeclineReason::OnlyBot);
        let delay = if is_final { MAX_DELAY } else { delay };
        let entry = self.entry(opponent, Aspect::of(reason, game));
        let factor = 1_u32.checked_shl(entry.times).unwrap_or(u32::MAX);
        entry.until = now + delay.saturating_mul(factor).min(MAX_DELAY);
        entry.times = entry.times.saturating_add(1);
        self.forget(now);
    }

    /// Notes that an opponent cannot play before then.
    pub(crate) fn unavailable(&mut self, opponent: &UserId, until: Duration, now: Duration) {
        let entry = self.entry(opponent, Aspect::Anything);
        entry.until = entry.until.max(until.min(now + MAX_DELAY));
        self.forget(now);
    }

    /// Forgets the declines of an opponent who accepted.
    pub(crate) fn accepted(&mut self, opponent: &UserId) {
        self.opponents.remove(opponent);
    }

    pub(crate) fn sent(&mut self, now: Duration) {
        self.sent.push_back(Timestamp(now));
        while self.sent.len() > MAX_OPPONENTS {
            self.sent.pop_front();
        }
    }

    /// Returns when another challenge may be sent, with so many a day.
    pub(crate) fn next_allowed(&mut self, per_day: usize, now: Duration) -> Duration {
        // The clock may have been put back.
        self.sent.retain(|Timestamp(sent)| *sent <= now && *sent + DAY > now);
        if self.sent.len() < per_day {
            return Duration::ZERO;
        }
        // With none a day, tomorrow is as good a time to ask as any other.
        self.sent.front().map_or(now, |Timestamp(sent)| *sent) + DAY
    }

    fn entry(&mut self, opponent: &UserId, about: Aspect) -> &mut Entry {
        let entries = self.opponents.entry(opponent.clone()).or_default();
        let at = entries.iter().position(|entry| entry.about == about).unwrap_or(entries.len());
        if at == entries.len() {
            entries.push(Entry { about, times: 0, until: Duration::ZERO });
        }
        &mut entries[at]
    }

    fn forget(&mut self, now: Duration) {
        for entries in self.opponents.values_mut() {
            entries.retain(|entry| entry.until + MAX_DELAY > now);
        }
        self.opponents.retain(|_, entries| !entries.is_empty());
        while self.opponents.len() > MAX_OPPONENTS {
            let end = |entries: &Vec<Entry>| entries.iter().map(|entry| entry.until).max();
            let first = self.opponents.iter().min_by_key(|(_, entries)| end(entries));
            let Some(first) = first.map(|(opponent, _)| opponent.clone()) else { return };
            self.opponents.remove(&first);
        }
    }

    /// Reads the file; a missing file is empty. Blocks.
    pub(crate) fn load(path: &Path) -> io::Result<DeclineHistory> {
        match fs::read_to_string(path) {
            Ok(text) => {
                serde_json::from_str::<FileVersion>(&text)?.check(VERSION).map_err(io::Error::other)?;
                Ok(serde_json::from_str(&text)?)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DeclineHistory::default()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file. Blocks.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        replace_file(path, &serde_json::to_vec_pretty(&Stored { version: VERSION, history: self })?)
    }
}

/// Whole seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(time.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        // Sums of such times cannot overflow.
        u64::deserialize(d).map(|seconds| Duration::from_secs(seconds.min(1 << 40)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn blitz() -> GameType {
        GameType { speed: Speed::Blitz, variant: VariantKey::Standard, mode: Mode::Rated }
    }

    fn id(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn a_reason_concerns_the_aspect_that_it_names() {
        let bob = id("bob");
        let others = [
            GameType { speed: Speed::Rapid, ..blitz() },
            GameType { variant: VariantKey::Chess960, ..blitz() },
            GameType { mode: Mode::Casual, ..blitz() },
        ];
        for (reason, allowed) in [
            (DeclineReason::TooFast, [true, false, false]),
            (DeclineReason::TimeControl, [true, false, false]),
            (DeclineReason::Standard, [false, true, false]),
            (DeclineReason::Casual, [false, false, true]),
            (DeclineReason::Later, [false; 3]),
            (DeclineReason::Generic, [false; 3]),
            (DeclineReason::Other("new".into()), [false; 3]),
        ] {
            let mut history = DeclineHistory::default();
            history.declined(&bob, &reason, &blitz(), HOUR, NOW);
            assert!(!history.allows(&bob, &blitz(), NOW) && history.allows(&id("eve"), &blitz(), NOW));
            let others = others.each_ref().map(|game| history.allows(&bob, game, NOW));
            assert_eq!(others, allowed, "{reason}");
            assert!(history.allows(&bob, &blitz(), NOW + HOUR));
        }
    }

    #[test]
    fn variants_that_nobody_knows_take_one_entry() {
        let bob = id("bob");
        let mut history = DeclineHistory::default();
        for number in 0..1000 {
            let variant = VariantKey::Other(format!("variant{number}"));
            let game = GameType { variant, ..blitz() };
            history.declined(&bob, &DeclineReason::Variant, &game, HOUR, NOW);
        }
        assert_eq!(history.opponents[&bob].len(), 1);
    }

    #[test]
    fn the_delay_doubles_with_each_decline() {
        let bob = id("bob");
        let mut history = DeclineHistory::default();
        let mut now = NOW;
        for hours in [1, 2, 4, 8, 16] {
            history.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
            now += hours * HOUR;
            assert!(!history.allows(&bob, &blitz(), now - Duration::from_secs(1)), "{hours}");
            assert!(history.allows(&bob, &blitz(), now), "{hours}");
        }
        for _ in 0..100 {
            history.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
        }
        assert!(history.allows(&bob, &blitz(), now + MAX_DELAY));
        history.accepted(&bob);
        history.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
        assert!(history.allows(&bob, &blitz(), now + HOUR));
    }

    #[test]
    fn the_file_keeps_everything_and_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("declined.json");
        assert_eq!(DeclineHistory::load(&file).unwrap(), DeclineHistory::default());
        let mut history = DeclineHistory::default();
        for number in 0..5000 {
            let delay = HOUR + Duration::from_secs(number);
            history.declined(&id(&format!("b{number}")), &DeclineReason::TooSlow, &blitz(), delay, NOW);
        }
        assert_eq!(history.opponents.len(), MAX_OPPONENTS);
        assert!(history.opponents.contains_key(&id("b4999")));
        history.sent(NOW);
        history.save(&file).unwrap();
        history.save(&file).unwrap();
        assert_eq!(DeclineHistory::load(&file).unwrap(), history);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(&file, "no JSON").unwrap();
        assert!(DeclineHistory::load(&file).is_err());
    }

    #[test]
    fn a_file_of_this_release_is_read_and_a_newer_one_refused() {
        let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/files-0.1/history.json");
        let mut history = DeclineHistory::default();
        history.declined(&id("bob"), &DeclineReason::TooFast, &blitz(), HOUR, NOW);
        history.sent(NOW);
        assert_eq!(DeclineHistory::load(Path::new(kept)).unwrap(), history);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history.json");
        let text = fs::read_to_string(kept).unwrap();
        assert!(text.contains("\"version\": 1"), "{text}");
        fs::write(&file, text.replace("\"version\": 1", "\"version\": 2")).unwrap();
        let told = DeclineHistory::load(&file).unwrap_err().to_string();
        assert_eq!(told, "is of a newer zeitnot (version 2, known is 1); update this one");
    }
}
