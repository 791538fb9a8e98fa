//! Chooses the net that is built in: the one of the repository, or the file that `ZEITNOT_NET` names, as the `Makefile`
//! does for OpenBench.

use std::env;

fn main() {
    println!("cargo::rerun-if-env-changed=ZEITNOT_NET");
    let named = env::var("ZEITNOT_NET").ok().filter(|path| !path.is_empty());
    let net = named.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/nets/chess.net").to_owned());
    println!("cargo::rerun-if-changed={net}");
    println!("cargo::rustc-env=ZEITNOT_NET={net}");
}
