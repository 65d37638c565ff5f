package org.restbench.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.affinity.RefusingAffinity;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;

/** The strategies that move a request to threads of their own: pinned and pipeline. */
@Timeout(300)
class WorkerStrategiesTest {
    private static final int CORE = new OpenHftAffinity().coresOfProcess().length() - 1;

    private final Strategies strategies = StrategiesOf.cores(3);

    @AfterEach
    void close() {
        strategies.close();
    }

    private ExecutionStrategy strategy(String name) {
        return strategies.all().stream()
                .filter(technique -> technique.name().equals(name))
                .findFirst()
                .orElseThrow()
                .strategy();
    }

    @Test
    void pinned_runs_every_stage_on_one_lasting_thread_that_may_run_on_one_core_only() {
        String before = allowedList();
        AtomicReference<String> mask = new AtomicReference<>();
        strategy("pinned").execute(new LoopOnly((from, to) -> mask.set(allowedList())), new byte[0], new StageClock());
        assertThat(mask.get()).isEqualTo(Integer.toString(CORE));
        Observed first = new Observed(4, 2, 1);
        Observed second = new Observed(4, 2, 1);
        first.under(strategy("pinned"));
        second.under(strategy("pinned"));
        assertThat(first.threadNames()).containsExactly("pinned-1");
        assertThat(Set.copyOf(first.stages.values())).hasSize(1).isEqualTo(Set.copyOf(second.stages.values()));
        assertThat(allowedList()).as("the request's own thread is left alone").isEqualTo(before);
    }

    private static String allowedList() {
        try {
            return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                    .filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("none");
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @Test
    void pinned_fails_rather_than_runs_unpinned() {
        try (PinnedStrategy refused = new PinnedStrategy(new RefusingAffinity(), List.of(CORE))) {
            Observed observed = new Observed(4, 2, 1);
            assertThatThrownBy(() -> observed.under(refused))
                    .isInstanceOf(StrategyFault.class)
                    .hasMessageContaining("refused");
            assertThat(observed.stages).isEmpty();
        }
    }

    @Test
    void pinned_fails_once_somebody_has_moved_its_thread() {
        OpenHftAffinity real = new OpenHftAffinity();
        BitSet elsewhere = new BitSet();
        elsewhere.set(CORE + 1);
        AtomicReference<BitSet> seen = new AtomicReference<>();
        try (PinnedStrategy moved = new PinnedStrategy(new RefusingAffinity.Pretending(real, seen), List.of(CORE))) {
            assertThat(new Observed(4, 2, 1).under(moved)).containsExactly(1);
            seen.set(elsewhere);
            assertThatThrownBy(() -> new Observed(4, 2, 1).under(moved)).hasMessageContaining("lost");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pinned", "pipeline"})
    void a_worker_outlives_an_error_in_any_stage(String name) {
        Observed before = new Observed(4, 2, 1);
        before.under(strategy(name));
        for (String stage : List.of("parse", "compute", "serialize")) {
            Error error = new NoClassDefFoundError(stage);
            assertThatThrownBy(() -> strategy(name).execute(new FailingIn(stage, error), new byte[0], new StageClock()))
                    .isSameAs(error);
        }
        Observed after = new Observed(4, 2, 1);
        after.under(strategy(name));
        assertThat(after.stages).isEqualTo(before.stages);
    }

    /** A workload of which one stage throws. */
    private record FailingIn(String stage, Error error) implements Workload<String, String> {
        private void enter(String now) {
            if (now.equals(stage)) {
                throw error;
            }
        }

        @Override
        public String kind() {
            return "failing";
        }

        @Override
        public long operations(String input) {
            return 1;
        }

        @Override
        public String parse(byte[] body) {
            enter("parse");
            return "";
        }

        @Override
        public String compute(String input, ParallelLoop loop) {
            enter("compute");
            return "";
        }

        @Override
        public byte[] serialize(String output) {
            enter("serialize");
            return new byte[0];
        }

        @Override
        public RequestId identify(byte[] body) {
            return null;
        }
    }

    @Test
    void pipeline_has_a_thread_a_stage_and_keeps_it() {
        Observed first = new Observed(4, 2, 1);
        first.under(strategy("pipeline"));
        assertThat(first.stages.get("parse").getName()).isEqualTo("pipe-parse");
        assertThat(first.stages.get("compute").getName()).isEqualTo("pipe-compute");
        assertThat(first.stages.get("serialize").getName()).isEqualTo("pipe-serialize");
        Observed second = new Observed(4, 2, 1);
        second.under(strategy("pipeline"));
        assertThat(second.stages).isEqualTo(first.stages);
    }

    @Test
    void pipeline_parses_one_request_while_it_computes_another_and_finishes_far_more_than_its_queues_hold()
            throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(40);
        try {
            Observed blocked = new Observed(1, 1, 2);
            var first = CompletableFuture.supplyAsync(() -> blocked.under(strategy("pipeline")), callers);
            List<Observed> others =
                    IntStream.range(0, 30).mapToObj(i -> new Observed(1, 1, 1)).toList();
            var rest = others.stream()
                    .map(it -> CompletableFuture.supplyAsync(() -> it.under(strategy("pipeline")), callers))
                    .toList();
            while (others.stream().noneMatch(it -> it.stages.containsKey("parse")) || blocked.pieces.isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(first).isNotDone();
            blocked.release();
            assertThat(first.get()).containsExactly(1);
            for (var answer : rest) {
                assertThat(answer.get()).containsExactly(1);
            }
        } finally {
            callers.shutdown();
        }
    }

    @Test
    void who_waits_long_before_a_full_pipeline_enters_before_who_came_later() throws Exception {
        List<String> served = Collections.synchronizedList(new ArrayList<>());
        PipelineStrategy pipeline = new PipelineStrategy(1);
        CountDownLatch open = new CountDownLatch(1);
        List<Thread> callers = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) { // three in the stages or between them, the rest before it or in its queue
                String name = "caller-" + i;
                LoopOnly request = new LoopOnly((from, to) -> {
                    awaited(open);
                    served.add(name);
                });
                Thread caller = new Thread(() -> pipeline.execute(request, new byte[0], new StageClock()), name);
                callers.add(caller);
                caller.start();
                awaitWait(caller);
                Thread.sleep(300); // so that they would have tried again at different times, if they did
            }
        } finally {
            open.countDown();
            for (Thread caller : callers) {
                caller.join();
            }
            pipeline.close();
        }
        assertThat(served.stream().distinct())
                .containsExactlyElementsOf(callers.stream().map(Thread::getName).toList());
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    /** Until it waits for room, or for its answer: either lasts until the pipeline goes on. */
    private static void awaitWait(Thread caller) throws InterruptedException {
        while (Arrays.stream(caller.getStackTrace())
                .noneMatch(frame -> frame.getClassName().endsWith("ConditionObject")
                        || frame.getClassName().equals(CompletableFuture.class.getName()))) {
            Thread.sleep(1);
        }
    }

    @Test
    void closing_the_pipeline_fails_every_request_in_it_or_before_it() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(20);
        PipelineStrategy pipeline = new PipelineStrategy(2);
        try {
            Observed blocked = new Observed(1, 1, 2);
            List<CompletableFuture<byte[]>> answers = new ArrayList<>();
            answers.add(CompletableFuture.supplyAsync(() -> blocked.under(pipeline), callers));
            while (blocked.pieces.isEmpty()) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < 15; i++) {
                answers.add(CompletableFuture.supplyAsync(() -> new Observed(1, 1, 1).under(pipeline), callers));
            }
            pipeline.close();
            for (CompletableFuture<byte[]> answer : answers) {
                assertThatThrownBy(answer::get).hasCauseInstanceOf(IllegalStateException.class);
            }
        } finally {
            pipeline.close();
            callers.shutdown();
        }
    }
}
