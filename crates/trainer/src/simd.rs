//! The inner loops, compiled for several instruction sets; which one runs is decided at run time.
//!
//! The compiler turns each loop into SIMD instructions, by the crate `multiversion`. All instruction sets give the same
//! bits: none of them reorders a sum.

use multiversion::multiversion;

use crate::{
    gradient::{self, Objective},
    optimizer::{self, Slice, Step},
    position::TrainingPosition,
};

/// See [`gradient::learn`].
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn learn(
    objective: &Objective,
    values: &[f32],
    positions: &[TrainingPosition],
    part: f32,
    accumulators: &mut [f32],
    gradient: &mut [f32],
) -> f64 {
    gradient::learn(objective, values, positions, part, accumulators, gradient)
}

/// See [`gradient::outputs`].
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn outputs(
    hidden: usize,
    values: &[f32],
    positions: &[TrainingPosition],
    accumulators: &mut [f32],
    told: &mut Vec<f32>,
) {
    gradient::outputs(hidden, values, positions, accumulators, told);
}

/// See [`optimizer::apply`].
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn apply(step: Step, slice: &mut Slice<'_>) {
    optimizer::apply(step, slice);
}

#[cfg(test)]
mod tests {
    use zeitnot_engine::net::NetShape;
    use zeitnot_rules::{Game, chess::Chess};

    use super::*;
    use crate::{
        layers::parameter_count,
        optimizer::Moments,
        parameters::{BOUND, Parameters},
    };

    #[multiversion(targets("x86_64+avx2"))]
    fn learn_avx2(
        objective: &Objective,
        values: &[f32],
        positions: &[TrainingPosition],
        part: f32,
        accumulators: &mut [f32],
        gradient: &mut [f32],
    ) -> f64 {
        gradient::learn(objective, values, positions, part, accumulators, gradient)
    }
    #[multiversion(targets("x86_64+avx2"))]
    fn outputs_avx2(
        hidden: usize,
        values: &[f32],
        positions: &[TrainingPosition],
        accumulators: &mut [f32],
        told: &mut Vec<f32>,
    ) {
        gradient::outputs(hidden, values, positions, accumulators, told);
    }
    #[multiversion(targets("x86_64+avx2"))]
    fn apply_avx2(step: Step, slice: &mut Slice<'_>) {
        optimizer::apply(step, slice);
    }

    type Learn = fn(&Objective, &[f32], &[TrainingPosition], f32, &mut [f32], &mut [f32]) -> f64;
    type Outputs = fn(usize, &[f32], &[TrainingPosition], &mut [f32], &mut Vec<f32>);
    type Loops = (Learn, Outputs, fn(Step, &mut Slice<'_>));

    /// The sum of squared errors, the parameters after a step, their averages, and the outputs then.
    fn computed(
        (learn, outputs, apply): Loops,
        shape: NetShape,
        positions: &[TrainingPosition],
    ) -> (f64, Vec<f32>, Moments, Vec<f32>) {
        let count = parameter_count(shape);
        let mut values = Parameters::random(shape, 4).values;
        let (mut moments, mut gradient) = (Moments::new(count), vec![0.0; count]);
        let objective = Objective { shape, score_weight: 0.5 };
        let mut accumulators = vec![0.0; 2 * shape.hidden()];
        let sum = learn(&objective, &values, positions, 0.02, &mut accumulators, &mut gradient);
        let (mean, square) = (&mut moments.mean[..], &mut moments.square[..]);
        let gradients = vec![&mut gradient[..]];
        apply(Step::new(0.01, 3, BOUND), &mut Slice { values: &mut values, mean, square, gradients });
        let mut told = Vec::new();
        outputs(shape.hidden(), &values, positions, &mut accumulators, &mut told);
        (sum, values, moments, told)
    }

    #[test]
    fn all_instruction_sets_compute_the_same_bits() {
        let mut now = Chess::start();
        let mut random = fastrand::Rng::with_seed(6);
        let mut positions = Vec::new();
        while let Some(mv) = random.choice(now.moves()).filter(|_| positions.len() < 50) {
            now.play(mv);
            positions.push(TrainingPosition::new(&now, random.i16(-500..500), random.u8(0..=2)));
        }
        for hidden in [32, 96, 128] {
            let shape = NetShape::new(hidden).unwrap();
            let best: Loops = (learn, outputs, apply);
            // The second instruction set, which is not chosen where the first one can be, and plain code.
            let others: [Loops; 2] = [
                (learn_avx2, outputs_avx2, apply_avx2),
                (gradient::learn, gradient::outputs, optimizer::apply),
            ];
            let expected = computed(best, shape, &positions);
            assert!(
                others.into_iter().all(|loops| computed(loops, shape, &positions) == expected),
                "{hidden}"
            );
        }
    }
}
