//! tokio's current-thread runtime, called as `subject-tokio <system> <workload> <n> <stack bytes> <budget ms>`.
//! ../../harness/wait.hpp defines one unit of a workload. Here an event is a Notify, a wait for one of several is select!
//! over four of them (in random order, its default), within is timeout. The tasks are spawned, and
//! their cooperative budget is the default: after 128 ready waits a task goes to the end of the queue.
//! The page `tasks` is in tasks.rs, the page `manager` in manager.rs and registry.rs.

mod manager;
mod registry;
mod tasks;

use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, Mutex, Notify, Semaphore};
use tokio::time::timeout;

const FAR: Duration = Duration::from_secs(3600);

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1)
}

/// Runs the future as a task, and returns its result.
fn run<F>(task: F) -> F::Output
where
    F: std::future::Future + Send + 'static,
    F::Output: Send,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.unwrap_or_else(|_| fail("no runtime"));
    runtime.block_on(async { tokio::spawn(task).await.unwrap_or_else(|_| fail("a task panicked")) })
}

/// Runs two tasks, number 0 first. Returns the sum of their results.
fn both<B, F>(body: B) -> u64
where
    B: Fn(usize) -> F + Send + 'static,
    F: std::future::Future<Output = u64> + Send + 'static,
{
    run(async move {
        let (first, second) = (tokio::spawn(body(0)), tokio::spawn(body(1)));
        first.await.unwrap_or_else(|_| fail("a task panicked")) + second.await.unwrap_or_else(|_| fail("a task panicked"))
    })
}

fn mutex(k: u64) -> bool {
    run(async move {
        let m = Mutex::new(0);
        for _ in 0..k {
            *m.lock().await += 1;
        }
        m.into_inner() == k
    })
}

fn within(k: u64) -> bool {
    run(async move {
        let m = Mutex::new(0);
        for _ in 0..k {
            match timeout(FAR, m.lock()).await {
                Ok(mut counter) => *counter += 1,
                Err(_) => return false,
            }
        }
        m.into_inner() == k
    })
}

/// Counts how often `holder` changes. It is the number of the task that holds the mutex or the permit.
fn taken_by(holder: &AtomicU64, me: usize) -> u64 {
    u64::from(holder.swap(me as u64, Relaxed) != me as u64)
}

/// An unlock hands the mutex to the waiter. A yield while the mutex is held makes the other task wait at the beginning.
fn mutex_handover(k: u64) -> bool {
    let shared = Arc::new((Mutex::new(()), AtomicU64::new(2)));
    both(move |me| {
        let shared = shared.clone();
        async move {
            let mut handed = 0;
            for i in 0..k / 2 {
                let _held = shared.0.lock().await;
                handed += taken_by(&shared.1, me);
                if i == 0 && me == 0 {
                    tokio::task::yield_now().await;
                }
            }
            handed
        }
    }) == k
}

fn semaphore(k: u64) -> bool {
    run(async move {
        let permits = Semaphore::new(1);
        let mut counter = 0;
        for _ in 0..k {
            if permits.acquire().await.is_ok() {
                counter += 1;
            }
        }
        counter == k
    })
}

fn semaphore_handover(k: u64) -> bool {
    let shared = Arc::new((Semaphore::new(1), AtomicU64::new(2)));
    both(move |me| {
        let shared = shared.clone();
        async move {
            let mut handed = 0;
            for i in 0..k / 2 {
                let _permit = shared.0.acquire().await;
                handed += taken_by(&shared.1, me);
                if i == 0 && me == 0 {
                    tokio::task::yield_now().await;
                }
            }
            handed
        }
    }) == k
}

fn event(k: u64) -> bool {
    let shared = Arc::new([Notify::new(), Notify::new()]);
    both(move |me| {
        let events = shared.clone();
        async move {
            for _ in 0..k / 2 {
                if me == 0 {
                    events[1].notify_one();
                }
                events[me].notified().await;
                if me == 1 {
                    events[0].notify_one();
                }
            }
            k / 2
        }
    }) == k
}

fn within_handover(k: u64) -> bool {
    let shared = Arc::new([Notify::new(), Notify::new()]);
    both(move |me| {
        let events = shared.clone();
        async move {
            let mut seen = 0;
            for _ in 0..k / 2 {
                if me == 0 {
                    events[1].notify_one();
                }
                seen += u64::from(timeout(FAR, events[me].notified()).await.is_ok());
                if me == 1 {
                    events[0].notify_one();
                }
            }
            seen
        }
    }) == k
}

fn oneshot_ready(k: u64) -> bool {
    run(async move {
        let mut sum = 0;
        for i in 0..k {
            let (sender, receiver) = oneshot::channel();
            let sent = sender.send(i).is_ok();
            sum += receiver.await.unwrap_or(0);
            if !sent {
                return false;
            }
        }
        sum == k * (k - 1) / 2
    })
}

/// Each makes a channel for its next value, passes the sender to the other task, and sends through the sender that it
/// got. It does not wait for the last value.
fn oneshot_handover(k: u64) -> bool {
    let shared = Arc::new([StdMutex::new(None), StdMutex::new(None)]);
    both(move |me| {
        let left = shared.clone();
        async move {
            let mut sum = 0;
            for i in 0..k / 2 {
                let (sender, receiver) = oneshot::channel::<u64>();
                *left[me].lock().unwrap() = Some(sender);
                let other = left[1 - me].lock().unwrap().take();
                if let Some(other) = other {
                    let _ = other.send(1);
                }
                if me == 0 || i + 1 < k / 2 {
                    sum += receiver.await.unwrap_or(0);
                }
            }
            sum
        }
    }) == k - 1
}

async fn one_of(events: &[Notify; 4]) -> u64 {
    tokio::select! {
        _ = events[0].notified() => 0,
        _ = events[1].notified() => 1,
        _ = events[2].notified() => 2,
        _ = events[3].notified() => 3,
    }
}

fn four() -> [Notify; 4] {
    [Notify::new(), Notify::new(), Notify::new(), Notify::new()]
}

fn select_ready(k: u64) -> bool {
    run(async move {
        let events = four();
        let mut right = 0;
        for i in 0..k {
            events[(i % 4) as usize].notify_one();
            right += u64::from(one_of(&events).await == i % 4);
        }
        right == k
    })
}

fn select_handover(k: u64) -> bool {
    let shared = Arc::new([four(), four()]);
    both(move |me| {
        let events = shared.clone();
        async move {
            let mut right = 0;
            for i in 0..k / 2 {
                if me == 0 {
                    events[1][(i % 4) as usize].notify_one();
                }
                right += u64::from(one_of(&events[me]).await == i % 4);
                if me == 1 {
                    events[0][(i % 4) as usize].notify_one();
                }
            }
            right
        }
    }) == k
}

fn units_of(workload: &str) -> fn(u64) -> bool {
    match workload {
        "mutex" => mutex,
        "mutex_handover" => mutex_handover,
        "event" => event,
        "oneshot" => oneshot_ready,
        "oneshot_handover" => oneshot_handover,
        "semaphore" => semaphore,
        "semaphore_handover" => semaphore_handover,
        "within" => within,
        "within_handover" => within_handover,
        "select" => select_ready,
        "select_handover" => select_handover,
        _ => fail("this subject does not know that workload"),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.total_cmp(b));
    values[values.len() / 2]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 6 {
        fail("usage: subject-tokio <system> <workload> <n> <stack bytes> <budget ms>");
    }
    let budget_ns = arguments[5].parse::<f64>().unwrap_or_else(|_| fail("not a number")) * 1e6;
    let n = arguments[3].parse::<u64>().unwrap_or_else(|_| fail("not a number"));
    let request = tasks::Request { system: &arguments[1], workload: &arguments[2], n, budget_ns };
    if tasks::run(&request) || manager::run(&request) {
        return;
    }
    let units = units_of(&arguments[2]);
    let measure = |k: u64| {
        let begin = Instant::now();
        if !units(k) {
            fail("a batch returned a wrong result");
        }
        begin.elapsed().as_nanos() as f64
    };
    let mut k = 64;
    let mut took = measure(k);
    while took < budget_ns / 16.0 {
        k *= 2;
        took = measure(k);
    }
    let value = median((0..9).map(|_| measure(k) / k as f64).collect());
    println!(
        "{{\"system\":\"{}\",\"workload\":\"{}\",\"n\":{},\"unit\":\"ns\",\"value\":{value:.3}}}",
        arguments[1], arguments[2], arguments[3]
    );
}
