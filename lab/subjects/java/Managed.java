import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/**
 * The page `managed` in Java, called as {@code Managed <system> <workload> <n> <stack bytes> <budget ms>};
 * ../../harness/managed.hpp says what its workloads are. (For virtual threads that yield, Subject has them.)
 *
 *   java-virtual-park  virtual threads on one carrier: each unparks the next one and parks
 *   java-thread        platform threads, likewise
 *   java-continuation  the continuations beneath virtual threads: their owner runs one after the other, each yields
 *
 * Before the first turn the same code runs on other coroutines, so that the compiler of the virtual machine has done its
 * work; and where memory is read, what they were is collected, and again before "live".
 */
abstract class Managed {
    static final int LINE = 8; // longs in a cache line
    static final int TURNS_BEFORE_PEAK = 10;
    private static final double WARM_UP = 8; // budgets

    final int n;
    private final long[] lines;
    private long expected;
    volatile boolean stop;

    Managed(int n) {
        this.n = n;
        this.lines = new long[(n + 2) * LINE];
    }

    /** Creates all; none has a turn yet. */
    abstract void create() throws InterruptedException;

    /** k turns of each. */
    abstract void rounds(int k);

    /** All come to their ends; `stop` says so. */
    abstract void finish() throws InterruptedException;

    final void count(int i) {
        lines[(i + 1) * LINE]++;
    }

    private double timed(int k) {
        expected += k;
        long begin = System.nanoTime();
        rounds(k);
        return System.nanoTime() - begin;
    }

    private void check() {
        for (int i = 0; i < n; i++) {
            if (lines[(i + 1) * LINE] != expected) {
                throw new IllegalStateException("number " + i + " counted " + lines[(i + 1) * LINE] + " turns, not "
                        + expected);
            }
        }
    }

    private void start() throws InterruptedException {
        create();
        check();
        timed(1);
        check();
    }

    private void end() throws InterruptedException {
        check();
        stop = true;
        finish();
    }

    /** Nanoseconds of a switch. */
    private double switches(double budget) throws InterruptedException {
        start();
        int k = 1;
        timed(1);
        double took = timed(1);
        while (took < budget / 16) {
            k *= 2;
            took = timed(k);
        }
        double[] values = new double[took > budget / 3 ? 3 : 7];
        for (int r = 0; r < values.length; r++) {
            values[r] = timed(k) / ((double) k * n);
        }
        end();
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private void memory() throws InterruptedException, IOException {
        start();
        System.gc();
        letRead("live");
        timed(TURNS_BEFORE_PEAK);
        letRead("peak");
        end();
    }

    /** Tells the driver what to read of this process now, and waits until it has. */
    static void letRead(String what) throws IOException {
        System.out.println(what);
        System.in.read();
    }

    private static Managed of(String system, int n, int stack) {
        switch (system) {
            case "java-virtual-park":
                return new Ring(n, (body, i) -> Loom.start(body));
            case "java-thread":
                return new Ring(n, (body, i) -> {
                    Thread thread = new Thread(null, body, "", stack);
                    thread.start();
                    return thread;
                });
            case "java-continuation":
                return new Continuations(n);
            default:
                throw new IllegalArgumentException(system);
        }
    }

    private static void run(String[] arguments) throws InterruptedException, IOException {
        int n = Integer.parseInt(arguments[2]);
        int stack = Integer.parseInt(arguments[3]);
        double budget = Double.parseDouble(arguments[4]) * 1e6;
        boolean memory = arguments[1].equals("memory");
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            of(arguments[0], Math.min(n, memory ? 100 : 1000), stack).switches(budget);
        } while (System.nanoTime() < until);
        if (memory) {
            System.gc();
            of(arguments[0], n, stack).memory();
        } else {
            System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"switches\",\"n\":%d,\"unit\":\"k/s\","
                    + "\"value\":%.3f}%n", arguments[0], n, 1e6 / of(arguments[0], n, stack).switches(budget));
        }
    }

    /** The driver is what its threads are, so that a round does not pass from the one kind to the other. */
    public static void main(String[] arguments) throws InterruptedException {
        Throwable[] problem = new Throwable[1];
        Runnable body = () -> {
            try {
                run(arguments);
            } catch (Throwable t) {
                problem[0] = t;
            }
        };
        if (arguments[0].equals("java-virtual-park")) {
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
