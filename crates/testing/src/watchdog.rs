//! The thread that enforces time limits, and what it knows of each running test.

use std::{
    cell::RefCell,
    fmt::Write as _,
    io::{self, Write as _},
    mem,
    process::exit,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    thread::{self, sleep},
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
};

use crate::{
    Options,
    processes::{Thread, kill_children, this_thread},
};

/// Between two looks at the clock.
const LOOK: Duration = Duration::from_millis(100);
/// What a test has left, once its processes are killed, until the program ends.
const GRACE: Duration = Duration::from_secs(5);
/// Lines that are shown of each output.
const LINES: usize = 20;
/// Exit code of a program with failed tests.
const FAILED: i32 = 101;

static RUNNING: Mutex<Vec<Arc<Test>>> = Mutex::new(Vec::new());

thread_local! {
    /// The test that this thread works for.
    static TEST: RefCell<Option<Arc<Test>>> = const { RefCell::new(None) };
}

/// Returns the text so far of an output.
type Output = Box<dyn Fn() -> String + Send>;

struct Test {
    name: String,
    limit: Duration,
    began: Instant,
    /// Threads whose processes are the test's.
    threads: Mutex<Vec<Thread>>,
    waits: Mutex<Vec<Arc<str>>>,
    outputs: Mutex<Vec<(String, Output)>>,
    /// Takes the report once the time is up.
    expired: Mutex<Option<oneshot::Sender<String>>>,
}

/// A test under the watchdog's eyes, until this is dropped.
pub(crate) struct Watched(Arc<Test>);

/// Something that a test waits for, until this is dropped.
pub struct Waiting(Option<(Arc<Test>, Arc<str>)>);

/// The processes of a test, which end when this is dropped.
pub(crate) struct Processes<'t>(&'t Test);

/// Starts to watch the test of this thread.
pub(crate) fn watch(limit: Duration) -> Watched {
    static WATCHDOG: Once = Once::new();
    WATCHDOG.call_once(|| drop(thread::spawn(enforce_limits)));
    let test = Arc::new(Test {
        name: thread::current().name().unwrap_or("a test").to_owned(),
        limit,
        began: Instant::now(),
        threads: Mutex::default(),
        waits: Mutex::default(),
        outputs: Mutex::default(),
        expired: Mutex::default(),
    });
    test.adopt_thread();
    locked(&RUNNING).push(test.clone());
    Watched(test)
}

/// Names what this thread's test waits for: the report of an exceeded time limit has it.
pub fn waits_for(what: &str) -> Waiting {
    let what: Arc<str> = what.into();
    let test = TEST.with_borrow(Clone::clone);
    if let Some(test) = &test {
        locked(&test.waits).push(what.clone());
    }
    Waiting(test.map(|test| (test, what)))
}

/// Names an output of this thread's test: the report of an exceeded time limit shows its last lines.
pub fn shows(name: &str, output: impl Fn() -> String + Send + 'static) {
    TEST.with_borrow(|test| {
        if let Some(test) = test {
            locked(&test.outputs).push((name.to_owned(), Box::new(output)));
        }
    });
}

impl Watched {
    /// A runtime whose threads work for the test.
    pub(crate) fn runtime(&self, options: Options) -> Runtime {
        let test = self.0.clone();
        let mut builder = match options.workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        if options.workers > 0 {
            builder.worker_threads(options.workers);
        }
        builder.enable_all().start_paused(options.start_paused).on_thread_start(move || test.adopt_thread());
        builder.build().unwrap_or_else(|error| panic!("no runtime: {error}"))
    }

    /// The report, once the time is up.
    pub(crate) fn expired(&self) -> oneshot::Receiver<String> {
        let (expire, expired) = oneshot::channel();
        *locked(&self.0.expired) = Some(expire);
        expired
    }

    /// What the test starts from now on. Dropped before the runtime, whose threads are the parents of some of it.
    pub(crate) fn processes(&self) -> Processes<'_> {
        Processes(&self.0)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        TEST.set(None);
        locked(&RUNNING).retain(|test| !Arc::ptr_eq(test, &self.0));
    }
}

impl Drop for Processes<'_> {
    fn drop(&mut self) {
        self.0.kill_processes();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some((test, what)) = &self.0 {
            locked(&test.waits).retain(|other| !Arc::ptr_eq(what, other));
        }
    }
}

impl Test {
    /// Makes this thread the test's.
    fn adopt_thread(self: &Arc<Test>) {
        TEST.set(Some(self.clone()));
        locked(&self.threads).push(this_thread());
    }

    fn kill_processes(&self) {
        kill_children(&locked(&self.threads));
    }

    fn report(&self) -> String {
        let mut report = format!("{}: not done after its time limit of {:?}", self.name, self.limit);
        for what in locked(&self.waits).iter() {
            let _ = write!(report, ", waits for: {what}");
        }
        for (name, output) in locked(&self.outputs).iter() {
            let output = output();
            let lines: Vec<_> = output.lines().collect();
            let last = lines.iter().skip(lines.len().saturating_sub(LINES));
            let _ = write!(report, "\n--- last output of {name}:");
            last.for_each(|line| report.extend(["\n", line]));
        }
        report
    }
}

/// Looks after all tests, until the program ends.
fn enforce_limits() {
    let mut expired: Vec<Arc<Test>> = Vec::new();
    loop {
        sleep(LOOK);
        let running = locked(&RUNNING).clone();
        expired.retain(|test| running.iter().any(|other| Arc::ptr_eq(test, other)));
        if let Some(test) = expired.iter().find(|test| test.began.elapsed() > test.limit + GRACE) {
            tell(&format!("{} does not end: the program ends here", test.name));
            running.iter().for_each(|test| test.kill_processes());
            exit(FAILED);
        }
        for test in running {
            let is_known = expired.iter().any(|other| Arc::ptr_eq(&test, other));
            if !is_known && test.began.elapsed() > test.limit {
                expire(&test);
                expired.push(test);
            }
        }
    }
}

/// Reports a test, and kills its processes. If it waits for them, or waits in an async function, it fails now.
fn expire(test: &Test) {
    let report = test.report();
    tell(&report);
    test.kill_processes();
    if let Some(expire) = mem::take(&mut *locked(&test.expired)) {
        // Nothing receives it if the test has just ended.
        let _ = expire.send(report);
    }
}

/// Writes to the program's real error output: the print macros' is shown of failed tests only.
fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "\n{text}");
}

/// State is whole also after a panic: each lock is held for one change.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
