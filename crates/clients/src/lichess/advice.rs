//! Advice to the user about what the server refuses.

/// Advice where an account cannot become a bot.
pub const NEW_ACCOUNT: &str = "create a new account, and a token for it";
/// Advice where the token is not accepted.
pub const NEW_TOKEN: &str =
    "make a new one with the scope bot:play, at the server under /account/oauth/token";

/// Parts of Lichess's refusals in lower case, and what to do.
const REFUSALS: [(&str, &str); 4] = [
    ("played games", NEW_ACCOUNT),
    ("games played", NEW_ACCOUNT),
    (
        "missing scope",
        "make a token with that scope, at the server under /account/oauth/token; \
         `zeitnot lichess check` shows those of yours",
    ),
    ("bot account", "see: zeitnot lichess check"),
];

/// Returns what to do about a refusal, to follow the server's words; nothing if that is not known.
pub(crate) fn of_refusal(what: &str) -> String {
    let what = what.to_lowercase();
    let known = REFUSALS.iter().find(|(part, _)| what.contains(part));
    known.map_or_else(String::new, |(_, advice)| format!("; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_refusals_come_with_what_to_do() {
        for (what, advice) in [
            ("This account has already played games and cannot be upgraded", "; create a new account"),
            ("You already have games played. Make a new account.", "; create a new account"),
            ("Missing scope: tournament:write", "; make a token with that scope"),
            ("Not your turn, or game already over", ""),
        ] {
            let told = of_refusal(what);
            assert!(told.starts_with(advice) && told.is_empty() == advice.is_empty(), "{what}{told}");
        }
    }
}
