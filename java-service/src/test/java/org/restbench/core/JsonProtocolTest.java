package org.restbench.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.codec.Codec;
import org.restbench.codec.CodedWorkload;
import org.restbench.codec.Query;
import org.restbench.execution.Strategies;
import org.restbench.execution.StrategiesOf;
import org.restbench.execution.Technique;
import org.restbench.execution.WorkLimits;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** What is answered where the memory ends before or behind the work of a request. */
class JsonProtocolTest {
    private static final byte[] BODY = "{\"requestId\":7}".getBytes(StandardCharsets.UTF_8);

    /**
     * Has no memory to work in, or none for its answer.
     *
     * @param isBlocking whether its work is seen by others
     */
    private record Exhausting(boolean isBlocking, boolean worksBefore)
            implements Workload<String, String>, Codec<String, String> {
        @Override
        public String name() {
            return "exhausting";
        }

        @Override
        public long operations(String input) {
            return 1;
        }

        @Override
        public long workingBytes(String input) {
            return 0;
        }

        @Override
        public String decode(byte[] body, Query query, MemoryBudget.Hold memory) {
            return "";
        }

        @Override
        public String compute(String input, ParallelLoop loop) {
            if (!worksBefore) {
                throw new OutOfMemoryError("of a test");
            }
            return input;
        }

        @Override
        public byte[] encode(String output) {
            throw new OutOfMemoryError("of a test");
        }
    }

    /** 008 says that it may be sent again; a message was sent twice then. */
    @ParameterizedTest
    @CsvSource({"true,false,503,008", "true,true,500,099", "false,true,503,008"})
    void work_that_others_see_is_never_told_as_not_done(
            boolean isBlocking, boolean worksBefore, int status, String errorCode) {
        Exhausting exhausting = new Exhausting(isBlocking, worksBefore);
        JsonProtocol<String, String> protocol = new JsonProtocol<>(new CodedWorkload<>(exhausting, exhausting));
        Head head = new Head("POST", "/", null, Reply.JSON, BODY.length, Head.ALWAYS_WANTED);
        WorkLimits limits = new WorkLimits(10, 10, 10);
        try (Strategies strategies = StrategiesOf.cores(2);
                MemoryBudget.Hold memory = new MemoryBudget(1000).hold(0)) {
            for (Technique each : strategies.all()) {
                Call call = new Call(head, BODY, Query.NONE, memory, limits, each.strategy(), "");
                Reply reply = protocol.run(call).toCompletableFuture().join();
                assertThat(reply.status()).as(each.name()).isEqualTo(status);
                assertThat(new String(reply.body(), StandardCharsets.UTF_8)).contains("\"" + errorCode + "\"");
            }
        }
    }
}
