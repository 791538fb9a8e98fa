//! Ends of an engine's processes.

use super::*;

/// Processes of this group; a zombie is none.
fn living(group: &str) -> usize {
    let stat = |pid: fs::DirEntry| fs::read_to_string(pid.path().join("stat")).ok();
    let lives = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.next() != Some("Z") && fields.nth(1) == Some(group)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(stat).filter(lives).count()
}

/// An engine that writes its number there, starts a child, and leaves neither at `quit` nor at the end of its input.
fn clinging(note: &Path) -> Config {
    let mut config = script("echo bestmove e7e5", ":");
    let script = config.args[1].replace("quit) exit;;", "quit) sleep 1000;;");
    config.args[1] = format!("echo $$ > {}; sleep 1000 & {script}; wait", note.display());
    config
}

fn gone(note: &Path) -> bool {
    let id = fs::read_to_string(note).unwrap();
    let until = Instant::now() + LONG;
    while living(id.trim()) > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
    living(id.trim()) == 0
}

#[test]
fn with_its_game_it_ends_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("id");
    let program = open(&clinging(&note));
    assert!(gone(&note), "the one of the trial");
    let mut thinker = thinker(&program);
    assert_eq!(thought(&mut thinker, &line(&["e2e4"]), within(LONG)).0, "e7e5");
    assert_eq!(living(fs::read_to_string(&note).unwrap().trim()), 2);
    drop(thinker);
    assert!(gone(&note));
}

#[test]
fn when_we_leave_all_end_and_none_begins() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("id");
    let program = open(&with_ours(clinging(&note)));
    let (mut playing, line) = (thinker(&program), line(&["e2e4"]));
    assert_eq!(thought(&mut playing, &line, within(LONG)).0, "e7e5");
    program.close();
    assert!(gone(&note));
    assert_eq!(thought(&mut playing, &line, within(LONG)).0, last_move(&line));
    assert_eq!(thought(&mut thinker(&program), &line, within(LONG)).0, last_move(&line));
}
