//! A run of the trainer, batch by batch.

use crate::{
    checkpoint::{Checkpoint, State},
    corpus::Corpus,
    error::TrainError,
    feed::{Feed, Place},
    optimizer::{Moments, Step},
    parameters::{BOUND, Parameters},
    position::{Positions, TrainingPosition},
    settings::Settings,
    workers::{Workers, outputs_of},
};

/// Progress since the last report.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Report {
    /// Number of the superbatch, from 1.
    pub superbatch: u64,
    /// Mean squared error of the positions learned from, each before it was.
    pub loss: f64,
    /// Mean squared error of the held-out positions now; `None` without any.
    pub held_out: Option<f64>,
    /// Learning rate of the last batch.
    pub rate: f32,
}

/// A run, from its beginning or from a checkpoint.
pub struct Run<'c> {
    settings: Settings,
    corpus: &'c Corpus,
    state: State,
    feed: Feed<'c>,
    workers: Workers,
    held_out: Vec<TrainingPosition>,
}

impl<'c> Run<'c> {
    /// Begins a run.
    pub fn begin(settings: Settings, corpus: &'c Corpus) -> Result<Run<'c>, TrainError> {
        let parameters = Parameters::random(settings.shape, settings.seed);
        let moments = Moments::new(parameters.values.len());
        let place = Place::default();
        Run::at(settings, corpus, State { parameters, moments, batches: 0, place, errors: (0.0, 0) })
    }

    /// Continues a run: what follows is what would have followed, with the same number of threads.
    ///
    /// # Errors
    /// [`TrainError::Differs`] if it was begun with other settings or games, and as [`Run::begin`].
    pub fn resume(
        settings: Settings,
        corpus: &'c Corpus,
        checkpoint: Checkpoint,
    ) -> Result<Run<'c>, TrainError> {
        let state = checkpoint.into_state(&settings, corpus)?;
        Run::at(settings, corpus, state)
    }

    fn at(settings: Settings, corpus: &'c Corpus, state: State) -> Result<Run<'c>, TrainError> {
        Ok(Run {
            feed: Feed::at(corpus, settings, state.place)?,
            workers: Workers::new(settings.shape.into(), settings.threads),
            held_out: corpus.held_out(settings.threads)?,
            settings,
            corpus,
            state,
        })
    }

    /// The number of batches so far, and of all.
    pub fn batches(&self) -> (u64, u64) {
        (self.state.batches, self.settings.batches())
    }

    pub fn is_done(&self) -> bool {
        self.state.batches >= self.settings.batches()
    }

    pub fn parameters(&self) -> &Parameters {
        &self.state.parameters
    }

    /// The positions that are never learned from.
    pub fn held_out(&self) -> &[TrainingPosition] {
        &self.held_out
    }

    /// The state of the run, to be resumed.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint::new(&self.settings, self.corpus, self.state.clone())
    }

    /// Learns from a batch. Returns its number of positions, and at the end of a superbatch a report.
    ///
    /// # Errors
    /// [`TrainError::Games`] for games that turn out to be none, and [`TrainError::NoPositions`].
    pub fn step(&mut self) -> Result<(usize, Option<Report>), TrainError> {
        let state = &mut self.state;
        let rate = self.settings.schedule().rate(state.batches);
        let batch = self.feed.next()?;
        let positions = batch.order.len();
        let step = Step::new(rate, state.batches, BOUND);
        let block = Positions(batch.block, self.settings.score_weight);
        let values = &mut state.parameters.values;
        state.errors.0 += self.workers.step(values, &mut state.moments, &block, batch.order, step);
        state.errors.1 += positions as u64;
        state.batches += 1;
        state.place = self.feed.place();
        let is_whole = state.batches.is_multiple_of(self.settings.superbatch.max(1));
        Ok((positions, is_whole.then(|| self.report(rate))))
    }

    fn report(&mut self, rate: f32) -> Report {
        let (sum, count) = std::mem::take(&mut self.state.errors);
        let Settings { shape, score_weight, threads, .. } = self.settings;
        let held_out = Positions(&self.held_out, score_weight);
        let places: Vec<u32> = (0..self.held_out.len() as u32).collect();
        let (_, error) = outputs_of(shape.into(), &self.state.parameters.values, &held_out, &places, threads);
        Report {
            superbatch: self.state.batches / self.settings.superbatch.max(1),
            loss: sum / count.max(1) as f64,
            held_out: (!places.is_empty()).then(|| error / places.len() as f64),
            rate,
        }
    }
}
