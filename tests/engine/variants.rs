//! The engine plays the variants of chess, and Chess960: soundly against random moves, and it sees what wins in each.

use std::num::NonZeroUsize;

use zeitnot_engine::{
    Best, Config, EngineFactory, Limits, PlayVisitor, Playable, Thinker, random::RandomMover, think_now,
    with_game,
};
use zeitnot_rules::{Color, GameHistory, GameKind, Outcome, Reason, chess::chess960_start};

const VARIANTS: [GameKind; 8] = [
    GameKind::Crazyhouse,
    GameKind::Atomic,
    GameKind::Antichess,
    GameKind::Horde,
    GameKind::KingOfTheHill,
    GameKind::RacingKings,
    GameKind::ThreeCheck,
    GameKind::Gardner,
];

/// Our own search, with a small table.
fn search<G: Playable>() -> Box<dyn Thinker<G>> {
    let config = Config { hash_mib: NonZeroUsize::MIN, ..Config::default() };
    EngineFactory::new(&config).unwrap().thinker()
}

/// The move of a thinker, which must be legal.
fn decide<G: Playable>(thinker: &mut dyn Thinker<G>, line: &GameHistory<G>, nodes: u64) -> (G::Move, Best) {
    let now = line.now();
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let (best, _) = think_now(thinker, line, &limits);
    let mv = now.unpack(best.mv).filter(|mv| now.moves().contains(mv));
    (mv.unwrap_or_else(|| panic!("{}: an illegal move in {}", now.kind().name(), now.print())), best)
}

/// Counts wins, draws and losses against random moves, with each side in turn.
struct Matches {
    games: usize,
    nodes: u64,
    /// From the shuffled positions of Chess960.
    shuffled: bool,
}

impl PlayVisitor for Matches {
    type Out = [usize; 3];

    fn visit<G: Playable>(self, start: G) -> [usize; 3] {
        let name = start.kind().name();
        let mut search = search::<G>();
        let mut tally = [0; 3];
        for game in 0..self.games {
            search.new_game();
            let ours = if game % 2 == 0 { Color::White } else { Color::Black };
            let fen = self.shuffled.then(|| chess960_start(&mut fastrand::Rng::with_seed(game as u64)));
            let mut line =
                GameHistory::new(fen.map_or(start.clone(), |fen| start.parse_position(&fen).unwrap()));
            while line.outcome() == Outcome::Ongoing && line.moves().len() < 600 {
                let (mv, _) = match line.now().side_to_move() == ours {
                    true => decide(&mut *search, &line, self.nodes),
                    false => decide(&mut RandomMover, &line, 1),
                };
                line.play(mv);
            }
            let result = match line.outcome() {
                Outcome::Win(side, _) if side == ours => 0,
                Outcome::Win(..) => 2,
                _ => 1,
            };
            if result > 0 {
                println!("{name}: {} after {}", line.now().print(), line.moves().len());
            }
            tally[result] += 1;
        }
        tally
    }
}

const SEED: u64 = 8;

fn play(games: usize, nodes: u64) {
    let shuffled = |game| (game, game == GameKind::Chess);
    for (game, shuffled) in VARIANTS.into_iter().chain([GameKind::Chess]).map(shuffled) {
        // The same random moves each time: chance decides when a release is measured, not whether the tests pass.
        fastrand::seed(SEED);
        let [won, drawn, lost] = with_game(game, Matches { games, nodes, shuffled });
        let name = if shuffled { "chess960" } else { game.name() };
        println!("{name}: {won} won, {drawn} drawn, {lost} lost");
        assert_eq!(lost, 0, "{name}: lost to random moves");
        assert!(won > games * 3 / 4, "{name}: only {won} of {games} won");
    }
}

#[test]
fn random_moves_never_beat_us() {
    play(20, 300);
}

/// Measure of a release; takes minutes without optimisation.
#[test(limit = zeitnot_testing::SOAK)]
#[ignore = "soak: minutes"]
fn random_moves_never_beat_us_in_a_hundred_games() {
    play(100, 1000);
}

/// Finds a win and plays it out against random moves.
struct Win {
    fen: &'static str,
    mv: Option<&'static str>,
    reason: Reason,
}

impl PlayVisitor for Win {
    type Out = ();

    fn visit<G: Playable>(self, start: G) {
        let name = start.kind().name();
        let mut line = GameHistory::new(start.parse_position(self.fen).unwrap());
        let us = line.now().side_to_move();
        let mut search = search::<G>();
        let (mv, best) = decide(&mut *search, &line, 30_000);
        let text = line.now().write(mv);
        assert!(self.mv.is_none_or(|mv| mv == text.as_str()), "{name} {}: {text}", self.fen);
        assert!(best.score.mate_moves().is_some_and(|moves| moves > 0), "{name} {}: {best:?}", self.fen);
        line.play(mv);
        while line.outcome() == Outcome::Ongoing && line.moves().len() < 20 {
            let (mv, _) = match line.now().side_to_move() == us {
                true => decide(&mut *search, &line, 30_000),
                false => decide(&mut RandomMover, &line, 1),
            };
            line.play(mv);
        }
        assert_eq!(line.outcome(), Outcome::Win(us, self.reason), "{name} {}", self.fen);
    }
}

#[test]
fn wins_of_each_variant_are_found_and_played_out() {
    let mate = Reason::Checkmate;
    let end = Reason::VariantEnd;
    for (game, fen, mv, reason) in [
        // A drop mates.
        (GameKind::Crazyhouse, "6k1/5ppp/8/8/8/8/8/4K3[Rp] w - - 0 1", None, mate),
        // The king explodes with a pawn.
        (
            GameKind::Atomic,
            "rnbqkbnr/pppp1ppp/8/4N3/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 3",
            None,
            end(GameKind::Atomic),
        ),
        // The last piece is given away.
        (GameKind::Antichess, "8/8/8/8/2p5/8/1P6/8 w - - 0 1", None, end(GameKind::Antichess)),
        // Black takes the last pawn.
        (GameKind::Horde, "4k3/8/8/8/8/8/r6P/8 b - - 0 1", Some("a2h2"), end(GameKind::Horde)),
        (GameKind::KingOfTheHill, "7k/8/8/8/8/2K5/8/8 w - - 0 1", None, end(GameKind::KingOfTheHill)),
        (GameKind::RacingKings, "8/8/K7/8/8/7k/8/8 w - - 0 1", None, end(GameKind::RacingKings)),
        // The third check wins, whatever it costs.
        (GameKind::ThreeCheck, "3qk3/3p1p2/8/8/8/8/8/3QK3 w - - 1+3 0 1", None, end(GameKind::ThreeCheck)),
        // The edge of the small board is near.
        (GameKind::Gardner, "k4/5/2K2/5/4R w - - 0 1", None, mate),
    ] {
        with_game(game, Win { fen, mv, reason });
    }
}
