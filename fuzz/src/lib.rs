//! Law that the fuzz targets check.

use zeitnot_wire::Message;

/// Panics if a message that was parsed is not printed in the same way after it is parsed again.
pub fn round_trip<M: Message>(text: &str) {
    if let Ok(message) = M::parse(text) {
        let line = message.to_line();
        let again = M::parse(&line).map(|message| message.to_line());
        assert_eq!(again.as_ref(), Ok(&line));
    }
}
