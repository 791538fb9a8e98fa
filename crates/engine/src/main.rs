//! `zeitnot-engine`: the engine alone, for GUIs, match runners and OpenBench.

use std::{
    env,
    error::Error,
    io::{self, BufReader, Write},
    num::NonZeroUsize,
    ops::ControlFlow,
    process::ExitCode,
};

use zeitnot_engine::{Config, bench, net::EvalFile, uci};

const USAGE: &str = "\
Usage: zeitnot-engine [COMMAND]

Commands:
  uci                   speak UCI on standard input and output; the default
  ubgi                  speak UBGI, for MiniChess
  bench [DEPTH [MIB [EVALFILE]]]
                        search fixed positions; the last line is `N nodes M nps`";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If even stderr is closed, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match arguments {
        [] | ["uci"] => Ok(uci::run(BufReader::new(io::stdin()), io::stdout())?),
        ["ubgi"] => Ok(uci::run_ubgi(Config::default(), BufReader::new(io::stdin()), io::stdout())?),
        ["bench"] => run_bench(bench::DEPTH, bench::HASH_MIB, &EvalFile::default()),
        ["bench", depth] => run_bench(depth.parse()?, bench::HASH_MIB, &EvalFile::default()),
        ["bench", depth, mib] => run_bench(depth.parse()?, mib.parse()?, &EvalFile::default()),
        ["bench", depth, mib, eval_file] => run_bench(depth.parse()?, mib.parse()?, &eval_file.parse()?),
        ["--version"] => Ok(writeln!(io::stdout(), "zeitnot-engine {}", env!("CARGO_PKG_VERSION"))?),
        ["--help" | "help"] => Ok(writeln!(io::stdout(), "{USAGE}")?),
        _ => Err(USAGE.into()),
    }
}

fn run_bench(depth: u16, hash_mib: NonZeroUsize, eval_file: &EvalFile) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    let measured = bench::measure(depth, hash_mib, eval_file, &mut |fen, nodes| {
        // A closed output is reported at the end.
        let _ = writeln!(out, "{nodes:>10} {fen}");
        ControlFlow::Continue(())
    })?;
    Ok(writeln!(out, "{measured}")?)
}
