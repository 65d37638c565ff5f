package org.restbench.execution;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stage's thread outlives the end of memory in its queues, and nobody waits for a request that met it. */
@Timeout(120)
class PipelineFaultTest {
    private static final OutOfMemoryError NO_MEMORY = new OutOfMemoryError("in a queue");

    /** Of which the first wait, and only that, finds no memory to do so. */
    private static final class OnceWithoutMemory extends LinkedBlockingQueue<PipelineJob<?, ?>> {
        private static final long serialVersionUID = 1;
        private boolean failed;

        private void failOnce() {
            if (!failed) {
                failed = true;
                throw NO_MEMORY;
            }
        }

        @Override
        public PipelineJob<?, ?> take() throws InterruptedException {
            failOnce();
            return super.take();
        }

        @Override
        public void put(PipelineJob<?, ?> job) throws InterruptedException {
            failOnce();
            super.put(job);
        }
    }

    private static PipelineJob<Object, Object> job() {
        return new PipelineJob<>(null, new byte[0], new StageClock());
    }

    @Test
    void a_request_that_cannot_be_handed_on_fails_with_the_cause() {
        PipelineJob<Object, Object> job = job();
        assertThrows(OutOfMemoryError.class, () -> PipelineStrategy.pass(job, step -> {}, new OnceWithoutMemory()));
        assertSame(NO_MEMORY, assertThrows(OutOfMemoryError.class, job::response));
    }

    @Test
    void a_stage_that_met_the_end_of_memory_takes_the_next_request() throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(1);
        OnceWithoutMemory in = new OnceWithoutMemory();
        PipelineStrategy pipeline = new PipelineStrategy(1);
        Thread stage = pipeline.stage("pipe-test", in, job -> taken.countDown(), null);
        stage.start();
        try {
            in.add(job());
            assertTrue(taken.await(60, TimeUnit.SECONDS), "the stage's thread is gone");
        } finally {
            stage.interrupt();
            pipeline.close();
        }
    }
}
