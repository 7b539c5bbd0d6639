//! Rust's runtimes of several threads, called as
//! `subject-parallel <system> <workload> <workers> <stack bytes> <budget ms> <count>`; ../../harness/scheduler/scheduler.hpp
//! says what the workloads are. rust-tokio-workers is tokio's multi-thread runtime (workers.rs), rust-rayon is rayon
//! (joins.rs). The page `primitives` is in primitives.rs, for tokio's current-thread runtime (rust-tokio-current), too.

mod channels;
mod joins;
mod primitives;
mod stuck;
mod workers;

use std::process::exit;
use std::time::{Duration, Instant};

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

fn timed(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_nanos() as f64
}

impl Load {
    fn print(&self, workload: &str, what: &str) {
        println!("{{\"system\":\"{}\",\"workload\":\"{workload}\",\"n\":{},{what}}}", self.system, self.workers);
    }

    fn emit_as(&self, metric: &str, unit: &str, value: f64) {
        self.print(metric, &format!("\"unit\":\"{unit}\",\"value\":{value:.3}"));
    }

    fn emit(&self, unit: &str, value: f64) {
        self.emit_as(&self.workload, unit, value);
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

    /// As median_of_some in ../../harness/scheduler/scheduler.hpp.
    fn of_some(&self, mut round: impl FnMut() -> f64) -> f64 {
        let first = round();
        if first > 10.0 * self.budget_ns {
            return first;
        }
        let mut values = Vec::new();
        let mut used = 0.0;
        while values.is_empty() || (used < self.budget_ns && values.len() < 7) {
            values.push(round());
            used += values[values.len() - 1];
        }
        median(values)
    }
}

/// As spread in ../../harness/scheduler/scheduler.hpp.
fn spread(i: usize, over: Duration) -> Duration {
    let scattered = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
    Duration::from_nanos((scattered * over.as_nanos() as u64) >> 20)
}

fn far(i: usize) -> Duration {
    Duration::from_secs(3600) + spread(i, Duration::from_secs(1800))
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 7 {
        fail("usage: subject-parallel <system> <workload> <workers> <stack bytes> <budget ms> <count>");
    }
    let number = |i: usize| arguments[i].parse::<f64>().unwrap_or_else(|_| fail("not a number"));
    let load = Load {
        system: arguments[1].clone(),
        workload: arguments[2].clone(),
        workers: number(3) as usize,
        budget_ns: number(5) * 1e6,
        count: number(6) as usize,
    };
    let known = match load.system.as_str() {
        "rust-tokio-workers" | "rust-tokio-current" if primitives::run(&load) => true,
        "rust-tokio-workers" => workers::run(&load),
        "rust-rayon" => joins::run(&load),
        _ => false,
    };
    if !known {
        fail("this subject does not know that workload");
    }
    exit(0) // what sleeps is not worth the time to wake it
}
