import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What a compiler of Java 17 does not know, so that one will do where only the virtual machine is newer: virtual threads
 * and the continuations beneath them. Each handle is a constant, so the virtual machine's compiler calls what it stands
 * for directly. The class of continuations is internal: --add-exports java.base/jdk.internal.vm=ALL-UNNAMED.
 */
final class Loom {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodHandle START = startVirtualThread();

    private Loom() {}

    static Thread start(Runnable body) {
        try {
            return (Thread) START.invokeExact(body);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private static MethodHandle startVirtualThread() {
        try {
            return LOOKUP.findStatic(Thread.class, "startVirtualThread",
                    MethodType.methodType(Thread.class, Runnable.class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("virtual threads need Java 21 or newer", e);
        }
    }

    /** A jdk.internal.vm.Continuation; all have one scope. */
    static final class Continuation {
        private static final Class<?> SCOPE_TYPE = type("jdk.internal.vm.ContinuationScope");
        private static final Class<?> TYPE = type("jdk.internal.vm.Continuation");
        private static final Object SCOPE = scope();
        private static final MethodHandle MAKE = make();
        private static final MethodHandle RUN = run();
        private static final MethodHandle YIELD = yieldOfScope();
        private static final MethodHandle IS_DONE = isDone();

        private final Object inner;

        Continuation(Runnable body) {
            try {
                inner = (Object) MAKE.invokeExact(body);
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        /** Runs the body until it yields or ends. */
        void resume() {
            try {
                RUN.invokeExact(inner);
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        boolean done() {
            try {
                return (boolean) IS_DONE.invokeExact(inner);
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        /** Leaves the continuation that is running. */
        static void leave() {
            try {
                YIELD.invokeExact();
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        private static Class<?> type(String name) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException("continuations need Java 21 or newer", e);
            }
        }

        private static Object scope() {
            try {
                return SCOPE_TYPE.getConstructor(String.class).newInstance("lab");
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static MethodHandle make() {
            try {
                MethodHandle constructor = LOOKUP.findConstructor(TYPE,
                        MethodType.methodType(void.class, SCOPE_TYPE, Runnable.class));
                return constructor.bindTo(SCOPE).asType(MethodType.methodType(Object.class, Runnable.class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static MethodHandle run() {
            return method("run", void.class).asType(MethodType.methodType(void.class, Object.class));
        }

        private static MethodHandle isDone() {
            return method("isDone", boolean.class).asType(MethodType.methodType(boolean.class, Object.class));
        }

        private static MethodHandle method(String name, Class<?> result) {
            try {
                return LOOKUP.findVirtual(TYPE, name, MethodType.methodType(result));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        private static MethodHandle yieldOfScope() {
            try {
                MethodHandle leave = LOOKUP.findStatic(TYPE, "yield", MethodType.methodType(boolean.class, SCOPE_TYPE));
                return leave.bindTo(SCOPE).asType(MethodType.methodType(void.class));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
