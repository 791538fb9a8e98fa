# Daily commands: `just` lists them. Each line also works when typed by hand.

_default:
    @just --list

# Everything that CI checks
ci:
    .ci/run

# All tests: by cargo-nextest where it is installed (it runs no doc tests), otherwise by cargo
test *ARGS:
    if command -v cargo-nextest >/dev/null; then cargo nextest run --workspace {{ARGS}} && cargo test --doc --workspace; else cargo test --workspace {{ARGS}}; fi

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --locked -- -D warnings

# The documentation of all crates, in a browser
doc:
    cargo doc --workspace --no-deps --open

# The engine's identity and speed
bench:
    cargo run --release --package zeitnot-engine -- bench

# Compares bench's node count with the last `Bench:` line in the history
bench-check:
    scripts/bench_check

# Measures moves in time, overhead, attacks, spectators: `just measure deadline --quick`
measure *ARGS:
    cargo build --release
    cargo run --release --package zeitnot-measure -- {{ARGS}}

# Tests that take minutes, in a release build
soak *ARGS:
    scripts/soak {{ARGS}}

# Each fuzz target for some seconds; needs cargo-fuzz and a nightly toolchain
fuzz SECONDS="20":
    cd fuzz && for target in $(cargo +nightly fuzz list); do cargo +nightly fuzz run "$target" -- -max_total_time={{SECONDS}} || exit 1; done

# Generated requests against the API of an arena, by its own description; needs Python 3 and PyPI
schemathesis *ARGS:
    scripts/schemathesis {{ARGS}}

# Licences, advisories, duplicates and sources of the dependencies; needs cargo-deny
deny:
    cargo deny check

# Where the tree repeats itself or a file has grown past one subject
sizes:
    git ls-files '*.rs' | xargs wc -l | sort -rn | head -30

# Writes config.toml, config.schema.json and the tables of docs/configuration.md from the declared keys
config:
    cargo test --test main -- --ignored documents::configuration
