//! Batches of shuffled positions, endlessly; the same ones for the same seed, from any place on.

use crate::{
    corpus::{Chunk, Corpus},
    error::TrainError,
    position::TrainingPosition,
    settings::Settings,
};

/// Place of a batch in the feed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Passes over all games before.
    pub(crate) epoch: u64,
    /// Blocks of this pass before.
    pub(crate) block: u64,
    /// Batches of this block before.
    pub(crate) batch: u64,
}

/// Positions of a batch: those of a block at some places.
pub(crate) struct Batch<'f> {
    pub(crate) block: &'f [TrainingPosition],
    pub(crate) order: &'f [u32],
}

/// Source of batches.
///
/// A pass takes the chunks of games in random order, puts as many into a block as fit into the buffer, and deals the
/// block's positions in random order. If all games fit, they are one block, which stays in memory.
pub(crate) struct Feed<'c> {
    corpus: &'c Corpus,
    settings: Settings,
    place: Place,
    blocks: Vec<Vec<&'c Chunk>>,
    block: Vec<TrainingPosition>,
    order: Vec<u32>,
}

impl<'c> Feed<'c> {
    /// The feed from a place on.
    pub(crate) fn at(corpus: &'c Corpus, settings: Settings, place: Place) -> Result<Feed<'c>, TrainError> {
        let buffer = settings.buffer.min(u32::MAX as usize);
        let settings = Settings { batch: settings.batch.max(1), buffer, ..settings };
        let mut feed =
            Feed { corpus, settings, place, blocks: Vec::new(), block: Vec::new(), order: Vec::new() };
        feed.plan();
        feed.load()?;
        Ok(feed)
    }

    /// The place of the next batch.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn next(&mut self) -> Result<Batch<'_>, TrainError> {
        let mut blocks = 0;
        while self.place.batch >= self.batches() {
            // A pass without a single position would go on for ever.
            if blocks > self.blocks.len() {
                return Err(TrainError::NoPositions);
            }
            blocks += 1;
            self.place.batch = 0;
            self.place.block = self.place.block.saturating_add(1);
            if self.place.block >= self.blocks.len() as u64 {
                self.place = Place { epoch: self.place.epoch.saturating_add(1), ..Place::default() };
                self.plan();
            }
            self.load()?;
        }
        let (batches, batch) = (self.batches() as usize, self.place.batch as usize);
        self.place.batch += 1;
        // Batches of a block are as good as equally large, so that none is a handful with a gradient of noise.
        let bounds = [batch, batch + 1].map(|batch| self.order.len() * batch / batches);
        Ok(Batch { block: &self.block, order: &self.order[bounds[0]..bounds[1]] })
    }

    fn batches(&self) -> u64 {
        self.order.len().div_ceil(self.settings.batch) as u64
    }

    /// Random numbers of a block; those of the pass itself have none.
    fn random(&self, block: u64) -> fastrand::Rng {
        let mut seeds = fastrand::Rng::with_seed(self.settings.seed);
        let seed = seeds.u64(..) ^ fastrand::Rng::with_seed(self.place.epoch).u64(..);
        fastrand::Rng::with_seed(seed ^ fastrand::Rng::with_seed(block).u64(..))
    }

    /// Deals the chunks into the blocks of a pass.
    fn plan(&mut self) {
        let mut chunks: Vec<_> = self.corpus.learned().iter().collect();
        let all: usize = chunks.iter().map(|chunk| chunk.plies).sum();
        if all > self.settings.buffer {
            self.random(u64::MAX).shuffle(&mut chunks);
        }
        self.blocks = vec![Vec::new()];
        let mut plies = 0;
        for chunk in chunks {
            if plies + chunk.plies > self.settings.buffer && plies > 0 {
                self.blocks.push(Vec::new());
                plies = 0;
            }
            plies += chunk.plies;
            if let Some(block) = self.blocks.last_mut() {
                block.push(chunk);
            }
        }
    }

    /// Reads the present block and shuffles it.
    fn load(&mut self) -> Result<(), TrainError> {
        let is_there = self.blocks.len() == 1 && !self.block.is_empty();
        if !is_there {
            // Freed first: two of them might not fit.
            self.block = Vec::new();
            let chunks = usize::try_from(self.place.block).ok().and_then(|block| self.blocks.get(block));
            let chunks = chunks.map_or(&[][..], Vec::as_slice);
            self.block = self.corpus.positions(chunks, self.settings.threads)?;
        }
        self.order.clear();
        self.order.extend(0..self.block.len() as u32);
        self.random(self.place.block).shuffle(&mut self.order);
        Ok(())
    }
}
