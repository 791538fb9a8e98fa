//! Formats of tournaments: who meets whom, and what decides between players with the same points.

use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};
use utoipa::ToSchema;
use zeitnot_settings::{JsonSchema, schemars};

/// Players in one tournament, at most.
pub const MAX_PLAYERS: usize = 1024;

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairingKind {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// Rounds by the Dutch rules.
    Swiss,
    /// Named players meet all others.
    Gauntlet,
    /// Single elimination.
    Knockout,
}

/// Acceleration of a Swiss tournament.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccelerationKind {
    /// FIDE handbook C.04.5.1.
    Baku,
}

/// Tie-break of FIDE handbook C.07.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
pub enum TieBreak {
    /// Scores of the opponents.
    #[serde(rename = "buchholz")]
    Buchholz,
    /// Buchholz without the lowest of them.
    #[serde(rename = "buchholz-cut-1")]
    BuchholzCut1,
    /// Scores of the opponents, each times the points against them.
    #[serde(rename = "sonneborn-berger")]
    SonnebornBerger,
    /// Games of the tied players against each other.
    #[serde(rename = "direct-encounter")]
    DirectEncounter,
    /// Games won.
    #[serde(rename = "wins")]
    Wins,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// Who meets whom.
    pub pairing: PairingKind,
    /// Rounds of a Swiss tournament.
    pub rounds: Option<u32>,
    /// Acceleration of a Swiss tournament.
    pub acceleration: Option<AccelerationKind>,
    /// Tie-breaks in the order in which they decide.
    pub tie_breaks: Vec<TieBreak>,
}

impl PairingKind {
    /// Returns the name that the configuration has for it.
    pub fn name(self) -> &'static str {
        match self {
            PairingKind::RoundRobin => "round-robin",
            PairingKind::Swiss => "swiss",
            PairingKind::Gauntlet => "gauntlet",
            PairingKind::Knockout => "knockout",
        }
    }

    /// Returns whether a player has one result in each round. Elsewhere games are numbered.
    pub fn has_rounds(self) -> bool {
        matches!(self, PairingKind::Swiss | PairingKind::Knockout)
    }

    /// Returns the tie-breaks of a tournament whose configuration names none. In a knockout the points tell how far
    /// each came.
    pub fn tie_breaks(self) -> &'static [TieBreak] {
        use TieBreak::{Buchholz, BuchholzCut1, DirectEncounter, SonnebornBerger, Wins};
        match self {
            PairingKind::RoundRobin | PairingKind::Gauntlet => &[SonnebornBerger, DirectEncounter, Wins],
            PairingKind::Swiss => &[BuchholzCut1, Buchholz, SonnebornBerger, Wins],
            PairingKind::Knockout => &[],
        }
    }

    /// Checks the tie-breaks of a configuration.
    ///
    /// # Errors
    /// What is wrong, for the organiser.
    pub fn check_tie_breaks(self, tie_breaks: &[TieBreak]) -> Result<(), String> {
        if self == PairingKind::Knockout && !tie_breaks.is_empty() {
            return Err(
                "tie_breaks: not with pairing = \"knockout\", whose points tell how far each came".into()
            );
        }
        for (at, tie_break) in tie_breaks.iter().enumerate() {
            let key = tie_break.key();
            if self != PairingKind::Swiss && matches!(tie_break, TieBreak::Buchholz | TieBreak::BuchholzCut1)
            {
                return Err(format!("tie_breaks: \"{key}\" only with pairing = \"swiss\""));
            }
            if tie_breaks[..at].contains(tie_break) {
                return Err(format!("tie_breaks: \"{key}\" stands there twice"));
            }
        }
        Ok(())
    }
}

impl AccelerationKind {
    /// Returns the name that the configuration has for it.
    pub fn name(self) -> &'static str {
        match self {
            AccelerationKind::Baku => "baku",
        }
    }
}

impl TieBreak {
    /// Returns the name that the configuration has for it.
    pub fn key(self) -> &'static str {
        match self {
            TieBreak::Buchholz => "buchholz",
            TieBreak::BuchholzCut1 => "buchholz-cut-1",
            TieBreak::SonnebornBerger => "sonneborn-berger",
            TieBreak::DirectEncounter => "direct-encounter",
            TieBreak::Wins => "wins",
        }
    }

    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            TieBreak::Buchholz => "Buchholz",
            TieBreak::BuchholzCut1 => "Buchholz cut 1",
            TieBreak::SonnebornBerger => "Sonneborn-Berger",
            TieBreak::DirectEncounter => "Direct encounter",
            TieBreak::Wins => "Games won",
        }
    }

    /// Returns FIDE's acronym.
    pub(crate) fn acronym(self) -> &'static str {
        match self {
            TieBreak::Buchholz => "BH",
            TieBreak::BuchholzCut1 => "BH-C1",
            TieBreak::SonnebornBerger => "SB",
            TieBreak::DirectEncounter => "DE",
            TieBreak::Wins => "WON",
        }
    }
}

/// Reads one of these by the name that the configuration has for it.
pub fn read<'t, T: Deserialize<'t>>(name: &'t str) -> Option<T> {
    let name: value::StrDeserializer<'t, value::Error> = name.into_deserializer();
    T::deserialize(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_configuration() {
        for pairing in
            [PairingKind::RoundRobin, PairingKind::Swiss, PairingKind::Gauntlet, PairingKind::Knockout]
        {
            assert_eq!(read(pairing.name()), Some(pairing));
            for tie_break in pairing.tie_breaks() {
                assert_eq!(read(tie_break.key()), Some(*tie_break));
            }
            assert_eq!(pairing.check_tie_breaks(pairing.tie_breaks()), Ok(()));
        }
        assert_eq!(read(AccelerationKind::Baku.name()), Some(AccelerationKind::Baku));
        assert_eq!(read::<TieBreak>("rating"), None);
    }

    #[test]
    fn tie_breaks_have_names_for_people() {
        for (key, name) in [
            ("buchholz", "Buchholz"),
            ("buchholz-cut-1", "Buchholz cut 1"),
            ("direct-encounter", "Direct encounter"),
            ("wins", "Games won"),
        ] {
            assert_eq!(read::<TieBreak>(key).map(TieBreak::name), Some(name));
        }
    }

    #[test]
    fn tie_breaks_that_say_nothing_are_refused() {
        let refused =
            |pairing: PairingKind, tie_breaks: &[TieBreak]| pairing.check_tie_breaks(tie_breaks).unwrap_err();
        let told = refused(PairingKind::Knockout, &[TieBreak::Wins]);
        assert!(told.starts_with("tie_breaks: not with pairing"), "{told}");
        let told = refused(PairingKind::RoundRobin, &[TieBreak::Wins, TieBreak::Buchholz]);
        assert_eq!(told, "tie_breaks: \"buchholz\" only with pairing = \"swiss\"");
        let told = refused(PairingKind::Swiss, &[TieBreak::Wins, TieBreak::Buchholz, TieBreak::Wins]);
        assert_eq!(told, "tie_breaks: \"wins\" stands there twice");
    }
}
