//! `zeitnot-measure faults`: counts the faults of a Lichess server that a client survives.
//!
//! [`fault`] lists them, and [`game`] is the server's side of a game with one.

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    process::Command,
    time::Duration,
};

use clap::ValueEnum as _;
use zeitnot_bot::network;

use crate::{
    client::{self, Client},
    output::{Error, failed, print_row},
    stop,
};

mod fault;
mod game;

use fault::Fault;
use game::{FaultyGame, Lost, Played};

/// Measure which faults of a Lichess server a client survives
///
/// For each fault, a small server of the Bot API starts the client and plays one game with it: twelve moves within a
/// minute. The client survives if it makes all its moves on its clock. The clock it uses includes the time to notice
/// the fault.
///
/// The client is `zeitnot` with its defaults and random moves. Another one, given as a command, is measured in the same
/// way: point it to the address of --listen, with the token `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  zeitnot-measure faults
  zeitnot-measure faults --fault stream-silent --fault move-429
  zeitnot-measure faults --listen 127.0.0.1:8080 -- python3 lichess-bot.py --config bench.yml

Ctrl-C ends it after the present fault.")]
pub(crate) struct Args {
    /// Only this fault; can be given several times
    #[arg(long, value_name = "FAULT")]
    fault: Vec<Fault>,
    /// The program, by default `zeitnot` in the folder of this one
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    zeitnot: Option<PathBuf>,
    /// Address of the server
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Another client and its arguments, started once for each fault
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Args {
    fn start_client(&self, address: SocketAddr) -> Result<Client, Error> {
        let client = match self.command.split_first() {
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments);
                Client::other(command)
            }
            None => {
                let program = client::program(self.zeitnot.as_deref())?;
                Client::start(&program, address, 1, Duration::ZERO, &[])
            }
        };
        client.map_err(failed("cannot start the client"))
    }
}

const HEADER: &str = "\
survived  clock s  ready s  fault
--------------------------------------------------------------------------------------------------------";

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    let faults = match args.fault.is_empty() {
        true => Fault::value_variants(),
        false => &args.fault,
    };
    let stop = stop::flag()?;
    HEADER.lines().try_for_each(print_row)?;
    let (mut survived, mut played) = (0, 0);
    for &fault in faults {
        if stop.is_raised() {
            break;
        }
        let listener = TcpListener::bind(args.listen).map_err(failed("cannot listen"))?;
        let address = listener.local_addr().map_err(failed("cannot listen"))?;
        let _client = args.start_client(address)?;
        let result = network::run(move |_| async move { FaultyGame::start(fault, listener)?.play().await })?;
        let result = result.map_err(failed("cannot serve"))?;
        if fault != Fault::None {
            played += 1;
            survived += u32::from(result.is_ok());
        }
        print_row(&row(fault, result))?;
    }
    print_row(&format!("{survived} of {played} faults survived"))
}

fn row(fault: Fault, result: Result<Played, Lost>) -> String {
    let value = fault.to_possible_value();
    let help = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string).unwrap_or_default();
    let name = value.as_ref().map(|value| value.get_name()).unwrap_or_default();
    match result {
        Ok(Played { ready, used }) => {
            let (used, ready) = (used.as_secs_f64(), ready.as_secs_f64());
            format!("yes       {used:>7.1}  {ready:>7.2}  {name}: {help}")
        }
        Err(lost) => format!("no              –        –  {name}: {help}; {}", lost.text()),
    }
}
