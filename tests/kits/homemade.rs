//! The kit that runs a `homemade.py` of lichess-bot.

use std::fs;

use zeitnot_testing::LONG;

use super::{
    Kit, plays_a_whole_game, plays_two_moves,
    python::{NOWHERE, has_python},
};

const CLIENT: &str = "python3 client.py";

#[test(limit = LONG)]
async fn its_example_plays_a_whole_game() {
    if has_python() {
        plays_a_whole_game("homemade", CLIENT, async |_| {}).await;
    }
}

/// Names that are imported by today's and older homemade.py, and each signature of `search` and `__init__`.
#[test(limit = LONG)]
async fn homemade_engines_of_several_styles_play() {
    if !has_python() {
        return;
    }
    let today = "\
from chess.engine import PlayResult, Limit
import chess
from lib.engine_wrapper import MinimalEngine
from lib.lichess_types import MOVE, HOMEMADE_ARGS_TYPE
import logging

logger = logging.getLogger(__name__)

class ExampleEngine(MinimalEngine):
    pass

class Mine(ExampleEngine):
    def search(self, board: chess.Board, time_limit: Limit, ponder: bool, draw_offered: bool, root_moves: MOVE):
        assert time_limit.white_clock > 0 and time_limit.black_inc == 0 and not isinstance(root_moves, list)
        assert len(board.move_stack) == 2 * (board.fullmove_number - 1)
        self.engine.ping()
        return PlayResult(next(iter(board.legal_moves)), None)
";
    let older = "\
import chess
from engine_wrapper import MinimalEngine

class Mine(MinimalEngine):
    def __init__(self, commands, options, stderr, draw_or_resign, name=None, **popen_args):
        super().__init__(commands, options, stderr, draw_or_resign)
        self.moves = 0

    def search(self, board, time_limit, ponder, draw_offered):
        self.moves += 1
        assert self.moves == board.fullmove_number
        return next(iter(board.legal_moves))
";
    for homemade in [today, older] {
        let moves =
            plays_two_moves("homemade", CLIENT, "20+0", async |kit| kit.put("homemade.py", homemade)).await;
        assert!(!moves.concat().contains("instead"), "{moves:?}");
    }
}

/// The class is imported, with names of lichess-bot before it had `lib`, and reads the game.
#[test(limit = LONG)]
async fn an_imported_engine_knows_its_game() {
    if !has_python() {
        return;
    }
    let mine = "\
import config, model
from lib import model as model_of_today, other
from lib.engine_wrapper import MinimalEngine
from strategies import FillerEngine

class Mine(MinimalEngine):
    def __init__(self, commands, options, stderr, draw_or_resign, game=None, **popen_args):
        super().__init__(commands, options, stderr, draw_or_resign, game, **popen_args)
        self.game = game
        self.about = [game.opponent.rating + 1, game.clock_increment.seconds, game.variant_name]
        assert 10 <= game.clock_initial.seconds <= 20

    def search(self, board, time_limit, *args):
        game = self.game
        assert self.about == [1501, 0, 'From Position'] and game.is_white == board.turn
        assert len(game.state['moves'].split()) == len(board.move_stack)
        assert game.my_remaining_time().total_seconds() <= 20
        return next(iter(board.legal_moves))
";
    for class in ["", "class = Mine\n"] {
        let moves = plays_two_moves("homemade", CLIENT, "20+0", async |kit| {
            kit.put("mine.py", mine);
            fs::create_dir(kit.path("lib")).unwrap();
            kit.put("lib/other.py", "");
            kit.put("homemade.py", "from mine import Mine\n");
            kit.replace("settings.txt", "key =", &format!("{class}key ="));
        })
        .await;
        assert!(!moves.concat().contains("instead"), "{moves:?}");
    }
}

/// Another package of that name would be installed.
#[test(limit = LONG)]
async fn a_module_that_was_left_in_lichess_bot_is_not_to_be_installed() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("homemade", NOWHERE);
    kit.put("homemade.py", "import engines.mine\n");
    let (code, told) = kit.start(&format!("{CLIENT} alice")).ends().await;
    let problem = "homemade.py needs engines, which is not here: copy engines or engines.py from the folder of your lichess-bot";
    assert!(code == Some(1) && told.iter().any(|line| line.ends_with(problem)), "{told:#?}");
}

#[test(limit = LONG)]
async fn a_mistake_in_search_is_shown_with_its_line() {
    if !has_python() {
        return;
    }
    let [first, _] = plays_two_moves("homemade", CLIENT, "20+0", async |kit| {
        kit.replace("homemade.py", "        def gain", "        board.nonesuch\n\n        def gain");
    })
    .await;
    assert!(
        first.contains(" has no attribute 'nonesuch', line 16 of homemade.py (in search); played "),
        "{first}"
    );
}

#[test(limit = LONG)]
async fn a_resignation_is_ignored_and_said() {
    if !has_python() {
        return;
    }
    let [first, _] = plays_two_moves("homemade", CLIENT, "20+0", async |kit| {
        kit.replace(
            "homemade.py",
            "        def gain",
            "        return PlayResult(None, None, resigned=True)\n\n        def gain",
        );
    })
    .await;
    let problem = "Move 1: search returned a resignation, which is ignored; legal moves: ";
    assert!(first.starts_with(problem), "{first}");
}

#[test(limit = LONG)]
async fn one_of_several_classes_is_chosen_by_name() {
    if !has_python() {
        return;
    }
    let kit = Kit::write_for("homemade", NOWHERE);
    kit.replace(
        "homemade.py",
        "class Greedy",
        "class First(MinimalEngine):\n    search = None\n\n\nclass Greedy",
    );
    let (code, told) = kit.start(&format!("{CLIENT} alice")).ends().await;
    let problem =
        "homemade.py has the classes First, Greedy: name one by a line `class = NAME` in settings.txt";
    assert!(code == Some(1) && told.iter().any(|line| line.ends_with(problem)), "{told:#?}");
    kit.replace("settings.txt", "key =", "class = Greedy\nkey =");
    let game = kit.run("python3 play_local.py random");
    assert!(!game.contains("instead"), "{game}");
}
