import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The page `manager` in Java, called as {@code Subject <system> <workload> <n> <stack bytes> <budget ms>};
 * ../cpp/manager/manager.hpp says what its workloads are. Java has nothing that knows threads by a number.
 *
 *   java-scheduled   deadlines: a ScheduledThreadPoolExecutor of one thread; nobody waits, a Runnable counts
 *   java-interrupts  a group: virtual threads on one carrier that are parked, and interrupted one by one
 *
 * Processor time is that of all threads of the process, and so of the collector and the compiler. Before anything is
 * measured the same was done for eight budgets, and in full once.
 */
final class Deadlines {
    private static final double WARM_UP = 8; // budgets
    private static final int TICKS_A_SECOND = 100; // of /proc: USER_HZ

    private final int n;

    private Deadlines(int n) {
        this.n = n;
    }

    /** As in ../cpp/manager/manager.hpp. */
    private static long spread(int i, long range) {
        return ((i * 0x9E3779B97F4A7C15L) >>> 44) * range >> 20;
    }

    private void expire(boolean inTurn) throws InterruptedException {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
        CountDownLatch passed = new CountDownLatch(n);
        long half = n * 500L;
        for (int i = 0; i < n; i++) {
            long after = half + (inTurn ? i * 500L : spread(i, half));
            timers.schedule(passed::countDown, after, TimeUnit.NANOSECONDS);
        }
        passed.await();
        timers.shutdown();
        if (!timers.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the timers did not end");
        }
    }

    /** Of all threads that there were, in ticks. */
    private static double processorTime() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Double.parseDouble(fields[11]) + Double.parseDouble(fields[12])) * 1e9 / TICKS_A_SECOND;
    }

    /** One round, or as many as take a second of processor time, since it is counted in hundredths. */
    private double expireMeasured(boolean inTurn) throws InterruptedException, IOException {
        expire(inTurn);
        System.gc();
        double before = processorTime();
        int rounds = 0;
        double took;
        do {
            expire(inTurn);
            rounds++;
            took = processorTime() - before;
        } while (took < 1e9 && rounds < 100);
        return took / rounds / n;
    }

    /** How long it takes from the first interrupt until all have ended. */
    private double interruptAll() throws InterruptedException {
        AtomicInteger interrupted = new AtomicInteger();
        CountDownLatch waiting = new CountDownLatch(n);
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++) {
            all[i] = Loom.start(() -> {
                waiting.countDown();
                while (!Thread.currentThread().isInterrupted()) {
                    LockSupport.park();
                }
                interrupted.incrementAndGet();
            });
        }
        waiting.await();
        long begin = System.nanoTime();
        for (Thread one : all) {
            one.interrupt();
        }
        for (Thread one : all) {
            one.join();
        }
        double ns = System.nanoTime() - begin;
        if (interrupted.get() != n) {
            throw new IllegalStateException("a thread did not end interrupted");
        }
        return ns;
    }

    private double group(double budget) throws InterruptedException {
        double[] values = new double[999];
        int m = 0;
        for (double used = 0; m < 3 || (m < values.length && used < budget); m++) {
            values[m] = interruptAll();
            used += values[m];
        }
        Arrays.sort(values, 0, m);
        return values[m / 2] / n;
    }

    private static double measured(String workload, int n, double budget) throws InterruptedException, IOException {
        boolean inTurn = workload.endsWith("in_turn");
        Deadlines some = new Deadlines(Math.min(n, 1000));
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            if (workload.equals("manager_group")) {
                some.interruptAll();
            } else {
                some.expire(inTurn);
            }
        } while (System.nanoTime() < until);
        Deadlines subject = new Deadlines(n);
        return workload.equals("manager_group") ? subject.group(budget) : subject.expireMeasured(inTurn);
    }

    /** The driver of a group is a virtual thread itself. */
    static void run(String[] arguments) throws InterruptedException {
        Throwable[] problem = new Throwable[1];
        Runnable body = () -> {
            try {
                double ns = measured(arguments[1], Integer.parseInt(arguments[2]), Double.parseDouble(arguments[4]) * 1e6);
                System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%s,\"unit\":\"ns\",\"value\":%.3f}%n",
                        arguments[0], arguments[1], arguments[2], ns);
            } catch (Throwable t) {
                problem[0] = t;
            }
        };
        if (arguments[0].equals("java-interrupts")) {
            Loom.start(body).join();
        } else {
            body.run();
        }
        if (problem[0] != null) {
            problem[0].printStackTrace();
            System.exit(1);
        }
    }
}
