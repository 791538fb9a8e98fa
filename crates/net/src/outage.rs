//! Failures in a row, of which the first is reported, and the success after them.

/// Whether the last of many attempts failed.
#[derive(Debug, Default)]
pub struct Outage {
    lasts: bool,
}

/// News from an attempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum OutageNews {
    /// It failed, and the one before did not.
    Begins,
    /// It succeeded, and the one before did not.
    Ends,
}

impl Outage {
    /// Notes an attempt. Returns what is to be reported of it, if anything is new.
    pub fn note<T, E>(&mut self, attempt: &Result<T, E>) -> Option<OutageNews> {
        let lasted = std::mem::replace(&mut self.lasts, attempt.is_err());
        match (lasted, self.lasts) {
            (false, true) => Some(OutageNews::Begins),
            (true, false) => Some(OutageNews::Ends),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_and_the_end_are_news() {
        let mut outage = Outage::default();
        let news = [Ok(()), Err(()), Err(()), Ok(()), Ok(()), Err(())].map(|attempt| outage.note(&attempt));
        let (begins, ends) = (Some(OutageNews::Begins), Some(OutageNews::Ends));
        assert_eq!(news, [None, begins, None, ends, None, begins]);
    }
}
