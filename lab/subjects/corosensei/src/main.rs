//! The crate corosensei, called as `subject-rust <system> <workload> <n> <stack bytes> <budget ms>`; the phases are
//! those that harness/harness.hpp describes. Two systems differ in where stacks come from:
//!   rust-corosensei-mmap    DefaultStack, a mapping with a guard page for each
//!   rust-corosensei-malloc  the system's malloc, no guard
//! A finished coroutine's stack is taken back with `into_stack`, the crate's documented way, and used again; that is
//! what `destroy` times.

use corosensei::stack::{DefaultStack, Stack, StackPointer};
use corosensei::{Coroutine, CoroutineResult};
use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::cell::Cell;
use std::process::exit;
use std::time::Instant;

#[repr(align(64))]
struct Line {
    count: Cell<u64>,
    stop: Cell<bool>,
}

trait OwnStack: Stack + Sized + 'static {
    fn make(bytes: usize) -> Option<Self>;
}

impl OwnStack for DefaultStack {
    fn make(bytes: usize) -> Option<Self> {
        DefaultStack::new(bytes).ok()
    }
}

struct MallocStack {
    memory: *mut u8,
    layout: Layout,
}

impl OwnStack for MallocStack {
    fn make(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Some(MallocStack { memory, layout })
    }
}

impl Drop for MallocStack {
    fn drop(&mut self) {
        unsafe { dealloc(self.memory, self.layout) }
    }
}

// The trait asks for a guard page. The bodies below need a few hundred bytes, and the smallest stack is 16 KB.
unsafe impl Stack for MallocStack {
    fn base(&self) -> StackPointer {
        let top = self.memory as usize + self.layout.size();
        StackPointer::new(top & !15).unwrap()
    }
    fn limit(&self) -> StackPointer {
        StackPointer::new((self.memory as usize + 15) & !15).unwrap()
    }
}

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    exit(1)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(|a, b| a.total_cmp(b));
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        (values[middle - 1] + values[middle]) / 2.0
    }
}

fn elapsed_ns(begin: Instant) -> f64 {
    begin.elapsed().as_nanos() as f64
}

fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_else(|_| fail("cannot read smaps_rollup"));
    let line = text.lines().find_map(|l| l.strip_prefix("Anonymous:")).unwrap_or("");
    let kib = line.trim().trim_end_matches("kB").trim().parse::<f64>();
    kib.unwrap_or_else(|_| fail("cannot parse smaps_rollup")) * 1024.0
}

struct Request {
    system: String,
    n: usize,
    stack: usize,
    budget_ns: f64,
}

fn emit(r: &Request, workload: &str, unit: &str, value: f64) {
    println!(
        "{{\"system\":\"{}\",\"workload\":\"{workload}\",\"n\":{},\"unit\":\"{unit}\",\"value\":{value:.3}}}",
        r.system, r.n
    );
}

fn skip(r: &Request, reason: &str) -> ! {
    println!(
        "{{\"system\":\"{}\",\"workload\":\"switch\",\"n\":{},\"skip\":\"{reason}\"}}",
        r.system, r.n
    );
    exit(0)
}

struct Page<S: OwnStack> {
    r: Request,
    lines: &'static [Line],
    coroutines: Vec<Coroutine<(), (), (), S>>,
    free: Vec<S>,
    expected: u64,
}

impl<S: OwnStack> Page<S> {
    fn new(r: Request) -> Self {
        let lines: Vec<Line> = (0..r.n).map(|_| Line { count: Cell::new(0), stop: Cell::new(false) }).collect();
        let (coroutines, free) = (Vec::with_capacity(r.n), Vec::with_capacity(r.n));
        Page { r, lines: Box::leak(lines.into_boxed_slice()), coroutines, free, expected: 0 }
    }

    // Reading the clock costs as much as creating one coroutine: what the next reading took is subtracted.
    fn timed(&mut self, f: impl FnOnce(&mut Self)) -> f64 {
        let begin = Instant::now();
        f(self);
        let end = Instant::now();
        let reading = elapsed_ns(end);
        (end.duration_since(begin).as_nanos() as f64 - reading).max(0.0)
    }

    fn add(&mut self, mine: &'static Line) {
        let stack = self.free.pop().or_else(|| S::make(self.r.stack));
        let stack = stack.unwrap_or_else(|| skip(&self.r, "no more stacks: mmap refused, see vm.max_map_count"));
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            while !mine.stop.get() {
                mine.count.set(mine.count.get() + 1);
                yielder.suspend(());
            }
        });
        self.coroutines.push(coroutine);
    }

    fn create(&mut self) -> f64 {
        for line in self.lines {
            line.count.set(0);
            line.stop.set(false);
        }
        self.expected = 0;
        let lines = self.lines;
        let ns = self.timed(|page| {
            for line in lines {
                page.add(line);
            }
        });
        self.check();
        ns / self.r.n as f64
    }

    fn check(&self) {
        if self.lines.iter().any(|line| line.count.get() != self.expected) {
            fail("a coroutine's counter does not show the expected activations");
        }
    }

    fn start(&mut self) -> f64 {
        self.round_trips(1) / self.r.n as f64
    }

    fn round_trips(&mut self, rounds: u64) -> f64 {
        self.expected += rounds;
        self.timed(|page| {
            for _ in 0..rounds {
                for coroutine in &mut page.coroutines {
                    coroutine.resume(());
                }
            }
        })
    }

    fn finish(&mut self) -> f64 {
        self.check();
        for line in self.lines.iter() {
            line.stop.set(true);
        }
        let ns = self.timed(|page| {
            for coroutine in &mut page.coroutines {
                if let CoroutineResult::Yield(()) = coroutine.resume(()) {
                    fail("a coroutine went on after its end");
                }
            }
        });
        ns / self.r.n as f64
    }

    fn destroy(&mut self) -> f64 {
        let ns = self.timed(|page| {
            for coroutine in page.coroutines.drain(..) {
                page.free.push(coroutine.into_stack());
            }
        });
        ns / self.r.n as f64
    }

    fn rounds(&mut self) {
        let mut k = 1;
        self.round_trips(1);
        let mut took = self.round_trips(1);
        while took < self.r.budget_ns / 16.0 {
            k *= 2;
            took = self.round_trips(k);
        }
        let repetitions = if took > self.r.budget_ns / 3.0 { 3 } else { 7 };
        let trips = (k * self.r.n as u64) as f64;
        let values = (0..repetitions).map(|_| self.round_trips(k) / trips).collect();
        emit(&self.r, "round_trip", "ns", median(values));
    }

    fn run(mut self) {
        let before = resident_bytes();
        let create = self.create();
        self.start();
        let grown = (resident_bytes() - before).max(0.0);
        emit(&self.r, "create", "ns", create);
        emit(&self.r, "bytes", "B", grown / self.r.n as f64);
        self.rounds();
        self.finish();
        let mut destroy = vec![self.destroy()];
        let mut warm = Vec::new();
        let mut lives = Vec::new();
        let begin = Instant::now();
        while warm.len() < 2 || (warm.len() < 999 && elapsed_ns(begin) < self.r.budget_ns) {
            let created = self.create();
            let turns = self.start() + self.finish();
            let destroyed = self.destroy();
            warm.push(created);
            destroy.push(destroyed);
            lives.push(created + turns + destroyed);
        }
        emit(&self.r, "destroy", "ns", median(destroy));
        emit(&self.r, "create_warm", "ns", median(warm));
        emit(&self.r, "lifetime", "ns", median(lives));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 6 || arguments[2] != "switch" {
        fail("usage: subject-rust <system> switch <n> <stack bytes> <budget ms>");
    }
    let number = |i: usize| arguments[i].parse::<f64>().unwrap_or_else(|_| fail("not a number"));
    let r = Request {
        system: arguments[1].clone(),
        n: number(3) as usize,
        stack: number(4) as usize,
        budget_ns: number(5) * 1e6,
    };
    match arguments[1].as_str() {
        "rust-corosensei-mmap" => Page::<DefaultStack>::new(r).run(),
        "rust-corosensei-malloc" => Page::<MallocStack>::new(r).run(),
        _ => fail("unknown system"),
    }
}
