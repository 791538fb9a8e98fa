//! The program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    zeitnot::cli::main()
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
