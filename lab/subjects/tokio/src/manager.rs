//! The page `manager` in tokio, on its current-thread runtime; ../../harness/manager/manager.hpp says what its workloads are.
//!
//! - rust-tokio-spawn: tasks, no ids
//! - rust-tokio-registry: an id leads to an AbortHandle, or to the sender of a oneshot, in a HashMap under a mutex
//!   (registry.rs). A group is a JoinSet, which is aborted
//! - rust-tokio-timeout: tasks that wait under a timeout, and are spawned in the time that is measured

use crate::registry::{Registry, AT_A_TIME};
use crate::{fail, median, tasks::Request};
use std::cell::RefCell;
use std::future::{pending, Future};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::{yield_now, JoinSet};
use tokio::time::{sleep, timeout};

const CANCELLED_AT_A_TIME: usize = 1000;

/// The ids of all that wait, and the order in which they are asked for: places, gone round.
#[derive(Default)]
struct Asked {
    ids: Vec<u64>,
    order: Vec<usize>,
    at: usize,
    deadlines: u64,
}

impl Asked {
    /// As shuffled in ../../harness/manager/manager.hpp.
    fn new(ids: Vec<u64>) -> Self {
        let mut order: Vec<usize> = (0..ids.len()).collect();
        let mut state = 42u64;
        for i in (2..=order.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            order.swap(i - 1, (state >> 33) as usize % i);
        }
        Asked { ids, order, at: 0, deadlines: 0 }
    }

    fn next_place(&mut self) -> usize {
        if self.at == self.order.len() {
            self.at = 0;
        }
        self.at += 1;
        self.order[self.at - 1]
    }

    fn next_id(&mut self) -> u64 {
        let place = self.next_place();
        self.ids[place]
    }

    /// Between an hour and an hour and a half ahead.
    fn next_deadline(&mut self) -> Duration {
        self.deadlines += 1;
        Duration::from_secs(3600) + spread(self.deadlines, Duration::from_secs(1800))
    }
}

/// How long it takes to find that many.
fn find(registry: &Registry, asked: &mut Asked, k: u64) -> f64 {
    let begin = Instant::now();
    let found = (0..k).filter(|_| registry.find(asked.next_id()).is_some()).count();
    let ns = begin.elapsed().as_nanos() as f64;
    if found as u64 != k {
        fail("an id was not found");
    }
    ns
}

fn move_deadlines(registry: &Registry, asked: &mut Asked, k: u64) -> f64 {
    let begin = Instant::now();
    for _ in 0..k {
        let (id, after) = (asked.next_id(), asked.next_deadline());
        registry.set_deadline(id, after);
    }
    begin.elapsed().as_nanos() as f64
}

/// Up to 1,000 at a time; others take their places, untimed.
async fn cancel(registry: &Arc<Registry>, asked: &mut Asked, k: u64) -> f64 {
    let some = asked.ids.len().min(CANCELLED_AT_A_TIME);
    let left = (asked.ids.len() - some) as u64;
    let mut ns = 0.0;
    for _ in 0..k {
        let chosen: Vec<usize> = (0..some).map(|_| asked.next_place()).collect();
        let begin = Instant::now();
        for &place in &chosen {
            registry.cancel(asked.ids[place]);
        }
        while registry.count().0 != left {
            yield_now().await;
        }
        ns += begin.elapsed().as_nanos() as f64;
        if registry.count().1 != left {
            fail("a task did not end cancelled");
        }
        for (place, id) in chosen.into_iter().zip(registry.fill(some as u64).await) {
            asked.ids[place] = id;
        }
    }
    ns
}

struct Page<'a> {
    r: &'a Request<'a>,
    rt: Runtime,
}

impl Page<'_> {
    fn run<F>(&self, task: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        self.rt.block_on(async { tokio::spawn(task).await.unwrap_or_else(|_| fail("a task panicked")) })
    }

    fn emit(&self, metric: &str, value: f64) {
        let (system, n) = (self.r.system, self.r.n);
        println!(
            "{{\"system\":\"{system}\",\"workload\":\"{metric}\",\"n\":{n},\"unit\":\"ns\",\"value\":{value:.3}}}"
        );
    }

    /// As median_of_rounds in ../../harness/harness.hpp.
    fn of_rounds(&self, rounds: impl Fn(u64) -> f64) -> f64 {
        let mut k = 1;
        rounds(1);
        let mut took = rounds(1);
        while took < self.r.budget_ns / 16.0 {
            k *= 2;
            took = rounds(k);
        }
        let repetitions = if took > self.r.budget_ns / 3.0 { 3 } else { 7 };
        median((0..repetitions).map(|_| rounds(k) / k as f64).collect())
    }

    fn add(&self) {
        let registry = Arc::new(Registry::default());
        let managed = self.r.system == "rust-tokio-registry";
        let (n, all) = (self.r.n, registry.clone());
        self.run(async move {
            for i in 0..n {
                if managed {
                    all.spawn(pending());
                } else {
                    tokio::spawn(pending::<()>());
                }
                if i % AT_A_TIME == 0 {
                    yield_now().await;
                }
            }
            yield_now().await;
        });
        let ns = self.of_rounds(|k| {
            let all = registry.clone();
            self.run(async move {
                let ended = Arc::new(AtomicU64::new(0));
                let begin = Instant::now();
                for round in 1..=k {
                    for _ in 0..AT_A_TIME {
                        let ended = ended.clone();
                        let body = async move {
                            ended.fetch_add(1, Relaxed);
                        };
                        if managed {
                            all.spawn(body);
                        } else {
                            tokio::spawn(body);
                        }
                    }
                    while ended.load(Relaxed) != round * AT_A_TIME {
                        yield_now().await;
                    }
                }
                begin.elapsed().as_nanos() as f64
            })
        });
        self.emit("manager_add", ns / AT_A_TIME as f64);
    }

    fn by_id(&self) {
        let (n, registry) = (self.r.n, Arc::new(Registry::default()));
        let all = registry.clone();
        let state = RefCell::new(self.run(async move {
            tokio::spawn(all.clone().let_expire());
            Asked::new(all.fill(n).await)
        }));
        for metric in ["manager_find", "manager_deadline", "manager_cancel"] {
            let ns = self.of_rounds(|k| {
                let (all, mut asked) = (registry.clone(), state.take());
                let (ns, asked) = self.run(async move {
                    let ns = match metric {
                        "manager_find" => find(&all, &mut asked, k),
                        "manager_deadline" => move_deadlines(&all, &mut asked, k),
                        _ => cancel(&all, &mut asked, k).await,
                    };
                    (ns, asked)
                });
                state.replace(asked);
                ns
            });
            let units = if metric == "manager_cancel" { n.min(CANCELLED_AT_A_TIME as u64) } else { 1 };
            self.emit(metric, ns / units as f64);
        }
    }

    fn reply(&self) {
        let registry = Arc::new(Registry::default());
        let others: Vec<_> = (0..self.r.n).map(|_| registry.expect()).collect();
        for (metric, other) in [("manager_reply_ready", false), ("manager_reply_handover", true)] {
            let ns = self.of_rounds(|k| {
                let wanted = Arc::new(AtomicU64::new(0));
                let (all, told) = (registry.clone(), wanted.clone());
                let expecting = async move {
                    let begin = Instant::now();
                    let mut sum = 0;
                    for i in 0..k {
                        let (id, receiver) = all.expect();
                        if other {
                            told.store(id, Relaxed);
                        } else {
                            all.complete(id, i);
                        }
                        sum += receiver.await.unwrap_or(0);
                    }
                    if sum != k * k.wrapping_sub(1) / 2 {
                        fail("the replies were others");
                    }
                    begin.elapsed().as_nanos() as f64
                };
                let all = registry.clone();
                self.run(async move {
                    let first = tokio::spawn(expecting);
                    if other {
                        yield_now().await;
                        for i in 0..k {
                            all.complete(wanted.load(Relaxed), i);
                            yield_now().await;
                        }
                    }
                    first.await.unwrap_or_else(|_| fail("a task panicked"))
                })
            });
            self.emit(metric, ns);
        }
        drop(others);
    }

    /// The tasks are those of the registry, and wait already.
    fn expire_registered(&self, in_turn: bool) -> f64 {
        let (n, registry) = (self.r.n, Arc::new(Registry::default()));
        self.run(async move {
            let expiring = tokio::spawn(registry.clone().let_expire());
            let ids = registry.fill(n).await;
            let before = processor_ns();
            for (i, id) in ids.into_iter().enumerate() {
                registry.set_deadline(id, near(i as u64, n, in_turn));
            }
            while registry.count().0 != 0 {
                sleep(Duration::from_millis(1)).await;
            }
            let ns = processor_ns() - before;
            if registry.count().1 != 0 {
                fail("a task did not end cancelled");
            }
            expiring.abort();
            ns
        })
    }

    fn expire_once(&self, in_turn: bool) -> f64 {
        if self.r.system == "rust-tokio-registry" {
            return self.expire_registered(in_turn);
        }
        let n = self.r.n;
        let before = processor_ns();
        self.run(async move {
            let left = Arc::new(AtomicU64::new(n));
            let (over, ended) = oneshot::channel();
            let over = Arc::new(Mutex::new(Some(over)));
            for i in 0..n {
                let after = near(i, n, in_turn);
                let (left, over) = (left.clone(), over.clone());
                tokio::spawn(async move {
                    if timeout(after, pending::<()>()).await.is_ok() {
                        fail("a wait without end has ended");
                    }
                    if left.fetch_sub(1, Relaxed) == 1 {
                        let over = over.lock().unwrap().take();
                        over.map(|last| last.send(()));
                    }
                });
            }
            ended.await.unwrap_or_else(|_| fail("nobody was the last"));
        });
        processor_ns() - before
    }

    fn expire(&self, in_turn: bool) {
        self.expire_once(in_turn);
        self.emit(self.r.workload, self.expire_once(in_turn) / self.r.n as f64);
    }

    fn group(&self) {
        let n = self.r.n;
        let ns = self.of_rounds(|k| {
            self.run(async move {
                let mut ns = 0.0;
                for _ in 0..k {
                    let mut all = JoinSet::new();
                    for _ in 0..n {
                        all.spawn(pending::<()>());
                    }
                    yield_now().await;
                    let begin = Instant::now();
                    all.abort_all();
                    let mut cancelled = 0;
                    while let Some(one) = all.join_next().await {
                        cancelled += u64::from(one.is_err());
                    }
                    ns += begin.elapsed().as_nanos() as f64;
                    if cancelled != n {
                        fail("a task did not end cancelled");
                    }
                }
                ns
            })
        });
        self.emit("manager_group", ns / n as f64);
    }
}

/// As spread in ../../harness/manager/manager.hpp.
fn spread(i: u64, over: Duration) -> Duration {
    let scattered = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
    Duration::from_nanos((scattered * over.as_nanos() as u64) >> 20)
}

/// As near in ../../harness/manager/manager.hpp.
fn near(i: u64, n: u64, in_turn: bool) -> Duration {
    let half = Duration::from_nanos(n * 500);
    half + if in_turn { Duration::from_nanos(i * 500) } else { spread(i, half) }
}

fn processor_ns() -> f64 {
    let mut used = std::mem::MaybeUninit::<libc::rusage>::uninit();
    let used = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
        used.assume_init()
    };
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    ns(used.ru_utime) + ns(used.ru_stime)
}

/// Whether the workload is one of these.
pub fn run(r: &Request) -> bool {
    if !r.workload.starts_with("manager_") {
        return false;
    }
    let rt = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let page = Page { r, rt: rt.unwrap_or_else(|_| fail("no runtime")) };
    match r.workload {
        "manager_add" => page.add(),
        "manager_by_id" => page.by_id(),
        "manager_reply" => page.reply(),
        "manager_expire" => page.expire(false),
        "manager_expire_in_turn" => page.expire(true),
        "manager_group" => page.group(),
        _ => fail("this subject does not know that workload"),
    }
    std::process::exit(0) // what waits is not worth the time to wake it
}
