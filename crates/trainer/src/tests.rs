//! Tests of the trainer as a whole, on made-up games.

use std::{fs, path::PathBuf};

use shakmaty::{Color, Role};
use tempfile::TempDir;

use zeitnot_engine::net::{BUCKETS, FEATURES, NetShape, feature_index};
use zeitnot_rules::{Game, chess::Chess};

use crate::{
    Checkpoint, Corpus, Report, Rounding, Run, Settings, TrainError, TrainingPosition,
    example::{Example, Examples},
    games::{GameWriter, PlayedGame},
    layers::Shape,
    parameters::Parameters,
    position::Positions,
    simd,
};

/// Material of White less that of Black, in centipawns.
fn material(position: &Chess) -> i16 {
    let board = position.board();
    let worth =
        [(Role::Pawn, 100), (Role::Knight, 300), (Role::Bishop, 300), (Role::Rook, 500), (Role::Queen, 900)];
    let side = |color: Color| -> i16 {
        worth.iter().map(|&(role, worth)| worth * board.by_piece(role.of(color)).count() as i16).sum()
    };
    side(Color::White) - side(Color::Black)
}

/// A game of random moves whose scores are the material, won by whoever has more of it at the end.
fn game(random: &mut fastrand::Rng, plies: usize) -> PlayedGame {
    let start = Chess::start();
    let mut now = start.clone();
    let mut played = Vec::new();
    while played.len() < plies {
        let Some(mv) = random.choice(now.moves()) else { break };
        played.push((mv, material(&now)));
        now.play(mv);
    }
    let result = 1 + material(&now).signum();
    PlayedGame { start, plies: played, result: result as u8 }
}

fn folder_with_games(games: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games");
    let mut writer = GameWriter::open(&path).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..games {
        writer.append(&game(&mut random, 120)).unwrap();
    }
    (folder, path)
}

fn settings() -> Settings {
    Settings {
        shape: NetShape::new(32).unwrap(),
        batch: 256,
        superbatch: 20,
        superbatches: 10,
        rate: 0.01,
        score_weight: 0.7,
        seed: 3,
        buffer: 1_000_000,
        threads: 2,
    }
}

fn positions(count: usize) -> Vec<(Chess, TrainingPosition)> {
    let mut random = fastrand::Rng::with_seed(9);
    let mut found = Vec::new();
    let mut now = Chess::start();
    while found.len() < count {
        let Some(mv) = random.choice(now.moves()) else { break };
        now.play(mv);
        found.push((now.clone(), TrainingPosition::new(&now, material(&now) + 10, 2)));
    }
    found
}

fn finish(run: &mut Run<'_>) -> Vec<Report> {
    let mut reports = Vec::new();
    while !run.is_done() {
        reports.extend(run.step().unwrap().1);
    }
    reports
}

#[test]
fn features_are_those_of_the_engine() {
    for (position, packed) in positions(60) {
        let example = packed.example(0.5);
        let expected = |view: Color| {
            let king = position.board().king_of(view).unwrap();
            let indices =
                position.board().into_iter().map(|(square, piece)| feature_index(view, king, piece, square));
            let mut indices: Vec<_> = indices.collect();
            indices.sort_unstable();
            indices
        };
        let sorted = |features: &[u16]| {
            let mut indices: Vec<_> = features.iter().map(|&index| usize::from(index)).collect();
            indices.sort_unstable();
            indices
        };
        assert_eq!(sorted(example.own()), expected(position.turn()), "{}", position.print());
        assert_eq!(sorted(example.other()), expected(!position.turn()), "{}", position.print());
        let board = packed.board().unwrap();
        let mut turned = position.board().clone();
        if position.turn().is_black() {
            turned.flip_vertical();
            turned =
                turned.into_iter().map(|(square, piece)| (square, piece.role.of(!piece.color))).collect();
        }
        assert_eq!(board, turned);
    }
}

/// The mean squared error in double precision, written down anew.
fn loss(values: &[f64], hidden: usize, examples: &[Example]) -> f64 {
    let bias = FEATURES * hidden;
    let output = bias + hidden;
    let mut sum = 0.0;
    for example in examples {
        let row = output + example.bucket * 2 * hidden;
        let mut total = values[output + BUCKETS * 2 * hidden + example.bucket];
        for (view, active) in [example.own(), example.other()].into_iter().enumerate() {
            for at in 0..hidden {
                let inputs = active.iter().map(|&feature| values[usize::from(feature) * hidden + at]);
                let value = (values[bias + at] + inputs.sum::<f64>()).clamp(0.0, 1.0);
                total += values[row + view * hidden + at] * value * value;
            }
        }
        let error = 1.0 / (1.0 + (-total).exp()) - f64::from(example.target);
        sum += error * error;
    }
    sum / examples.len() as f64
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    let shape = NetShape::new(32).unwrap();
    let parameters = Parameters::random(shape, 2);
    let positions: Vec<_> = positions(40).into_iter().map(|(_, packed)| packed).collect();
    let mut examples = Vec::new();
    Positions(&positions, 0.6).gather(&(0..40).collect::<Vec<_>>(), &mut examples);
    let shape = Shape::from(shape);
    let mut gradient = vec![0.0; shape.parameters()];
    let sum = simd::learn(shape, &parameters.values, &examples, 1.0 / 40.0, &mut [0.0; 64], &mut gradient);
    let exact: Vec<f64> = parameters.values.iter().map(|&value| f64::from(value)).collect();
    let expected = loss(&exact, 32, &examples);
    assert!((sum / 40.0 - expected).abs() < 1e-6, "{sum} {expected}");

    let layers = shape.split(&gradient);
    let parts = [layers.columns, layers.bias, layers.output, layers.output_bias];
    let (mut start, mut random) = (0, fastrand::Rng::with_seed(1));
    for part in parts {
        let active: Vec<_> = (0..part.len()).filter(|&at| part[at] != 0.0).collect();
        assert!(!active.is_empty());
        for _ in 0..24 {
            let at = start + random.choice(&active).unwrap();
            let around = |change: f64| {
                let mut values = exact.clone();
                values[at] += change;
                loss(&values, 32, &examples)
            };
            let slope = (around(1e-5) - around(-1e-5)) / 2e-5;
            let error = (slope - f64::from(gradient[at])).abs();
            assert!(error < 1e-6 + 0.002 * slope.abs(), "{at}: {} for {slope}", gradient[at]);
        }
        start += part.len();
    }
}

#[test]
fn a_net_learns_material_and_keeps_it_when_rounded() {
    let (_folder, path) = folder_with_games(60);
    let corpus = Corpus::open(&[path]).unwrap();
    let mut run = Run::begin(settings(), &corpus).unwrap();
    let reports = finish(&mut run);
    assert_eq!(reports.len(), 10);
    let [first, last] = [reports[0], reports[9]];
    assert!(last.loss < first.loss / 3.0, "{first:?} {last:?}");
    let held_out = [first, last].map(|report| report.held_out.unwrap());
    assert!(held_out[1] < held_out[0], "{held_out:?}");
    let rounding = Rounding::measure(run.parameters(), run.held_out(), 0.7, 2).unwrap().unwrap();
    assert!((rounding.loss - held_out[1]).abs() < 1e-9, "{rounding:?}");
    assert!((rounding.rounded_loss / rounding.loss - 1.0).abs() < 0.1, "{rounding:?}");
    assert!(rounding.mean < 10.0 && rounding.largest < 60.0, "{rounding:?}");
}

#[test]
fn a_resumed_run_is_the_same_run() {
    let (folder, path) = folder_with_games(700);
    let corpus = Corpus::open(&[path]).unwrap();
    // Several blocks, so that the place within the games counts, and the end of a block in a pass.
    let settings = Settings { buffer: 20_000, superbatch: 30, superbatches: 4, batch: 2_048, ..settings() };
    let saved = |run: &Run<'_>, name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, run.checkpoint().to_bytes()).unwrap();
        path
    };
    let mut whole = Run::begin(settings, &corpus).unwrap();
    let reports = finish(&mut whole);
    let mut run = Run::begin(settings, &corpus).unwrap();
    let mut again = Vec::new();
    while !run.is_done() {
        for _ in 0..7 {
            if !run.is_done() {
                again.extend(run.step().unwrap().1);
            }
        }
        let checkpoint = Checkpoint::read(&saved(&run, "part")).unwrap().unwrap();
        run = Run::resume(settings, &corpus, checkpoint).unwrap();
    }
    assert_eq!(again, reports);
    let [whole, parts] = [saved(&whole, "whole"), saved(&run, "part")].map(|path| fs::read(path).unwrap());
    assert!(whole == parts, "the last checkpoints are the same");
}

#[test]
fn another_beginning_is_told() {
    let (folder, path) = folder_with_games(30);
    let corpus = Corpus::open(std::slice::from_ref(&path)).unwrap();
    let checkpoint = Run::begin(settings(), &corpus).unwrap().checkpoint();
    let name = folder.path().join("checkpoint");
    fs::write(&name, checkpoint.to_bytes()).unwrap();
    let told = |settings: Settings, corpus: &Corpus| {
        let checkpoint = Checkpoint::read(&name).unwrap().unwrap();
        Run::resume(settings, corpus, checkpoint).err().map(|error| error.to_string())
    };
    assert_eq!(told(Settings { threads: 1, ..settings() }, &corpus), None);
    let fault = told(Settings { rate: 0.5, ..settings() }, &corpus).unwrap();
    assert!(
        fault.ends_with("checkpoint: begun with --rate 0.01, not 0.5; name another checkpoint, or remove it"),
        "{fault}"
    );
    GameWriter::open(&path).unwrap().append(&game(&mut fastrand::Rng::with_seed(8), 9)).unwrap();
    let fault = told(settings(), &Corpus::open(&[path]).unwrap()).unwrap();
    assert!(fault.contains("begun with other games"), "{fault}");
}

#[test]
fn what_is_no_checkpoint_is_told() {
    let (folder, path) = folder_with_games(4);
    let corpus = Corpus::open(&[path]).unwrap();
    let name = folder.path().join("checkpoint");
    assert!(Checkpoint::read(&name).unwrap().is_none());
    fs::write(&name, Run::begin(settings(), &corpus).unwrap().checkpoint().to_bytes()).unwrap();
    let whole = fs::read(&name).unwrap();
    let refused = |bytes: &[u8]| {
        fs::write(&name, bytes).unwrap();
        matches!(Checkpoint::read(&name), Err(TrainError::NotACheckpoint(_)))
    };
    let mut newer = whole.clone();
    newer[7] = 2;
    fs::write(&name, &newer).unwrap();
    assert!(matches!(Checkpoint::read(&name), Err(TrainError::NewerCheckpoint(_))));
    for length in [0, 7, 8, 100, 135, 200, whole.len() - 1] {
        assert!(refused(&whole[..length]), "{length}");
    }
    for at in [0, 9, 60, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        assert!(refused(&bytes), "{at}");
    }
}

#[test]
fn what_is_no_data_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games");
    let told = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let corpus = Corpus::open(std::slice::from_ref(&path));
        let begun = corpus.and_then(|corpus| {
            let mut run = Run::begin(settings(), &corpus)?;
            run.step().map(|_| ())
        });
        begun.unwrap_err().to_string()
    };
    assert!(told(b"").contains("no games to learn from"));
    let start = Chess::start();
    let empty = PlayedGame { start: start.clone(), plies: Vec::new(), result: 1 }.to_bytes();
    assert!(told(&empty).contains("no quiet positions"));
    let whole = PlayedGame { plies: vec![(start.read("e2e4").unwrap(), 0)], start, result: 1 }.to_bytes();
    let wrong = [&whole[..], &whole[..32], &[1, 2, 3, 4], &whole[36..]].concat();
    assert!(told(&wrong).contains("illegal move"), "{}", told(&wrong));
}
