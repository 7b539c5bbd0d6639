import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads on one carrier, called as {@code Subject <system> <workload> <n> <stack bytes> <budget ms>}; the
 * phases are the phases of ../../harness/harness.hpp. Run with -Djdk.virtualThreadScheduler.parallelism=1 and
 * maxPoolSize=1. Stacks are copied to the heap and grow by themselves, so the stack size has no effect.
 *
 * Creation makes a virtual thread and starts it: it is in the carrier's queue, and none runs before all are created.
 * A virtual thread ends by itself and is not destroyed, so there is no phase between finish and destroy: destroy is
 * the time from the signal to stop to the end of the last one.
 *
 * Thread.yield switches to the carrier (one switch), which enters the next virtual thread (the other), so one yield is
 * one round trip of the table. The virtual threads run by themselves, roughly in turn. Number 0 measures the time, and
 * the time of a repetition is divided by the activations that all lines show. Each continues to the same limit.
 *
 * Between the phases the virtual threads are parked. They must not yield while they wait: if a carrier's own queue is
 * never empty, it does not look at the pool's submissions, so two threads that yield to each other starve all others.
 * (JDK 25 puts a yielding thread into the carrier's queue if this queue is not empty, otherwise into the submissions.)
 *
 * Before the first phase the same code runs on other virtual threads, so that the compiler of the virtual machine has
 * done its work. The driver is a virtual thread itself: otherwise each phase would measure how the operating system
 * switches between it and the carrier.
 */
public final class Subject {
    private static final int LINE = 8; // longs in a cache line
    private static final long NO_LIMIT = Long.MAX_VALUE;

    private static final double WARM_UP = 8; // budgets

    private enum Phase { CREATED, TURNING, ENDING }

    private final int n;
    private final double budget;
    private final long[] lines;
    private final Thread[] threads;
    private volatile CountDownLatch started;
    private volatile CountDownLatch arrived;
    private volatile CountDownLatch finished;
    private volatile Phase phase;
    private volatile long limit;
    private volatile boolean measuring;
    private double roundTrip;

    private Subject(int n, double budget) {
        this.n = n;
        this.budget = budget;
        this.lines = new long[(n + 2) * LINE];
        this.threads = new Thread[n];
    }

    private static int at(int i) {
        return (i + 1) * LINE;
    }

    private void life(int i) {
        lines[at(i)]++;
        started.countDown();
        waitWhile(Phase.CREATED);
        if (phase == Phase.TURNING) {
            if (i == 0 && measuring) {
                measure();
            }
            turn(i);
            arrived.countDown();
            waitWhile(Phase.TURNING);
        }
        finished.countDown();
    }

    private void waitWhile(Phase current) {
        while (phase == current) {
            LockSupport.park();
        }
    }

    private void turn(int i) {
        while (lines[at(i)] < limit) {
            lines[at(i)]++;
            Thread.yield();
        }
    }

    private void enter(Phase next) {
        phase = next;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
        }
    }

    private void measure() {
        int k = 1;
        turns(1);
        double took = turns(1)[0];
        while (took < budget / 16) {
            k *= 2;
            took = turns(k)[0];
        }
        double[] values = new double[took > budget / 3 ? 3 : 7];
        for (int r = 0; r < values.length; r++) {
            double[] result = turns(k);
            values[r] = result[0] / result[1];
        }
        roundTrip = median(values, values.length);
        long highest = 0;
        for (int i = 0; i < n; i++) {
            highest = Math.max(highest, lines[at(i)]);
        }
        limit = highest + 1;
    }

    /** k turns of number 0: their nanoseconds, and the activations of all threads meanwhile. */
    private double[] turns(int k) {
        long before = activations();
        long begin = System.nanoTime();
        for (int i = 0; i < k; i++) {
            lines[at(0)]++;
            Thread.yield();
        }
        double ns = System.nanoTime() - begin;
        return new double[] {ns, activations() - before};
    }

    private long activations() {
        long total = 0;
        for (int i = 0; i < n; i++) {
            total += lines[at(i)];
        }
        return total;
    }

    private double create() throws InterruptedException {
        Arrays.fill(lines, 0);
        limit = 1;
        phase = Phase.CREATED;
        started = new CountDownLatch(n);
        arrived = new CountDownLatch(n);
        finished = new CountDownLatch(n);
        long begin = System.nanoTime();
        for (int i = 0; i < n; i++) {
            int number = i;
            threads[i] = Loom.start(() -> life(number));
        }
        double ns = (double) (System.nanoTime() - begin) / n;
        check(0);
        return ns;
    }

    private void check(long expected) {
        for (int i = 0; i < n; i++) {
            if (lines[at(i)] != expected) {
                fail("virtual thread " + i + " counted " + lines[at(i)] + " activations, not " + expected);
            }
        }
    }

    private double start() throws InterruptedException {
        long begin = System.nanoTime();
        started.await();
        double ns = (double) (System.nanoTime() - begin) / n;
        check(1);
        return ns;
    }

    private double rounds() throws InterruptedException {
        measuring = true;
        turnUntil(NO_LIMIT);
        measuring = false;
        return roundTrip;
    }

    private void turnUntil(long end) throws InterruptedException {
        limit = end;
        enter(Phase.TURNING);
        arrived.await();
    }

    private double destroy() throws InterruptedException {
        long begin = System.nanoTime();
        enter(Phase.ENDING);
        finished.await();
        double ns = (double) (System.nanoTime() - begin) / n;
        check(limit);
        return ns;
    }

    /** All phases; prints the results under a system's name, or without a name warms the virtual machine up. */
    private void run(String system) throws Exception {
        double before = system == null ? 0 : resident();
        double create = create();
        start();
        double grown = system == null ? 0 : Math.max(0, resident() - before);
        double trip = rounds();
        double[] ends = new double[1000];
        double[] warm = new double[1000];
        double[] lives = new double[1000];
        int m = 0;
        ends[m] = destroy();
        long until = System.nanoTime() + (long) budget;
        while (m < 2 || (m < 999 && System.nanoTime() < until)) {
            warm[m] = create();
            double turn = start();
            ends[m + 1] = destroy();
            lives[m] = warm[m] + turn + ends[m + 1];
            m++;
        }
        if (system != null) {
            emit(system, "create", "ns", create);
            emit(system, "bytes", "B", grown / n);
            emit(system, "round_trip", "ns", trip);
            emit(system, "destroy", "ns", median(ends, m + 1));
            emit(system, "create_warm", "ns", median(warm, m));
            emit(system, "lifetime", "ns", median(lives, m));
        }
    }

    /** The page `managed`: ../../harness/managed.hpp. */
    private void managed(String system, String workload) throws Exception {
        create();
        start();
        if (workload.equals("switches")) {
            emit(system, workload, "k/s", 1e6 / rounds());
        } else {
            System.gc();
            Managed.letRead("live");
            turnUntil(1 + Managed.TURNS_BEFORE_PEAK);
            Managed.letRead("peak");
        }
        destroy();
    }

    private void emit(String system, String workload, String unit, double value) {
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%d,\"unit\":\"%s\",\"value\":%.3f}%n",
                system, workload, n, unit, value);
    }

    private static double median(double[] values, int count) {
        double[] sorted = Arrays.copyOf(values, count);
        Arrays.sort(sorted);
        return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    }

    static double resident() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
            if (line.startsWith("Anonymous:")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        throw new IOException("no Anonymous line in smaps_rollup");
    }

    private static void fail(String why) {
        System.err.println(why);
        System.exit(1);
    }

    private static void warmUp(int n, double budget) throws Exception {
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            new Subject(n, budget).run(null);
        } while (System.nanoTime() < until);
    }

    /** Warms up with as little garbage as possible, because the size of the heap is part of the figure. */
    private static void warmUpSmall(int n, double budget) throws Exception {
        Subject subject = new Subject(n, budget);
        for (int i = 0; i < 4; i++) {
            subject.create();
            subject.start();
            subject.rounds();
            subject.destroy();
        }
        System.gc();
    }

    private static void answer(String[] arguments) throws Exception {
        int n = Integer.parseInt(arguments[2]);
        double budget = Double.parseDouble(arguments[4]) * 1e6;
        if (arguments[1].equals("memory")) {
            warmUpSmall(Math.min(n, 100), budget);
        } else {
            warmUp(Math.min(n, 1000), budget);
        }
        Subject subject = new Subject(n, budget);
        if (arguments[1].equals("switch")) {
            subject.run(arguments[0]);
        } else {
            subject.managed(arguments[0], arguments[1]);
        }
    }

    /** A sixth argument selects Scheduler; Deadlines has the page `manager`, Collector the work of collectors. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 6) {
            Scheduler.run(arguments);
            return;
        }
        if (arguments.length == 5 && arguments[1].startsWith("manager_")) {
            Deadlines.run(arguments);
            return;
        }
        if (arguments.length == 5 && arguments[1].startsWith("gc_")) {
            Collector.run(arguments);
            return;
        }
        if (arguments.length != 5 || !List.of("switch", "switches", "memory").contains(arguments[1])) {
            fail("usage: Subject <system> <workload> <n> <stack bytes> <budget ms>");
        }
        if (!arguments[0].equals("java-virtual")) {
            Managed.main(arguments);
            return;
        }
        Throwable[] problem = new Throwable[1];
        Thread driver = Loom.start(() -> {
            try {
                answer(arguments);
            } catch (Throwable t) {
                problem[0] = t;
            }
        });
        driver.join();
        if (problem[0] != null) {
            problem[0].printStackTrace();
            System.exit(1);
        }
    }
}
