//! Changes of a net's evaluation by rounding.

use zeitnot_engine::net::{Net, NetFault, SCALE};

use shakmaty::Color;

use crate::{
    parameters::Parameters,
    position::{Positions, TrainingPosition},
    threads::{in_parallel, shares},
    workers::outputs_of,
};

/// Comparison of a net as it was trained with the one that the engine uses.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Rounding {
    /// Mean squared error as trained.
    pub loss: f64,
    /// Mean squared error of the rounded net.
    pub rounded_loss: f64,
    /// Mean difference of the evaluations in centipawns.
    pub mean: f64,
    /// Largest difference of the evaluations in centipawns.
    pub largest: f64,
}

impl Rounding {
    /// Compares on these positions; `None` without any.
    ///
    /// # Errors
    /// [`NetFault`] if the rounded net is not valid.
    pub fn measure(
        parameters: &Parameters,
        positions: &[TrainingPosition],
        score_weight: f32,
        threads: usize,
    ) -> Result<Option<Rounding>, NetFault> {
        let net = Net::new(&parameters.quantised())?;
        let places: Vec<u32> = (0..positions.len() as u32).collect();
        let examples = Positions(positions, score_weight);
        let Parameters { shape, values } = parameters;
        let (exact, error) = outputs_of((*shape).into(), values, &examples, &places, threads);
        let rounded = in_parallel(shares(positions, threads).map(|part| {
            let net = &net;
            move || {
                let outputs = part.iter().map(|position| (position, evaluate(net, position)));
                let errors =
                    outputs.map(|(position, output)| (output, position.example(score_weight).error(output)));
                errors.collect::<Vec<_>>()
            }
        }));
        let rounded = rounded.concat();
        let differences =
            exact.iter().zip(&rounded).map(|(exact, (rounded, _))| f64::from((exact - rounded).abs()));
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for difference in differences {
            sum += difference;
            largest = largest.max(difference);
        }
        let (scale, count) = (f64::from(SCALE), positions.len() as f64);
        Ok((!positions.is_empty()).then(|| Rounding {
            loss: error / count,
            rounded_loss: rounded.iter().map(|(_, error)| error * error).sum::<f64>() / count,
            mean: scale * sum / count,
            largest: scale * largest,
        }))
    }
}

/// The rounded net's output, in units of its scale.
fn evaluate(net: &Net, position: &TrainingPosition) -> f32 {
    position.board().map_or(0.0, |board| net.evaluate(&board, Color::White) as f32 / SCALE as f32)
}
