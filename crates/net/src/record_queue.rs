//! Records on their way to a file. One that cannot be written is tried again with the next.

use std::{collections::VecDeque, io};

/// Records that are kept while their file cannot be written. Beyond these, the oldest are given up.
const MAX_KEPT: usize = 1024;

/// Records that are not written yet, oldest first.
#[derive(Debug)]
pub struct RecordQueue<T> {
    kept: VecDeque<T>,
    given_up: usize,
}

impl<T> Default for RecordQueue<T> {
    fn default() -> Self {
        RecordQueue { kept: VecDeque::new(), given_up: 0 }
    }
}

impl<T> RecordQueue<T> {
    /// Adds a record, to be written by [`RecordQueue::write`].
    pub fn push(&mut self, record: T) {
        if self.kept.len() >= MAX_KEPT {
            self.kept.pop_front();
            self.given_up += 1;
        }
        self.kept.push_back(record);
    }

    /// Writes the records in their order, up to the first that fails; that and those after it are kept.
    ///
    /// # Errors
    /// The error of `append`.
    pub fn write(&mut self, mut append: impl FnMut(&T) -> io::Result<()>) -> io::Result<()> {
        while let Some(record) = self.kept.front() {
            append(record)?;
            self.kept.pop_front();
        }
        Ok(())
    }

    /// Number of records that are not written: those kept, and those given up.
    pub fn missing(&self) -> usize {
        self.kept.len() + self.given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_kept_in_their_order_and_in_bounds() {
        let mut queue = RecordQueue::default();
        let mut written = Vec::new();
        for record in 0..=MAX_KEPT {
            queue.push(record);
            // A disk that takes the first two and no more.
            let result = queue.write(|record| match written.len() {
                0 | 1 => {
                    written.push(*record);
                    Ok(())
                }
                _ => Err(io::ErrorKind::StorageFull.into()),
            });
            assert_eq!(result.is_ok(), record < 2);
        }
        assert_eq!(queue.missing(), MAX_KEPT - 1);
        (0..2).for_each(|more| queue.push(MAX_KEPT + 1 + more));
        assert_eq!((queue.missing(), queue.kept.len()), (MAX_KEPT + 1, MAX_KEPT), "one is given up");
        let mut disk = |record: &usize| {
            written.push(*record);
            Ok(())
        };
        queue.write(&mut disk).unwrap();
        assert_eq!(written, [&[0, 1], (3..=MAX_KEPT + 2).collect::<Vec<_>>().as_slice()].concat());
        assert_eq!(queue.missing(), 1);
    }
}
