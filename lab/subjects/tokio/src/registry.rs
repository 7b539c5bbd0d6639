//! Tasks with ids in tokio: a HashMap under a mutex leads from an id to the
//! task's AbortHandle. A deadline is an entry of a DelayQueue (crate tokio-util), as its documentation advises
//! for many movable deadlines. One task waits for the queue and aborts the tasks with expired deadlines.

use crate::fail;
use std::collections::HashMap;
use std::future::{pending, poll_fn, Future};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::{yield_now, AbortHandle};
use tokio_util::time::{delay_queue::Key, DelayQueue};

pub const AT_A_TIME: u64 = 64;

struct Entry {
    task: AbortHandle,
    deadline: Option<Key>,
}

#[derive(Default)]
struct Tables {
    all: HashMap<u64, Entry>,
    deadlines: DelayQueue<u64>,
}

#[derive(Default)]
pub struct Registry {
    next: AtomicU64,
    waiting: AtomicU64,
    tables: Mutex<Tables>,
    pending: Mutex<HashMap<u64, oneshot::Sender<u64>>>,
}

/// Part of each task: it is dropped with the task, when that has ended or was aborted.
struct Registered {
    id: u64,
    of: Arc<Registry>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let Tables { all, deadlines } = &mut *self.of.tables.lock().unwrap();
        if let Some(key) = all.remove(&self.id).and_then(|entry| entry.deadline) {
            deadlines.remove(&key);
        }
    }
}

struct Waiting(Arc<Registry>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}

impl Registry {
    /// The task does not run before it is in the map: there is one thread.
    pub fn spawn<F>(self: &Arc<Self>, body: F) -> u64
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = self.next.fetch_add(1, Relaxed);
        let registered = Registered { id, of: self.clone() };
        let task = tokio::spawn(async move {
            let _registered = registered;
            body.await;
        });
        let entry = Entry { task: task.abort_handle(), deadline: None };
        self.tables.lock().unwrap().all.insert(id, entry);
        id
    }

    /// Starts a number of tasks that wait until they are aborted. All wait when it returns.
    pub async fn fill(self: &Arc<Self>, count: u64) -> Vec<u64> {
        let before = self.waiting.load(Relaxed);
        let mut ids = Vec::new();
        for i in 0..count {
            let mine = Waiting(self.clone());
            ids.push(self.spawn(async move {
                mine.0.waiting.fetch_add(1, Relaxed);
                pending().await
            }));
            if i % AT_A_TIME == 0 {
                yield_now().await;
            }
        }
        while self.waiting.load(Relaxed) != before + count {
            yield_now().await;
        }
        ids
    }

    /// Returns the numbers of tasks in the map, and of waiting tasks.
    pub fn count(&self) -> (u64, u64) {
        (self.tables.lock().unwrap().all.len() as u64, self.waiting.load(Relaxed))
    }

    pub fn find(&self, id: u64) -> Option<AbortHandle> {
        self.tables.lock().unwrap().all.get(&id).map(|entry| entry.task.clone())
    }

    pub fn cancel(&self, id: u64) {
        match self.tables.lock().unwrap().all.get(&id) {
            Some(entry) => entry.task.abort(),
            None => fail("an id was not known"),
        }
    }

    pub fn set_deadline(&self, id: u64, after: Duration) {
        let Tables { all, deadlines } = &mut *self.tables.lock().unwrap();
        let entry = all.get_mut(&id).unwrap_or_else(|| fail("a deadline was not set"));
        match &entry.deadline {
            Some(key) => deadlines.reset(key, after),
            None => entry.deadline = Some(deadlines.insert(id, after)),
        }
    }

    /// Runs as a task of its own: aborts the tasks with expired deadlines.
    pub async fn let_expire(self: Arc<Self>) {
        poll_fn(|context| loop {
            let Tables { all, deadlines } = &mut *self.tables.lock().unwrap();
            let Poll::Ready(Some(expired)) = deadlines.poll_expired(context) else { return Poll::Pending };
            if let Some(entry) = all.get_mut(expired.get_ref()) {
                entry.deadline = None;
                entry.task.abort();
            }
        })
        .await
    }

    pub fn expect(&self) -> (u64, oneshot::Receiver<u64>) {
        let id = self.next.fetch_add(1, Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.pending.lock().unwrap().insert(id, sender);
        (id, receiver)
    }

    pub fn complete(&self, id: u64, value: u64) {
        let sender = self.pending.lock().unwrap().remove(&id);
        let sender = sender.unwrap_or_else(|| fail("nobody expected the reply"));
        sender.send(value).unwrap_or_else(|_| fail("nobody waits for the reply"));
    }
}
