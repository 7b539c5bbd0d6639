import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The page `scheduler` in Java, called as {@code Subject <system> <workload> <workers> <stack bytes> <budget ms> <count>};
 * ../../harness/scheduler/scheduler.hpp defines its workloads. There are as many carriers as workers. Timers has
 * the timers of the page, Primitives the other systems.
 *
 * Threads that yield first wait for one another in a latch: a thread that yields while it waits may starve threads that
 * have not begun (see Subject). So the first threads begin before the last is released. The measured time is a quarter of
 * the budget or more, so this matters little.
 */
final class Scheduler {
    private static final double WARM_UP = 8; // budgets

    private final String system;
    private final int workers;
    private final int count;
    private final double budget;

    private Scheduler(String system, int workers, int count, double budget) {
        this.system = system;
        this.workers = workers;
        this.count = count;
        this.budget = budget;
    }

    private interface Rounds {
        double of(int k) throws InterruptedException;
    }

    private static void yieldOften(int k) {
        for (int i = 0; i < k; i++) {
            Thread.yield();
        }
    }

    private double yields(int k) throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(count);
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Loom.start(() -> {
                arrived.countDown();
                await(open);
                yieldOften(k);
                left.countDown();
            });
        }
        arrived.await();
        long begin = System.nanoTime();
        open.countDown();
        left.await();
        return System.nanoTime() - begin;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The driver is a virtual thread itself. */
    private double spawnJoin(int k) throws InterruptedException {
        AtomicInteger counter = new AtomicInteger();
        long begin = System.nanoTime();
        for (int i = 0; i < k; i++) {
            Loom.start(counter::incrementAndGet).join();
        }
        double ns = System.nanoTime() - begin;
        expect(counter.get() == k, "not every virtual thread has run");
        return ns;
    }

    /** `count` virtual threads, started and joined, whose numbers are summed up. */
    private double whenAll(int k) throws InterruptedException {
        long sum = 0;
        long begin = System.nanoTime();
        for (int round = 0; round < k; round++) {
            int[] values = new int[count];
            Primitives.inThreads(count, i -> values[i] = i);
            for (int one : values) {
                sum += one;
            }
        }
        double ns = System.nanoTime() - begin;
        expect(sum == (long) k * count * (count - 1) / 2, "the virtual threads gave another sum");
        return ns;
    }

    private static long skynetOf(long first, int leaves) throws InterruptedException {
        if (leaves == 1) {
            return first;
        }
        long[] sums = new long[10];
        Primitives.inThreads(sums.length, i -> sums[i] = skynetOf(first + i * (leaves / 10), leaves / 10));
        return Arrays.stream(sums).sum();
    }

    private double skynet(int leaves) throws InterruptedException {
        long begin = System.nanoTime();
        long sum = skynetOf(0, leaves);
        double ns = System.nanoTime() - begin;
        expect(sum == (long) leaves * (leaves - 1) / 2, "a workload gave another result");
        return ns;
    }

    private double pingPong(int ways) throws InterruptedException {
        Semaphore[] sides = {new Semaphore(0), new Semaphore(0)};
        double[] took = new double[1];
        Primitives.inThreads(2, me -> {
            long begin = System.nanoTime();
            for (int i = 0; i < ways / 2; i++) {
                if (me == 0) {
                    sides[1].release();
                }
                sides[me].acquire();
                if (me == 1) {
                    sides[0].release();
                }
            }
            if (me == 0) {
                took[0] = System.nanoTime() - begin;
            }
        });
        return took[0];
    }

    /** The caller is a platform thread. */
    private static double postOutside(int jobs) throws InterruptedException {
        CountDownLatch left = new CountDownLatch(jobs);
        long begin = System.nanoTime();
        for (int i = 0; i < jobs; i++) {
            Loom.start(left::countDown);
        }
        left.await();
        return System.nanoTime() - begin;
    }

    private double cancelTimers(ScheduledThreadPoolExecutor timers, int k) throws InterruptedException {
        long begin = System.nanoTime();
        Primitives.inThreads(workers, me -> Timers.setAndCancel(timers, k));
        return System.nanoTime() - begin;
    }

    private void wake() throws InterruptedException {
        warmUp(Scheduler::postOutside);
        final int first = 8;
        double[] took = new double[count];
        for (int i = 0; i < count + first; i++) {
            Thread.sleep(1);
            AtomicLong ran = new AtomicLong();
            long begin = System.nanoTime();
            Loom.start(() -> ran.set(System.nanoTime()));
            while (ran.get() == 0) {
                Thread.sleep(1);
            }
            if (i >= first) {
                took[i - first] = ran.get() - begin;
            }
        }
        Arrays.sort(took);
        emit("wake_median", "ns", took[count / 2]);
        emit("wake_p99", "ns", took[count * 99 / 100]);
    }

    private static void expect(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
    }

    private void emit(String metric, String unit, double value) {
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%d,\"unit\":\"%s\",\"value\":%.3f}%n",
                system, metric, workers, unit, value);
    }

    private double measure(Rounds rounds) throws InterruptedException {
        int k = 1;
        double took = rounds.of(1);
        while (took < budget / 4) {
            k *= 2;
            took = rounds.of(k);
        }
        double[] values = new double[took > 2 * budget ? 3 : 7];
        for (int i = 0; i < values.length; i++) {
            values[i] = rounds.of(k) / k;
        }
        Arrays.sort(values);
        return values[values.length / 2];
    }

    /** As median_of_some in ../../harness/scheduler/scheduler.hpp. */
    private double measureSome(Rounds rounds) throws InterruptedException {
        double first = rounds.of(count);
        if (first > 10 * budget) {
            return first;
        }
        double[] values = new double[7];
        int m = 0;
        for (double used = 0; m == 0 || (m < values.length && used < budget); m++) {
            values[m] = rounds.of(count);
            used += values[m];
        }
        Arrays.sort(values, 0, m);
        return values[m / 2];
    }

    private void warmUp(Rounds rounds) throws InterruptedException {
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            rounds.of(100);
        } while (System.nanoTime() < until);
    }

    private double warmed(Rounds rounds) throws InterruptedException {
        warmUp(rounds);
        return measure(rounds);
    }

    private double warmedSome(Rounds rounds) throws InterruptedException {
        warmUp(rounds);
        return measureSome(rounds);
    }

    private void timers(String workload, int live) throws InterruptedException {
        ScheduledThreadPoolExecutor timers = Timers.executor(live);
        emit(workload, "ns", warmed(k -> cancelTimers(timers, k)) / workers);
    }

    private void whenAllWarmed(String workload) throws InterruptedException {
        Scheduler few = new Scheduler(system, workers, 100, budget);
        few.warmUp(k -> few.whenAll(1));
        emit(workload, "ns", measure(this::whenAll) / count);
    }

    private void answer(String workload) throws InterruptedException, IOException {
        switch (workload) {
            case "yields": emit(workload, "ns", warmed(this::yields) / count); break;
            case "spawn_join": emit(workload, "ns", warmed(this::spawnJoin)); break;
            case "post_outside": emit(workload, "ns", warmedSome(Scheduler::postOutside) / count); break;
            case "ping_pong": emit(workload, "ns", warmedSome(this::pingPong) / count); break;
            case "when_all_10000": whenAllWarmed(workload); break;
            case "skynet": emit(workload, "ms", warmedSome(this::skynet) / 1e6); break;
            case "timer_cancel": timers(workload, 0); break;
            case "timer_cancel_1e6": timers(workload, count); break;
            case "timer_expire": emit(workload, "ns", Timers.expire(count)); break;
            case "wake": wake(); break;
            case "idle": emit(workload, "%", Timers.idle(count)); break;
            case "sleeping": emit(workload, "B", Timers.sleeping(workers)); break;
            default: throw new IllegalArgumentException(workload);
        }
    }

    /** The main thread posts the jobs from outside; for other workloads a virtual thread does all the work. */
    private static boolean isOutside(String[] arguments) {
        return List.of("post_outside", "wake", "idle", "sleeping").contains(arguments[1]);
    }

    private static void answer(String[] arguments) throws InterruptedException, IOException {
        int workers = Integer.parseInt(arguments[2]);
        int count = Integer.parseInt(arguments[5]);
        Scheduler subject = new Scheduler(arguments[0], workers, count, Double.parseDouble(arguments[4]) * 1e6);
        if (arguments[1].equals("timed_expire")) {
            subject.emit(arguments[1], "ns", Timers.timedExpire(count));
        } else if (arguments[0].equals("java-virtual-workers")) {
            subject.answer(arguments[1]);
        } else {
            Primitives.answer(arguments);
        }
    }

    /** Before any virtual thread was started: the number of carriers is read then. */
    static void run(String[] arguments) throws InterruptedException {
        String carriers = arguments[1].equals("sleeping") ? "2" : arguments[2];
        System.setProperty("jdk.virtualThreadScheduler.parallelism", carriers);
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", carriers);
        Throwable[] problem = new Throwable[1];
        Runnable body = () -> {
            try {
                answer(arguments);
            } catch (Throwable t) {
                problem[0] = t;
            }
        };
        if (isOutside(arguments)) {
            body.run();
        } else {
            Loom.start(body).join();
        }
        if (problem[0] != null) {
            problem[0].printStackTrace();
        }
        System.out.flush();
        Runtime.getRuntime().halt(problem[0] == null ? 0 : 1); // waking the sleeping threads would take too long
    }
}
