//! Client of the contest protocol against a scripted server.

mod hostile;
mod moves;
mod pairing;
mod reconnect;
mod session;
mod shutdown;
