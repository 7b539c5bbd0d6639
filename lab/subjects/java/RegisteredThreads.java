import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The systems java-start and java-registry of Deadlines: virtual threads without a number, and those of a Registry. The
 * driver is a virtual thread itself, on the one carrier.
 */
final class RegisteredThreads {
    private static final int CANCELLED_AT_A_TIME = 1000;

    private interface Rounds {
        double of(int k) throws InterruptedException;
    }

    private final Registry registry = new Registry();
    private final String system;
    private final int n;
    private final double budget;
    private final boolean silent;
    private long[] ids;
    private int[] order;
    private int asked;
    private int deadlines;

    /** Prints nothing where it only warms the virtual machine up. */
    RegisteredThreads(String system, int n, double budget, boolean silent) {
        this.system = system;
        this.n = n;
        this.budget = budget;
        this.silent = silent;
    }

    private void measure(String metric, double units, Rounds rounds) throws InterruptedException {
        int k = 1;
        rounds.of(1);
        double took = rounds.of(1);
        while (took < budget / 16) {
            k *= 2;
            took = rounds.of(k);
        }
        double[] values = new double[took > budget / 3 ? 3 : 7];
        for (int i = 0; i < values.length; i++) {
            values[i] = rounds.of(k) / k;
        }
        Arrays.sort(values);
        if (!silent) {
            System.out.printf(Locale.ROOT, "{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%d,\"unit\":\"ns\",\"value\":%.3f}%n",
                    system, metric, n, values[values.length / 2] / units);
        }
    }

    private static void expect(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
    }

    private double addSome(int k) {
        AtomicInteger ended = new AtomicInteger();
        long begin = System.nanoTime();
        for (int round = 1; round <= k; round++) {
            for (int i = 0; i < Registry.AT_A_TIME; i++) {
                if (system.equals("java-registry")) {
                    registry.spawn(ended::incrementAndGet);
                } else {
                    Loom.start(ended::incrementAndGet);
                }
            }
            while (ended.get() != round * Registry.AT_A_TIME) {
                Thread.yield();
            }
        }
        return System.nanoTime() - begin;
    }

    private void add() throws InterruptedException {
        registry.fill(n);
        System.gc();
        measure("manager_add", Registry.AT_A_TIME, this::addSome);
    }

    /** As shuffled in ../../harness/manager/manager.hpp. */
    private static int[] shuffled(int n) {
        int[] all = new int[n];
        Arrays.setAll(all, i -> i);
        long state = 42;
        for (int i = n; i > 1; i--) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int j = (int) Long.remainderUnsigned(state >>> 33, i);
            int one = all[i - 1];
            all[i - 1] = all[j];
            all[j] = one;
        }
        return all;
    }

    private int nextPlace() {
        if (asked == n) {
            asked = 0;
        }
        return order[asked++];
    }

    private double find(int k) {
        int found = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < k; i++) {
            found += registry.find(ids[nextPlace()]).isAlive() ? 1 : 0;
        }
        double ns = System.nanoTime() - begin;
        expect(found == k, "an id was not found");
        return ns;
    }

    private double moveDeadlines(int k) {
        long begin = System.nanoTime();
        for (int i = 0; i < k; i++) {
            registry.setDeadline(ids[nextPlace()], 3_600_000_000_000L + Deadlines.spread(deadlines++, 1_800_000_000_000L));
        }
        return System.nanoTime() - begin;
    }

    private double cancel(int k) throws InterruptedException {
        int[] chosen = new int[Math.min(n, CANCELLED_AT_A_TIME)];
        int before = registry.cancelled();
        double took = 0;
        for (int round = 0; round < k; round++) {
            for (int i = 0; i < chosen.length; i++) {
                chosen[i] = nextPlace();
            }
            long begin = System.nanoTime();
            for (int place : chosen) {
                registry.cancel(ids[place]);
            }
            while (registry.size() != n - chosen.length) {
                Thread.yield();
            }
            took += System.nanoTime() - begin;
            long[] others = registry.fill(chosen.length);
            for (int i = 0; i < chosen.length; i++) {
                ids[chosen[i]] = others[i];
            }
        }
        expect(registry.cancelled() == before + k * chosen.length, "a thread did not end interrupted");
        return took;
    }

    private void byId() throws InterruptedException {
        ids = registry.fill(n);
        order = shuffled(n);
        System.gc();
        measure("manager_find", 1, this::find);
        measure("manager_deadline", 1, this::moveDeadlines);
        measure("manager_cancel", Math.min(n, CANCELLED_AT_A_TIME), this::cancel);
    }

    /** Expects k replies, each of which `wanted` tells to another thread, or which it gives itself. */
    private double expectAll(int k, AtomicLong wanted) {
        long sum = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < k; i++) {
            CompletableFuture<Long> reply = new CompletableFuture<>();
            long id = registry.expect(reply);
            if (wanted != null) {
                wanted.set(id);
            } else {
                registry.complete(id, i);
            }
            sum += reply.join();
        }
        double ns = System.nanoTime() - begin;
        expect(sum == (long) k * (k - 1) / 2, "the replies were others");
        return ns;
    }

    private double handover(int k) throws InterruptedException {
        AtomicLong wanted = new AtomicLong();
        double[] took = new double[1];
        Thread expecting = Loom.start(() -> took[0] = expectAll(k, wanted));
        long last = 0;
        for (int i = 0; i < k; i++) {
            while (wanted.get() == last) {
                Thread.yield();
            }
            last = wanted.get();
            registry.complete(last, i);
            Thread.yield();
        }
        expecting.join();
        return took[0];
    }

    private void reply() throws InterruptedException {
        for (int i = 0; i < n; i++) {
            registry.expect(new CompletableFuture<>());
        }
        System.gc();
        measure("manager_reply_ready", 1, k -> expectAll(k, null));
        measure("manager_reply_handover", 1, this::handover);
    }

    void run(String workload) throws InterruptedException {
        switch (workload) {
            case "manager_add": add(); break;
            case "manager_by_id": byId(); break;
            case "manager_reply": reply(); break;
            default: throw new IllegalArgumentException(workload);
        }
        if (silent) {
            registry.close();
        }
    }
}
