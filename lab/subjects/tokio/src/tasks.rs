//! The page `tasks` in Rust; ../../hocket/tasks/ says what one unit of a workload is.
//!
//! rust-async-boxed and rust-async-inlined are the language's futures without a runtime: none of them ever waits, so
//! the smallest executor polls the outermost one until it is ready. Boxed is what an async function must be that calls
//! itself, or whose type is to be hidden. An exception is an `Err` here, which each hands on by `?`. rust-tokio spawns.

use crate::{fail, median};
use std::future::Future;
use std::hint::black_box;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::oneshot;
use tokio::task::{yield_now, JoinSet};

type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

pub struct Request<'a> {
    pub system: &'a str,
    pub workload: &'a str,
    pub n: u64,
    pub budget_ns: f64,
}

impl Request<'_> {
    fn emit(&self, unit: &str, value: f64) {
        println!(
            "{{\"system\":\"{}\",\"workload\":\"{}\",\"n\":{},\"unit\":\"{unit}\",\"value\":{value:.3}}}",
            self.system, self.workload, self.n
        );
    }

    /// `round()` does so many units and gives a sum that must be as expected.
    fn measure(&self, units: u64, expected: u64, round: impl Fn() -> u64) {
        self.measure_timed(units, |k| {
            let begin = Instant::now();
            let sum: u64 = (0..k).map(|_| round()).sum();
            let ns = begin.elapsed().as_nanos() as f64;
            if sum != expected * k {
                fail("the futures gave another sum");
            }
            ns
        });
    }

    /// `rounds(k)` gives the nanoseconds of k rounds.
    fn measure_timed(&self, units: u64, rounds: impl Fn(u64) -> f64) {
        let mut k = 1;
        rounds(1);
        let mut took = rounds(1);
        while took < self.budget_ns / 16.0 {
            k *= 2;
            took = rounds(k);
        }
        let repetitions = if took > self.budget_ns / 3.0 { 3 } else { 7 };
        let values = (0..repetitions).map(|_| rounds(k) / (k * units) as f64).collect();
        self.emit("ns", median(values));
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// What tasks give, as in ../../harness/tasks/values.hpp. A String of any length is on the heap, unless the compiler sees that
/// nobody keeps it.
trait Value: 'static {
    fn made(i: u64) -> Self;
    fn number(self) -> u64;
}

impl Value for u64 {
    fn made(i: u64) -> Self {
        i & 0xffff
    }
    fn number(self) -> u64 {
        self
    }
}

impl Value for String {
    fn made(i: u64) -> Self {
        "eight of"[..(i % 8 + 1) as usize].to_owned()
    }
    fn number(self) -> u64 {
        self.len() as u64
    }
}

fn sum_of_values<T: Value>(n: u64) -> u64 {
    (0..n).map(|i| T::made(i).number()).sum()
}

/// As random_order in ../../harness/tasks/values.hpp.
fn random_order(n: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n as usize).collect();
    let mut state = 42u64;
    for i in (1..order.len()).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    order
}

async fn leaf<T: Value>(i: u64) -> T {
    T::made(black_box(i))
}

#[inline(never)]
fn boxed_leaf<T: Value>(i: u64) -> Boxed<T> {
    Box::pin(leaf(i))
}

#[inline(never)]
fn nested<T: Value>(depth: u64) -> Boxed<T> {
    Box::pin(async move {
        if depth == 1 {
            T::made(1)
        } else {
            nested(depth - 1).await
        }
    })
}

fn nests<T: Value>(r: &Request) {
    r.measure(r.n, T::made(1).number(), || block_on(nested::<T>(r.n)).number());
}

struct Failure(u64);

#[inline(never)]
fn failing(depth: u64) -> Boxed<Result<u64, Failure>> {
    Box::pin(async move {
        if depth == 1 {
            return Err(Failure(black_box(1)));
        }
        Ok(failing(depth - 1).await?)
    })
}

fn awaits<T: Value, F: Future<Output = T>>(r: &Request, make: fn(u64) -> F) {
    const SOME: u64 = 64;
    if r.n == 1 {
        let all = || async {
            let mut sum = 0;
            for i in 0..SOME {
                sum += make(i).await.number();
            }
            sum
        };
        return r.measure(SOME, sum_of_values::<T>(SOME), || block_on(all()));
    }
    let order = random_order(r.n);
    let all = || async {
        let mut live: Vec<Option<F>> = (0..r.n).map(|i| Some(make(i))).collect();
        let mut sum = 0;
        for &i in &order {
            if let Some(one) = live[i].take() {
                sum += one.await.number();
            }
        }
        sum
    };
    r.measure(r.n, sum_of_values::<T>(r.n), || block_on(all()));
}

fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_else(|_| fail("cannot read smaps_rollup"));
    let line = text.lines().find_map(|l| l.strip_prefix("Anonymous:")).unwrap_or("");
    let kib = line.trim().trim_end_matches("kB").trim().parse::<f64>();
    kib.unwrap_or_else(|_| fail("cannot parse smaps_rollup")) * 1024.0
}

/// Of futures that were made, with what holds them: a pointer of two words if they are boxed.
fn frame_bytes<F: Future<Output = u64>>(r: &Request, make: fn(u64) -> F) {
    let before = resident_bytes();
    let live: Vec<F> = (0..r.n).map(make).collect();
    let grown = (resident_bytes() - before).max(0.0);
    let sum: u64 = live.into_iter().map(block_on).sum();
    if sum != sum_of_values::<u64>(r.n) {
        fail("the futures gave another sum");
    }
    r.emit("B", grown / r.n as f64);
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap_or_else(|_| fail("no runtime"))
}

async fn joined(n: u64) -> u64 {
    let mut all = JoinSet::new();
    for i in 0..n {
        all.spawn(leaf::<u64>(i));
    }
    let mut sum = 0;
    while let Some(one) = all.join_next().await {
        sum += one.unwrap_or_else(|_| fail("a task panicked"));
    }
    sum
}

/// Tasks that receive through channels made beforehand, one after the other; what sending and receiving all takes.
async fn trip(order: &[usize], each: usize) -> f64 {
    let taken = Arc::new(AtomicU64::new(0));
    let mut senders = Vec::new();
    let mut tasks = JoinSet::new();
    for _ in order {
        let (mine, receivers): (Vec<_>, Vec<_>) = (0..each).map(|_| oneshot::channel::<u64>()).unzip();
        senders.push(mine.into_iter());
        let taken = taken.clone();
        tasks.spawn(async move {
            let mut sum = 0;
            for receiver in receivers {
                sum += receiver.await.unwrap_or_else(|_| fail("a sender is gone"));
                taken.store(taken.load(Relaxed) + 1, Relaxed);
            }
            sum
        });
    }
    for _ in 0..order.len() {
        yield_now().await; // until all wait: now and then the runtime lets this one go first
    }
    let begin = Instant::now();
    for sent in 1..=each {
        for &i in order {
            let _ = senders[i].next().map(|sender| sender.send(1));
        }
        while taken.load(Relaxed) < (sent * order.len()) as u64 {
            yield_now().await;
        }
    }
    let ns = begin.elapsed().as_nanos() as f64;
    let mut sum = 0;
    while let Some(one) = tasks.join_next().await {
        sum += one.unwrap_or_else(|_| fail("a task panicked"));
    }
    if sum != (each * order.len()) as u64 {
        fail("the tasks received another sum");
    }
    ns
}

fn trips(r: &Request) {
    let order = random_order(r.n);
    let each = (100 / order.len()).max(1);
    r.measure_timed(r.n * each as u64, |k| {
        runtime().block_on(async {
            let mut ns = 0.0;
            for _ in 0..k {
                ns += trip(&order, each).await;
            }
            ns
        })
    });
}

/// Whether the workload is one of these.
pub fn run(r: &Request) -> bool {
    match (r.system, r.workload) {
        ("rust-async-boxed", "await_int") => awaits(r, boxed_leaf::<u64>),
        ("rust-async-inlined", "await_int") => awaits(r, leaf::<u64>),
        ("rust-async-boxed", "await_string") => awaits(r, boxed_leaf::<String>),
        ("rust-async-inlined", "await_string") => awaits(r, leaf::<String>),
        ("rust-async-boxed", "frame_bytes") => frame_bytes(r, boxed_leaf),
        ("rust-async-inlined", "frame_bytes") => frame_bytes(r, leaf),
        ("rust-async-boxed", "nested_int") => nests::<u64>(r),
        ("rust-async-boxed", "nested_string") => nests::<String>(r),
        ("rust-async-boxed", "throw") => r.measure(1, 1, || {
            block_on(async { failing(r.n).await.map_or_else(|e| e.0, |_| 0) })
        }),
        ("rust-tokio", "when_all") => r.measure(r.n, sum_of_values::<u64>(r.n), || runtime().block_on(joined(r.n))),
        ("rust-tokio", "oneshot_trip") => trips(r),
        _ => return false,
    }
    true
}
