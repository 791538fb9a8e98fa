//! Parses the command line. A mistake in it is reported in two lines: what was expected, and the usage.

use std::{
    io::{self, Write},
    process,
};

use clap::{Parser, error::ErrorKind};

use super::Cli;

/// Parses the arguments, or exits.
pub(super) fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
        if matches!(error.kind(), DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand) {
            error.exit()
        }
        let _ = writeln!(io::stderr(), "{}", brief(&error.to_string()));
        process::exit(error.exit_code())
    })
}

/// Messages of the standard library about text that is no number, and ours in their place.
const PLAIN: [(&str, &str); 6] = [
    ("invalid digit found in string", "expected a whole number, such as 8"),
    ("cannot parse integer from empty string", "expected a whole number, such as 8"),
    ("number too large to fit in target type", "expected a smaller number"),
    ("number would be zero for non-zero type", "expected a whole number above zero, such as 8"),
    ("..=", " to "),
    ("invalid float literal", "expected a number, such as 0.5"),
];

/// Shortens clap's message to the mistake with its hints, and the usage.
fn brief(message: &str) -> String {
    let (told, rest) = message.split_once("\nUsage: ").unwrap_or((message, ""));
    let told = told.split("\nFor more information").next().unwrap_or_default();
    // Nobody means an option as a value.
    let is_told = |line: &&str| !line.is_empty() && !line.starts_with("tip: to pass");
    let mut lines = told.lines().map(str::trim).filter(is_told);
    let mut text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let joint = match line.as_bytes() {
            _ if text.ends_with(':') => " ",
            [b'[', ..] => " ",
            [b'<' | b'-', ..] => ", ",
            _ => "; ",
        };
        text = text + joint + line;
    }
    let text = PLAIN.iter().fold(text, |text, (std, plain)| text.replace(std, plain));
    match rest.lines().next() {
        Some(usage) => format!("{text}\nUsage: {usage}; --help explains it"),
        None => text,
    }
}
