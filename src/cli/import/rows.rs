//! Table of the keys of lichess-bot and ours, and of those that have no equivalent.

use super::{
    values::{
        Read, address, base, below_zero, boolean, database, list, millis, minutes, mode, modes, name, number,
        order, plies, popularity, positive, preference, rating_preference, score, seconds, selection, speed,
        text, variant, yes,
    },
    yaml::INFINITY,
};

/// A key of theirs, its equivalents, and the conversion of its value.
#[derive(Debug)]
pub struct Row {
    /// With the tables it is in: `challenge.max_base`.
    pub theirs: &'static str,
    /// The same for ours; `server` stands for `[[server]]`.
    pub ours: &'static [&'static str],
    pub(super) read: Read,
    /// The value is a list, whose entries are converted one by one.
    pub(super) is_list: bool,
}

const fn one(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: false }
}

const fn each(theirs: &'static str, ours: &'static [&'static str], read: Read) -> Row {
    Row { theirs, ours, read, is_list: true }
}

/// Our keys for humans and for bots.
macro_rules! filter {
    ($key:literal) => {
        &[concat!("server.challenge.human.", $key), concat!("server.challenge.bot.", $key)]
    };
}

/// Keys that are converted one by one.
pub const ROWS: &[Row] = &[
    one("url", &["server.url"], address),
    one("move_overhead", &["bot.move_overhead"], millis),
    one("fake_think_time", &["bot.fake_think_time"], yes),
    one("abort_time", &["server.timeouts.abort_time"], seconds),
    one("max_takebacks_accepted", &["server.max_takebacks_accepted"], number),
    one("engine.polyglot.min_weight", &["bot.book.min_weight"], number),
    one("engine.polyglot.selection", &["bot.book.selection"], selection),
    one("engine.polyglot.max_depth", &["bot.book.max_ply"], plies),
    one(
        "engine.online_moves.max_depth",
        &["online_moves.cloud.max_ply", "online_moves.explorer.max_ply"],
        plies,
    ),
    one("engine.online_moves.online_egtb.enabled", &["online_moves.tablebase.enabled"], boolean),
    one("engine.online_moves.online_egtb.max_pieces", &["online_moves.tablebase.max_pieces"], positive),
    one("engine.online_moves.online_egtb.min_time", &["online_moves.tablebase.min_time"], seconds),
    one("engine.online_moves.lichess_cloud_analysis.enabled", &["online_moves.cloud.enabled"], boolean),
    one("engine.online_moves.lichess_cloud_analysis.min_depth", &["online_moves.cloud.min_depth"], score),
    one("engine.online_moves.lichess_cloud_analysis.min_time", &["online_moves.cloud.min_time"], seconds),
    one("engine.online_moves.lichess_opening_explorer.enabled", &["online_moves.explorer.enabled"], boolean),
    one("engine.online_moves.lichess_opening_explorer.source", &["online_moves.explorer.source"], database),
    one(
        "engine.online_moves.lichess_opening_explorer.player_name",
        &["online_moves.explorer.player_name"],
        text,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.sort",
        &["online_moves.explorer.selection"],
        popularity,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.min_games",
        &["online_moves.explorer.min_games"],
        number,
    ),
    one(
        "engine.online_moves.lichess_opening_explorer.min_time",
        &["online_moves.explorer.min_time"],
        seconds,
    ),
    one("correspondence.move_time", &["server.correspondence.move_time"], seconds),
    one("correspondence.checkin_period", &["server.correspondence.checkin_period"], seconds),
    one("correspondence.disconnect_time", &["server.correspondence.disconnect_time"], seconds),
    one("greeting.hello", &["server.chat.hello"], text),
    one("greeting.goodbye", &["server.chat.goodbye"], text),
    one("greeting.hello_spectators", &["server.chat.hello_spectators"], text),
    one("greeting.goodbye_spectators", &["server.chat.goodbye_spectators"], text),
    one("challenge.concurrency", &["server.concurrency"], positive),
    one("challenge.games_reserved_for_humans", &["server.challenge.reserved_for_humans"], number),
    one("challenge.preference", &["server.challenge.preference"], preference),
    one(
        "challenge.max_simultaneous_games_per_user",
        &["server.challenge.max_simultaneous_games_per_user"],
        positive,
    ),
    one("challenge.sort_by", &["server.challenge.sort_by"], order),
    one("challenge.accept_bot", &["server.challenge.bot.accept"], boolean),
    each("challenge.variants", filter!("variants"), variant),
    each("challenge.time_controls", filter!("time_controls"), speed),
    each("challenge.modes", filter!("modes"), mode),
    one("challenge.min_base", filter!("min_base"), base),
    one("challenge.max_base", filter!("max_base"), base),
    one("challenge.min_increment", filter!("min_increment"), seconds),
    one("challenge.max_increment", filter!("max_increment"), seconds),
    one("challenge.min_days", filter!("min_days"), number),
    one("challenge.max_days", filter!("max_days"), number),
    one("challenge.min_rating", filter!("min_rating"), number),
    one("challenge.max_rating", filter!("max_rating"), number),
    one("challenge.rating_difference", filter!("rating_difference"), number),
    one("challenge.bullet_requires_increment", &["server.challenge.bot.bullet_requires_increment"], boolean),
    each("challenge.block_list", &["server.players.block_list"], name),
    each("challenge.online_block_list", &["server.players.online_block_list"], list),
    each("challenge.allow_list", &["server.players.allow_list"], name),
    each("matchmaking.block_list", &["server.matchmaking.block_list"], name),
    each("matchmaking.online_block_list", &["server.players.online_block_list"], list),
    one("matchmaking.challenge_timeout", &["server.matchmaking.challenge_timeout"], minutes),
    one("matchmaking.opponent_min_rating", &["server.matchmaking.opponent_min_rating"], number),
    one("matchmaking.opponent_max_rating", &["server.matchmaking.opponent_max_rating"], number),
    one("matchmaking.opponent_rating_difference", &["server.matchmaking.opponent_rating_difference"], number),
    one("matchmaking.rating_preference", &["server.matchmaking.rating_preference"], rating_preference),
    one("matchmaking.challenge_mode", &["server.matchmaking.modes"], modes),
];

/// Keys of rules that have a switch, each with its default.
pub(super) const RULES: &[(Row, i64)] = &[
    (one("engine.draw_or_resign.resign_moves", &["bot.resign.moves"], positive), 3),
    (one("engine.draw_or_resign.resign_score", &["bot.resign.score"], below_zero), 1000),
    (one("engine.draw_or_resign.offer_draw_moves", &["bot.draw.moves"], positive), 5),
    (one("engine.draw_or_resign.offer_draw_score", &["bot.draw.score"], score), 0),
    (one("engine.draw_or_resign.offer_draw_pieces", &["bot.draw.max_pieces"], positive), 10),
];

/// Rating above all on Lichess: stands for no limit where the key's default is one.
pub(super) const ANY_RATING: i64 = 4000;
/// The same for plies and counts of events in a game.
const ANY_PLY: i64 = 10_000;

/// Maxima that may be `.inf`, by their names without their tables, each with our value for no limit; without one the key
/// is left out.
pub(super) const UNLIMITED: &[(&str, Option<i64>)] = &[
    ("max_base", None),
    ("max_increment", None),
    ("max_days", None),
    ("max_rating", None),
    ("rating_difference", None),
    ("max_simultaneous_games_per_user", None),
    ("max_takebacks_accepted", Some(ANY_PLY)),
    ("max_depth", Some(ANY_PLY)),
    ("opponent_max_rating", Some(ANY_RATING)),
    ("opponent_rating_difference", Some(ANY_RATING)),
];

/// Switches whose whole table is dropped unless they are `true`.
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

/// Values that describe what happens here in any case.
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
    ("engine.online_moves.online_egtb.max_time", INFINITY),
    ("engine.online_moves.lichess_cloud_analysis.max_time", INFINITY),
    ("engine.online_moves.lichess_opening_explorer.max_time", INFINITY),
    ("engine.online_moves.lichess_opening_explorer.player_name", ""),
    ("engine.online_moves.online_egtb.source", "lichess"),
    ("engine.online_moves.online_egtb.move_quality", "best"),
    ("engine.online_moves.lichess_cloud_analysis.move_quality", "best"),
    ("engine.online_moves.lichess_cloud_analysis.min_knodes", "0"),
    ("correspondence.ponder", "false"),
    ("fake_think_time", "false"),
    ("rate_limiting_delay", "0"),
    ("quit_after_all_games_finish", "true"),
    ("challenge.only_bot", "false"),
    ("matchmaking.allow_matchmaking", "true"),
    ("matchmaking.allow_during_games", "false"),
    ("matchmaking.opponent_allow_tos_violation", "false"),
    ("matchmaking.challenge_filter", "coarse"),
    ("matchmaking.challenge_filter", "fine"),
    ("matchmaking.include_challenge_block_list", "true"),
];

/// Tables that are reported as a whole.
pub(super) const WHOLE: &[&str] = &[
    "engine.homemade_options",
    "engine.xboard_options.egtpath",
    "engine.online_moves.chessdb_book",
    "engine.lichess_bot_tbs",
];

/// Reasons why there is no equivalent; a table includes its keys.
pub const REASONS: &[(&str, &str)] = &[
    ("engine.interpreter", "no engine is configured"),
    ("engine.working_dir", "no engine is configured"),
    ("engine.homemade_options", "only programs that speak UCI or xboard's protocol are supported"),
    ("engine.silence_stderr", "stderr of engines is never shown"),
    ("engine.uci_options.go_commands", "only `nodes`, `depth` and `movetime` are supported"),
    ("engine.xboard_options.go_commands", "only `depth` is supported"),
    ("engine.xboard_options.egtpath", "set the engine's own option"),
    ("engine.polyglot.book", "books are for chess and Chess960"),
    ("engine.polyglot.normalization", "the weights of all books are added"),
    ("engine.draw_or_resign.resign_for_egtb_minus_two", "tablebase results count as scores"),
    ("engine.draw_or_resign.offer_draw_for_egtb_zero", "tablebase results count as scores"),
    ("engine.online_moves.max_out_of_book_moves", "each source has its `max_ply` instead"),
    ("engine.online_moves.max_retries", "failed look-ups are not repeated"),
    ("engine.online_moves.chessdb_book", "ChessDB is not supported"),
    ("engine.online_moves.online_egtb.max_time", "applies to games of any length"),
    ("engine.online_moves.lichess_cloud_analysis.max_time", "applies to games of any length"),
    ("engine.online_moves.lichess_opening_explorer.max_time", "applies to games of any length"),
    ("engine.online_moves.online_egtb.source", "only Lichess's tablebase is supported"),
    ("engine.online_moves.online_egtb.move_quality", "the best move is always played"),
    ("engine.online_moves.lichess_cloud_analysis.move_quality", "the best move is always played"),
    ("engine.online_moves.lichess_cloud_analysis.max_score_difference", "the best move is always played"),
    ("engine.online_moves.lichess_cloud_analysis.min_knodes", "see `min_depth` of [online_moves.cloud]"),
    ("engine.lichess_bot_tbs", "see [engine.syzygy] for our engine; other engines have options of their own"),
    ("rate_limiting_delay", "the server's limits are always kept"),
    ("quit_after_all_games_finish", "the first Ctrl-C finishes the games, the second leaves them"),
    ("correspondence.ponder", "there is no pondering in correspondence games"),
    ("challenge.online_block_list", "only addresses with https:// are supported"),
    ("matchmaking.online_block_list", "only addresses with https:// are supported"),
    ("challenge.recent_bot_challenge_age", "requires max_recent_bot_challenges"),
    ("challenge.max_recent_bot_challenges", "requires recent_bot_challenge_age"),
    ("matchmaking.allow_during_games", "bots are challenged only when no game runs"),
    ("matchmaking.opponent_allow_tos_violation", "such accounts are never challenged"),
    ("matchmaking.challenge_filter", "see `delay_after_decline` of [server.matchmaking]"),
    ("matchmaking.delay_after_decline", "see `delay_after_decline` of [server.matchmaking]"),
    ("matchmaking.include_challenge_block_list", "the block list for challenges always applies to both"),
    ("matchmaking.overrides", "not a key, or not a name, of an override"),
    ("pgn_file_grouping", "requires pgn_directory"),
];
