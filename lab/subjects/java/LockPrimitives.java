import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** More of java-concurrent on the page `primitives`: a lock that is taken again, and a ReentrantReadWriteLock. */
final class LockPrimitives {
    private LockPrimitives() {}

    private static boolean monitorFree(int k) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        long[] counter = new long[1];
        Primitives.inThreads(1, me -> {
            for (int i = 0; i < k; i++) {
                lock.lock();
                try {
                    lock.lock();
                    try {
                        counter[0]++;
                    } finally {
                        lock.unlock();
                    }
                } finally {
                    lock.unlock();
                }
            }
        });
        return counter[0] == k;
    }

    private static boolean monitorContended(int count, int k) throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        long[] counter = new long[1];
        Primitives.inThreads(count, me -> {
            for (int i = 0; i < k / count; i++) {
                lock.lock();
                try {
                    lock.lock();
                    try {
                        counter[0]++;
                        Thread.yield();
                    } finally {
                        lock.unlock();
                    }
                } finally {
                    lock.unlock();
                }
            }
        });
        return counter[0] == k;
    }

    private static boolean sharedFree(int k) throws InterruptedException {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        long[] counter = new long[1];
        Primitives.inThreads(1, me -> {
            for (int i = 0; i < k; i++) {
                lock.readLock().lock();
                try {
                    counter[0]++;
                } finally {
                    lock.readLock().unlock();
                }
            }
        });
        return counter[0] == k;
    }

    private static boolean sharedMixed(int count, int k) throws InterruptedException {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        long[] writes = new long[1];
        AtomicLong reads = new AtomicLong();
        Primitives.inThreads(count, me -> {
            for (int i = 0; i < k / count; i++) {
                if (i % 8 == 7) {
                    lock.writeLock().lock();
                    try {
                        writes[0]++;
                        Thread.yield();
                    } finally {
                        lock.writeLock().unlock();
                    }
                } else {
                    lock.readLock().lock();
                    try {
                        reads.incrementAndGet();
                        Thread.yield();
                    } finally {
                        lock.readLock().unlock();
                    }
                }
            }
        });
        return writes[0] + reads.get() == k;
    }

    static Primitives.Units known(String workload, int count) {
        switch (workload) {
            case "monitor_free": return LockPrimitives::monitorFree;
            case "monitor_contended": return k -> monitorContended(count, k);
            case "shared_free": return LockPrimitives::sharedFree;
            case "shared_mixed": return k -> sharedMixed(count, k);
            default: throw new IllegalArgumentException(workload);
        }
    }
}
