import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/** The systems java-virtual-park and java-thread of Managed: whose turn it is unparks the next one, and parks. */
final class Ring extends Managed {
    interface Starter {
        Thread start(Runnable body, int i);
    }

    private static final VarHandle TURN = turnHandle();

    private final Starter starter;
    private final Thread[] threads; // and, behind them, the driver
    private int turn;
    private int left;

    Ring(int n, Starter starter) {
        super(n);
        this.starter = starter;
        this.threads = new Thread[n + 1];
        this.turn = n;
    }

    private static VarHandle turnHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(Ring.class, "turn", int.class);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private void await(int i) {
        while ((int) TURN.getAcquire(this) != i) {
            LockSupport.park();
        }
    }

    private void give(int i) {
        TURN.setRelease(this, i);
        LockSupport.unpark(threads[i]);
    }

    private void giveAfter(int i) {
        give(i + 1 < n ? i + 1 : --left > 0 ? 0 : n);
    }

    private void life(int i) {
        for (await(i); !stop; await(i)) {
            count(i);
            giveAfter(i);
        }
        giveAfter(i);
    }

    @Override
    void create() {
        threads[n] = Thread.currentThread();
        for (int i = 0; i < n; i++) {
            int number = i;
            threads[i] = starter.start(() -> life(number), i);
        }
    }

    @Override
    void rounds(int k) {
        left = k;
        give(0);
        await(n);
    }

    @Override
    void finish() throws InterruptedException {
        rounds(1);
        for (int i = 0; i < n; i++) {
            threads[i].join();
        }
    }
}
