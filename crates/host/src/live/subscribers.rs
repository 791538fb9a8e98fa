//! Subscribers of the live view, and the subjects that each watches.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::view::Topic;

/// Subjects that one subscriber may watch.
const MAX_TOPICS: usize = 64;

/// Names a subscriber towards the hub.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubscriberId(u64);

#[derive(Debug)]
struct Subscriber {
    queue: mpsc::Sender<Utf8Bytes>,
    /// Subjects, each with whether a message about it was left out.
    topics: BTreeMap<Topic, bool>,
    /// Version of the list of games that it got.
    list: Option<u64>,
}

#[derive(Debug, Default)]
pub(super) struct Subscribers {
    last: u64,
    all: BTreeMap<SubscriberId, Subscriber>,
    watchers: BTreeMap<Topic, BTreeSet<SubscriberId>>,
}

impl Subscribers {
    pub(super) fn add(&mut self, queue: mpsc::Sender<Utf8Bytes>) -> SubscriberId {
        self.last += 1;
        let id = SubscriberId(self.last);
        self.all.insert(id, Subscriber { queue, topics: BTreeMap::new(), list: None });
        id
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn remove(&mut self, id: SubscriberId) {
        for topic in self.all.remove(&id).into_iter().flat_map(|subscriber| subscriber.topics.into_keys()) {
            self.forget(&topic, id);
        }
    }

    fn forget(&mut self, topic: &Topic, id: SubscriberId) {
        if let Some(watchers) = self.watchers.get_mut(topic) {
            watchers.remove(&id);
            if watchers.is_empty() {
                self.watchers.remove(topic);
            }
        }
    }

    /// Adds a subject; returns whether there was room for it.
    pub(super) fn watch(&mut self, id: SubscriberId, topic: Topic) -> bool {
        let Some(subscriber) = self.all.get_mut(&id) else { return false };
        if subscriber.topics.len() >= MAX_TOPICS && !subscriber.topics.contains_key(&topic) {
            return false;
        }
        subscriber.topics.insert(topic.clone(), false);
        self.watchers.entry(topic).or_default().insert(id);
        true
    }

    pub(super) fn unwatch(&mut self, id: SubscriberId, topic: &Topic) {
        if let Some(subscriber) = self.all.get_mut(&id) {
            subscriber.topics.remove(topic);
            self.forget(topic, id);
        }
    }

    /// Returns whether a subscriber watches the list of games, and has this version of it and each change since.
    pub(super) fn has_list(&self, id: SubscriberId, version: u64) -> bool {
        self.all.get(&id).is_some_and(|subscriber| {
            subscriber.list == Some(version) && subscriber.topics.get(&Topic::Games) == Some(&false)
        })
    }

    /// Notes which version of the list of games a subscriber got.
    pub(super) fn note_list(&mut self, id: SubscriberId, version: u64) {
        if let Some(subscriber) = self.all.get_mut(&id) {
            subscriber.list = Some(version);
        }
    }

    pub(super) fn has_watchers(&self, topic: &Topic) -> bool {
        self.watchers.contains_key(topic)
    }

    /// Sends a message to everybody who watches one of the subjects. Whoever has no room for it is behind in those.
    pub(super) fn broadcast(&mut self, topics: &[&Topic], message: &Utf8Bytes) {
        let watchers = topics.iter().filter_map(|topic| self.watchers.get(*topic)).flatten();
        let watchers: BTreeSet<SubscriberId> = watchers.copied().collect();
        for id in watchers {
            let Some(subscriber) = self.all.get_mut(&id) else { continue };
            let mut behind = subscriber.topics.iter_mut().filter(|(topic, _)| topics.contains(topic));
            // Somebody who is behind in one subject may still follow the other.
            let mut followed: Vec<&mut bool> =
                behind.by_ref().map(|(_, behind)| behind).filter(|behind| !**behind).collect();
            if !followed.is_empty() && !try_send(&subscriber.queue, message) {
                followed.iter_mut().for_each(|behind| **behind = true);
            }
        }
    }

    /// Sends a message to one; a whole view makes good for what was left out before.
    pub(super) fn send(&mut self, id: SubscriberId, topic: Option<&Topic>, message: &Utf8Bytes) {
        let Some(subscriber) = self.all.get_mut(&id) else { return };
        let is_sent = try_send(&subscriber.queue, message);
        if let Some(behind) = topic.and_then(|topic| subscriber.topics.get_mut(topic)) {
            *behind = !is_sent;
        }
    }

    /// Returns who is behind in what, and has room again.
    pub(super) fn behind(&self) -> Vec<(SubscriberId, Topic)> {
        let with_room = self.all.iter().filter(|(_, it)| it.queue.capacity() > it.queue.max_capacity() / 2);
        let behind = with_room.flat_map(|(id, it)| {
            it.topics.iter().filter(|(_, behind)| **behind).map(|(topic, _)| (*id, topic.clone()))
        });
        behind.collect()
    }
}

fn try_send(queue: &mpsc::Sender<Utf8Bytes>, message: &Utf8Bytes) -> bool {
    // Whoever is gone is removed by the own task.
    !matches!(queue.try_send(message.clone()), Err(TrySendError::Full(_)))
}
