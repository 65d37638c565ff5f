package org.restbench.client.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Exchange;
import org.restbench.client.Job;
import org.restbench.client.Limits;
import org.restbench.client.Loop;
import org.restbench.client.Outcome;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.ThreadModel;

/** A batch of calls on virtual threads where one more cannot be started. */
class WorkersTest {
    /** Has nothing to do: no call comes as far. */
    private static final class Nothing implements Codec<Integer, Integer>, Exchange {
        @Override
        public byte[] encode(Integer input, Loop loop) {
            throw new AssertionError("a call went on");
        }

        @Override
        public Integer decode(Answer answer, Loop loop) {
            throw new AssertionError("a call went on");
        }

        @Override
        public CompletableFuture<Answer> start(byte[] request, Limits limits) {
            throw new AssertionError("a call went on");
        }

        @Override
        public void close() {}
    }

    /** Who took the outcomes waited for ever. */
    @Test
    void theCallThatFindsNoThreadForTheNextOneFailsAndEndsTheBatch() throws InterruptedException {
        Plan plan = new Plan(ThreadModel.VIRTUAL, Loop.IN_ORDER, new Team("virtual", 1, List.of(Stage.S)));
        Nothing nothing = new Nothing();
        Job<Integer, Integer, Integer> job = new Job<>(nothing, nothing, (index, input, output) -> output);
        OutOfMemoryError none = new OutOfMemoryError("unable to create native thread: of a test");
        try (Batch<Integer, Integer, Integer> batch =
                new Batch<>(List.of(1, 2, 3).iterator(), job, Limits.DEFAULT, plan, ended -> {})) {
            new Workers<>(batch).call(() -> {
                throw none;
            });
            assertThat(batch.take()).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                assertThat(failed.index()).isZero();
                assertThat(failed.stage()).isEqualTo(Stage.S);
                assertThat(failed.kind()).isEqualTo(Outcome.Kind.USER);
                assertThat(failed.cause()).isSameAs(none);
            });
            assertThat(batch.take()).isNull();
        }
    }
}
