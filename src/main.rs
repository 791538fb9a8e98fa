//! temporary
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("uci") | None => zeitnot::cli::uci::run(
            Default::default(),
            std::io::BufReader::new(std::io::stdin()),
            std::io::stdout(),
        )
        .unwrap(),
        Some("bench") => {
            let m = zeitnot::cli::bench::run(
                std::env::args().nth(2).and_then(|d| d.parse().ok()).unwrap_or(12),
                zeitnot::cli::bench::HASH_MIB,
                |f, n| println!("{n:10} {f}"),
            )
            .unwrap();
            println!("{} nodes {} nps", m.nodes, m.speed());
        }
        _ => {}
    }
}
