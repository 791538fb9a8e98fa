//! Who did not want to play us, until when we do not ask again, and whom we asked today; kept in a small file between
//! runs.

use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    path::Path,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use zeitnot_wire::lichess::{DeclineReason, Speed, UserId, VariantKey};

use super::terms::Mode;

/// Nobody is left alone for longer than this.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);
const DAY: Duration = Duration::from_secs(86_400);
/// Opponents that are kept in mind; beyond that, those go first who would be asked again first.
const REMEMBERED: usize = 4096;

/// What is known of opponents. Times are counted from 1970.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Grudges {
    opponents: BTreeMap<UserId, Vec<Grudge>>,
    /// When the challenges of the last day were sent, the oldest first.
    sent: VecDeque<Moment>,
}

#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Moment(#[serde(with = "seconds")] Duration);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Grudge {
    about: About,
    /// How often in a row.
    times: u32,
    #[serde(with = "seconds")]
    until: Duration,
}

/// What an opponent does not like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// To play us, for now.
    Anything,
    /// How fast it is.
    Speed(Speed),
    /// What chess.
    Variant(VariantKey),
    /// That it is about ratings, or not.
    Mode(Mode),
}

/// A game as it may be proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// How fast.
    pub speed: Speed,
    /// What chess.
    pub variant: VariantKey,
    /// About ratings or not.
    pub mode: Mode,
}

impl About {
    /// What of such a game the reason speaks of.
    pub fn of(reason: &DeclineReason, kind: &Kind) -> About {
        match reason {
            DeclineReason::TooFast | DeclineReason::TooSlow | DeclineReason::TimeControl => {
                About::Speed(kind.speed.clone())
            }
            DeclineReason::Rated | DeclineReason::Casual => About::Mode(kind.mode),
            DeclineReason::Standard | DeclineReason::Variant => About::Variant(kind.variant.clone()),
            _ => About::Anything,
        }
    }

    fn concerns(&self, kind: &Kind) -> bool {
        match self {
            About::Anything => true,
            About::Speed(speed) => *speed == kind.speed,
            About::Variant(variant) => *variant == kind.variant,
            About::Mode(mode) => *mode == kind.mode,
        }
    }
}

impl Grudges {
    /// May this one be asked for such a game?
    pub fn allow(&self, who: &UserId, kind: &Kind, now: Duration) -> bool {
        let grudges = self.opponents.get(who).map_or(&[][..], Vec::as_slice);
        !grudges.iter().any(|grudge| grudge.until > now && grudge.about.concerns(kind))
    }

    /// A challenge was declined. Each time in a row we wait twice as long, beginning with `pause`.
    pub fn declined(
        &mut self,
        who: &UserId,
        reason: &DeclineReason,
        kind: &Kind,
        pause: Duration,
        now: Duration,
    ) {
        // Who wants no bots will not want one tomorrow.
        let never = matches!(reason, DeclineReason::NoBot | DeclineReason::OnlyBot);
        let pause = if never { LONGEST } else { pause };
        let grudge = self.grudge(who, About::of(reason, kind));
        let factor = 1_u32.checked_shl(grudge.times).unwrap_or(u32::MAX);
        grudge.until = now + pause.saturating_mul(factor).min(LONGEST);
        grudge.times = grudge.times.saturating_add(1);
        self.forget(now);
    }

    /// Whatever this one thinks of us, before then it cannot play.
    pub fn rests(&mut self, who: &UserId, until: Duration, now: Duration) {
        let grudge = self.grudge(who, About::Anything);
        grudge.until = grudge.until.max(until.min(now + LONGEST));
        self.forget(now);
    }

    /// A game came about: what was said before is forgotten.
    pub fn forgive(&mut self, who: &UserId) {
        self.opponents.remove(who);
    }

    /// A challenge is sent.
    pub fn asked(&mut self, now: Duration) {
        self.sent.push_back(Moment(now));
        while self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
    }

    /// When another challenge may be sent, if there are so many a day.
    pub fn free(&mut self, per_day: usize, now: Duration) -> Duration {
        // A clock that was put back makes no day longer.
        self.sent.retain(|Moment(sent)| *sent <= now && *sent + DAY > now);
        let is_full = self.sent.len() >= per_day;
        // With none allowed there is none tomorrow either; but a day is as good as any other time to ask.
        let free = is_full.then(|| self.sent.front().map_or(now, |Moment(sent)| *sent) + DAY);
        free.unwrap_or_default()
    }

    fn grudge(&mut self, who: &UserId, about: About) -> &mut Grudge {
        let grudges = self.opponents.entry(who.clone()).or_default();
        let at = grudges.iter().position(|grudge| grudge.about == about).unwrap_or(grudges.len());
        if at == grudges.len() {
            grudges.push(Grudge { about, times: 0, until: Duration::ZERO });
        }
        &mut grudges[at]
    }

    /// What is long over, and what there is no room for.
    fn forget(&mut self, now: Duration) {
        for grudges in self.opponents.values_mut() {
            grudges.retain(|grudge| grudge.until + LONGEST > now);
        }
        self.opponents.retain(|_, grudges| !grudges.is_empty());
        while self.opponents.len() > REMEMBERED {
            let ends = |grudges: &Vec<Grudge>| grudges.iter().map(|grudge| grudge.until).max();
            let first = self.opponents.iter().min_by_key(|(_, grudges)| ends(grudges));
            let Some(first) = first.map(|(who, _)| who.clone()) else { return };
            self.opponents.remove(&first);
        }
    }

    /// Reads the file; one that is not there is empty. Blocks.
    ///
    /// # Errors
    /// What the system says, or that it is no such file.
    pub fn load(path: &Path) -> io::Result<Grudges> {
        match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Grudges::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the file, all of it or nothing. Blocks.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        serde_json::to_writer_pretty(&file, self)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    }
}

/// Whole seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u64(time.as_secs())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        // Far from where arithmetic on times overflows.
        u64::deserialize(d).map(|seconds| Duration::from_secs(seconds.min(1 << 40)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn blitz() -> Kind {
        Kind { speed: Speed::Blitz, variant: VariantKey::Standard, mode: Mode::Rated }
    }

    fn id(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn a_reason_is_about_what_it_says() {
        let bob = id("bob");
        let others = [
            Kind { speed: Speed::Rapid, ..blitz() },
            Kind { variant: VariantKey::Chess960, ..blitz() },
            Kind { mode: Mode::Casual, ..blitz() },
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
            let mut grudges = Grudges::default();
            grudges.declined(&bob, &reason, &blitz(), HOUR, NOW);
            assert!(!grudges.allow(&bob, &blitz(), NOW) && grudges.allow(&id("eve"), &blitz(), NOW));
            let others = others.each_ref().map(|kind| grudges.allow(&bob, kind, NOW));
            assert_eq!(others, allowed, "{reason}");
            assert!(grudges.allow(&bob, &blitz(), NOW + HOUR));
        }
    }

    #[test]
    fn each_time_we_wait_twice_as_long() {
        let (bob, mut grudges, mut now) = (id("bob"), Grudges::default(), NOW);
        for hours in [1, 2, 4, 8, 16] {
            grudges.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
            now += hours * HOUR;
            assert!(!grudges.allow(&bob, &blitz(), now - Duration::from_secs(1)), "{hours}");
            assert!(grudges.allow(&bob, &blitz(), now), "{hours}");
        }
        for _ in 0..100 {
            grudges.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
        }
        assert!(grudges.allow(&bob, &blitz(), now + LONGEST));
        grudges.forgive(&bob);
        grudges.declined(&bob, &DeclineReason::Later, &blitz(), HOUR, now);
        assert!(grudges.allow(&bob, &blitz(), now + HOUR));
    }

    #[test]
    fn the_file_keeps_it_all_and_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("grudges.json");
        assert_eq!(Grudges::load(&file).unwrap(), Grudges::default());
        let mut grudges = Grudges::default();
        for number in 0..5000 {
            let pause = HOUR + Duration::from_secs(number);
            grudges.declined(&id(&format!("b{number}")), &DeclineReason::TooSlow, &blitz(), pause, NOW);
        }
        assert_eq!(grudges.opponents.len(), REMEMBERED);
        assert!(grudges.opponents.contains_key(&id("b4999")));
        grudges.asked(NOW);
        grudges.save(&file).unwrap();
        grudges.save(&file).unwrap();
        assert_eq!(Grudges::load(&file).unwrap(), grudges);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(&file, "no JSON").unwrap();
        assert!(Grudges::load(&file).is_err());
    }
}
