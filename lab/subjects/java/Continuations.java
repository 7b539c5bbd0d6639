/** The system java-continuation of Managed. */
final class Continuations extends Managed {
    private final Loom.Continuation[] all;

    Continuations(int n) {
        super(n);
        all = new Loom.Continuation[n];
    }

    private void life(int i) {
        while (!stop) {
            count(i);
            Loom.Continuation.leave();
        }
    }

    @Override
    void create() {
        for (int i = 0; i < n; i++) {
            int number = i;
            all[i] = new Loom.Continuation(() -> life(number));
        }
    }

    @Override
    void rounds(int k) {
        for (int r = 0; r < k; r++) {
            for (int i = 0; i < n; i++) {
                all[i].resume();
            }
        }
    }

    @Override
    void finish() {
        rounds(1);
        for (Loom.Continuation each : all) {
            if (!each.done()) {
                throw new IllegalStateException("a continuation went on after its end");
            }
        }
    }
}
