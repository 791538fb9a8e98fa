//! The inner loops, compiled for several instruction sets; which one runs is decided at run time.
//!
//! The compiler turns each loop into SIMD instructions, by the crate `multiversion`. All instruction sets give the same
//! bits: none of them reorders a sum.

use multiversion::multiversion;

use crate::{
    example::Example,
    gradient,
    layers::Shape,
    optimizer::{self, Slice, Step},
};

/// Defines [`gradient::learn`], [`gradient::outputs`] and [`optimizer::apply`] for these instruction sets.
macro_rules! loops {
    ($learn:ident, $outputs:ident, $apply:ident for $($target:tt),*) => {
        #[multiversion(targets($($target),*))]
        pub(crate) fn $learn(
            shape: Shape,
            values: &[f32],
            examples: &[Example],
            part: f32,
            accumulators: &mut [f32],
            gradient: &mut [f32],
        ) -> f64 {
            gradient::learn(shape, values, examples, part, accumulators, gradient)
        }

        #[multiversion(targets($($target),*))]
        pub(crate) fn $outputs(
            shape: Shape,
            values: &[f32],
            examples: &[Example],
            accumulators: &mut [f32],
            told: &mut Vec<f32>,
        ) {
            gradient::outputs(shape, values, examples, accumulators, told);
        }

        #[multiversion(targets($($target),*))]
        pub(crate) fn $apply(step: Step, slice: &mut Slice<'_>) {
            optimizer::apply(step, slice);
        }
    };
}
loops!(learn, outputs, apply for "x86_64+avx512f+avx512vl", "x86_64+avx2");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::Moments;

    loops!(learn_avx2, outputs_avx2, apply_avx2 for "x86_64+avx2");

    type Learn = fn(Shape, &[f32], &[Example], f32, &mut [f32], &mut [f32]) -> f64;
    type Outputs = fn(Shape, &[f32], &[Example], &mut [f32], &mut Vec<f32>);
    type Loops = (Learn, Outputs, fn(Step, &mut Slice<'_>));

    /// The sum of squared errors, the parameters after a step, their averages, and the outputs then.
    fn computed(
        (learn, outputs, apply): Loops,
        shape: Shape,
        examples: &[Example],
    ) -> (f64, Vec<f32>, Moments, Vec<f32>) {
        let count = shape.parameters();
        let mut values = shape.random(&mut fastrand::Rng::with_seed(4), [0.2, 0.1]);
        let (mut moments, mut gradient) = (Moments::new(count), vec![0.0; count]);
        let mut accumulators = vec![0.0; 2 * shape.hidden];
        let sum = learn(shape, &values, examples, 0.02, &mut accumulators, &mut gradient);
        let (mean, square) = (&mut moments.mean[..], &mut moments.square[..]);
        let gradients = vec![&mut gradient[..]];
        apply(Step::new(0.01, 3, 0.99), &mut Slice { values: &mut values, mean, square, gradients });
        let mut told = Vec::new();
        outputs(shape, &values, examples, &mut accumulators, &mut told);
        (sum, values, moments, told)
    }

    #[test]
    fn all_instruction_sets_compute_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(6);
        for hidden in [32, 96, 128] {
            let shape = Shape { inputs: 300, hidden };
            let examples: Vec<_> = (0..50)
                .map(|_| {
                    let mut example = Example::new(random.usize(..8), random.f32());
                    (0..random.usize(..40)).for_each(|_| example.push(random.u16(..300), random.u16(..300)));
                    example
                })
                .collect();
            let best: Loops = (learn, outputs, apply);
            // The second instruction set, which is not chosen where the first one can be, and plain code.
            let others: [Loops; 2] = [
                (learn_avx2, outputs_avx2, apply_avx2),
                (gradient::learn, gradient::outputs, optimizer::apply),
            ];
            let expected = computed(best, shape, &examples);
            assert!(
                others.into_iter().all(|loops| computed(loops, shape, &examples) == expected),
                "{hidden}"
            );
        }
    }
}
