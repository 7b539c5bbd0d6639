import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Timers of the page `scheduler`, and the memory of a process with sleeping virtual threads. A cancelled timer is a
 * task of a ScheduledThreadPoolExecutor of one thread; a cancel removes it from the queue at once. Sleeping threads are
 * in Thread.sleep.
 */
final class Timers {
    private static final long MILLION = 1_000_000;
    private static final double A_SECOND = 1e9;
    private static final int MOST_ROUNDS = 100;
    private static final int WAITS_THAT_EXPIRE = 32;

    private Timers() {}

    static long far(int i) {
        return 3_600_000_000_000L + Deadlines.spread(i, 1_800_000_000_000L);
    }

    /** With as many timers that are live. */
    static ScheduledThreadPoolExecutor executor(int live) {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
        timers.setRemoveOnCancelPolicy(true);
        for (int i = 0; i < live; i++) {
            timers.schedule(Timers::fired, far(i), TimeUnit.NANOSECONDS);
        }
        return timers;
    }

    private static void fired() {
        throw new IllegalStateException("a timer fired that was far away");
    }

    static void setAndCancel(ScheduledThreadPoolExecutor timers, int k) {
        for (int i = 0; i < k; i++) {
            Future<?> timer = timers.schedule(Timers::fired, far(i), TimeUnit.NANOSECONDS);
            if (!timer.cancel(false)) {
                throw new IllegalStateException("a timer could not be taken back");
            }
        }
    }

    private static void sleep(long ns) {
        try {
            Thread.sleep(ns / MILLION, (int) (ns % MILLION));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void sleepAll(int count) throws InterruptedException {
        CountDownLatch awake = new CountDownLatch(count);
        long each = count * 1000L;
        Loom.start(() -> {
            for (int i = 0; i < count; i++) {
                long ns = each + Deadlines.spread(i, each);
                Loom.start(() -> {
                    sleep(ns);
                    awake.countDown();
                });
            }
        });
        awake.await();
    }

    /** Processor time, which is counted in hundredths of a second: of as many rounds as take one, but for the first. */
    static double expire(int count) throws InterruptedException, IOException {
        sleepAll(count);
        System.gc();
        double before = Deadlines.processorTime();
        double took = 0;
        int rounds = 0;
        while (took < A_SECOND && rounds < MOST_ROUNDS) {
            sleepAll(count);
            rounds++;
            took = Deadlines.processorTime() - before;
        }
        return took / rounds / count;
    }

    private static void expireWaits(int count) throws InterruptedException {
        AtomicInteger expired = new AtomicInteger();
        long each = count * 1000L;
        Primitives.inThreads(count, i -> {
            Semaphore never = new Semaphore(0);
            for (int j = 0; j < WAITS_THAT_EXPIRE; j++) {
                if (!never.tryAcquire(each + Deadlines.spread(i + j * count, each), TimeUnit.NANOSECONDS)) {
                    expired.incrementAndGet();
                }
            }
        });
        if (expired.get() != count * WAITS_THAT_EXPIRE) {
            throw new IllegalStateException("a wait did not expire");
        }
    }

    /** The workload timed_expire of the page `primitives`: in rounds as above. */
    static double timedExpire(int count) throws InterruptedException, IOException {
        expireWaits(count);
        System.gc();
        double before = Deadlines.processorTime();
        double took = 0;
        int rounds = 0;
        while (took < A_SECOND && rounds < MOST_ROUNDS) {
            expireWaits(count);
            rounds++;
            took = Deadlines.processorTime() - before;
        }
        return took / rounds / count / WAITS_THAT_EXPIRE;
    }

    /** Of all present threads, in nanoseconds. */
    private static double runTime() throws IOException {
        double sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path one : threads) {
                try {
                    sum += Double.parseDouble(Files.readString(one.resolve("schedstat")).split(" ")[0]);
                } catch (NoSuchFileException e) {
                    continue; // it has ended
                }
            }
        }
        return sum;
    }

    /** Beside the main thread, which reads. The virtual machine has its own things to do for a while. */
    static double idle(int ms) throws InterruptedException, IOException {
        Loom.start(() -> { }).join();
        runTime();
        Thread.sleep(100);
        long begin = System.nanoTime();
        double before = runTime();
        Thread.sleep(ms);
        return Math.max(0, 100 * (runTime() - before) / (System.nanoTime() - begin));
    }

    private static double held() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmPTE:")) {
                return Subject.resident() + Double.parseDouble(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no VmPTE line in status");
    }

    /** Garbage is collected before both readings. */
    static double sleeping(int n) throws InterruptedException, IOException {
        double before = held();
        CountDownLatch begun = new CountDownLatch(n);
        Loom.start(() -> {
            for (int i = 0; i < n; i++) {
                long ns = far(i);
                Loom.start(() -> {
                    begun.countDown();
                    sleep(ns);
                });
            }
        });
        begun.await();
        Thread.sleep(100);
        return Math.max(0, held() - before) / n;
    }
}
