package org.restbench;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.MatrixJson;
import org.restbench.codec.Workloads;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;
import org.restbench.workload.matrix.MatrixWorkload;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Workloads under the paths of the matrix, of logs and of a kernel that do what the matrix never does. */
final class TestWorkloads {
    private TestWorkloads() {}

    /** What compute does before it multiplies. */
    private static Workloads before(Runnable compute) {
        return Workloads.of(Stream.of("matrix", "logs", "npb-is", "npb-cg", "npb-mg", "npb-ft")
                .<CodedWorkload<?, ?>>map(name -> named(name, compute))
                .toList());
    }

    private static CodedWorkload<?, ?> named(String name, Runnable compute) {
        return new CodedWorkload<>(new Before<>(name, new MatrixWorkload(), compute), new MatrixJson(1000));
    }

    private record Before<I, O>(String name, Workload<I, O> workload, Runnable compute) implements Workload<I, O> {
        @Override
        public String kind(I input) {
            return workload.kind(input);
        }

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

    /** Compute fails in a way nobody foresaw. */
    @Configuration(proxyBeanMethods = false)
    static class Failing {
        @Bean
        @Primary
        Workloads failing() {
            return before(() -> {
                throw new ArithmeticException("nobody foresaw org.restbench.Secret");
            });
        }
    }

    /** Compute fails with an Error, as a machine at its end would, each time it has been told to. */
    @Configuration(proxyBeanMethods = false)
    static class Breaking {
        static final AtomicReference<Error> NEXT = new AtomicReference<>();

        @Bean
        @Primary
        Workloads breaking() {
            return before(() -> {
                Error error = NEXT.getAndSet(null);
                if (error != null) {
                    throw error;
                }
            });
        }
    }

    /** Compute tells the thread that it is on. */
    @Configuration(proxyBeanMethods = false)
    static class Watched {
        static final AtomicReference<String> THREAD = new AtomicReference<>();

        @Bean
        @Primary
        Workloads watched() {
            return before(() -> THREAD.set(Thread.currentThread().getName()));
        }
    }

    /** Compute waits until it is let through. */
    @Configuration(proxyBeanMethods = false)
    static class Gated {
        static final Semaphore ENTERED = new Semaphore(0);
        static final Semaphore LET_THROUGH = new Semaphore(0);

        @Bean
        @Primary
        Workloads gated() {
            ENTERED.drainPermits(); // of a test that failed
            LET_THROUGH.drainPermits();
            return before(() -> {
                ENTERED.release();
                LET_THROUGH.acquireUninterruptibly();
            });
        }
    }
}
