//! Client of the contest protocol against a scripted server.

mod hostile;
mod latency;
mod moves;
mod pairing;
mod reconnect;
mod session;
mod shutdown;
