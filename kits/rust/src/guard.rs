//! Asks the worker for moves, and plays a legal move where it has none in time. No need to change this file.

use std::{
    env, fmt,
    io::{self, BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::worker::MEMORY_MIB;

const MARGIN: f64 = 0.4; // seconds of the clock: half to wait for the worker's reason, half for the way to the arena
const SHORT: f64 = 1.0; // seconds of the clock; with less, a worker that replaces another gets no move

/// Beginnings of the line that a Rust program writes to stderr when it has used up its memory or its stack.
const CAUSES: [&str; 2] = [OUT_OF_MEMORY, "fatal runtime error: "];
const OUT_OF_MEMORY: &str = "memory allocation of ";

/// A worker. One that is late, fails or ends is to be replaced by a new one.
pub struct Guard {
    worker: Child,
    answers: Receiver<String>,
    cause: Arc<Mutex<String>>, // of its end, if it said one
    is_replacement: bool,      // of a worker that failed, and not asked yet
}

/// A legal move, and why it is not that of choose_move.
pub struct Choice {
    pub text: String,
    pub problem: Option<String>,
}

/// Returns the seconds that a move may take: half of the clock is left if choose_move never returns.
fn time_limit(own: f64, increment: f64) -> f64 {
    (own / 2.0).max((own / 2.0 + increment).min(own - MARGIN))
}

impl Guard {
    pub fn new() -> io::Result<Guard> {
        let program = Command::new(env::current_exe()?)
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut worker = program?;
        let (sender, answers) = mpsc::channel();
        let stdout = worker
            .stdout
            .take()
            .map(BufReader::new)
            .ok_or(io::ErrorKind::BrokenPipe)?;
        let stderr = worker
            .stderr
            .take()
            .map(BufReader::new)
            .ok_or(io::ErrorKind::BrokenPipe)?;
        let cause = Arc::new(Mutex::new(String::new()));
        let (heard, until_its_end) = (Arc::clone(&cause), sender.clone());
        thread::spawn(move || {
            for line in stderr.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                let _ = io::stderr().write_all(format!("{line}\n").as_bytes()); // whole: the client prints, too
                if CAUSES.iter().any(|begin| line.starts_with(begin))
                    && let Ok(mut cause) = heard.lock()
                {
                    *cause = line;
                }
            }
            drop(until_its_end); // the answers end after it
        });
        thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        Ok(Guard {
            worker,
            answers,
            cause,
            is_replacement: false,
        })
    }

    /// Replaces a worker that was late or failed by a new one.
    pub fn restart(&mut self) -> io::Result<()> {
        if !self.is_replacement {
            *self = Guard::new()?;
            self.is_replacement = true;
        }
        Ok(())
    }

    /// Chooses one of these legal moves. Times are in seconds. After a problem, restart() must follow.
    pub fn choose(
        &mut self,
        kind: &str,
        fen: &str,
        own: f64,
        opponent: f64,
        increment: f64,
        moves: &[String],
    ) -> Choice {
        let text = moves[random(moves.len())].clone();
        if self.is_replacement && own < SHORT {
            let problem = format!("less than {SHORT} s is left after a mistake");
            return Choice {
                text,
                problem: Some(problem),
            };
        }
        self.is_replacement = false;
        let limit = time_limit(own, increment);
        let [own_ms, opponent_ms, increment_ms, end] =
            [own, opponent, increment, unix_time() + limit]
                .map(|seconds| (seconds * 1000.0) as u64);
        let legal = moves.join(" ");
        if let Some(requests) = &mut self.worker.stdin {
            // An error means that the worker has ended, and so have its answers.
            let _ = writeln!(
                requests,
                "{kind}\t{fen}\t{own_ms}\t{opponent_ms}\t{increment_ms}\t{legal}\t{end}"
            );
        }
        let patience = limit + ((own - limit) / 2.0).min(0.5);
        let problem = match self.answers.recv_timeout(Duration::from_secs_f64(patience)) {
            Ok(text) if moves.contains(&text) => {
                return Choice {
                    text,
                    problem: None,
                };
            }
            Ok(answer) => answer.strip_prefix("error: ").unwrap_or(&answer).to_owned(),
            Err(RecvTimeoutError::Timeout) => format!("choose_move took longer than {limit:.1} s"),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.worker.wait();
                let status =
                    status.map_or_else(|error| error.to_string(), |status| status.to_string());
                let ended = format!("the program that runs choose_move ended ({status})");
                match self.cause.lock() {
                    Ok(cause) if cause.starts_with(OUT_OF_MEMORY) => {
                        format!("choose_move needed more than the {MEMORY_MIB} MiB that it may use")
                    }
                    Ok(cause) if !cause.is_empty() => format!("{ended}: {cause}"),
                    _ => ended,
                }
            }
        };
        Choice {
            text,
            problem: Some(problem),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.worker.kill();
        let _ = self.worker.wait();
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Some(problem) => write!(f, "{problem}; played {} instead", self.text),
            None => write!(f, "{}", self.text),
        }
    }
}

/// The time in seconds since 1970.
pub fn unix_time() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |time| time.as_secs_f64())
}

/// A number below `end`, by the clock of the computer.
pub fn random(end: usize) -> usize {
    let nanoseconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.subsec_nanos());
    nanoseconds as usize / 100 % end
}
