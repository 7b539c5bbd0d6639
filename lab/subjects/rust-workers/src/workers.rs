//! tokio's multi-thread runtime. when_all_10000 is a JoinSet; any worker may run its tasks. ping_pong is two Notify;
//! timer_cancel is a Sleep that is polled once and dropped.

use crate::stuck;
use crate::{fail, far, median, spread, timed, Load};
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{yield_now, JoinSet};
use tokio::time::sleep;

pub fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_time().build().unwrap_or_else(|_| fail("no runtime"))
}

/// Runs the future as a task, and returns its result.
pub fn run_on<F>(rt: &Runtime, task: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    rt.block_on(async { tokio::spawn(task).await.unwrap_or_else(|_| fail("a task panicked")) })
}

/// The event for which a plain thread waits.
pub struct Countdown {
    left: AtomicUsize,
    over: Mutex<bool>,
    changed: Condvar,
}

impl Countdown {
    pub fn new(count: usize) -> Arc<Self> {
        Arc::new(Countdown { left: AtomicUsize::new(count), over: Mutex::new(false), changed: Condvar::new() })
    }

    pub fn done(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.over.lock().unwrap() = true;
            self.changed.notify_one();
        }
    }

    pub fn wait(&self) {
        let mut over = self.over.lock().unwrap();
        while !*over {
            over = self.changed.wait(over).unwrap();
        }
    }
}

/// The time from the arrival of all until all have left.
struct Gate {
    arriving: AtomicUsize,
    staying: AtomicUsize,
    open: AtomicBool,
    begin: Mutex<Instant>,
    ns: Mutex<f64>,
}

impl Gate {
    fn new(count: usize) -> Arc<Self> {
        Arc::new(Gate {
            arriving: AtomicUsize::new(count),
            staying: AtomicUsize::new(count),
            open: AtomicBool::new(false),
            begin: Mutex::new(Instant::now()),
            ns: Mutex::new(0.0),
        })
    }

    async fn arrive(&self) {
        if self.arriving.fetch_sub(1, Ordering::SeqCst) == 1 {
            *self.begin.lock().unwrap() = Instant::now();
            self.open.store(true, Ordering::Release);
        }
        while !self.open.load(Ordering::Acquire) {
            yield_now().await;
        }
    }

    fn leave(&self) {
        if self.staying.fetch_sub(1, Ordering::SeqCst) == 1 {
            *self.ns.lock().unwrap() = self.begin.lock().unwrap().elapsed().as_nanos() as f64;
        }
    }
}

/// `body(k)` in a number of tasks: the time from the moment at which all run until all have ended.
fn together<B, F>(rt: &Runtime, count: usize, k: usize, body: B) -> f64
where
    B: Fn(usize) -> F + Copy + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    run_on(rt, async move {
        let gate = Gate::new(count);
        let mut all = JoinSet::new();
        for _ in 0..count {
            let gate = gate.clone();
            all.spawn(async move {
                gate.arrive().await;
                body(k).await;
                gate.leave();
            });
        }
        all.join_all().await;
        let ns = *gate.ns.lock().unwrap();
        ns
    })
}

async fn yield_often(k: usize) {
    for _ in 0..k {
        yield_now().await;
    }
}

fn spawn_join(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    r.of_rounds(|k| {
        run_on(&rt, async move {
            let counter = Arc::new(AtomicU64::new(0));
            let begin = Instant::now();
            for _ in 0..k {
                let counter = counter.clone();
                let one = tokio::spawn(async move { counter.fetch_add(1, Ordering::Relaxed) });
                if one.await.is_err() {
                    fail("a task panicked");
                }
            }
            let ns = begin.elapsed().as_nanos() as f64;
            if counter.load(Ordering::Relaxed) != k as u64 {
                fail("not every task has run");
            }
            ns
        })
    })
}

fn post_outside(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    let handle = rt.handle().clone();
    r.of_some(|| {
        let jobs = Countdown::new(r.count);
        timed(|| {
            for _ in 0..r.count {
                let jobs = jobs.clone();
                drop(handle.spawn(async move { jobs.done() }));
            }
            jobs.wait();
        })
    })
}

fn ping_pong(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    let ways = r.count / 2;
    r.of_some(|| {
        run_on(&rt, async move {
            let sides = Arc::new([Notify::new(), Notify::new()]);
            let other = sides.clone();
            let second = tokio::spawn(async move {
                for _ in 0..ways {
                    other[1].notified().await;
                    other[0].notify_one();
                }
            });
            let begin = Instant::now();
            for _ in 0..ways {
                sides[1].notify_one();
                sides[0].notified().await;
            }
            let ns = begin.elapsed().as_nanos() as f64;
            second.await.unwrap_or_else(|_| fail("a task panicked"));
            ns
        })
    })
}

fn when_all(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    let count = r.count as u64;
    r.of_rounds(|k| {
        run_on(&rt, async move {
            let begin = Instant::now();
            let mut sum = 0;
            for _ in 0..k {
                let mut all = JoinSet::new();
                for i in 0..count {
                    all.spawn(async move { i });
                }
                sum += all.join_all().await.iter().sum::<u64>();
            }
            if sum != k as u64 * (count * (count - 1) / 2) {
                fail("the tasks gave another sum");
            }
            begin.elapsed().as_nanos() as f64
        })
    })
}

async fn set_and_cancel(k: usize) {
    for i in 0..k {
        let mut timer = pin!(sleep(far(i)));
        poll_fn(|context| match timer.as_mut().poll(context) {
            Poll::Ready(()) => fail("a timer fired that was far away"),
            Poll::Pending => Poll::Ready(()),
        })
        .await;
    }
}

fn cancel_timers(r: &Load, live: usize) -> f64 {
    let rt = runtime(r.workers);
    let set = Arc::new(AtomicUsize::new(0));
    for i in 0..live {
        let set = set.clone();
        rt.spawn(async move {
            set.fetch_add(1, Ordering::Relaxed);
            sleep(far(i)).await;
        });
    }
    while set.load(Ordering::Relaxed) != live {
        std::thread::sleep(Duration::from_millis(1));
    }
    let ns = r.of_rounds(|k| together(&rt, r.workers, k, set_and_cancel));
    std::mem::forget(rt);
    ns
}

pub fn processor_ns() -> f64 {
    let mut used = std::mem::MaybeUninit::<libc::rusage>::uninit();
    let used = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, used.as_mut_ptr());
        used.assume_init()
    };
    let ns = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    ns(used.ru_utime) + ns(used.ru_stime)
}

fn sleep_all(rt: &Runtime, count: usize) {
    let each = Duration::from_micros(count as u64);
    let jobs = Countdown::new(count);
    let sleepers = jobs.clone();
    rt.spawn(async move {
        for i in 0..count {
            let sleepers = sleepers.clone();
            tokio::spawn(async move {
                sleep(each + spread(i, each)).await;
                sleepers.done();
            });
        }
    });
    jobs.wait();
}

/// The second round, when the memory exists.
fn timer_expire(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    sleep_all(&rt, r.count);
    let before = processor_ns();
    sleep_all(&rt, r.count);
    processor_ns() - before
}

fn wake(r: &Load) {
    let rt = runtime(r.workers);
    const FIRST: usize = 8;
    let mut took = Vec::new();
    for i in 0..r.count + FIRST {
        std::thread::sleep(Duration::from_millis(1));
        let ran = Arc::new(AtomicU64::new(0));
        let noted = ran.clone();
        let begin = Instant::now();
        drop(rt.handle().spawn(async move { noted.store(begin.elapsed().as_nanos() as u64, Ordering::SeqCst) }));
        while ran.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        if i >= FIRST {
            took.push(ran.load(Ordering::SeqCst) as f64);
        }
    }
    took.sort_by(|a, b| a.total_cmp(b));
    r.emit_as("wake_median", "ns", median(took.clone()));
    r.emit_as("wake_p99", "ns", took[took.len() * 99 / 100]);
}

fn idle(r: &Load) -> f64 {
    let _rt = runtime(r.workers);
    std::thread::sleep(Duration::from_millis(100));
    let (begin, before) = (Instant::now(), processor_ns());
    std::thread::sleep(Duration::from_millis(r.count as u64));
    100.0 * (processor_ns() - before) / begin.elapsed().as_nanos() as f64
}

fn bytes_in(path: &str, field: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_else(|_| fail("cannot read what the process holds"));
    let line = text.lines().find(|line| line.starts_with(field)).unwrap_or_else(|| fail("no such line"));
    let kib: String = line.chars().filter(char::is_ascii_digit).collect();
    kib.parse::<f64>().unwrap_or_else(|_| fail("not a number")) * 1024.0
}

fn held_bytes() -> f64 {
    bytes_in("/proc/self/smaps_rollup", "Anonymous:") + bytes_in("/proc/self/status", "VmPTE:")
}

/// Here n is the number of sleeping tasks.
fn sleeping(r: &Load) -> f64 {
    let rt = runtime(2);
    let before = held_bytes();
    let n = r.workers;
    let begun = Countdown::new(n);
    let sleepers = begun.clone();
    rt.spawn(async move {
        for i in 0..n {
            let sleepers = sleepers.clone();
            tokio::spawn(async move {
                sleepers.done();
                sleep(far(i)).await;
            });
        }
    });
    begun.wait();
    std::thread::sleep(Duration::from_millis(100));
    let grown = held_bytes() - before;
    std::mem::forget(rt);
    grown / n as f64
}

pub fn run(r: &Load) -> bool {
    let count = r.count as f64;
    match r.workload.as_str() {
        "yields" => {
            let rt = runtime(r.workers);
            r.emit("ns", r.of_rounds(|k| together(&rt, r.count, k, yield_often)) / count);
        }
        "spawn_join" => r.emit("ns", spawn_join(r)),
        "post_outside" => r.emit("ns", post_outside(r) / count),
        "ping_pong" => r.emit("ns", ping_pong(r) / count),
        "when_all_10000" => r.emit("ns", when_all(r) / count),
        "timer_cancel" => r.emit("ns", cancel_timers(r, 0) / r.workers as f64),
        "timer_cancel_1e6" => r.emit("ns", cancel_timers(r, r.count) / r.workers as f64),
        "timer_expire" => r.emit("ns", timer_expire(r) / count),
        "wake" => wake(r),
        "spread" => r.emit("ms", stuck::spread(r) / 1e6),
        "beside_stuck" => stuck::beside_stuck(r),
        "idle" => r.emit("%", idle(r)),
        "sleeping" => r.emit("B", sleeping(r)),
        _ => return false,
    }
    true
}
