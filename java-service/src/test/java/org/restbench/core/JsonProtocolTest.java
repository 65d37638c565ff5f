package org.restbench.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.affinity.RefusingAffinity;
import org.restbench.codec.Codec;
import org.restbench.codec.Query;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.core.Protocol.Call;
import org.restbench.execution.ExecutionStrategy;
import org.restbench.execution.Job;
import org.restbench.execution.Job.WorkLimits;
import org.restbench.execution.Strategies;
import org.restbench.execution.Strategies.Technique;
import org.restbench.execution.StrategiesOf;
import org.restbench.memory.MemoryBudget;
import org.restbench.memory.MemoryBudget.MemoryRefused;
import org.restbench.workload.InvalidRequest;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.Workload;

/** What is answered where the work of a request fails, or the memory ends before, in or behind it. */
class JsonProtocolTest {
    private static final byte[] BODY = "{\"requestId\":7}".getBytes(StandardCharsets.UTF_8);
    private static final String SECRET = "nobody foresaw org.restbench.Secret";

    private enum Stage {
        DECODE,
        COMPUTE,
        ENCODE
    }

    /**
     * Fails in a stage.
     *
     * @param isBlocking whether its work is seen by others
     */
    private record Failing(boolean isBlocking, Stage stage, Throwable failure)
            implements Workload<String, String>, Codec<String, String> {
        private <T> T failIn(Stage now, T otherwise) {
            if (now == stage) {
                Failing.<RuntimeException>raise(failure);
            }
            return otherwise;
        }

        @SuppressWarnings("unchecked") // whatever it is
        private static <E extends Throwable> void raise(Throwable failure) throws E {
            throw (E) failure;
        }

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
            return failIn(Stage.DECODE, "");
        }

        @Override
        public String compute(String input, ParallelLoop loop) {
            return failIn(Stage.COMPUTE, input);
        }

        @Override
        public byte[] encode(String output) {
            return failIn(Stage.ENCODE, new byte[0]);
        }
    }

    /** 008 says that it may be sent again; a message was sent twice then. It may be sent before compute returns. */
    @ParameterizedTest
    @CsvSource({
        "true,DECODE,503,008",
        "true,COMPUTE,500,099",
        "true,ENCODE,500,099",
        "false,COMPUTE,503,008",
        "false,ENCODE,503,008"
    })
    void work_that_others_see_is_never_told_as_not_done(boolean isBlocking, Stage stage, int status, String errorCode) {
        assertAnswers(new Failing(isBlocking, stage, new OutOfMemoryError(SECRET)), status, errorCode);
    }

    static List<Throwable> faults() {
        return List.of(
                new ArithmeticException(SECRET), new NoClassDefFoundError(SECRET), new StackOverflowError(SECRET));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void a_fault_that_nobody_foresaw_is_099_and_nothing_of_it_is_told(Throwable fault) {
        assertAnswers(new Failing(false, Stage.COMPUTE, fault), 500, "099");
    }

    @Test
    void nor_is_it_where_the_stop_ends_it() {
        assertAnswers(new Failing(true, Stage.COMPUTE, new RejectedExecutionException()), 500, "099");
        assertAnswers(new Failing(false, Stage.COMPUTE, new RejectedExecutionException()), 503, "008");
    }

    @Test
    void what_a_workload_itself_says_of_its_work_is_told() {
        MemoryRefused full = MemoryRefused.never("the request", 2 << 20, 1 << 20);
        assertAnswers(new Failing(true, Stage.COMPUTE, full), 413, "010");
        assertAnswers(new Failing(true, Stage.COMPUTE, MemoryRefused.now()), 503, "008");
        InvalidRequest notDone = new InvalidRequest("014", "not done", null);
        assertAnswers(new Failing(true, Stage.COMPUTE, notDone), 503, "014");
    }

    private static void assertAnswers(Failing failing, int status, String errorCode) {
        try (Strategies strategies = StrategiesOf.cores(2)) {
            for (Technique each : strategies.all()) {
                answered(each.name(), each.strategy(), failing, status, errorCode);
            }
        }
    }

    @Test
    void nor_is_it_where_the_strategy_has_not_even_the_memory_for_a_future() {
        ExecutionStrategy serial = new ExecutionStrategy() {
            @Override
            public <I, O> CompletionStage<byte[]> execute(Job<I, O> job) {
                try (Strategies strategies = StrategiesOf.cores(1)) {
                    strategies.all().get(0).strategy().execute(job);
                }
                throw new OutOfMemoryError(SECRET);
            }
        };
        answered("serial", serial, new Failing(true, null, null), 500, "099");
    }

    @Test
    void that_a_pin_was_refused_is_told() {
        try (Strategies strategies = new Strategies(new RefusingAffinity(), List.of(0), 1, 1, 1, 1)) {
            ExecutionStrategy pinned = StrategiesOf.named("pinned", strategies);
            assertThat(answered("pinned", pinned, new Failing(false, null, null), 500, "099"))
                    .contains("\"requestId\":7", "pinned: the pin to core 0 was refused");
        }
    }

    /** @return the body of the answer, which is held against the others */
    private static String answered(
            String label, ExecutionStrategy strategy, Failing failing, int status, String errorCode) {
        JsonProtocol<String, String> protocol = new JsonProtocol<>(new CodedWorkload<>(failing, failing));
        Head head = new Head("POST", "/", null, Reply.JSON, BODY.length, Head.ALWAYS_WANTED, header -> null);
        try (MemoryBudget.Hold memory = new MemoryBudget(1000).hold(0)) {
            Call call = new Call(head, BODY, Query.NONE, memory, new WorkLimits(10, 10, 10), strategy, "");
            Reply[] reply = {null};
            Throwable thrown = // which JUnit would let end the process
                    catchThrowable(() ->
                            reply[0] = protocol.run(call).toCompletableFuture().join());
            assertThat(thrown).as(label).isNull();
            assertThat(reply[0].status()).as(label).isEqualTo(status);
            assertThat(reply[0].headers().get("Retry-After")).isEqualTo(status == 503 ? "1" : null);
            String body = new String(reply[0].body(), StandardCharsets.UTF_8);
            assertThat(body).contains("\"" + errorCode + "\"").doesNotContain("Secret");
            return body;
        }
    }
}
