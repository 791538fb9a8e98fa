//! Client of the contest protocol against a scripted server.

mod addresses;
mod endings;
mod hostile;
mod latency;
mod moves;
mod pairing;
mod reconnect;
mod refusals;
mod session;
mod shutdown;
