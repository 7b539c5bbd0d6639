import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The page `manager` in Java, called as {@code Subject <system> <workload> <n> <stack bytes> <budget ms>};
 * ../../harness/manager/manager.hpp defines its workloads. Java has no table of threads by number.
 *
 *   java-start       virtual threads on one carrier, and no id: RegisteredThreads
 *   java-registry    the same with an id each (Registry): RegisteredThreads
 *   java-waiting     the threads of java-registry, which wait for their deadlines
 *   java-scheduled   deadlines: a ScheduledThreadPoolExecutor of one thread; no thread waits, a Runnable counts
 *   java-interrupts  a group: virtual threads on one carrier that are parked, and interrupted one by one
 *
 * Processor time is the time of all threads of the process, with the collector and the compiler. Before each
 * measurement the same work was done for some budgets; for deadlines and groups also once in full.
 */
final class Deadlines {
    private static final double WARM_UP = 8; // budgets
    private static final double WARM_UP_OF_MORE = 24; // where more code is to be compiled
    private static final int TICKS_A_SECOND = 100; // of /proc: USER_HZ

    private final int n;
    private final boolean registered;

    private Deadlines(int n, boolean registered) {
        this.n = n;
        this.registered = registered;
    }

    /** As in ../../harness/manager/manager.hpp. */
    static long spread(int i, long range) {
        return ((i * 0x9E3779B97F4A7C15L) >>> 44) * range >> 20;
    }

    private long near(int i, boolean inTurn) {
        long half = n * 500L;
        return half + (inTurn ? i * 500L : spread(i, half));
    }

    /** Its processor time, without the creation of the threads. */
    private double expireRegistered(boolean inTurn) throws InterruptedException, IOException {
        Registry registry = new Registry();
        long[] ids = registry.fill(n);
        double before = processorTime();
        for (int i = 0; i < n; i++) {
            registry.setDeadline(ids[i], near(i, inTurn));
        }
        while (registry.size() != 0) {
            Thread.sleep(1);
        }
        double took = processorTime() - before;
        if (registry.cancelled() != n) {
            throw new IllegalStateException("a thread did not end interrupted");
        }
        registry.close();
        return took;
    }

    private double expire(boolean inTurn) throws InterruptedException, IOException {
        double before = processorTime();
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
        CountDownLatch passed = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            timers.schedule(passed::countDown, near(i, inTurn), TimeUnit.NANOSECONDS);
        }
        passed.await();
        timers.shutdown();
        if (!timers.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the timers did not end");
        }
        return processorTime() - before;
    }

    /** Of all threads that there were, in ticks. */
    static double processorTime() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Double.parseDouble(fields[11]) + Double.parseDouble(fields[12])) * 1e9 / TICKS_A_SECOND;
    }

    /** One round, or as many as take a second of processor time, since it is counted in hundredths. */
    private double expireOnce(boolean inTurn) throws InterruptedException, IOException {
        return registered ? expireRegistered(inTurn) : expire(inTurn);
    }

    private double expireMeasured(boolean inTurn) throws InterruptedException, IOException {
        expireOnce(inTurn);
        System.gc();
        int rounds = 0;
        double took = 0;
        do {
            took += expireOnce(inTurn);
            rounds++;
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

    private static double measured(String system, String workload, int n, double budget)
            throws InterruptedException, IOException {
        boolean inTurn = workload.endsWith("in_turn");
        boolean registered = system.equals("java-waiting");
        Deadlines some = new Deadlines(Math.min(n, 1000), registered);
        long until = System.nanoTime() + (long) (WARM_UP * budget);
        do {
            if (workload.equals("manager_group")) {
                some.interruptAll();
            } else {
                some.expireOnce(inTurn);
            }
        } while (System.nanoTime() < until);
        Deadlines subject = new Deadlines(n, registered);
        return workload.equals("manager_group") ? subject.group(budget) : subject.expireMeasured(inTurn);
    }

    private static void answer(String[] arguments) throws InterruptedException, IOException {
        int n = Integer.parseInt(arguments[2]);
        double budget = Double.parseDouble(arguments[4]) * 1e6;
        if (List.of("manager_add", "manager_by_id", "manager_reply").contains(arguments[1])) {
            long until = System.nanoTime() + (long) (WARM_UP_OF_MORE * budget);
            do {
                new RegisteredThreads(arguments[0], Math.min(n, 1000), budget / 16, true).run(arguments[1]);
            } while (System.nanoTime() < until);
            new RegisteredThreads(arguments[0], n, budget, false).run(arguments[1]);
            return;
        }
        System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%s,\"unit\":\"ns\",\"value\":%.3f}%n",
                arguments[0], arguments[1], arguments[2], measured(arguments[0], arguments[1], n, budget));
    }

    /** The driver is a virtual thread itself, where others are asked for. */
    static void run(String[] arguments) throws InterruptedException {
        Throwable[] problem = new Throwable[1];
        Runnable body = () -> {
            try {
                answer(arguments);
            } catch (Throwable t) {
                problem[0] = t;
            }
        };
        if (arguments[0].equals("java-scheduled")) {
            body.run();
        } else {
            Loom.start(body).join();
        }
        if (problem[0] != null) {
            problem[0].printStackTrace();
        }
        System.out.flush();
        Runtime.getRuntime().halt(problem[0] == null ? 0 : 1); // waking the waiting threads would take too long
    }
}
