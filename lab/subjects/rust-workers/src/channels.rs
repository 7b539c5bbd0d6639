//! The channels of the page `primitives` in tokio. A channel is mpsc, which has one receiver; for several its documentation
//! names the crate async-channel. The smallest buffer is of one value: so it is in channel_rendezvous.

use crate::primitives::{in_tasks, joined, Units};
use crate::{fail, Load};
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, mpsc, Notify};
use tokio::task::JoinSet;

const BUFFERED: usize = 64;
const BUFFERED_FOR_BATCHES: usize = 256;
const MOST_AT_ONCE: usize = 64;
const BURST: usize = 16;
const PRODUCERS: usize = 4;

fn value(i: usize) -> u64 {
    i as u64 & 127
}

fn sum_of_values(k: usize) -> u64 {
    (0..k).map(value).sum()
}

fn channel_same(rt: &Runtime, _: &Load, k: usize) -> bool {
    in_tasks(rt, 1, move |_| async move {
        let (sender, mut receiver) = mpsc::channel(BUFFERED);
        let mut sum = 0;
        for i in 0..k {
            let sent = sender.send(value(i)).await.is_ok();
            sum += receiver.recv().await.unwrap_or(0);
            if !sent {
                break;
            }
        }
        sum
    }) == sum_of_values(k)
}

async fn send_all(sender: mpsc::Sender<u64>, k: usize) -> u64 {
    for i in 0..k {
        if sender.send(value(i)).await.is_err() {
            break;
        }
    }
    0
}

async fn receive_all(mut receiver: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(v) = receiver.recv().await {
        sum += v;
    }
    sum
}

async fn receive_in_batches(mut receiver: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    let mut some = Vec::with_capacity(MOST_AT_ONCE);
    while receiver.recv_many(&mut some, MOST_AT_ONCE).await != 0 {
        sum += some.drain(..).sum::<u64>();
    }
    sum
}

fn one_to_one<F>(rt: &Runtime, k: usize, room: usize, receive: fn(mpsc::Receiver<u64>) -> F) -> bool
where
    F: Future<Output = u64> + Send + 'static,
{
    let sum = rt.block_on(async {
        let (sender, receiver) = mpsc::channel(room);
        let mut tasks = JoinSet::new();
        tasks.spawn(send_all(sender, k));
        tasks.spawn(receive(receiver));
        joined(tasks).await
    });
    sum == sum_of_values(k)
}

/// The channel closes when the last sender is dropped.
fn channel_4p4c(rt: &Runtime, _: &Load, k: usize) -> bool {
    let sum = rt.block_on(async {
        let (sender, receiver) = async_channel::bounded(BUFFERED);
        let mut tasks = JoinSet::new();
        let each = k / PRODUCERS;
        for first in 0..PRODUCERS {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            tasks.spawn(async move {
                for i in first * each..(first + 1) * each {
                    if sender.send(value(i)).await.is_err() {
                        break;
                    }
                }
                0
            });
            tasks.spawn(async move {
                let mut sum = 0;
                while let Ok(v) = receiver.recv().await {
                    sum += v;
                }
                sum
            });
        }
        drop((sender, receiver));
        joined(tasks).await
    });
    sum == sum_of_values(k)
}

fn channel_rendezvous(rt: &Runtime, _: &Load, k: usize) -> bool {
    let right = rt.block_on(async {
        let (there, mut arriving) = mpsc::channel(1);
        let (back, mut returning) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(i) = arriving.recv().await {
                if back.send(i).await.is_err() {
                    break;
                }
            }
            0
        });
        tasks.spawn(async move {
            let mut right = 0;
            for i in 0..k / 2 {
                let sent = there.send(i).await.is_ok();
                right += u64::from(sent && returning.recv().await == Some(i));
            }
            right
        });
        joined(tasks).await
    });
    right == k as u64 / 2
}

struct Receivers {
    count: usize,
    left: AtomicUsize,
    all: Notify,
}

impl Receivers {
    fn has_burst(&self) {
        if self.left.fetch_sub(1, AcqRel) == 1 {
            self.left.store(self.count, Relaxed);
            self.all.notify_one();
        }
    }
}

fn broadcast_100(rt: &Runtime, r: &Load, k: usize) -> bool {
    let count = r.count;
    let sum = rt.block_on(async {
        let (sender, _) = broadcast::channel(BURST);
        let shared = Arc::new(Receivers { count, left: AtomicUsize::new(count), all: Notify::new() });
        let mut tasks = JoinSet::new();
        for _ in 0..count {
            let (mut receiver, shared) = (sender.subscribe(), shared.clone());
            tasks.spawn(async move {
                let mut sum = 0;
                for i in 1..=k {
                    sum += receiver.recv().await.unwrap_or_else(|_| fail("a value was lost"));
                    if i % BURST == 0 {
                        shared.has_burst();
                    }
                }
                sum
            });
        }
        tasks.spawn(async move {
            for i in 0..k {
                let _ = sender.send(value(i));
                if (i + 1) % BURST == 0 {
                    shared.all.notified().await;
                }
            }
            0
        });
        joined(tasks).await
    });
    sum == count as u64 * sum_of_values(k)
}

pub fn known(workload: &str) -> Option<Units> {
    Some(match workload {
        "channel_same" => channel_same,
        "channel_1p1c" => |rt, _, k| one_to_one(rt, k, BUFFERED, receive_all),
        "channel_4p4c" => channel_4p4c,
        "channel_rendezvous" => channel_rendezvous,
        "channel_batch" => |rt, _, k| one_to_one(rt, k, BUFFERED_FOR_BATCHES, receive_in_batches),
        "broadcast_100" => broadcast_100,
        _ => return None,
    })
}
