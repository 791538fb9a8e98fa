//! Move sources that are asked before the search: tables, and servers that answer well, badly or never.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::time::timeout;
use zeitnot_bot::{
    Config, MoveOrigin,
    policy::Resign,
    sources::MoveSources,
    syzygy::{RootSyzygyConfig, SyzygyTables},
};
use zeitnot_clients::lookup::{
    self, Account, BookQuality, ChessDb, Cloud, Database, Explorer, Lookup, Tablebase,
};
use zeitnot_engine::{Kind, book};
use zeitnot_net::http::BaseUrl;
use zeitnot_rules::{Color, Game, GameHistory, Outcome, chess::Chess};
use zeitnot_seat::{Action, EvalScore, Event, LookupSource, MoveQuality, Turn};

use crate::support::{
    bot::{House, ask, clocks, house_with, info, moved, tell},
    files,
    http_server::{Manner, StandIn},
    polyglot::Builder,
};

/// Long enough for an answer on a machine that is busy; nobody waits for all of it but where it is hung.
const LONG: Duration = Duration::from_secs(5);
const SHORT: Duration = Duration::from_millis(300);

/// Settings of a bot, and of the servers that it asks.
#[derive(Clone, Default)]
pub(super) struct Setup {
    pub(super) bot: Config,
    pub(super) lookup: lookup::Config,
    pub(super) accounts: Vec<Account>,
}

impl Setup {
    fn sources(&self) -> Result<MoveSources, String> {
        let lookup = Arc::new(Lookup::new(&self.lookup, &self.accounts).map_err(|error| error.to_string())?);
        let order = self.bot.sources.clone();
        let book = &self.bot.book;
        let tables = SyzygyTables::open(&self.bot.syzygy).map_err(|error| error.to_string())?;
        let sources = MoveSources::open(order, book, &self.bot.books, Some(lookup))
            .map_err(|error| error.to_string())?;
        Ok(sources.with_syzygy(tables))
    }
}

/// A bot that searches for no time at all, so that only the sources take any.
pub(super) fn bot(setup: Setup) -> House {
    let sources = setup.sources().unwrap();
    let config = Config { untimed_move_time: 2 * LONG, ..setup.bot };
    house_with(Kind::Random, config, |context| context.sources = sources)
}

/// In this position: the move, how it came about, and what came with it.
async fn played(house: &mut House, fen: &str) -> (String, MoveOrigin, Option<EvalScore>) {
    let side = Chess::parse(fen).unwrap().side_to_move();
    let mut seat = house.lobby.open(info(side, Some(fen))).await.unwrap();
    tell(&seat, Event::YourTurn { turn: Turn(1), clocks: None }).await;
    let action = timeout(4 * LONG, seat.actions.recv()).await.expect("a move, whatever the servers do");
    let Some(Action::Play { turn, mv, eval, .. }) = action else { panic!("{action:?}") };
    tell(&seat, Event::Sent { turn, at: Instant::now() }).await;
    let how = house.answers.recv().await.unwrap().origin;
    (mv.to_string(), how, eval.map(|eval| eval.score))
}

fn says(body: &str) -> Manner {
    Manner::Says(200, body.to_owned())
}

fn cloud(url: &BaseUrl, timeout: Duration) -> Setup {
    let cloud = Cloud { enabled: true, url: url.clone(), timeout, ..Cloud::default() };
    Setup { lookup: lookup::Config { cloud, ..Default::default() }, ..Setup::default() }
}

fn tablebase(url: &BaseUrl) -> Setup {
    let tablebase = Tablebase { enabled: true, url: url.clone(), timeout: LONG, ..Tablebase::default() };
    Setup { lookup: lookup::Config { tablebase, ..Default::default() }, ..Setup::default() }
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const A3: &str = r#"{"depth":40,"pvs":[{"moves":"a2a3 e7e5","cp":-15}]}"#;

#[test]
async fn what_the_cloud_knows_is_played_with_its_score() {
    let server = StandIn::start(says(A3)).await;
    let mut house = bot(cloud(&server.url, LONG));
    let expected =
        ("a2a3".to_owned(), MoveOrigin::Lookup(LookupSource::Cloud), Some(EvalScore::Centipawns(-15)));
    assert_eq!(played(&mut house, START).await, expected);
    let castles = r#"{"depth":40,"pvs":[{"moves":"e1h1","mate":-4}]}"#;
    server.now(says(castles));
    let (mv, _, score) = played(&mut house, "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K2R w K - 0 1").await;
    assert_eq!((mv.as_str(), score), ("e1g1", Some(EvalScore::Mate(-4))));
    let asked = server.asked();
    assert!(asked[0].starts_with("GET /api/cloud-eval?fen=rnbqkbnr%2Fpppp"), "{}", asked[0]);
    assert!(asked[0].contains("variant=standard"));
}

fn chessdb(url: &BaseUrl, move_quality: BookQuality) -> Setup {
    let chessdb =
        ChessDb { enabled: true, url: url.clone(), move_quality, timeout: LONG, ..ChessDb::default() };
    Setup { lookup: lookup::Config { chessdb, ..Default::default() }, ..Setup::default() }
}

#[test]
async fn what_chessdb_knows_is_played() {
    let server = StandIn::start(says(r#"{"status":"ok","move":"b2b3"}"#)).await;
    let origin = MoveOrigin::Lookup(LookupSource::ChessDb);
    let mut house = bot(chessdb(&server.url, BookQuality::Good));
    assert_eq!(played(&mut house, START).await, ("b2b3".to_owned(), origin, None));
    server.now(says(r#"{"status":"ok","score":-15,"depth":40,"pv":["a2a3","e7e5"],"pvSAN":["a3","e5"]}"#));
    let mut house = bot(chessdb(&server.url, BookQuality::Best));
    let score = Some(EvalScore::Centipawns(-15));
    assert_eq!(played(&mut house, START).await, ("a2a3".to_owned(), origin, score));
    // Neither an unknown position nor an illegal move is a failure.
    for body in [r#"{"status":"unknown"}"#, r#"{"status":"ok","depth":40,"pv":["a2a5"]}"#] {
        server.now(says(body));
        assert_eq!(played(&mut house, START).await.1, MoveOrigin::Searched, "{body}");
    }
    let asked: Vec<_> = server.asked().iter().map(|head| head[..30].to_owned()).collect();
    let best = "GET /cdb.php?action=querypv&bo";
    assert_eq!(asked, ["GET /cdb.php?action=querybest&", best, best, best]);
}

#[test]
async fn no_fault_of_a_server_costs_more_than_its_limit_or_a_bad_move() {
    let illegal = r#"{"depth":40,"pvs":[{"moves":"a2a5","cp":900}]}"#;
    let late = Manner::SaysLate(2 * SHORT, A3.to_owned());
    // And is it asked again for the next move?
    for (manner, limit, again) in [
        (Manner::Hangs, SHORT, false),
        (late, SHORT, false),
        (Manner::Breaks, LONG, false),
        (Manner::Endless, LONG, false),
        (says("<html>busy"), LONG, false),
        (Manner::Says(429, r#"{"error":"Too many requests"}"#.into()), LONG, false),
        (Manner::Says(502, "busy".into()), LONG, false),
        (Manner::Says(301, A3.into()), LONG, false),
        (Manner::Says(404, r#"{"error":"Not found"}"#.into()), LONG, true),
        (says(illegal), LONG, true),
        (says(r#"{"depth":3,"pvs":[{"moves":"a2a3","cp":1}]}"#), LONG, true),
    ] {
        let server = StandIn::start(manner.clone()).await;
        let mut house = bot(cloud(&server.url, limit));
        let (_, how, _) = played(&mut house, START).await;
        assert_eq!(how, MoveOrigin::Searched, "{manner:?}");
        let (_, how, _) = played(&mut house, START).await;
        assert_eq!(how, MoveOrigin::Searched, "{manner:?}");
        assert_eq!(server.asked().len(), if again { 2 } else { 1 }, "{manner:?}");
    }
    let nobody = BaseUrl::try_from("http://127.0.0.1:1".to_owned()).unwrap();
    assert_eq!(played(&mut bot(cloud(&nobody, LONG)), START).await.1, MoveOrigin::Searched);
}

#[test]
async fn a_search_is_not_held_up_for_longer_than_the_limit() {
    let server = StandIn::start(Manner::Hangs).await;
    let mut house = bot(cloud(&server.url, SHORT));
    let began = Instant::now();
    played(&mut house, START).await;
    assert!(began.elapsed() >= SHORT, "it waits for an answer as long as it is told to");
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
}

/// Near the end of a clock nobody is asked at all, so that no move can be later for it.
#[test]
async fn on_the_clocks_edge_nobody_is_asked() {
    let server = StandIn::start(Manner::Hangs).await;
    let url = server.url.clone();
    let timeout = Duration::from_secs(1);
    let mut setup = cloud(&server.url, timeout);
    setup.lookup.tablebase =
        Tablebase { enabled: true, max_pieces: 32, url, timeout, ..Tablebase::default() };
    let mut house = bot(setup);
    // With 25 s the share of a move is shorter than the limit; with less than 20 s the clock is.
    for left in [25_000, 19_999, 5_000, 300, 1].map(Duration::from_millis) {
        let mut seat = house.lobby.open(info(Color::White, Some(&START.replace("KQkq", "-")))).await.unwrap();
        let began = Instant::now();
        ask(&mut seat, 1, Some(clocks(left))).await;
        assert!(began.elapsed() < timeout, "{left:?}: {:?}", began.elapsed());
        let how = house.answers.recv().await.unwrap().origin;
        assert!(matches!(how, MoveOrigin::Searched | MoveOrigin::HardLimit | MoveOrigin::Instant), "{how:?}");
    }
    assert_eq!(server.asked().len(), 0);
    // With ten minutes there is time to ask.
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    ask(&mut seat, 1, Some(clocks(Duration::from_secs(600)))).await;
    assert_eq!(server.asked().len(), 1);
}

/// A game of half a minute: with all servers hung no move takes longer than without them.
#[test]
async fn a_bullet_game_goes_on_while_all_servers_hang() {
    let server = StandIn::start(Manner::Hangs).await;
    let house = bot(cloud(&server.url, SHORT));
    let mut seat = house.lobby.open(info(Color::White, None)).await.unwrap();
    let mut line = GameHistory::new(Chess::start());
    let mut left = Duration::from_secs(15);
    for turn in 0..30 {
        let began = Instant::now();
        let text = ask(&mut seat, turn, Some(clocks(left))).await;
        left = left.checked_sub(began.elapsed()).expect("the flag has not fallen");
        line.play(line.now().read(&text).unwrap());
        moved(&seat, &text).await;
        if line.outcome().is_over() {
            break;
        }
        let reply = line.now().moves()[0];
        moved(&seat, line.now().write(reply).as_str()).await;
        line.play(reply);
        if line.outcome().is_over() {
            break;
        }
    }
    assert_eq!(server.asked().len(), 0);
}

#[test]
async fn an_endgame_is_won_by_the_table_and_a_draw_is_known_as_one() {
    let won = "7k/8/8/8/8/8/R7/K7 w - - 0 1";
    let wins = r#"{"category":"win","moves":[{"uci":"a2a7","category":"loss","dtz":-13,"dtm":-13},
        {"uci":"a2b2","category":"loss","dtz":-9,"dtm":-9}]}"#;
    let server = StandIn::start(says(wins)).await;
    let mut house = bot(tablebase(&server.url));
    let expected = ("a2b2".to_owned(), MoveOrigin::Lookup(LookupSource::Tablebase), Some(EvalScore::Mate(5)));
    assert_eq!(played(&mut house, won).await, expected);
    server.now(says(r#"{"category":"draw","moves":[{"uci":"a2a7","category":"draw","dtz":0,"dtm":0}]}"#));
    let (mv, _, score) = played(&mut house, won).await;
    assert_eq!((mv.as_str(), score), ("a2a7", Some(EvalScore::Centipawns(0))));
    // Eight pieces without opposing pawns are in no table.
    played(&mut house, "4k3/ppp5/8/8/8/8/5PPP/4K3 w - - 0 1").await;
    assert_eq!(server.asked().len(), 2);
    assert!(server.asked()[0].starts_with("GET /standard?fen=7k"));
}

#[test]
async fn the_search_chooses_among_the_moves_that_a_table_suggests() {
    let position = "7k/8/8/8/8/8/R7/K7 w - - 0 1";
    let two = r#"{"category":"win","moves":[{"uci":"a2a7","category":"loss","dtz":-13,"dtm":-13},
        {"uci":"a2b2","category":"loss","dtz":-9,"dtm":-9},{"uci":"a1b1","category":"draw","dtz":0,"dtm":0}]}"#;
    let server = StandIn::start(says(two)).await;
    let mut setup = tablebase(&server.url);
    setup.lookup.tablebase.move_quality = MoveQuality::Suggest;
    let mut house = bot(setup);
    for _ in 0..8 {
        let (mv, how, _) = played(&mut house, position).await;
        assert!(["a2a7", "a2b2"].contains(&mv.as_str()), "{mv}");
        assert_eq!(how, MoveOrigin::Searched);
    }
    // There is nothing to choose among.
    server.now(says(r#"{"category":"win","moves":[{"uci":"a2a7","category":"loss","dtz":-13,"dtm":-13}]}"#));
    let (mv, how, _) = played(&mut house, position).await;
    assert_eq!((mv.as_str(), how), ("a2a7", MoveOrigin::Lookup(LookupSource::Tablebase)));
}

/// A bot that probes the tables of three pieces.
fn syzygy(move_quality: MoveQuality, folders: Vec<PathBuf>) -> Setup {
    let syzygy = RootSyzygyConfig { folders, move_quality, ..RootSyzygyConfig::default() };
    Setup { bot: Config { syzygy, ..Config::default() }, ..Setup::default() }
}

fn tables() -> Vec<PathBuf> {
    vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy")]
}

#[test]
async fn an_engine_that_knows_nothing_mates_by_tables_on_the_disk() {
    let start = "8/8/8/3k4/8/8/8/Q3K3 w - - 0 1";
    let mut house = bot(syzygy(MoveQuality::Best, tables()));
    let mut seat = house.lobby.open(info(Color::White, Some(start))).await.unwrap();
    let mut line = GameHistory::new(Chess::parse(start).unwrap());
    // The distance to mate is 15 plies, give or take one.
    for turn in 0..9 {
        let text = ask(&mut seat, turn, None).await;
        let origin = house.answers.recv().await.unwrap().origin;
        assert!([MoveOrigin::Syzygy, MoveOrigin::Forced].contains(&origin), "{origin:?}");
        line.play(line.now().read(&text).unwrap());
        moved(&seat, &text).await;
        let Some(&reply) = line.now().moves().first() else { break };
        moved(&seat, line.now().write(reply).as_str()).await;
        line.play(reply);
    }
    assert!(matches!(line.outcome(), Outcome::Win(Color::White, _)), "{:?}", line.outcome());
}

#[test]
async fn the_search_chooses_where_the_tables_only_suggest() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["KQvK", "KRvK", "KPvK", "KBvK", "KNvK"] {
        let name = format!("{name}.rtbw");
        fs::copy(tables()[0].join(&name), folder.path().join(name)).unwrap();
    }
    // Of the promotions, only those to a queen and a rook win. Without DTZ tables no move is known to make progress.
    let wins = "8/4P3/8/8/k7/8/8/K7 w - - 0 1";
    for setup in
        [syzygy(MoveQuality::Suggest, tables()), syzygy(MoveQuality::Best, vec![folder.path().to_owned()])]
    {
        let mut house = bot(setup);
        for _ in 0..8 {
            let (mv, how, _) = played(&mut house, wins).await;
            assert!(!["e7e8n", "e7e8b"].contains(&mv.as_str()), "{mv}");
            assert_eq!(how, MoveOrigin::Searched);
        }
        // Four pieces are in no table.
        let (_, how, _) = played(&mut house, "8/4P3/8/8/k7/8/1P6/K7 w - - 0 1").await;
        assert_eq!(how, MoveOrigin::Searched);
    }
}

#[test]
async fn a_table_that_wins_is_no_reason_to_give_up_and_one_that_loses_is() {
    let resign = Resign { moves: 1, score: 500, ..Resign::default() };
    for (category, gives_up) in [("loss", false), ("cursed-win", false), ("maybe-win", false), ("win", true)]
    {
        let answer =
            format!(r#"{{"category":"x","moves":[{{"uci":"a2a7","category":"{category}","dtz":7}}]}}"#);
        let server = StandIn::start(says(&answer)).await;
        let house = bot(Setup { bot: Config { resign, ..Config::default() }, ..tablebase(&server.url) });
        let mut seat =
            house.lobby.open(info(Color::White, Some("7k/8/8/8/8/8/R7/K7 w - - 0 1"))).await.unwrap();
        tell(&seat, Event::YourTurn { turn: Turn(1), clocks: None }).await;
        let action = seat.actions.recv().await.unwrap();
        assert_eq!(matches!(action, Action::Resign { .. }), gives_up, "{category}: {action:?}");
    }
}

fn explorer(url: &BaseUrl, folder: &Path) -> Explorer {
    let token_file = folder.join("token");
    files::write(&token_file, "lip_hush\n", 0o600);
    Explorer { enabled: true, url: url.clone(), token_file, timeout: LONG, ..Explorer::default() }
}

#[test]
async fn the_explorer_is_shown_a_token_and_one_players_first_line_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"moves":[{"uci":"b2b4","white":30,"draws":0,"black":0},{"uci":"a2a4","white":1,"draws":0,"black":0}]}"#;
    let server = StandIn::start(Manner::Streams(line.to_owned())).await;
    let source = Database::Player;
    let player_name = "sokolsky".to_owned();
    let explorer = Explorer { source, player_name, ..explorer(&server.url, folder.path()) };
    let mut house =
        bot(Setup { lookup: lookup::Config { explorer, ..Default::default() }, ..Setup::default() });
    assert_eq!(
        played(&mut house, START).await,
        ("b2b4".to_owned(), MoveOrigin::Lookup(LookupSource::Explorer), None)
    );
    let asked = &server.asked()[0];
    assert!(
        asked.starts_with("GET /player?fen=") && asked.contains("player=sokolsky&color=white"),
        "{asked}"
    );
    assert!(asked.to_lowercase().contains("authorization: bearer lip_hush\r\n"), "{asked}");
}

fn account(url: &BaseUrl, token: &str) -> Account {
    Account { url: url.clone(), token: token.parse().unwrap() }
}

/// Authorizations of all requests so far, empty where there was none.
fn shown(server: &StandIn) -> Vec<String> {
    let header = |head: &String| {
        let line = head.lines().find_map(|line| line.strip_prefix("authorization: "));
        line.unwrap_or_default().to_owned()
    };
    server.asked().iter().map(header).collect()
}

#[test]
async fn an_account_shows_its_token_to_its_own_server_only() {
    let [own, other] = [StandIn::start(says(A3)).await, StandIn::start(says(A3)).await];
    let accounts = vec![account(&BaseUrl::default(), "lip_first"), account(&own.url, "lip_own")];
    for server in [&own, &other] {
        played(&mut bot(Setup { accounts: accounts.clone(), ..cloud(&server.url, LONG) }), START).await;
        let few = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1";
        played(&mut bot(Setup { accounts: accounts.clone(), ..tablebase(&server.url) }), few).await;
    }
    assert_eq!(shown(&own), ["Bearer lip_own"; 2]);
    assert_eq!(shown(&other), [""; 2]);
    // ChessDB gets no token, even where an account has the same address.
    let known = StandIn::start(says(r#"{"status":"ok","move":"b2b3"}"#)).await;
    let accounts_there = vec![account(&known.url, "lip_known")];
    let setup = Setup { accounts: accounts_there, ..chessdb(&known.url, BookQuality::Good) };
    assert_eq!(played(&mut bot(setup), START).await.0, "b2b3");
    assert_eq!(shown(&known), [""]);
    // The explorer needs one, so it has no need of a file of its own there.
    let explorer = |server: &StandIn| {
        let url = server.url.clone();
        let explorer = Explorer { enabled: true, url, timeout: LONG, ..Explorer::default() };
        let lookup = lookup::Config { explorer, ..Default::default() };
        Setup { lookup, accounts: accounts.clone(), ..Setup::default() }
    };
    played(&mut bot(explorer(&own)), START).await;
    assert_eq!(shown(&own), ["Bearer lip_own"; 3]);
    let missing = explorer(&other).sources().unwrap_err();
    assert!(missing.contains("LICHESS_EXPLORER_TOKEN") && !missing.contains("lip_"), "{missing}");
}

#[test]
async fn a_token_does_not_follow_a_redirect() {
    let other = StandIn::start(says(A3)).await;
    let own = StandIn::start(Manner::Redirects(other.url.to_string())).await;
    let accounts = vec![account(&own.url, "lip_own")];
    let (_, how, _) = played(&mut bot(Setup { accounts, ..cloud(&own.url, LONG) }), START).await;
    assert_eq!(
        (how, shown(&own), other.asked().len()),
        (MoveOrigin::Searched, vec!["Bearer lip_own".into()], 0)
    );
}

#[test]
async fn the_order_says_whose_word_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.bin");
    fs::write(&file, Builder::default().entry(Chess::start().book_key().unwrap(), "h2h4", 1).bytes())
        .unwrap();
    let book = book::BookConfig { files: vec![file], ..book::BookConfig::default() };
    let server = StandIn::start(says(A3)).await;
    let asks = |order: &str| {
        let sources = toml::from_str::<Config>(&format!("sources = {order}")).unwrap().sources;
        let bot = Config { sources, book: book.clone(), ..Config::default() };
        Setup { bot, ..cloud(&server.url, LONG) }
    };
    let (mv, how, _) = played(&mut bot(asks(r#"["book", "cloud"]"#)), START).await;
    assert_eq!((mv.as_str(), how), ("h2h4", MoveOrigin::Book));
    assert_eq!(server.asked().len(), 0, "the book is first, and nobody else is asked");
    let (mv, how, _) = played(&mut bot(asks(r#"["cloud", "book"]"#)), START).await;
    assert_eq!((mv.as_str(), how), ("a2a3", MoveOrigin::Lookup(LookupSource::Cloud)));
    server.now(Manner::Says(404, String::new()));
    let (mv, how, _) = played(&mut bot(asks(r#"["cloud", "book"]"#)), START).await;
    assert_eq!((mv.as_str(), how), ("h2h4", MoveOrigin::Book), "the cloud knows nothing, so the book does");
    let (_, how, _) = played(&mut bot(asks("[]")), START).await;
    assert_eq!(how, MoveOrigin::Searched);
}

/// Settings that cannot work are reported at the start, without tokens.
#[test]
fn what_cannot_work_is_told_at_the_start() {
    let told = |setup: Setup| setup.sources().unwrap_err();
    let files = vec!["/no/such/book.bin".into()];
    let book = book::BookConfig { files, ..book::BookConfig::default() };
    let missing = told(Setup { bot: Config { book, ..Config::default() }, ..Setup::default() });
    assert!(missing.starts_with("book /no/such/book.bin: cannot be read"), "{missing}");
    let with = |explorer| {
        told(Setup { lookup: lookup::Config { explorer, ..Default::default() }, ..Setup::default() })
    };
    let enabled = Explorer { enabled: true, ..Explorer::default() };
    let token_file = "/no/such/token".into();
    let missing = with(Explorer { token_file, ..enabled.clone() });
    assert!(
        missing.starts_with("online_moves.explorer: cannot read token_file /no/such/token: "),
        "{missing}"
    );
    let open = BaseUrl::try_from("http://example.org".to_owned()).unwrap();
    assert!(with(Explorer { url: open, ..enabled.clone() }).contains("unencrypted"));
    assert!(with(Explorer { source: Database::Player, ..enabled.clone() }).contains("`player_name`"));
    assert!(with(enabled).contains("LICHESS_EXPLORER_TOKEN"));
}
