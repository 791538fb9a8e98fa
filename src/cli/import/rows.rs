//! The keys of lichess-bot and ours: what is the same thing under another name, and what has no like here.

use super::values::{self as read, Read};

/// A key of theirs, the same as one or more of ours, and how its value changes on the way.
#[derive(Debug)]
pub struct Row {
    /// With the tables it is in: `challenge.max_base`.
    pub theirs: &'static str,
    /// The same way. Servers are many, but theirs is one: `server.concurrency`.
    pub ours: &'static [&'static str],
    pub(super) read: Read,
    /// A list, each entry of which is read.
    pub(super) is_list: bool,
}

const fn one(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: false }
}

const fn list(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: true }
}

/// One key of theirs is one for humans and one for bots.
macro_rules! filter {
    ($key:literal) => {
        &[concat!("server.challenge.human.", $key), concat!("server.challenge.bot.", $key)]
    };
}

/// What needs no thought.
pub const ROWS: &[Row] = &[
    one("url", &["server.url"], read::address),
    one("move_overhead", &["bot.move_overhead"], read::millis),
    one("abort_time", &["server.timeouts.abort_time"], read::seconds),
    one("max_takebacks_accepted", &["server.max_takebacks_accepted"], read::number),
    one("engine.polyglot.min_weight", &["bot.book.min_weight"], read::number),
    one("engine.polyglot.selection", &["bot.book.selection"], read::selection),
    one("engine.polyglot.max_depth", &["bot.book.max_ply"], read::plies),
    one(
        "engine.online_moves.max_depth",
        &["online_moves.cloud.max_ply", "online_moves.explorer.max_ply"],
        read::plies,
    ),
    one("engine.online_moves.online_egtb.enabled", &["online_moves.tablebase.enabled"], read::boolean),
    one("engine.online_moves.online_egtb.max_pieces", &["online_moves.tablebase.max_pieces"], read::positive),
    one("engine.online_moves.online_egtb.min_time", &["online_moves.tablebase.min_time"], read::seconds),
    one("engine.online_moves.lichess_cloud_analysis.enabled", &["online_moves.cloud.enabled"], read::boolean),
    one(
        "engine.online_moves.lichess_cloud_analysis.min_depth",
        &["online_moves.cloud.min_depth"],
        read::score,
    ),
    one(
        "engine.online_moves.lichess_cloud_analysis.min_time",
        &["online_moves.cloud.min_time"],
        read::seconds,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.enabled",
        &["online_moves.explorer.enabled"],
        read::boolean,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.source",
        &["online_moves.explorer.source"],
        read::database,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.player_name",
        &["online_moves.explorer.player_name"],
        read::text,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.sort",
        &["online_moves.explorer.selection"],
        read::popularity,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.min_games",
        &["online_moves.explorer.min_games"],
        read::number,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.min_time",
        &["online_moves.explorer.min_time"],
        read::seconds,
    ),
    one("correspondence.move_time", &["server.correspondence.move_time"], read::seconds),
    one("correspondence.checkin_period", &["server.correspondence.checkin_period"], read::seconds),
    one("correspondence.disconnect_time", &["server.correspondence.disconnect_time"], read::seconds),
    one("greeting.hello", &["server.chat.hello"], read::text),
    one("greeting.goodbye", &["server.chat.goodbye"], read::text),
    one("greeting.hello_spectators", &["server.chat.hello_spectators"], read::text),
    one("greeting.goodbye_spectators", &["server.chat.goodbye_spectators"], read::text),
    one("challenge.concurrency", &["server.concurrency"], read::positive),
    one("challenge.sort_by", &["server.challenge.sort_by"], read::order),
    one("challenge.accept_bot", &["server.challenge.bot.accept"], read::boolean),
    list("challenge.variants", filter!("variants"), read::variant),
    list("challenge.time_controls", filter!("time_controls"), read::speed),
    list("challenge.modes", filter!("modes"), read::mode),
    one("challenge.min_base", filter!("min_base"), read::base),
    one("challenge.max_base", filter!("max_base"), read::base),
    one("challenge.min_increment", filter!("min_increment"), read::seconds),
    one("challenge.max_increment", filter!("max_increment"), read::seconds),
    one("challenge.min_days", filter!("min_days"), read::number),
    one("challenge.max_days", filter!("max_days"), read::number),
    one("challenge.min_rating", filter!("min_rating"), read::number),
    one("challenge.max_rating", filter!("max_rating"), read::number),
    one(
        "challenge.bullet_requires_increment",
        &["server.challenge.bot.bullet_requires_increment"],
        read::boolean,
    ),
    list("challenge.block_list", &["server.players.block_list"], read::name),
    list("challenge.online_block_list", &["server.players.online_block_list"], read::list),
    list("challenge.allow_list", &["server.players.allow_list"], read::name),
    list("matchmaking.block_list", &["server.players.block_list"], read::name),
    list("matchmaking.online_block_list", &["server.players.online_block_list"], read::list),
    one("matchmaking.challenge_timeout", &["server.matchmaking.challenge_timeout"], read::minutes),
    one("matchmaking.opponent_min_rating", &["server.matchmaking.opponent_min_rating"], read::number),
    one("matchmaking.opponent_max_rating", &["server.matchmaking.opponent_max_rating"], read::number),
    one(
        "matchmaking.opponent_rating_difference",
        &["server.matchmaking.opponent_rating_difference"],
        read::number,
    ),
    one("matchmaking.challenge_mode", &["server.matchmaking.modes"], read::modes),
];

/// Rules that are on where theirs has a switch for them, each with what theirs has where the file says nothing.
pub(super) const RULES: &[(Row, i64)] = &[
    (one("engine.draw_or_resign.resign_moves", &["bot.resign.moves"], read::positive), 3),
    (one("engine.draw_or_resign.resign_score", &["bot.resign.score"], read::below_zero), 1000),
    (one("engine.draw_or_resign.offer_draw_moves", &["bot.draw.moves"], read::positive), 5),
    (one("engine.draw_or_resign.offer_draw_score", &["bot.draw.score"], read::score), 0),
    (one("engine.draw_or_resign.offer_draw_pieces", &["bot.draw.max_pieces"], read::positive), 10),
];

/// What is dropped with all that stands beside it, unless it says `true`.
pub(super) const SWITCHES: &[&str] = &[
    "engine.polyglot.enabled",
    "engine.online_moves.online_egtb.enabled",
    "engine.online_moves.chessdb_book.enabled",
    "engine.online_moves.lichess_cloud_analysis.enabled",
    "engine.online_moves.lichess_opening_explorer.enabled",
    "engine.lichess_bot_tbs.syzygy.enabled",
    "engine.lichess_bot_tbs.gaviota.enabled",
    "matchmaking.allow_matchmaking",
];

/// With these values theirs is what happens here in any case.
pub(super) const ALIKE: &[(&str, &str)] = &[
    ("engine.debug", "false"),
    ("engine.silence_stderr", "true"),
    ("engine.polyglot.enabled", "true"),
    ("engine.polyglot.normalization", "none"),
    ("engine.draw_or_resign.resign_for_egtb_minus_two", "true"),
    ("engine.draw_or_resign.offer_draw_for_egtb_zero", "true"),
    ("engine.online_moves.online_egtb.max_time", "10800"),
    ("engine.online_moves.lichess_cloud_analysis.max_time", "10800"),
    ("engine.online_moves.lichess_opening_explorer.max_time", "10800"),
    ("engine.online_moves.lichess_opening_explorer.player_name", ""),
    ("engine.online_moves.online_egtb.source", "lichess"),
    ("engine.online_moves.online_egtb.move_quality", "best"),
    ("engine.online_moves.lichess_cloud_analysis.move_quality", "best"),
    ("engine.online_moves.lichess_cloud_analysis.min_knodes", "0"),
    ("correspondence.ponder", "false"),
    ("fake_think_time", "false"),
    ("rate_limiting_delay", "0"),
    ("quit_after_all_games_finish", "true"),
    ("challenge.preference", "none"),
    ("challenge.only_bot", "false"),
    ("matchmaking.allow_matchmaking", "true"),
    ("matchmaking.allow_during_games", "false"),
    ("matchmaking.rating_preference", "none"),
    ("matchmaking.challenge_filter", "coarse"),
    ("matchmaking.challenge_filter", "fine"),
    ("matchmaking.include_challenge_block_list", "true"),
];

/// Tables of which there is nothing here, so that one word does for all in it.
pub(super) const WHOLE: &[&str] = &[
    "engine.homemade_options",
    "engine.uci_options.go_commands",
    "engine.xboard_options.go_commands",
    "engine.xboard_options.egtpath",
    "engine.online_moves.chessdb_book",
    "engine.lichess_bot_tbs",
    "matchmaking.overrides",
];

/// Why there is nothing like it here; a table stands for all in it.
pub(super) const REASONS: &[(&str, &str)] = &[
    ("engine.interpreter", "there is no engine for it"),
    ("engine.working_dir", "there is no engine for it"),
    ("engine.homemade_options", "an engine is a program that speaks UCI or xboard's protocol"),
    ("engine.silence_stderr", "what an engine says on stderr is never shown"),
    ("engine.uci_options.go_commands", "moves are thought about by the clock alone"),
    ("engine.xboard_options.go_commands", "moves are thought about by the clock alone"),
    ("engine.xboard_options.egtpath", "set the engine's own option"),
    ("engine.polyglot.book", "books are for chess and Chess960"),
    ("engine.polyglot.normalization", "the weights of all books are added up"),
    ("engine.draw_or_resign.resign_for_egtb_minus_two", "what a tablebase says counts as a score"),
    ("engine.draw_or_resign.offer_draw_for_egtb_zero", "what a tablebase says counts as a score"),
    ("engine.online_moves.max_out_of_book_moves", "each source has its `max_ply` instead"),
    ("engine.online_moves.max_retries", "nothing is asked twice, as the search goes on meanwhile"),
    ("engine.online_moves.chessdb_book", "ChessDB is not asked"),
    ("engine.online_moves.online_egtb.max_time", "games of any length ask"),
    ("engine.online_moves.lichess_cloud_analysis.max_time", "games of any length ask"),
    ("engine.online_moves.lichess_opening_explorer.max_time", "games of any length ask"),
    ("engine.online_moves.online_egtb.source", "only Lichess's tablebase is asked"),
    ("engine.online_moves.online_egtb.move_quality", "the best move is played"),
    ("engine.online_moves.lichess_cloud_analysis.move_quality", "the best move is played"),
    ("engine.online_moves.lichess_cloud_analysis.max_score_difference", "the best move is played"),
    ("engine.online_moves.lichess_cloud_analysis.min_knodes", "the depth counts"),
    (
        "engine.lichess_bot_tbs",
        "our own engine reads tables, see [engine.syzygy]; others have options of their own",
    ),
    ("fake_think_time", "nobody waits for the look of it"),
    ("rate_limiting_delay", "the server's limits are kept in any case"),
    ("quit_after_all_games_finish", "the first Ctrl-C lets the games end, the second leaves them"),
    ("correspondence.ponder", "nobody thinks ahead in a game of days"),
    ("challenge.rating_difference", "see `min_rating` and `max_rating` of [server.challenge.bot]"),
    ("challenge.online_block_list", "only what begins with https:// is read"),
    ("matchmaking.online_block_list", "only what begins with https:// is read"),
    ("challenge.preference", "see `reserved_for_humans` of [server.challenge]"),
    ("challenge.max_simultaneous_games_per_user", "see `max_recent_challenges` of [server.challenge.human]"),
    ("challenge.recent_bot_challenge_age", "it needs max_recent_bot_challenges"),
    ("challenge.max_recent_bot_challenges", "it needs recent_bot_challenge_age"),
    ("matchmaking.allow_during_games", "bots are challenged when no game runs"),
    ("matchmaking.challenge_days", "bots are challenged with a clock"),
    ("matchmaking.rating_preference", "whoever fits may be challenged"),
    ("matchmaking.challenge_filter", "who declined is left alone for a while"),
    ("matchmaking.delay_after_decline", "who declined is left alone for a while"),
    ("matchmaking.include_challenge_block_list", "one list holds for both"),
    ("matchmaking.overrides", "`clocks` and `variants` of [server.matchmaking] have weights instead"),
    ("pgn_file_grouping", "it needs pgn_directory"),
];
