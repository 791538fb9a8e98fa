//! Hostile bytes for the parsers of the wire: nothing panics, and what is understood is understood
//! the same when it is said again.

use proptest::prelude::*;
use zeitnot_wire::{
    Message,
    contest::{FromClient, FromServer},
    imcs,
};

/// Lines that get past the first check: a known message, and then anything.
fn almost_a_message() -> impl Strategy<Value = Vec<u8>> {
    let actions: Vec<&[u8]> = vec![
        b"JOIN",
        b"ACK",
        b"MOVE",
        b"RESIGN",
        b"SAY",
        b"WATCH",
        b"UNWATCH",
        b"DISCONNECT",
        b"INFO",
        b"GAME_PAIRED",
        b"GAME_STARTED",
        b"YOUR_MOVE",
        b"CLOCK_UPDATE",
        b"GAME_STATE",
        b"PLAYER_MOVED",
        b"GAME_OVER",
        b"GAME_ABORTED",
        b"SAID",
    ];
    let fields: Vec<&[u8]> = vec![
        b" ",
        b"  ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xc2\xa0",
        b"g",
        b"alice",
        b"10.00",
        b"-0",
        b"1e308",
        b"1e19",
        b"nan",
        b"-inf",
        b"1-0",
        b"1/2-1/2",
        b"8/8/8/8/8/8/8/8 w - - 0 1",
    ];
    let field = prop_oneof![
        prop::sample::select(fields).prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    (prop::sample::select(actions), prop::collection::vec(field, 0..10))
        .prop_map(|(action, fields)| [action.to_vec(), fields.join(&b' ')].join(&b' '))
}

/// The law for one direction. Clocks are rounded when they are printed, so lines are compared.
fn said_again<M: Message>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(message) = M::parse(text) {
        let line = message.to_line();
        let again = M::parse(&line).map(|message| message.to_line());
        prop_assert_eq!(again.as_ref(), Ok(&line));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_contest_protocol(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), almost_a_message()]) {
        let text = String::from_utf8_lossy(&bytes);
        said_again::<FromServer>(&text)?;
        said_again::<FromClient>(&text)?;
    }

    #[test]
    fn imcs(bytes in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "(offer|accept|me|register|[0-9]{1,3}|[!?=X.-]) ([WB?]|[0-9:.]{1,9}|[a-e][1-6]-[a-e][1-6]| |\\PC){0,8}".prop_map(String::into_bytes),
    ]) {
        let text = String::from_utf8_lossy(&bytes);
        said_again::<imcs::FromServer>(&text)?;
        said_again::<imcs::Command>(&text)?;
        said_again::<imcs::Answer>(&text)?;
    }
}
