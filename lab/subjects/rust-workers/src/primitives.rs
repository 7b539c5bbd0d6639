//! The page `primitives` in tokio; ../../harness/primitives/primitives.hpp says what its workloads are. An event is a Notify,
//! a wait for one of several is select! over four of them, under a deadline is timeout. There is neither a condition nor a
//! monitor. Channels are in channels.rs.

use crate::{channels, fail, median, spread, timed, workers, Load};
use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};
use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use tokio::task::{yield_now, JoinSet};
use tokio::time::timeout;

const FAR: Duration = Duration::from_secs(3600);
const PERMITS_FOR_MANY: usize = 2;
const POOLED_CONNECTIONS: usize = 8;
const WAITS_THAT_EXPIRE: usize = 32;

pub async fn joined(mut tasks: JoinSet<u64>) -> u64 {
    let mut sum = 0;
    while let Some(one) = tasks.join_next().await {
        sum += one.unwrap_or_else(|_| fail("a task panicked"));
    }
    sum
}

/// As many tasks, until all have ended; the sum of what they give.
pub fn in_tasks<B, F>(rt: &Runtime, count: usize, body: B) -> u64
where
    B: Fn(usize) -> F + Send + 'static,
    F: Future<Output = u64> + Send + 'static,
{
    rt.block_on(async {
        let all = tokio::spawn(async move {
            let mut tasks = JoinSet::new();
            for i in 0..count {
                tasks.spawn(body(i));
            }
            joined(tasks).await
        });
        all.await.unwrap_or_else(|_| fail("a task panicked"))
    })
}

fn mutex_free(rt: &Runtime, r: &Load, k: usize) -> bool {
    let each = k / r.workers;
    in_tasks(rt, r.workers, move |_| async move {
        let m = Mutex::new(0);
        for _ in 0..each {
            *m.lock().await += 1;
        }
        m.into_inner()
    }) == k as u64
}

fn one_mutex(rt: &Runtime, r: &Load, k: usize, yields: bool) -> bool {
    let each = k / r.count;
    let shared = Arc::new(Mutex::new(0u64));
    let counter = shared.clone();
    in_tasks(rt, r.count, move |_| {
        let m = shared.clone();
        async move {
            for _ in 0..each {
                let mut held = m.lock().await;
                *held += 1;
                if yields {
                    yield_now().await;
                }
            }
            0
        }
    });
    let sum = *counter.blocking_lock();
    sum == k as u64
}

fn semaphore_free(rt: &Runtime, _: &Load, k: usize) -> bool {
    in_tasks(rt, 1, move |_| async move {
        let permits = Semaphore::new(1);
        let mut counter = 0;
        for _ in 0..k {
            counter += u64::from(permits.acquire().await.is_ok());
        }
        counter
    }) == k as u64
}

fn semaphore_contended(rt: &Runtime, r: &Load, k: usize) -> bool {
    let each = k / r.count;
    let shared = Arc::new(Semaphore::new(PERMITS_FOR_MANY));
    in_tasks(rt, r.count, move |_| {
        let permits = shared.clone();
        async move {
            let mut counter = 0;
            for _ in 0..each {
                let permit = permits.acquire().await;
                counter += u64::from(permit.is_ok());
                yield_now().await;
            }
            counter
        }
    }) == k as u64
}

struct Connection;
struct Connector;

impl Manager for Connector {
    type Type = Connection;
    type Error = Infallible;

    async fn create(&self) -> Result<Connection, Infallible> {
        Ok(Connection)
    }
    async fn recycle(&self, _: &mut Connection, _: &Metrics) -> RecycleResult<Infallible> {
        Ok(())
    }
}

fn borrow_connections(rt: &Runtime, r: &Load, k: usize, yields: bool) -> bool {
    let each = k / r.count;
    let pool = Pool::builder(Connector).max_size(POOLED_CONNECTIONS).build().unwrap_or_else(|_| fail("no pool"));
    in_tasks(rt, r.count, move |_| {
        let pool: Pool<Connector> = pool.clone();
        async move {
            let mut counter = 0;
            for _ in 0..each {
                let lent = pool.get().await;
                counter += u64::from(lent.is_ok());
                if yields {
                    yield_now().await;
                }
            }
            counter
        }
    }) == k as u64
}

fn event_free(rt: &Runtime, _: &Load, k: usize) -> bool {
    in_tasks(rt, 1, move |_| async move {
        let event = Notify::new();
        for _ in 0..k {
            event.notify_one();
            event.notified().await;
        }
        k as u64
    }) == k as u64
}

/// Each sets the other one's event and waits for its own.
fn ping_pong(rt: &Runtime, k: usize, timed: bool) -> bool {
    let shared = Arc::new([Notify::new(), Notify::new()]);
    in_tasks(rt, 2, move |me| {
        let events = shared.clone();
        async move {
            let mut seen = 0;
            for _ in 0..k / 2 {
                if me == 0 {
                    events[1].notify_one();
                }
                if timed {
                    seen += u64::from(timeout(FAR, events[me].notified()).await.is_ok());
                } else {
                    events[me].notified().await;
                    seen += 1;
                }
                if me == 1 {
                    events[0].notify_one();
                }
            }
            seen
        }
    }) == k as u64
}

async fn one_of(events: &[Notify; 4]) -> usize {
    tokio::select! {
        _ = events[0].notified() => 0,
        _ = events[1].notified() => 1,
        _ = events[2].notified() => 2,
        _ = events[3].notified() => 3,
    }
}

fn select_of_4(rt: &Runtime, _: &Load, k: usize) -> bool {
    let shared: Arc<[[Notify; 4]; 2]> = Arc::default();
    in_tasks(rt, 2, move |me| {
        let events = shared.clone();
        async move {
            let mut right = 0;
            for i in 0..k / 2 {
                if me == 0 {
                    events[1][i % 4].notify_one();
                }
                right += u64::from(one_of(&events[me]).await == i % 4);
                if me == 1 {
                    events[0][i % 4].notify_one();
                }
            }
            right
        }
    }) == k as u64
}

/// The two sockets from which a task reads, and those by which it writes to the other task's.
type Sockets = ([UnixStream; 2], [UnixStream; 2]);

fn two_tasks_of_sockets() -> [Sockets; 2] {
    let pair = || UnixStream::pair().unwrap_or_else(|_| fail("no socket"));
    let (a, b, c, d) = (pair(), pair(), pair(), pair());
    [([a.0, b.0], [c.1, d.1]), ([c.0, d.0], [a.1, b.1])]
}

async fn write_byte(to: &mut UnixStream) {
    to.write_all(b"x").await.unwrap_or_else(|_| fail("a write failed"));
}

async fn read_one_of(inputs: &mut [UnixStream; 2]) -> usize {
    let [first, second] = inputs;
    let mut bytes = [[0u8; 1]; 2];
    let [to_first, to_second] = &mut bytes;
    let (index, read) = tokio::select! {
        read = first.read(to_first) => (0, read),
        read = second.read(to_second) => (1, read),
    };
    if matches!(read, Ok(1)) { index } else { fail("a read failed") }
}

fn select_of_2_sockets(rt: &Runtime, _: &Load, k: usize) -> bool {
    let context = rt.enter();
    let made = Arc::new(Mutex::new(two_tasks_of_sockets().map(Some)));
    drop(context);
    in_tasks(rt, 2, move |me| {
        let made = made.clone();
        async move {
            let (mut inputs, mut outputs) = made.lock().await[me].take().unwrap_or_else(|| fail("no sockets"));
            let mut right = 0;
            for i in 0..k / 2 {
                if me == 0 {
                    write_byte(&mut outputs[i % 2]).await;
                }
                right += u64::from(read_one_of(&mut inputs).await == i % 2);
                if me == 1 {
                    write_byte(&mut outputs[i % 2]).await;
                }
            }
            // The sockets stay open: the other task would read the end of the stream that has no byte.
            made.lock().await[me] = Some((inputs, outputs));
            right
        }
    }) == k as u64
}

fn shared_free(rt: &Runtime, _: &Load, k: usize) -> bool {
    in_tasks(rt, 1, move |_| async move {
        let m = RwLock::new(1);
        let mut counter = 0;
        for _ in 0..k {
            counter += *m.read().await;
        }
        counter
    }) == k as u64
}

fn shared_mixed(rt: &Runtime, r: &Load, k: usize) -> bool {
    let each = k / r.count;
    let shared = Arc::new((RwLock::new(0u64), AtomicU64::new(0)));
    let counters = shared.clone();
    in_tasks(rt, r.count, move |_| {
        let m = shared.clone();
        async move {
            for i in 0..each {
                if i % 8 == 7 {
                    let mut held = m.0.write().await;
                    *held += 1;
                    yield_now().await;
                } else {
                    let _seen = m.0.read().await;
                    m.1.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                }
            }
            0
        }
    });
    let sum = *counters.0.blocking_read() + counters.1.load(Ordering::Relaxed);
    sum == k as u64
}

fn timed_free(rt: &Runtime, _: &Load, k: usize) -> bool {
    in_tasks(rt, 1, move |_| async move {
        let m = Mutex::new(0);
        for _ in 0..k {
            if let Ok(mut held) = timeout(FAR, m.lock()).await {
                *held += 1;
            }
        }
        m.into_inner()
    }) == k as u64
}

/// Each waits for a Notify of its own.
fn expire_waits(rt: &Runtime, count: usize) {
    let each = Duration::from_micros(count as u64);
    let expired = in_tasks(rt, count, move |i| async move {
        let (never, mut mine) = (Notify::new(), 0);
        for j in 0..WAITS_THAT_EXPIRE {
            let deadline = each + spread(i + j * count, each);
            mine += u64::from(timeout(deadline, never.notified()).await.is_err());
        }
        mine
    });
    if expired != (count * WAITS_THAT_EXPIRE) as u64 {
        fail("a wait did not expire");
    }
}

/// Processor time, the second time.
fn timed_expire(r: &Load) {
    let rt = runtime(r);
    expire_waits(&rt, r.count);
    let before = workers::processor_ns();
    expire_waits(&rt, r.count);
    r.emit("ns", (workers::processor_ns() - before) / (r.count * WAITS_THAT_EXPIRE) as f64);
}

pub type Units = fn(&Runtime, &Load, usize) -> bool;

fn known(workload: &str) -> Option<Units> {
    Some(match workload {
        "mutex_free" => mutex_free,
        "mutex_contended" => |rt, r, k| one_mutex(rt, r, k, true),
        "mutex_parallel" => |rt, r, k| one_mutex(rt, r, k, false),
        "semaphore_free" => semaphore_free,
        "semaphore_contended" => semaphore_contended,
        "pool_free" => |rt, r, k| borrow_connections(rt, r, k, false),
        "pool_contended" => |rt, r, k| borrow_connections(rt, r, k, true),
        "event_free" => event_free,
        "event_ping_pong" => |rt, _, k| ping_pong(rt, k, false),
        "select_of_4" => select_of_4,
        "select_of_2_sockets" => select_of_2_sockets,
        "shared_free" => shared_free,
        "shared_mixed" => shared_mixed,
        "timed_free" => timed_free,
        "timed_ping_pong" => |rt, _, k| ping_pong(rt, k, true),
        _ => return channels::known(workload),
    })
}

fn runtime(r: &Load) -> Runtime {
    let mut builder = match r.system.as_str() {
        "rust-tokio-current" => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if r.system != "rust-tokio-current" {
        builder.worker_threads(r.workers);
    }
    if r.workload == "select_of_2_sockets" {
        builder.enable_io();
    }
    builder.enable_time().build().unwrap_or_else(|_| fail("no runtime"))
}

/// Whether the workload is one of these.
pub fn run(r: &Load) -> bool {
    if r.workload == "timed_expire" {
        timed_expire(r);
        return true;
    }
    let Some(units) = known(&r.workload) else { return false };
    let rt = runtime(r);
    let measure = |k| {
        timed(|| {
            if !units(&rt, r, k) {
                fail("a batch returned a wrong result");
            }
        })
    };
    let mut k = 64;
    let mut took = measure(k);
    while took < r.budget_ns / 16.0 {
        k *= 2;
        took = measure(k);
    }
    let (mut values, mut used) = (Vec::new(), 0.0);
    while values.len() < 9 && used < 8.0 * r.budget_ns {
        let took = measure(k);
        used += took;
        values.push(took / k as f64);
    }
    r.emit("ns", median(values));
    true
}
