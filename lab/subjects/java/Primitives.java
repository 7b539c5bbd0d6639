import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The page `primitives` in Java, called as {@code Subject <system> <workload> <workers> <stack bytes> <budget ms> <count>};
 * ../../harness/primitives/primitives.hpp says what its workloads are. All that wait are virtual threads, on as many carriers as
 * workers; the driver is one, too.
 *
 *   java-concurrent    java.util.concurrent: ReentrantLock, its Conditions, Semaphore. An event is a Semaphore, too. A
 *                      channel is an ArrayBlockingQueue (a LinkedBlockingQueue was slower), closed by a value that says
 *                      so; without a buffer a SynchronousQueue. A broadcast is a queue for each receiver. There is no
 *                      wait for one of several. LockPrimitives has more
 *   java-synchronized  synchronized, wait, notify; MonitorPrimitives
 *
 * Before anything is measured the same batches warm the virtual machine up.
 */
final class Primitives {
    static final int PERMITS_FOR_MANY = 2;
    static final int BUFFERED = 64;
    static final int BUFFERED_FOR_BATCHES = 256;
    static final int MOST_AT_ONCE = 64;
    static final int BURST = 16;
    static final int PRODUCERS = 4;
    private static final double WARM_UP = 8; // budgets
    private static final Long CLOSED = -1L;

    /** Does k units; whether all went as intended. */
    interface Units {
        boolean of(int k) throws InterruptedException;
    }

    interface Body {
        void run(int i) throws InterruptedException;
    }

    private final int workers;
    private final int count;

    private Primitives(int workers, int count) {
        this.workers = workers;
        this.count = count;
    }

    static void inThreads(int count, Body body) throws InterruptedException {
        Thread[] all = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            all[i] = Loom.start(() -> {
                try {
                    body.run(number);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (Thread one : all) {
            one.join();
        }
    }

    private static long value(int i) {
        return i & 127;
    }

    private static long sumOfValues(int k) {
        long sum = 0;
        for (int i = 0; i < k; i++) {
            sum += value(i);
        }
        return sum;
    }

    private static final class Guarded {
        final ReentrantLock lock = new ReentrantLock();
        final long[] apart = new long[32]; // the next one has other cache lines
        long counter;
    }

    private boolean mutexFree(int k) throws InterruptedException {
        Guarded[] all = new Guarded[workers];
        Arrays.setAll(all, i -> new Guarded());
        inThreads(workers, i -> {
            Guarded mine = all[i];
            for (int j = 0; j < k / workers; j++) {
                mine.lock.lock();
                try {
                    mine.counter++;
                } finally {
                    mine.lock.unlock();
                }
            }
        });
        return Arrays.stream(all).mapToLong(one -> one.counter).sum() == k;
    }

    private boolean oneMutex(int k, boolean yields) throws InterruptedException {
        Guarded shared = new Guarded();
        inThreads(count, i -> {
            for (int j = 0; j < k / count; j++) {
                shared.lock.lock();
                try {
                    shared.counter++;
                    if (yields) {
                        Thread.yield();
                    }
                } finally {
                    shared.lock.unlock();
                }
            }
        });
        return shared.counter == k;
    }

    private static boolean semaphoreFree(int k) throws InterruptedException {
        Semaphore permits = new Semaphore(1);
        long[] counter = new long[1];
        inThreads(1, i -> {
            for (int j = 0; j < k; j++) {
                permits.acquire();
                counter[0]++;
                permits.release();
            }
        });
        return counter[0] == k;
    }

    private boolean semaphoreContended(int k) throws InterruptedException {
        Semaphore permits = new Semaphore(PERMITS_FOR_MANY);
        AtomicLong counter = new AtomicLong();
        inThreads(count, i -> {
            for (int j = 0; j < k / count; j++) {
                permits.acquire();
                counter.incrementAndGet();
                Thread.yield();
                permits.release();
            }
        });
        return counter.get() == k;
    }

    private static boolean eventFree(int k) throws InterruptedException {
        Semaphore event = new Semaphore(0);
        long[] seen = new long[1];
        inThreads(1, i -> {
            for (int j = 0; j < k; j++) {
                event.release();
                event.acquire();
                seen[0]++;
            }
        });
        return seen[0] == k;
    }

    private static boolean pingPong(int k, boolean timed) throws InterruptedException {
        Semaphore[] events = {new Semaphore(0), new Semaphore(0)};
        AtomicLong seen = new AtomicLong();
        inThreads(2, me -> {
            int mine = 0;
            for (int i = 0; i < k / 2; i++) {
                if (me == 0) {
                    events[1].release();
                }
                if (!timed) {
                    events[me].acquire();
                    mine++;
                } else if (events[me].tryAcquire(1, TimeUnit.HOURS)) {
                    mine++;
                }
                if (me == 1) {
                    events[0].release();
                }
            }
            seen.addAndGet(mine);
        });
        return seen.get() == k;
    }

    private static boolean channelSame(int k) throws InterruptedException {
        BlockingQueue<Long> channel = new ArrayBlockingQueue<>(BUFFERED);
        long[] sum = new long[1];
        inThreads(1, me -> {
            for (int i = 0; i < k; i++) {
                channel.put(value(i));
                sum[0] += channel.take();
            }
        });
        return sum[0] == sumOfValues(k);
    }

    private interface Receiver {
        long sumOf(BlockingQueue<Long> channel) throws InterruptedException;
    }

    private static long receiveEach(BlockingQueue<Long> channel) throws InterruptedException {
        long sum = 0;
        for (Long v = channel.take(); !v.equals(CLOSED); v = channel.take()) {
            sum += v;
        }
        return sum;
    }

    private static long receiveBatches(BlockingQueue<Long> channel) throws InterruptedException {
        List<Long> some = new ArrayList<>(MOST_AT_ONCE);
        long sum = 0;
        for (;;) {
            some.add(channel.take());
            channel.drainTo(some, MOST_AT_ONCE - 1);
            for (Long v : some) {
                if (v.equals(CLOSED)) {
                    return sum;
                }
                sum += v;
            }
            some.clear();
        }
    }

    private static boolean many(int each, int room, int k, Receiver receiver) throws InterruptedException {
        BlockingQueue<Long> channel = new ArrayBlockingQueue<>(room);
        AtomicLong sum = new AtomicLong();
        AtomicInteger sending = new AtomicInteger(each);
        inThreads(2 * each, me -> {
            if (me >= each) {
                sum.addAndGet(receiver.sumOf(channel));
                return;
            }
            for (int i = me * (k / each); i < (me + 1) * (k / each); i++) {
                channel.put(value(i));
            }
            if (sending.decrementAndGet() == 0) {
                for (int i = 0; i < each; i++) {
                    channel.put(CLOSED);
                }
            }
        });
        return sum.get() == sumOfValues(k);
    }

    private static boolean channelRendezvous(int k) throws InterruptedException {
        BlockingQueue<Long> there = new SynchronousQueue<>();
        BlockingQueue<Long> back = new SynchronousQueue<>();
        long[] right = new long[1];
        inThreads(2, me -> {
            for (int i = 0; i < k / 2; i++) {
                if (me == 1) {
                    back.put(there.take());
                } else {
                    there.put(value(i));
                    right[0] += back.take() == value(i) ? 1 : 0;
                }
            }
        });
        return right[0] == k / 2;
    }

    private boolean broadcast(int k) throws InterruptedException {
        List<BlockingQueue<Long>> to = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            to.add(new ArrayBlockingQueue<>(BURST));
        }
        AtomicInteger left = new AtomicInteger(count);
        Semaphore all = new Semaphore(0);
        AtomicLong sum = new AtomicLong();
        inThreads(count + 1, me -> {
            long mine = 0;
            for (int i = 0; i < k; i++) {
                boolean endsBurst = (i + 1) % BURST == 0;
                if (me < count) {
                    mine += to.get(me).take();
                    if (endsBurst && left.decrementAndGet() == 0) {
                        left.set(count);
                        all.release();
                    }
                    continue;
                }
                for (BlockingQueue<Long> one : to) {
                    one.put(value(i));
                }
                if (endsBurst) {
                    all.acquire();
                }
            }
            sum.addAndGet(mine);
        });
        return sum.get() == count * sumOfValues(k);
    }

    private static boolean giveTurns(int k, int conditions) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        Condition first = lock.newCondition();
        Condition[] changed = {first, conditions == 1 ? first : lock.newCondition()};
        int[] turn = new int[2]; // and how many there were
        inThreads(2, me -> {
            lock.lock();
            try {
                for (int i = 0; i < k / 2; i++) {
                    while (turn[0] != me) {
                        changed[me].await();
                    }
                    turn[1]++;
                    turn[0] = 1 - me;
                    changed[1 - me].signal();
                }
            } finally {
                lock.unlock();
            }
        });
        return turn[1] == k;
    }

    private static boolean timedFree(int k) throws InterruptedException {
        Guarded mine = new Guarded();
        inThreads(1, me -> {
            for (int j = 0; j < k; j++) {
                if (mine.lock.tryLock(1, TimeUnit.HOURS)) {
                    mine.counter++;
                    mine.lock.unlock();
                }
            }
        });
        return mine.counter == k;
    }

    private Units known(String workload) {
        switch (workload) {
            case "mutex_free": return this::mutexFree;
            case "mutex_contended": return k -> oneMutex(k, true);
            case "mutex_parallel": return k -> oneMutex(k, false);
            case "semaphore_free": return Primitives::semaphoreFree;
            case "semaphore_contended": return this::semaphoreContended;
            case "event_free": return Primitives::eventFree;
            case "event_ping_pong": return k -> pingPong(k, false);
            case "channel_same": return Primitives::channelSame;
            case "channel_1p1c": return k -> many(1, BUFFERED, k, Primitives::receiveEach);
            case "channel_4p4c": return k -> many(PRODUCERS, BUFFERED, k, Primitives::receiveEach);
            case "channel_rendezvous": return Primitives::channelRendezvous;
            case "channel_batch": return k -> many(1, BUFFERED_FOR_BATCHES, k, Primitives::receiveBatches);
            case "broadcast_100": return this::broadcast;
            case "condition_ping_pong": return k -> giveTurns(k, 2);
            case "monitor_ping_pong": return k -> giveTurns(k, 1);
            case "timed_free": return Primitives::timedFree;
            case "timed_ping_pong": return k -> pingPong(k, true);
            default: return LockPrimitives.known(workload, count);
        }
    }

    private static double timed(Units units, int k) throws InterruptedException {
        long begin = System.nanoTime();
        if (!units.of(k)) {
            throw new IllegalStateException("a batch returned a wrong result");
        }
        return System.nanoTime() - begin;
    }

    private static double measure(Units units, double budget) throws InterruptedException {
        int k = 64;
        double took = timed(units, k);
        while (took < budget / 16) {
            k *= 2;
            took = timed(units, k);
        }
        double[] values = new double[9];
        int measured = 0;
        for (double used = 0; measured < values.length && used < 8 * budget; measured++) {
            double some = timed(units, k);
            used += some;
            values[measured] = some / k;
        }
        Arrays.sort(values, 0, measured);
        return values[measured / 2];
    }

    /** On the driver's virtual thread. */
    static void answer(String[] arguments) throws InterruptedException {
        int workers = Integer.parseInt(arguments[2]);
        int count = Integer.parseInt(arguments[5]);
        double budget = Double.parseDouble(arguments[4]) * 1e6;
        Units units = arguments[0].equals("java-synchronized")
                ? MonitorPrimitives.known(arguments[1], workers, count)
                : new Primitives(workers, count).known(arguments[1]);
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            measure(units, budget / 16);
        } while (System.nanoTime() < until);
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%d,\"unit\":\"ns\",\"value\":%.3f}%n",
                arguments[0], arguments[1], workers, measure(units, budget));
    }
}
