//! Records of games: a line in the original's `scores.log`, and all messages in a file beside it.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::task::spawn_blocking;

use zeitnot_rules::ByColor;

use super::game::Finished;

/// Appends a game to the files of its table.
pub(super) async fn write(folder: &Path, port: u16, game: &Finished) {
    let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
    let ByColor([white, black]) = &game.names;
    let ByColor([first, second]) = game.points;
    let told = format!("# {now} {game} ({})\n{}\n\n", game.rules, game.messages.join("\n"));
    let mut files = vec![(folder.join(format!("tuc-{port}.txt")), told)];
    if game.ending.result.is_some() {
        let score = format!("{white} {first} {black} {second} {now}\n");
        files.push((folder.join(format!("tuc-{port}-scores.log")), score));
    }
    let written = spawn_blocking(move || files.into_iter().try_for_each(|(path, text)| append(path, &text)));
    if let Ok(Err(error)) = written.await {
        tracing::error!(%error, folder = %folder.display(), "a game could not be written down");
    }
}

fn append(path: PathBuf, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
