//! Changes of a net's evaluation by rounding.

use zeitnot_engine::net::{Net, NetFault, SCALE};

use shakmaty::Color;

use crate::{
    parameters::Parameters,
    position::{TrainingPosition, sigmoid},
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
        let exact = outputs_of(parameters, positions, threads);
        let rounded = in_parallel(shares(positions, threads).map(|part| {
            let net = &net;
            move || part.iter().map(|position| evaluate(net, position)).collect::<Vec<_>>()
        }));
        let rounded = rounded.concat();
        let differences =
            exact.iter().zip(&rounded).map(|(exact, rounded)| f64::from((exact - rounded).abs()));
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for difference in differences {
            sum += difference;
            largest = largest.max(difference);
        }
        let scale = f64::from(SCALE);
        Ok(loss(positions, exact, score_weight).zip(loss(positions, rounded, score_weight)).map(
            |(loss, rounded_loss)| Rounding {
                loss,
                rounded_loss,
                mean: scale * sum / positions.len() as f64,
                largest: scale * largest,
            },
        ))
    }
}

/// The rounded net's output, in units of its scale.
fn evaluate(net: &Net, position: &TrainingPosition) -> f32 {
    position.board().map_or(0.0, |board| net.evaluate(&board, Color::White) as f32 / SCALE as f32)
}

/// Mean squared error of outputs for positions; `None` without any.
pub(crate) fn loss(
    positions: &[TrainingPosition],
    outputs: impl IntoIterator<Item = f32>,
    score_weight: f32,
) -> Option<f64> {
    let errors = positions.iter().zip(outputs).map(|(position, output)| {
        let error = f64::from(sigmoid(output) - position.target(score_weight));
        error * error
    });
    (!positions.is_empty()).then(|| errors.sum::<f64>() / positions.len() as f64)
}
