//! What waits beside tasks that compute: as in ../../harness/scheduler/scheduler.hpp.

use crate::workers::{run_on, runtime, Countdown};
use crate::{fail, timed, Load};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {}
}

pub fn spread(r: &Load) -> f64 {
    let rt = runtime(r.workers);
    r.of_some(|| {
        let jobs = Countdown::new(r.count);
        let (count, ended) = (r.count, jobs.clone());
        timed(|| {
            drop(rt.spawn(async move {
                for _ in 0..count {
                    let ended = ended.clone();
                    tokio::spawn(async move {
                        compute(Duration::from_millis(1));
                        ended.done();
                    });
                }
                compute(Duration::from_millis(20));
            }));
            jobs.wait();
        })
    })
}

pub fn beside_stuck(r: &Load) {
    let rt = runtime(r.workers);
    let count = r.count;
    let mut late = run_on(&rt, async move {
        let over = Arc::new(AtomicBool::new(false));
        let mut naps = JoinSet::new();
        for _ in 0..count {
            let over = over.clone();
            naps.spawn(async move {
                let mut late = Vec::new();
                while !over.load(Ordering::SeqCst) {
                    let begin = Instant::now();
                    sleep(Duration::from_millis(1)).await;
                    late.push((begin.elapsed().as_nanos() as f64 - 1e6) / 1e6);
                }
                late
            });
        }
        tokio::spawn(async move {
            sleep(Duration::from_millis(5)).await;
            compute(Duration::from_millis(300));
            over.store(true, Ordering::SeqCst);
        });
        let mut all = Vec::new();
        while let Some(late) = naps.join_next().await {
            all.extend(late.unwrap_or_else(|_| fail("a task panicked")));
        }
        all
    });
    late.sort_by(|a, b| a.total_cmp(b));
    r.emit_as("beside_stuck_median", "ms", late[late.len() / 2]);
    r.emit_as("beside_stuck_longest", "ms", late[late.len() - 1]);
}
