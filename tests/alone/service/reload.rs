//! SIGHUP: the configuration is read again, and what can change does so in the running program.

use std::{fs, path::Path};

use zeitnot_testing::{send_signal, wait_for};

use crate::support::{
    lichess_arena::{Bot, Lichess},
    program::Program,
    pty::Pty,
};

const TABLES: &str = "[engine]\nkind = 'random'\n[cache]\nmemory_mib = 0\n";

/// A bot on Lichess whose configuration can be changed.
struct Service {
    lichess: Lichess,
    bot: Program,
}

impl Service {
    async fn start() -> Service {
        // Opponents do not move, and do not leave.
        let lichess = Lichess::start("first_move = '10m'\ngone_after = '10m'\n").await;
        let folder = lichess.arena.folder.path();
        let bot = Program::with(TABLES, folder, &lichess.url(), "lip_alice", "");
        lichess.bot("bob").sees_online("alice").await;
        Service { lichess, bot }
    }

    /// Changes the configuration: tables before the server's, and settings of the server's. Waits until the log tells.
    async fn reload(&self, tables: &str, settings: &str, told: &str) {
        let folder = self.lichess.arena.folder.path();
        let url = self.lichess.url();
        let token = folder.join("lip_alice");
        let text = format!(
            "{TABLES}{tables}[[server]]\nprotocol = 'lichess'\nurl = '{url}'\ntoken_file = '{}'\n{settings}\n",
            token.display()
        );
        fs::write(folder.join("lip_alice.toml"), text).unwrap();
        self.bot.signal("HUP");
        self.bot.tells(told).await;
    }

    /// Challenges the bot; returns whether a game begins.
    async fn plays(&self, opponent: &Bot) -> bool {
        let mut events = opponent.events().await;
        let challenge = opponent.challenge("alice", "clock.limit=600&clock.increment=0").await;
        loop {
            let event = events.next().await.unwrap();
            let is_about_it =
                event["challenge"]["id"] == challenge["id"] || event["game"]["gameId"] == challenge["id"];
            match event["type"].as_str() {
                Some("gameStart") if is_about_it => return true,
                Some("challengeDeclined") if is_about_it => return false,
                _ => {}
            }
        }
    }
}

#[test]
async fn lists_challenges_limits_and_the_log_level_change_in_the_running_bot() {
    let service = Service::start().await;
    let [bob, carol] = ["bob", "carol"].map(|name| service.lichess.bot(name));
    assert!(service.plays(&bob).await);
    let settings = "[server.players]\nblock_list = ['carol']\n";
    service
        .reload("[log]\nlevel = 'debug'\n", settings, "taken over: log.level, server[0].players.block_list")
        .await;
    // Chat is logged at the new level.
    let id = bob.playing().await[0]["gameId"].as_str().unwrap().to_owned();
    bob.post(&format!("/api/bot/game/{id}/chat"), "room=player&text=hello").await;
    service.bot.tells("Bob in chat").await;
    assert!(!service.plays(&carol).await);
    assert_eq!(bob.playing().await.len(), 1, "the running game goes on");
    // What needs a restart is named, beside what does not.
    let tables = "[log]\nlevel = 'debug'\n[bot]\nmax_games = 4\nponder = 1\n";
    service.reload(tables, "", "a restart only: bot.ponder").await;
    service.bot.tells("taken over: bot.max_games, server[0].players.block_list").await;
    assert!(service.plays(&carol).await);
    service.reload(tables, "[server.challenge.bot]\naccept = false\n", "challenge.bot.accept").await;
    assert!(!service.plays(&bob).await);
}

#[test]
async fn a_table_that_is_inserted_before_leaves_the_account_its_settings() {
    let service = Service::start().await;
    let contest =
        "[[server]]\nprotocol = 'contest'\naddress = 'tcp://127.0.0.1:9'\ntournament = 't'\nplayer = 'p'\n";
    let settings = "[server.players]\nblock_list = ['carol']\n";
    service.reload(contest, settings, "taken over: server[1].players.block_list").await;
    service.bot.tells("server[0] is a new account; restart to play with it").await;
    assert!(!service.plays(&service.lichess.bot("carol")).await);
}

#[test]
async fn a_configuration_with_mistakes_is_not_taken_over() {
    let service = Service::start().await;
    let settings = "concurency = 1\n[server.challenge.bot]\naccept = false\n";
    service.reload("", settings, "not applied: correct it and reload again").await;
    service.bot.tells("server[0].concurency: unknown key").await;
    assert!(service.plays(&service.lichess.bot("bob")).await);
}

/// A bot in a terminal that is closed ends, as it did before it took hangups for orders.
#[test]
fn a_bot_whose_terminal_is_gone_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{TABLES}[[server]]\nprotocol = 'contest'\naddress = 'tcp://127.0.0.1:9'\ntournament = 't'\nplayer = 'p'\n"
    );
    fs::write(folder.path().join("config.toml"), text).unwrap();
    let Some(terminal) = Pty::start(folder.path(), "play") else { return };
    terminal.until("refused");
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    send_signal("HUP", &pid);
    terminal.until("nothing has changed");
    terminal.hang_up();
    let process = format!("/proc/{}/cmdline", pid.trim());
    wait_for("the end of the bot", || {
        fs::read(Path::new(&process)).unwrap_or_default().is_empty().then_some(())
    });
}
