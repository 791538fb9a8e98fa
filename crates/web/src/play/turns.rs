//! Fair queue for something that one visitor can use at a time: addresses take turns, however many requests each has.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use zeitnot_host::origin::Origin;

/// Fair queue by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    is_taken: bool,
    /// Addresses that have somebody waiting, the next one first.
    order: VecDeque<Origin>,
    waiting: BTreeMap<Origin, VecDeque<oneshot::Sender<Turn>>>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Turns);

impl Turns {
    /// Waits for a turn. A future that is dropped leaves the queue.
    pub(super) async fn take(&self, from: Origin) -> Turn {
        let receiver = {
            let mut queue = self.queue();
            if !queue.is_taken {
                queue.is_taken = true;
                return Turn(self.clone());
            }
            queue.wait(from)
        };
        match receiver.await {
            Ok(turn) => turn,
            // Unreachable: the queue lives as long as this.
            Err(_) => Turn(self.clone()),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn wait(&mut self, from: Origin) -> oneshot::Receiver<Turn> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.entry(from).or_default().push_back(sender);
        if !self.order.contains(&from) {
            self.order.push_back(from);
        }
        receiver
    }

    /// Takes the first of the next address, which goes to the end of the queue.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        while let Some(from) = self.order.pop_front() {
            let mut waiting = self.waiting.remove(&from).unwrap_or_default();
            waiting.retain(|sender| !sender.is_closed());
            let first = waiting.pop_front();
            if !waiting.is_empty() {
                self.waiting.insert(from, waiting);
                self.order.push_back(from);
            }
            if first.is_some() {
                return first;
            }
        }
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        let next = queue.next();
        queue.is_taken = next.is_some();
        drop(queue);
        if let Some(next) = next {
            // If its receiver is gone by now, the turn is dropped here and goes to the next one.
            let _ = next.send(Turn(self.0.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use futures_util::FutureExt;

    use super::*;

    fn from(last: u8) -> Origin {
        IpAddr::from([10, 0, 0, last]).into()
    }

    #[test]
    async fn addresses_take_turns_and_those_who_leave_are_passed_over() {
        let turns = Turns::default();
        let mut turn = Some(turns.take(from(1)).await);
        let mut waiting: Vec<_> = [1, 1, 1, 2, 3, 2]
            .map(|visitor| {
                (
                    visitor,
                    Some(Box::pin({
                        let turns = turns.clone();
                        async move { turns.take(from(visitor)).await }
                    })),
                )
            })
            .into();
        let mut served = Vec::new();
        loop {
            // All are in the queue before the turn ends.
            let ready = waiting.iter_mut().find_map(|(visitor, waiter)| {
                let taken = waiter.as_mut()?.now_or_never()?;
                *waiter = None;
                Some((*visitor, taken))
            });
            match ready {
                Some((visitor, taken)) => {
                    served.push(visitor);
                    turn = Some(taken);
                }
                None if turn.is_some() => {
                    if served.len() == 1 {
                        // The second of the first address.
                        waiting[1].1 = None;
                    }
                    turn = None;
                }
                None => break,
            }
        }
        assert_eq!(served, [1, 2, 3, 1, 2]);
        assert!(turns.take(from(4)).now_or_never().is_some(), "nobody has it any more");
    }
}
