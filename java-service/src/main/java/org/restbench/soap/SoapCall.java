package org.restbench.soap;

import java.io.ByteArrayOutputStream;
import java.util.Map;
import java.util.concurrent.CompletionException;
import javax.xml.stream.XMLStreamException;
import org.restbench.core.Protocol.Call;
import org.restbench.core.Reply;
import org.restbench.execution.Job;
import org.restbench.execution.StageClock;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.RequestId;

/** The state of one request that CXF processes. */
final class SoapCall {
    private static final int OK = 200;

    private final Call call;
    final EnvelopeReader reader;
    final AnswerStream answer;
    private final long startedNanos = System.nanoTime();
    private Operation<?, ?> operation;
    private StageClock clock;
    private long unmarshalNanos;
    private long runNanos;
    private Throwable failure;

    /** @throws XMLStreamException where the body does not begin as XML */
    SoapCall(Call call) throws XMLStreamException {
        this.call = call;
        this.reader = EnvelopeReader.of(call.body());
        this.answer = new AnswerStream(call.memory());
    }

    /** Runs the operation of a request that has been read, under the strategy. Returns the object that JAXB writes. */
    Object run(Operation<?, ?> read) {
        operation = read;
        unmarshalNanos = System.nanoTime() - startedNanos;
        run(call.job(read.workload()));
        runNanos = System.nanoTime() - startedNanos - unmarshalNanos;
        return read.answer();
    }

    private <I, O> void run(Job<I, O> job) {
        clock = job.clock();
        try {
            call.strategy().execute(job).toCompletableFuture().join();
        } catch (CompletionException failed) {
            failure = failed.getCause();
            throw failed;
        }
    }

    /** Whether the request's XML has been read and is valid. */
    boolean isRead() {
        return operation != null;
    }

    /** The request's id; null where it has not been read, or is no valid id. */
    RequestId id() {
        return operation == null ? null : operation.id();
    }

    /** @param thrown kept unless there was a failure before: that of the strategy has priority */
    void fail(Throwable thrown) {
        if (failure == null) {
            failure = thrown;
        }
    }

    /** The failure; null where there was none. */
    Throwable failure() {
        return failure;
    }

    /** The reply, with the XML that CXF has written. */
    Reply reply() {
        byte[] xml = answer.toByteArray();
        long marshalNanos = System.nanoTime() - startedNanos - unmarshalNanos - runNanos;
        String timing = call.delayTiming() + StageClock.entry("unmarshal", unmarshalNanos) + ", "
                + clock.serverTiming(Map.of()) + ", " + StageClock.entry("marshal", marshalNanos);
        return Reply.of(OK, SoapProtocol.TEXT_XML, Map.of("Server-Timing", timing), xml);
    }

    /** Collects an answer. Its memory is part of the request's. */
    static final class AnswerStream extends ByteArrayOutputStream {
        /** Bytes per byte of the answer: the array, a larger one into which it grows, the final copy. */
        private static final long BYTES_PER_BYTE = 4;

        private static final int FIRST_BYTES = 4096;

        private final MemoryBudget.Hold memory;
        private int reserved = FIRST_BYTES;

        private AnswerStream(MemoryBudget.Hold memory) {
            super(FIRST_BYTES);
            this.memory = memory;
        }

        @Override
        public synchronized void write(int one) {
            reserve(1);
            super.write(one);
        }

        @Override
        public synchronized void write(byte[] piece, int from, int length) {
            reserve(length);
            super.write(piece, from, length);
        }

        private void reserve(int more) {
            int needed = Math.addExact(count, more);
            if (needed > reserved) {
                int capacity = (int) Math.min(Integer.MAX_VALUE, Math.max(2L * reserved, needed));
                memory.grow(BYTES_PER_BYTE * (capacity - reserved));
                reserved = capacity;
            }
        }
    }
}
