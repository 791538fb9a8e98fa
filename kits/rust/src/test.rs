//! Asks the bot for its move in each position of positions.txt: cargo run --release test. Add positions of your own there.

use std::{error::Error, fs};

use crate::guard::Guard;

const SECONDS: f64 = 10.0; // on the clock; a move may take half of it

pub fn run() -> Result<(), Box<dyn Error>> {
    let mut guard = Guard::new()?;
    let mut failed = 0;
    for line in fs::read_to_string("positions.txt")?
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, fen, good, legal] = fields[..] else {
            continue;
        };
        let moves: Vec<String> = legal.split(' ').map(str::to_owned).collect();
        let choice = guard.choose("chess", fen, SECONDS, SECONDS, 0.0, &moves);
        if choice.problem.is_some() {
            println!("FAIL  {name}: {choice}");
            guard.restart()?;
        } else if good.split(' ').any(|m| m == choice.text) {
            println!("ok    {name}: {choice}");
            continue;
        } else {
            println!("FAIL  {name}: {choice}; good: {good}");
        }
        failed += 1;
    }
    if failed > 0 {
        Err(format!("{failed} failed").into())
    } else {
        Ok(())
    }
}
