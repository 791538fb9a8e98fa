//! Checks of a tournament's settings: keys that contradict each other, or change nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use zeitnot_net::{Contradictions, secret::Secret};
use zeitnot_pairing::{Name, format::PairingKind};
use zeitnot_rules::GameKind;
use zeitnot_settings::{Got, fault, schema_of};
use zeitnot_wire::{contest::Extension, lichess::VariantKey};

use super::{MAX_GAMES_OF_PLAYER, StartKind, TournamentConfig, games_per_pair};
use crate::{duration::seconds, error::ArenaError};

impl TournamentConfig {
    /// Finds keys that keep play from ever beginning. The first argument is the number of players that can be connected
    /// at once, besides `accounts`, with the key that limits it.
    pub(crate) fn contradictions(
        &self,
        (limit, most): (&str, usize),
        accounts: usize,
        found: &mut Contradictions,
    ) {
        let players = self.players.unwrap_or_default();
        // Otherwise, not all of them need to be connected at once.
        if self.start() == StartKind::Full && players > most.saturating_add(accounts + self.engines.len()) {
            found.at_most(("players", players), (limit, most));
        }
        found.above_zero(&[("ack_timeout", self.ack_timeout)]);
        if accounts > 0 && VariantKey::of(self.game).is_none() {
            let game = self.game.name();
            let what = format!(
                "\"{game}\" cannot be played by the accounts of [arena.lichess], as Lichess does not have it: remove their \
                 class, or choose another game"
            );
            found.add(&["game"], what);
        }
        if let Some((one, other)) = alike(&self.gauntlet) {
            found.add(
                &["gauntlet"],
                format!("{one} looks like {other}, and only one of them can join: remove one"),
            );
        }
    }

    /// Finds keys that change nothing.
    pub(crate) fn unused_keys(&self, found: &mut Contradictions) {
        let kind = self.pairing.name();
        if self.pairing.has_rounds() && self.games_per_pair != games_per_pair() {
            found.add(&["games_per_pair"], format!("is not used with pairing = \"{kind}\": remove it"));
        }
        if self.start() == StartKind::AtOnce && self.absent_after != seconds::<60>() {
            let what = "is not used, as play begins at once and has no end: remove it, or set players";
            found.add(&["absent_after"], what);
        }
    }

    /// Checks what the types alone do not say.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_bounds()?;
        self.check_start()?;
        self.check_game()?;
        self.check_pairing()?;
        self.check_engines()?;
        self.pairing.check_tie_breaks(&self.tie_breaks)?;
        self.password.as_ref().map_or(Ok(()), check_password)?;
        let (games, players) = (self.games_per_pair, self.players.unwrap_or(2));
        match players > self.most_players() {
            true => Err(format!(
                "games_per_pair = {games} with {players} players: lower one, so that nobody has more than \
                 {MAX_GAMES_OF_PLAYER} games"
            )),
            false => Ok(()),
        }
    }

    /// Checks the bounds that the keys declare, as the API does not know them.
    fn check_bounds(&self) -> Result<(), String> {
        let (schema, values) = (schema_of::<Self>(), json!(self));
        let found = values.as_object().into_iter().flatten().find_map(|(key, value)| {
            let number = value.as_i64().map(|number| Got::Integer(number.into()));
            let got = number.or_else(|| value.as_str().map(Got::Text))?;
            Some(format!("{key}: {}", fault(&schema["properties"][key], &got)?))
        });
        found.map_or(Ok(()), Err)
    }

    /// Checks the keys about the beginning.
    fn check_start(&self) -> Result<(), String> {
        match (self.start(), self.players) {
            (StartKind::Full, None) => Err("start = \"full\" needs players = N".into()),
            (StartKind::AtOnce, Some(_)) => Err("start = \"at-once\": without players = N".into()),
            (StartKind::AtOnce, None) if self.late_entries => {
                Err("late_entries: with start = \"at-once\" anybody may join at any time".into())
            }
            _ if self.late_entries && self.pairing == PairingKind::Knockout => {
                Err("late_entries: a knockout admits no players after its beginning".into())
            }
            _ => Ok(()),
        }
    }

    /// Checks the keys about the game. Files are not read here.
    fn check_game(&self) -> Result<(), String> {
        match &self.openings {
            _ if self.chess960 && self.game != GameKind::Chess => {
                Err(format!("chess960: only with game = \"chess\", not with \"{}\"", self.game.name()))
            }
            Some(openings) if self.chess960 && !openings.are_none() => {
                Err("chess960: not beside openings, which can be positions of Chess960 themselves".into())
            }
            Some(openings) if !openings.is_file() => {
                openings.read(self.game).map(drop).map_err(|error| match error {
                    ArenaError::Config(why) => why,
                    error => error.to_string(),
                })
            }
            _ => Ok(()),
        }
    }

    fn check_engines(&self) -> Result<(), String> {
        let (engines, players) = (self.engines.len(), self.max_players());
        let mut looks = BTreeSet::new();
        match self.engines.iter().find(|name| !looks.insert(name.look())) {
            Some(name) => {
                Err(format!("engines: {name} is there twice, or looks like another one: remove one"))
            }
            None if engines > players => {
                Err(format!("engines: {engines} do not fit in a tournament of {players} players"))
            }
            None => Ok(()),
        }
    }

    /// Checks the keys of the pairing systems.
    fn check_pairing(&self) -> Result<(), String> {
        let kind = self.pairing.name();
        let (is_swiss, is_gauntlet) =
            (self.pairing == PairingKind::Swiss, self.pairing == PairingKind::Gauntlet);
        if self.start() == StartKind::AtOnce && self.pairing != PairingKind::RoundRobin {
            return Err(format!("pairing = \"{kind}\" needs players = N, or start = \"organiser\""));
        }
        let players = self.max_players();
        match self.rounds {
            Some(_) if !is_swiss => Err("rounds: only with pairing = \"swiss\"".into()),
            None if is_swiss => Err("pairing = \"swiss\" needs rounds = N".into()),
            Some(rounds) if rounds as usize >= players => {
                Err(format!("rounds = {rounds}: fewer than players, of whom there are at most {players}"))
            }
            _ if self.acceleration.is_some() && !is_swiss => {
                Err("acceleration: only with pairing = \"swiss\"".into())
            }
            _ if self.gauntlet.is_empty() == is_gauntlet => {
                Err("pairing = \"gauntlet\" needs gauntlet = [\"NAME\"], and nothing else has it".into())
            }
            _ if self.gauntlet.len() >= players => Err("gauntlet: fewer names than players".into()),
            _ => Ok(()),
        }
    }
}

/// Returns two names of which only one can join.
fn alike(names: &[Name]) -> Option<(&Name, &Name)> {
    let mut looks = BTreeMap::new();
    names.iter().find_map(|name| {
        let other = looks.insert(name.look(), name)?;
        (other != name).then_some((name, other))
    })
}

/// Checks that a password can be told from the extensions that a `JOIN` ends with.
pub(in crate::tournament) fn check_password(password: &Secret) -> Result<(), String> {
    match Extension::is_in(password.expose()) {
        true => Err("password: it begins with +, as extensions in JOIN do: choose another one".into()),
        false => Ok(()),
    }
}
