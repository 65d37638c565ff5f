package org.restbench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.MatrixWorkload;

/** Workloads under the paths of the matrix, of logs and of a kernel that do what the matrix never does. */
final class TestWorkloads {
    private TestWorkloads() {}

    /** @param compute what they do before they multiply: one of those below */
    static Workloads before(Runnable compute) {
        return Workloads.of(Stream.of("matrix", "logs", "npb-is", "npb-cg", "npb-mg", "npb-ft")
                .<CodedWorkload<?, ?>>map(name -> named(name, compute))
                .toList());
    }

    private static CodedWorkload<?, ?> named(String name, Runnable compute) {
        return new CodedWorkload<>(new Before<>(name, new MatrixWorkload(), compute), new MatrixJson(1000));
    }

    private record Before<I, O>(String name, Workload<I, O> workload, Runnable compute) implements Workload<I, O> {
        @Override
        public long operations(I input) {
            return workload.operations(input);
        }

        @Override
        public long workingBytes(I input) {
            return workload.workingBytes(input);
        }

        @Override
        public O compute(I input, ParallelLoop loop) {
            compute.run();
            return workload.compute(input, loop);
        }
    }

    static final Runnable FAILING = () -> {
        throw new ArithmeticException("nobody foresaw org.restbench.Secret");
    };

    /** Tells the thread that it is on. */
    static final class Watched implements Runnable {
        static final AtomicReference<String> THREAD = new AtomicReference<>();

        @Override
        public void run() {
            THREAD.set(Thread.currentThread().getName());
        }
    }

    /** Waits until it is let through. */
    static final class Gated implements Runnable {
        static final Semaphore ENTERED = new Semaphore(0);
        static final Semaphore LET_THROUGH = new Semaphore(0);

        Gated() {
            ENTERED.drainPermits(); // of a test that failed
            LET_THROUGH.drainPermits();
        }

        @Override
        public void run() {
            ENTERED.release();
            LET_THROUGH.acquireUninterruptibly();
        }
    }
}
