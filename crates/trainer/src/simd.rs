//! Choice of the processor's instructions for the inner loops, at run time.
//!
//! Each loop is compiled once for every instruction set; the compiler turns it into SIMD instructions. All give the
//! same bits: none of them reorders a sum.

use crate::{
    gradient::{self, Objective},
    optimizer::{self, Slice, Step},
    position::TrainingPosition,
};

/// Instruction set of the inner loops; one exists only where this processor has it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Simd(Level);

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Level {
    /// The instructions that every processor of the target has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Simd {
    /// The instruction sets of this processor, the best last.
    pub(crate) fn available() -> impl DoubleEndedIterator<Item = Simd> {
        let portable = std::iter::once(Simd(Level::Portable));
        #[cfg(target_arch = "x86_64")]
        let others = [
            (Level::Avx2, is_x86_feature_detected!("avx2")),
            (Level::Avx512, is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let others = [];
        portable.chain(others.into_iter().filter(|row| row.1).map(|row| Simd(row.0)))
    }

    /// The best instruction set of this processor.
    pub(crate) fn best() -> Simd {
        Simd::available().next_back().unwrap_or(Simd(Level::Portable))
    }
}

/// Defines a method that runs a function with the instruction set.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? = $body:expr) => {
        impl Simd {
            $(#[$doc])*
            #[allow(unsafe_code)]
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $out)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $type),*) $(-> $out)? {
                    $body
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,avx512f,avx512vl")]
                fn avx512($($argument: $type),*) $(-> $out)? {
                    $body
                }
                match self.0 {
                    Level::Portable => $body,
                    // SAFETY: these functions are safe but for the instructions that they are compiled to, and a
                    // level is constructed by `Simd::available` alone, which has asked the processor for them.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => unsafe { avx2($($argument),*) },
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => unsafe { avx512($($argument),*) },
                }
            }
        }
    };
}

dispatch! {
    /// See [`gradient::learn`].
    learn(
        objective: &Objective,
        values: &[f32],
        positions: &[TrainingPosition],
        part: f32,
        accumulators: &mut [f32],
        gradient: &mut [f32]
    ) -> f64 = gradient::learn(objective, values, positions, part, accumulators, gradient)
}
dispatch! {
    /// See [`gradient::outputs`].
    outputs(
        hidden: usize,
        values: &[f32],
        positions: &[TrainingPosition],
        accumulators: &mut [f32],
        told: &mut Vec<f32>
    ) = gradient::outputs(hidden, values, positions, accumulators, told)
}
dispatch! {
    /// See [`optimizer::apply`].
    apply(step: Step, slice: &mut Slice<'_>) = optimizer::apply(step, slice)
}

#[cfg(test)]
mod tests {
    use zeitnot_engine::net::NetShape;
    use zeitnot_rules::{Game, chess::Chess};

    use super::*;
    use crate::{layers::parameter_count, optimizer::Moments, parameters::Parameters};

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
            let count = parameter_count(shape);
            let mut seen = Vec::new();
            for simd in Simd::available() {
                let mut values = Parameters::random(shape, 4).values;
                let (mut moments, mut gradient) = (Moments::new(count), vec![0.0; count]);
                let objective = Objective { shape, score_weight: 0.5 };
                let mut accumulators = vec![0.0; 2 * hidden];
                let sum = simd.learn(&objective, &values, &positions, 0.02, &mut accumulators, &mut gradient);
                let (mean, square) = (&mut moments.mean[..], &mut moments.square[..]);
                let gradients = vec![&mut gradient[..]];
                simd.apply(Step::new(0.01, 3), &mut Slice { values: &mut values, mean, square, gradients });
                let mut outputs = Vec::new();
                simd.outputs(hidden, &values, &positions, &mut accumulators, &mut outputs);
                seen.push((sum, values, outputs, moments));
            }
            assert!(seen.iter().all(|other| *other == seen[0]), "{hidden}");
        }
    }
}
