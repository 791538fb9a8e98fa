//! Samples
