//! rayon, in a pool of its own: join for two branches, parallel iterators where there are more. What it does not split
//! any further it does in a loop.

use crate::{fail, timed, Load};
use rayon::prelude::*;
use std::hint::black_box;

const MOST_QUEENS: usize = 16;

/// The column of the queen in each row so far.
type Board = [u8; MOST_QUEENS];

fn fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (first, second) = rayon::join(|| fib(n - 1), || fib(n - 2));
    first + second
}

fn plain_fib(n: usize) -> u64 {
    (0..n).fold((1, 0), |(before, now), _| (now, before + now)).1
}

fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    (0..10u64).into_par_iter().map(|i| skynet(first + i * (leaves / 10), leaves / 10)).sum()
}

fn is_free(queens: &Board, row: usize, column: usize) -> bool {
    (0..row).all(|above| {
        let (distance, its) = (row - above, queens[above] as usize);
        its != column && its + distance != column && its != column + distance
    })
}

fn nqueens(queens: &Board, row: usize, n: usize) -> u64 {
    if row == n {
        return 1;
    }
    let child = |column: usize| {
        let mut next = *queens;
        next[row] = column as u8;
        nqueens(&next, row + 1, n)
    };
    (0..n).into_par_iter().filter(|&column| is_free(queens, row, column)).map(child).sum()
}

fn solutions(n: usize) -> u64 {
    const KNOWN: [u64; 14] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712];
    *KNOWN.get(n).unwrap_or_else(|| fail("the lab does not know how many solutions there are"))
}

fn checked(r: &Load, expected: u64, call: impl Fn() -> u64 + Sync) -> f64 {
    let pool = pool(r);
    r.of_some(|| {
        let mut result = 0;
        let ns = timed(|| result = pool.install(&call));
        if result != expected {
            fail("a workload gave another result");
        }
        ns
    })
}

fn pool(r: &Load) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(r.workers).build().unwrap_or_else(|_| fail("no pool"))
}

fn flat_loop(r: &Load) -> f64 {
    let pool = pool(r);
    let mut stored = vec![u32::MAX; r.count];
    r.of_some(|| {
        let ns = timed(|| {
            pool.install(|| stored.par_iter_mut().enumerate().for_each(|(i, to)| *to = black_box(i as u32)))
        });
        for (i, to) in stored.iter_mut().enumerate() {
            if std::mem::replace(to, u32::MAX) != i as u32 {
                fail("an iteration has not run");
            }
        }
        ns
    })
}

pub fn run(r: &Load) -> bool {
    let n = r.count;
    match r.workload.as_str() {
        "fib" => r.emit("ns", checked(r, plain_fib(n), || fib(n)) / (2 * plain_fib(n + 1) - 1) as f64),
        "skynet" => {
            let leaves = n as u64;
            r.emit("ms", checked(r, leaves * (leaves - 1) / 2, || skynet(0, leaves)) / 1e6);
        }
        "nqueens" => r.emit("ms", checked(r, solutions(n), || nqueens(&[0; MOST_QUEENS], 0, n)) / 1e6),
        "flat_loop" => r.emit("ns", flat_loop(r) / n as f64),
        _ => return false,
    }
    true
}
