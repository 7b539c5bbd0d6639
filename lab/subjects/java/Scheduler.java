import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The page `scheduler` in Java, called as {@code Subject <system> <workload> <workers> <stack bytes> <budget ms> <count>};
 * ../cpp/scheduler/scheduler.hpp says what its workloads are. There are as many carriers as workers. The other systems are
 * those of Primitives.
 *
 * Those that yield wait for one another in a latch, since who yields while it waits may starve who has not begun (see
 * Subject); so the first ones begin before the last is let go. What is timed is a quarter of the budget or
 * more, so that this matters little.
 */
final class Scheduler {
    private static final double WARM_UP = 8; // budgets

    private final int count;
    private final double budget;

    private Scheduler(int count, double budget) {
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
        if (counter.get() != k) {
            throw new IllegalStateException("not every virtual thread has run");
        }
        return ns;
    }

    private double measure(Rounds rounds) throws InterruptedException {
        int k = 1;
        double took = rounds.of(1);
        while (took < budget / 4) {
            k *= 2;
            took = rounds.of(k);
        }
        double[] values = new double[7];
        for (int i = 0; i < values.length; i++) {
            values[i] = rounds.of(k) / k;
        }
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private Rounds known(String workload) {
        switch (workload) {
            case "yields":
                return this::yields;
            case "spawn_join":
                return this::spawnJoin;
            default:
                throw new IllegalArgumentException(workload);
        }
    }

    /** Of a round. */
    private int units(String workload) {
        return workload.equals("yields") ? count : 1;
    }

    private static void answer(String[] arguments) throws InterruptedException {
        double budget = Double.parseDouble(arguments[4]) * 1e6;
        Scheduler subject = new Scheduler(Integer.parseInt(arguments[5]), budget);
        Rounds rounds = subject.known(arguments[1]);
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            rounds.of(100);
        } while (System.nanoTime() < until);
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%s,\"unit\":\"ns\",\"value\":%.3f}%n",
                arguments[0], arguments[1], arguments[2], subject.measure(rounds) / subject.units(arguments[1]));
    }

    /** Before any virtual thread was started: the number of carriers is read then. */
    static void run(String[] arguments) throws InterruptedException {
        System.setProperty("jdk.virtualThreadScheduler.parallelism", arguments[2]);
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", arguments[2]);
        Throwable[] problem = new Throwable[1];
        Loom.start(() -> {
            try {
                if (arguments[0].equals("java-virtual-workers")) {
                    answer(arguments);
                } else {
                    Primitives.answer(arguments);
                }
            } catch (Throwable t) {
                problem[0] = t;
            }
        }).join();
        if (problem[0] != null) {
            problem[0].printStackTrace();
            System.exit(1);
        }
    }
}
