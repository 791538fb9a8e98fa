//! Parsers of the Lichess API.

#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_fuzz::round_trip;
use zeitnot_wire::{Message, lichess::*};

fn form<F: Form>(text: &str) {
    for form in [F::from_form(text), F::from_json(text)].into_iter().flatten() {
        assert!(F::from_form(&form.to_form()).is_ok());
    }
}

fuzz_target!(|text: &str| {
    round_trip::<Event>(text);
    round_trip::<GameMessage>(text);
    round_trip::<Keepalive>(text);
    round_trip::<User>(text);
    round_trip::<Vec<UserStatus>>(text);
    round_trip::<TokenTest>(text);
    round_trip::<Playing>(text);
    round_trip::<TournamentState>(text);
    round_trip::<Explored>(text);
    round_trip::<CloudEval>(text);
    round_trip::<Probe>(text);
    assert!(Failure::parse(text).is_ok());
    form::<NewChallenge>(text);
    form::<Decline>(text);
    form::<Chat>(text);
    form::<MoveQuery>(text);
    form::<JoinTournament>(text);
    form::<JoinTeam>(text);
});
