import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The page `managed`, what a collector makes of it: ../../harness/collector/libgc.hpp says what its workloads are. Virtual
 * threads are parked, each with a reference to an object in its frame. A collection is System.gc(), from its call until
 * it returns: the serial collector stops all threads for all of it.
 */
final class Collector {
    private static final int FRAMES_OF_DEEP = 10;
    private static final int COLLECTIONS = 9;

    private final int n;
    private final int frames;
    private final Thread[] threads;
    private final CountDownLatch arrived;
    private final CountDownLatch ended;
    private final AtomicInteger intact = new AtomicInteger();
    private volatile boolean over;

    private static final class Held {
        final long mark;

        Held(long mark) {
            this.mark = mark;
        }
    }

    private Collector(int n, int frames) {
        this.n = n;
        this.frames = frames;
        threads = new Thread[n];
        arrived = new CountDownLatch(n);
        ended = new CountDownLatch(n);
    }

    private void park(int below) {
        if (below > 0) {
            park(below - 1);
            return;
        }
        while (!over) {
            LockSupport.park();
        }
    }

    private void hold(int i) {
        Held held = new Held(i + 1);
        arrived.countDown();
        park(frames);
        if (held.mark == i + 1) {
            intact.incrementAndGet();
        }
        ended.countDown();
    }

    /** The median in milliseconds. */
    private double measure() throws InterruptedException {
        for (int i = 0; i < n; i++) {
            int number = i;
            threads[i] = Loom.start(() -> hold(number));
        }
        arrived.await();
        double[] values = new double[COLLECTIONS];
        System.gc();
        for (int i = 0; i < COLLECTIONS; i++) {
            long begin = System.nanoTime();
            System.gc();
            values[i] = (System.nanoTime() - begin) / 1e6;
        }
        over = true;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
        ended.await();
        if (intact.get() != n) {
            throw new IllegalStateException("an object that a virtual thread holds was freed");
        }
        Arrays.sort(values);
        return values[COLLECTIONS / 2];
    }

    static void run(String[] arguments) throws InterruptedException {
        int n = Integer.parseInt(arguments[2]);
        int frames = arguments[1].equals("gc_pause_deep") ? FRAMES_OF_DEEP : 0;
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%d,\"unit\":\"ms\",\"value\":%.3f}%n",
                arguments[0], arguments[1], n, new Collector(n, frames).measure());
    }
}
