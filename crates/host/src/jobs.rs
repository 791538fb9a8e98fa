//! Requests to a task that owns its state: jobs, which it runs one by one.

use tokio::sync::{mpsc, oneshot};

/// Requests that may wait for one task.
const QUEUE: usize = 256;

/// A request.
pub type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// Queue of the owner of the state.
pub type Jobs<S> = mpsc::Receiver<Job<S>>;

/// Sends jobs to the owner of the state.
#[derive(Debug)]
pub struct Handle<S>(mpsc::Sender<Job<S>>);

impl<S> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Handle(self.0.clone())
    }
}

/// A [`Handle`] that does not keep the task alive.
#[derive(Debug)]
pub struct WeakHandle<S>(mpsc::WeakSender<Job<S>>);

impl<S> Clone for WeakHandle<S> {
    fn clone(&self) -> Self {
        WeakHandle(self.0.clone())
    }
}

impl<S> WeakHandle<S> {
    /// Returns a handle while another one is left.
    pub fn upgrade(&self) -> Option<Handle<S>> {
        self.0.upgrade().map(Handle)
    }
}

/// Creates the queue of a task; it ends when no handle is left.
pub fn channel<S>() -> (Handle<S>, Jobs<S>) {
    let (tx, jobs) = mpsc::channel(QUEUE);
    (Handle(tx), jobs)
}

/// Takes the jobs that wait now. What came before a deadline is to be judged before it, however late this task is.
pub fn waiting<S>(jobs: &mut Jobs<S>) -> Vec<Job<S>> {
    (0..jobs.len()).map_while(|_| jobs.try_recv().ok()).collect()
}

impl<S> Handle<S> {
    /// Returns a handle for whoever must not keep the task alive.
    pub fn downgrade(&self) -> WeakHandle<S> {
        WeakHandle(self.0.downgrade())
    }

    /// Hands over a job without waiting for its end. Where the owner is gone, nothing happens.
    pub async fn send(&self, job: impl FnOnce(&mut S) + Send + 'static) {
        let _ = self.0.send(Box::new(job)).await;
    }

    /// Runs a job; `None` if the owner of the state is gone.
    pub async fn call<T: Send + 'static>(&self, job: impl FnOnce(&mut S) -> T + Send + 'static) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.send(move |state| drop(reply.send(job(state)))).await;
        answer.await.ok()
    }
}
