package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.client.Ways.until;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.Ways.Way;
import org.restbench.client.strategy.Strategies;

/** How many threads a strategy has, what they are called, and that they end. */
class StrategyThreadsTest {
    static Stream<Way> fifty() {
        return Ways.each();
    }

    @AfterEach
    void noThreadIsLeft() throws InterruptedException {
        until(() -> Ways.threads().isEmpty(), "the end of " + Ways.threads());
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void threadsAreThoseThatThePlanNames(Way way) throws InterruptedException {
        Map<String, Integer> expected = switch (way.name()) {
            case "task-pool" -> Map.of("call-pool", way.threads());
            case "async", "adaptive" -> Map.of("call-cpu", way.threads());
            case "pipeline" -> teams("SCDP", way);
            case "pipeline-async" -> teams("SDP", way);
            default -> Map.of();
        };
        FakeExchange service = new FakeExchange(exchange -> {});
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = way.start(strategy, service, (index, input, output) -> output)) {
            until(() -> seen().equals(new TreeMap<>(expected)), expected + ", but " + seen());
            if (!expected.isEmpty()) {
                assertThat(calls.totals().peakThreads()).isEqualTo(expected);
            }
        }
    }

    private static Map<String, Integer> teams(String stages, Way way) {
        return IntStream.range(0, stages.length())
                .boxed()
                .collect(Collectors.toMap(i -> "call-" + stages.charAt(i), way.teams()::get));
    }

    private static Map<String, Integer> seen() {
        Map<String, Integer> seen = new TreeMap<>();
        Ways.threads().forEach(name -> seen.merge(name.replaceAll("-[0-9]+$", ""), 1, Integer::sum));
        return seen;
    }

    @Test
    void wrongNumbersAreRefusedWithNameAndRange() {
        assertThatThrownBy(() -> Strategies.of("task-pool", 0, Loop.IN_ORDER))
                .hasMessage("threads: must be from 1 to 1024, is 0");
        assertThatThrownBy(() -> Strategies.of("pipeline", 3, Loop.IN_ORDER))
                .hasMessageContaining("threads: must be from 4 to 1024 for pipeline, is 3");
        Limits usual = Limits.DEFAULT;
        isRefused("inFlight: must be from 1 to 100000, is 0", () -> usual.withInFlight(0));
        isRefused(
                "queue: must be from 1 to 100000, is 100001",
                () -> new Limits(1, 100_001, usual.perCall(), null, 1, usual.retries(), false));
        Duration none = Duration.ZERO;
        isRefused("perCall: must be more than 0 and at most 1 day, is PT0S", () -> usual.withDeadlines(none, null));
        Duration tooLong = Duration.ofHours(25);
        isRefused(
                "whole: must be more than 0 and at most 1 day, is PT25H",
                () -> usual.withDeadlines(usual.perCall(), tooLong));
        isRefused("attempts: must be from 1 to 100, is 0", () -> new Retries(0, 1, false, false, 0));
        isRefused("busyAttempts: must be from 1 to 100, is 101", () -> new Retries(1, 101, false, false, 0));
        isRefused("loop threads: must be from 1 to 1024, is 0", () -> Loop.team(0));
        assertThatThrownBy(() -> Strategies.of("guess", 1, Loop.IN_ORDER)).isInstanceOf(IllegalArgumentException.class);
    }

    private static void isRefused(String said, ThrowingCallable made) {
        assertThatThrownBy(made).isInstanceOf(IllegalArgumentException.class).hasMessage(said);
    }

    /** What a batch of nine calls has used. */
    private static Calls.Totals ofNineCalls(CallingStrategy own) throws InterruptedException {
        try (CallingStrategy strategy = own;
                Calls<Integer> calls = strategy.start(
                        IntStream.range(0, 9).iterator(), Ways.job(FakeExchange.echo()), Limits.DEFAULT)) {
            calls.all();
            return calls.totals();
        }
    }

    @Test
    void theAsyncPipelineGivesFurtherThreadsWhereTheTimeGoes() throws InterruptedException {
        Map<Stage, Double> cpu = Map.of(Stage.S, 1.0, Stage.D, 3.0);
        var totals = ofNineCalls(Strategies.of("pipeline-async", 7, null, cpu, Loop.IN_ORDER));
        assertThat(totals.peakThreads()).isEqualTo(Map.of("call-S", 2, "call-D", 4, "call-P", 1));
    }

    @Test
    void callingInTurnMakesNone() throws InterruptedException {
        var totals = ofNineCalls(Strategies.of("sequential", 1, Loop.IN_ORDER));
        assertThat(totals.threadsMade()).isZero();
    }

    @Test
    void threadsAreAsManyAsCoresUnlessTheirNumberIsGiven() throws InterruptedException {
        int cores = Runtime.getRuntime().availableProcessors();
        var totals = ofNineCalls(Strategies.of("async", Loop.IN_ORDER));
        assertThat(totals.threadsMade()).isEqualTo(cores);
    }

    /** On two cores the pipelines were refused. */
    @ParameterizedTest
    @CsvSource({"pipeline, 4", "pipeline-async, 3"})
    void aPipelineHasAtLeastAThreadForEachTeam(String name, int teams) throws InterruptedException {
        int cores = Runtime.getRuntime().availableProcessors();
        var totals = ofNineCalls(Strategies.of(name, Loop.IN_ORDER));
        assertThat(totals.threadsMade()).isEqualTo(Math.max(cores, teams));
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void aThreadThatIgnoresItsInterruptIsNamed(Way way) throws InterruptedException {
        String name = switch (way.name()) {
            case "sequential" -> "taker";
            case "task-pool" -> "call-pool-[0-9]+";
            case "virtual-threads" -> "a virtual thread";
            case "async", "adaptive" -> "call-cpu-[0-9]+";
            default -> "call-P-[0-9]+";
        };
        CompletableFuture<Void> gate = new CompletableFuture<>();
        AtomicInteger inside = new AtomicInteger();
        Calls<Integer> calls = way.start(way.strategy(), FakeExchange.echo(), (index, input, output) -> {
            inside.incrementAndGet();
            gate.join(); // which no interrupt ends
            return output;
        });
        Thread taker = new Thread(() -> Ways.all(calls), "taker");
        taker.start();
        until(() -> inside.get() > 0, "P");
        try {
            assertThatThrownBy(calls::close)
                    .hasMessageMatching("ignored an interrupt for 1 s: %s(, %s)?".formatted(name, name));
        } finally {
            gate.complete(null);
        }
        calls.close();
        taker.join();
    }

    @Test
    void whoeverIgnoresItsInterruptAStrategyThatIsClosedCancelsAllBatches() throws InterruptedException {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        CallingStrategy strategy = Strategies.of("task-pool", 2, Loop.IN_ORDER);
        AtomicInteger inside = new AtomicInteger();
        Job<Integer, Integer, Integer> stubborn =
                new Job<>(new Ways.Numbers(), FakeExchange.echo(), (index, input, output) -> {
                    inside.incrementAndGet();
                    gate.join();
                    return output;
                });
        List<Calls<Integer>> waiting = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            strategy.start(IntStream.range(0, 2).iterator(), stubborn, Limits.DEFAULT);
            int begun = i;
            until(() -> inside.get() >= begun, "P");
            FakeExchange silent = new FakeExchange(exchange -> {});
            waiting.add(strategy.start(IntStream.range(0, 9).iterator(), Ways.job(silent), Limits.DEFAULT));
            until(() -> silent.holds() > 0, "a call"); // one that was never made has no outcome
        }
        try {
            assertThatThrownBy(strategy::close).hasMessageContaining("ignored an interrupt for 1 s");
            for (Calls<Integer> each : waiting) {
                assertThat(each.take()).isInstanceOf(Outcome.Cancelled.class);
            }
        } finally {
            gate.complete(null);
            strategy.close();
        }
    }
}
