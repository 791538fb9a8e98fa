//! Laws, and the mutants that break them.

/// Condition that holds at every step of every history.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Law {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

/// A fault between the state machine and the world, planted to show that its law is checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    /// The law that some seed finds broken.
    pub(crate) law: &'static Law,
}
