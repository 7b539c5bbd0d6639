import java.util.Arrays;

/** The system java-synchronized of Primitives: the lock that every object of Java has, and its one condition. */
final class MonitorPrimitives {
    private MonitorPrimitives() {}

    private static final class Guarded {
        final long[] apart = new long[32];
        long counter;
    }

    private static boolean mutexFree(int workers, int k) throws InterruptedException {
        Guarded[] all = new Guarded[workers];
        Arrays.setAll(all, i -> new Guarded());
        Primitives.inThreads(workers, i -> {
            Guarded mine = all[i];
            for (int j = 0; j < k / workers; j++) {
                synchronized (mine) {
                    mine.counter++;
                }
            }
        });
        return Arrays.stream(all).mapToLong(one -> one.counter).sum() == k;
    }

    private static boolean oneMutex(int count, int k, boolean yields) throws InterruptedException {
        Guarded shared = new Guarded();
        Primitives.inThreads(count, i -> {
            for (int j = 0; j < k / count; j++) {
                synchronized (shared) {
                    shared.counter++;
                    if (yields) {
                        Thread.yield();
                    }
                }
            }
        });
        return shared.counter == k;
    }

    private static boolean monitorFree(int k) throws InterruptedException {
        Guarded mine = new Guarded();
        Primitives.inThreads(1, me -> {
            for (int i = 0; i < k; i++) {
                synchronized (mine) {
                    enteredAgain(mine);
                }
            }
        });
        return mine.counter == k;
    }

    private static boolean monitorContended(int count, int k) throws InterruptedException {
        Guarded shared = new Guarded();
        Primitives.inThreads(count, me -> {
            for (int i = 0; i < k / count; i++) {
                synchronized (shared) {
                    enteredAgain(shared);
                    Thread.yield();
                }
            }
        });
        return shared.counter == k;
    }

    private static void enteredAgain(Guarded mine) {
        synchronized (mine) {
            mine.counter++;
        }
    }

    private static boolean giveTurns(int k) throws InterruptedException {
        int[] turn = new int[2]; // and how many there were
        Primitives.inThreads(2, me -> {
            synchronized (turn) {
                for (int i = 0; i < k / 2; i++) {
                    while (turn[0] != me) {
                        turn.wait();
                    }
                    turn[1]++;
                    turn[0] = 1 - me;
                    turn.notify();
                }
            }
        });
        return turn[1] == k;
    }

    static Primitives.Units known(String workload, int workers, int count) {
        switch (workload) {
            case "mutex_free": return k -> mutexFree(workers, k);
            case "mutex_contended": return k -> oneMutex(count, k, true);
            case "mutex_parallel": return k -> oneMutex(count, k, false);
            case "monitor_free": return MonitorPrimitives::monitorFree;
            case "monitor_contended": return k -> monitorContended(count, k);
            case "monitor_ping_pong": return MonitorPrimitives::giveTurns;
            default: throw new IllegalArgumentException(workload);
        }
    }
}
