//! `#[test]` with a time limit, for plain and for async functions. `zeitnot-testing` explains it, and runs the test.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Makes a test of a function, as the standard attribute does, and hands its body to `zeitnot_testing`.
///
/// Arguments are fields of `zeitnot_testing::Options`: `#[test(limit = LONG, start_paused = true)]`. An async function
/// runs in a Tokio runtime of its own.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut signature: Vec<_> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = signature.pop().filter(is_block) else {
        return "compile_error!(\"#[test] is for functions\");".parse().unwrap_or_default();
    };
    let is_async = signature.iter().any(|token| is_word(token, "async"));
    signature.retain(|token| !is_word(token, "async"));
    let (runner, start) = if is_async { ("block_on", "async move") } else { ("run", "||") };

    let mut call = rust(&format!("env!(\"CARGO_CRATE_NAME\"), {}, {start}", options(arguments)));
    call.extend([TokenTree::Group(body)]);
    let mut inside = rust(&format!("::zeitnot_testing::{runner}"));
    inside.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, call))]);

    let mut test = rust("#[::core::prelude::v1::test]");
    test.extend(signature);
    test.extend([TokenTree::Group(Group::new(Delimiter::Brace, inside))]);
    test
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}

/// The arguments as a literal of `Options`.
fn options(arguments: TokenStream) -> String {
    let fields = arguments.to_string().replace('=', ":");
    let comma = if fields.is_empty() { "" } else { "," };
    format!("::zeitnot_testing::Options {{ {fields}{comma} ..::zeitnot_testing::Options::DEFAULT }}")
}

/// Tokens of code that this file wrote, or that parsed before.
fn rust(code: &str) -> TokenStream {
    code.parse().unwrap_or_default()
}
