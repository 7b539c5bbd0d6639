import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * What a program in Java has for virtual threads that are known by a number: a ConcurrentHashMap leads from an id to the
 * thread, or to the CompletableFuture of a reply. A deadline is a task of a ScheduledThreadPoolExecutor of one thread,
 * which interrupts; one that is moved is cancelled, and leaves the executor's queue at once.
 */
final class Registry {
    static final int AT_A_TIME = 64;

    private static final class Entry {
        volatile Thread thread;
        private ScheduledFuture<?> deadline;

        void cancel() {
            thread.interrupt();
        }

        synchronized void setDeadline(ScheduledThreadPoolExecutor timers, long after) {
            leaveDeadline();
            deadline = timers.schedule(this::cancel, after, TimeUnit.NANOSECONDS);
        }

        synchronized void leaveDeadline() {
            if (deadline != null) {
                deadline.cancel(false);
            }
        }
    }

    private final AtomicLong next = new AtomicLong();
    private final ConcurrentHashMap<Long, Entry> all = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Long, CompletableFuture<Long>> pending = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
    private final AtomicInteger cancelled = new AtomicInteger();

    Registry() {
        timers.setRemoveOnCancelPolicy(true);
    }

    long spawn(Runnable body) {
        long id = next.incrementAndGet();
        Entry entry = new Entry();
        all.put(id, entry);
        entry.thread = Loom.start(() -> {
            try {
                body.run();
            } finally {
                all.remove(id);
                entry.leaveDeadline();
            }
        });
        return id;
    }

    /** As many threads that wait until they are interrupted. All wait when it returns. */
    long[] fill(int count) throws InterruptedException {
        long[] ids = new long[count];
        CountDownLatch waiting = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            ids[i] = spawn(() -> {
                waiting.countDown();
                while (!Thread.currentThread().isInterrupted()) {
                    LockSupport.park();
                }
                cancelled.incrementAndGet();
            });
            if (i % AT_A_TIME == 0) {
                Thread.yield();
            }
        }
        waiting.await();
        return ids;
    }

    int size() {
        return all.size();
    }

    /** How many were interrupted so far. */
    int cancelled() {
        return cancelled.get();
    }

    Thread find(long id) {
        return all.get(id).thread;
    }

    void cancel(long id) {
        all.get(id).cancel();
    }

    void setDeadline(long id, long after) {
        all.get(id).setDeadline(timers, after);
    }

    long expect(CompletableFuture<Long> reply) {
        long id = next.incrementAndGet();
        pending.put(id, reply);
        return id;
    }

    void complete(long id, long value) {
        if (!pending.remove(id).complete(value)) {
            throw new IllegalStateException("a reply was there already");
        }
    }

    /** All are interrupted, and have ended. */
    void close() {
        all.values().forEach(Entry::cancel);
        while (!all.isEmpty()) {
            Thread.yield();
        }
        timers.shutdownNow();
    }
}
