//! The crate may, stackful coroutines on workers that steal, called as
//! `subject-may <system> <workload> <workers> <stack bytes> <budget ms> <count>`; ../../harness/scheduler/scheduler.hpp
//! says what the workloads are. ping_pong goes through two of its channels, since it has no event. There is no `yields`:
//! a coroutine that yields until all have come keeps its worker from those that were spawned later. Nor is there
//! `timer_expire`: a hundred thousand mapped stacks with their guards are more than the system allows a process.

use may::coroutine::{spawn, JoinHandle};
use may::sync::mpsc;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Instant;

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1)
}

struct Load {
    system: String,
    workload: String,
    workers: usize,
    budget_ns: f64,
    count: usize,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.total_cmp(b));
    values[values.len() / 2]
}

impl Load {
    fn emit(&self, value: f64) {
        println!(
            "{{\"system\":\"{}\",\"workload\":\"{}\",\"n\":{},\"unit\":\"ns\",\"value\":{value:.3}}}",
            self.system, self.workload, self.workers
        );
    }

    /// As median_of_rounds in ../../harness/harness.hpp: the median of one round's time.
    fn of_rounds(&self, mut rounds: impl FnMut(usize) -> f64) -> f64 {
        let mut k = 1;
        rounds(1);
        let mut took = rounds(1);
        while took < self.budget_ns / 16.0 {
            k *= 2;
            took = rounds(k);
        }
        let repetitions = if took > self.budget_ns / 3.0 { 3 } else { 7 };
        median((0..repetitions).map(|_| rounds(k) / k as f64).collect())
    }
}

/// May calls spawning unsafe, since a coroutine must not use much stack, nor thread-local variables across a wait.
fn go<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    unsafe { spawn(body) }
}

fn join<T>(one: JoinHandle<T>) -> T {
    one.join().unwrap_or_else(|_| fail("a coroutine panicked"))
}

fn spawn_join(r: &Load) -> f64 {
    r.of_rounds(|k| {
        join(go(move || {
            let counter = Arc::new(AtomicU64::new(0));
            let begin = Instant::now();
            for _ in 0..k {
                let counter = counter.clone();
                join(go(move || counter.fetch_add(1, Ordering::Relaxed)));
            }
            let ns = begin.elapsed().as_nanos() as f64;
            if counter.load(Ordering::Relaxed) != k as u64 {
                fail("not every coroutine has run");
            }
            ns
        }))
    })
}

fn ping_pong(r: &Load) -> f64 {
    r.of_rounds(|k| {
        join(go(move || {
            let (there, arrived) = mpsc::channel::<usize>();
            let (back, returned) = mpsc::channel::<usize>();
            let other = go(move || {
                for _ in 0..k {
                    let token = arrived.recv().unwrap_or_else(|_| fail("the token is lost"));
                    back.send(token + 1).unwrap_or_else(|_| fail("nobody takes the token"));
                }
            });
            let begin = Instant::now();
            let mut token = 0;
            for _ in 0..k {
                there.send(token + 1).unwrap_or_else(|_| fail("nobody takes the token"));
                token = returned.recv().unwrap_or_else(|_| fail("the token is lost"));
            }
            let ns = begin.elapsed().as_nanos() as f64;
            join(other);
            if token != 2 * k {
                fail("the token has gone another number of ways");
            }
            ns / 2.0
        }))
    })
}

fn when_all(r: &Load) -> f64 {
    let count = r.count;
    r.of_rounds(|k| {
        join(go(move || {
            let begin = Instant::now();
            let mut sum = 0;
            for _ in 0..k {
                let all: Vec<_> = (0..count).map(|i| go(move || i)).collect();
                sum += all.into_iter().map(join).sum::<usize>();
            }
            if sum != k * (count * (count - 1) / 2) {
                fail("the coroutines gave another sum");
            }
            begin.elapsed().as_nanos() as f64
        }))
    }) / count as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 7 {
        fail("usage: subject-may <system> <workload> <workers> <stack bytes> <budget ms> <count>");
    }
    let number = |i: usize| arguments[i].parse::<f64>().unwrap_or_else(|_| fail("not a number"));
    let r = Load {
        system: arguments[1].clone(),
        workload: arguments[2].clone(),
        workers: number(3) as usize,
        budget_ns: number(5) * 1e6,
        count: number(6) as usize,
    };
    may::config().set_workers(r.workers).set_stack_size(number(4) as usize / 8); // in words
    let measure = match r.workload.as_str() {
        "spawn_join" => spawn_join,
        "ping_pong" => ping_pong,
        "when_all_10000" => when_all,
        _ => fail("this subject does not know that workload"),
    };
    r.emit(measure(&r));
    exit(0) // what sleeps is not worth the time to wake it
}
