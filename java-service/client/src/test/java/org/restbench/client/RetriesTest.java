package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.restbench.client.Ways.until;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.client.Calls.Totals;
import org.restbench.client.Outcome.Kind;
import org.restbench.client.Ways.Way;
import org.restbench.client.strategy.Strategies;

/** What is sent again, when, and how often: on a clock of the test's. */
class RetriesTest {
    private static final Optional<String> NONE = Optional.empty();

    static Stream<Way> ways() {
        return Ways.each();
    }

    /** As of HttpURLConnection, whose status line is a header without a name. */
    @Test
    void anAnswerMayHaveAHeaderWithoutAName() {
        Map<String, List<String>> headers = new HashMap<>();
        headers.put(null, List.of("HTTP/1.1 503"));
        headers.put("retry-after", List.of("1"));
        assertThat(new Answer(503, headers, new byte[0]).header("Retry-After")).hasValue("1");
    }

    @Test
    void waitsDoubleWithJitterOrAreWhatTheServiceAsks() {
        Retries safe = Retries.SAFE;
        assertThat(safe.waitNanos(Kind.CONNECT, null, 1, NONE, 0.5)).hasValue(50_000_000);
        assertThat(safe.waitNanos(Kind.CONNECT, null, 2, NONE, 0)).hasValue(50_000_000);
        assertThat(safe.waitNanos(Kind.CONNECT, null, 2, NONE, 1)).hasValue(150_000_000);
        assertThat(safe.waitNanos(Kind.CONNECT, null, 3, NONE, 0)).isEmpty();
        assertThat(safe.waitNanos(Kind.REFUSED, "008", 9, Optional.of("1"), 0)).hasValue(1_000_000_000);
        assertThat(safe.waitNanos(Kind.REFUSED, "008", 9, Optional.of("77"), 0)).hasValue(5_000_000_000L);
        assertThat(safe.waitNanos(Kind.REFUSED, "008", 1, Optional.of("soon"), 0.5))
                .hasValue(50_000_000);
        assertThat(safe.waitNanos(Kind.REFUSED, "008", 10, NONE, 0)).isEmpty();
    }

    @Test
    void onlyWhatIsSafeOrAllowedIsRepeated() {
        for (Kind kind : Kind.values()) {
            assertThat(isRepeated(Retries.NONE, kind)).isFalse();
            assertThat(isRepeated(Retries.SAFE, kind)).isEqualTo(kind == Kind.CONNECT);
            assertThat(isRepeated(Retries.IDEMPOTENT, kind)).isEqualTo(kind == Kind.CONNECT || kind == Kind.CUT_OFF);
            assertThat(isRepeated(new Retries(3, 10, false, true, 0), kind))
                    .isEqualTo(kind == Kind.CONNECT || kind == Kind.TIMEOUT);
        }
    }

    private static boolean isRepeated(Retries retries, Kind kind) {
        OptionalLong wait = retries.waitNanos(kind, "005", 1, NONE, 0);
        return wait.isPresent();
    }

    /** A batch that has ended. */
    private record Ended(List<Outcome<Integer>> outcomes, Totals totals) {}

    /** Runs a batch to its end while its clock goes from one moment that is waited for to the next. */
    private static Ended run(Way way, FakeClock clock, FakeExchange service, Retries retries) throws Exception {
        try (CallingStrategy strategy = way.strategy(clock);
                Calls<Integer> calls = strategy.start(
                        way.inputs(),
                        Ways.job(service),
                        way.limits().withRetries(retries).withDeadlines(Duration.ofHours(1), null))) {
            CompletableFuture<List<Outcome<Integer>>> all = CompletableFuture.supplyAsync(() -> Ways.all(calls));
            until(
                    () -> {
                        clock.step(50_000_000);
                        return all.isDone();
                    },
                    "the end of the batch");
            return new Ended(all.get(), calls.totals());
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aCallIsSentAgainAfterItsWaitAndAsOftenAsAllowed(Way way) throws Exception {
        FakeClock clock = new FakeClock();
        Map<String, List<Long>> sent = new HashMap<>();
        FakeExchange service = new FakeExchange(exchange -> {
            String message = exchange.message(0);
            List<Long> moments = sent.computeIfAbsent(message, any -> new ArrayList<>());
            moments.add(clock.nanos());
            int number = Integer.parseInt(message);
            if (number % 5 == 0) {
                exchange.fail(0, new ConnectException("of a test"));
            } else if (number % 5 == 1 && moments.size() < 5) {
                exchange.refuse(0, "008");
            } else if (number % 5 == 2) {
                exchange.refuse(0, "005");
            } else if (number % 5 == 3) {
                exchange.fail(0, new TimeoutException("of a test"));
            } else {
                exchange.release(0);
            }
        });
        Ended ended = run(way, clock, service, Retries.SAFE);
        for (Outcome<Integer> outcome : ended.outcomes()) {
            int attempts = List.of(3, 5, 1, 1, 1).get((int) outcome.index() % 5);
            assertThat(outcome.attempts()).as("%s", outcome).isEqualTo(attempts);
            assertThat(outcome instanceof Outcome.Done).isEqualTo(outcome.index() % 5 == 1 || outcome.index() % 5 == 4);
            List<Long> moments = sent.get(String.valueOf(outcome.index()));
            assertThat(moments).hasSize(attempts);
            for (int i = 1; i < attempts; i++) {
                assertThat(moments.get(i) - moments.get(i - 1)).isGreaterThanOrEqualTo(25_000_000L << (i - 1));
            }
        }
        assertThat(ended.totals().retries()).isEqualTo(10 * (2 + 4));
        assertThat(ended.totals().attempts()).isEqualTo(10 * (3 + 5 + 1 + 1 + 1));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aCallIsSentAgainWhenTheRetryAfterOfItsAnswerIsOver(Way way) throws Exception {
        Way few = new Way(way.name(), way.threads(), way.teams(), 3, way.limits(), 1);
        FakeClock clock = new FakeClock();
        Map<String, List<Long>> sent = new HashMap<>();
        FakeExchange service = new FakeExchange(exchange -> {
            List<Long> moments = sent.computeIfAbsent(exchange.message(0), any -> new ArrayList<>());
            moments.add(clock.nanos());
            if (moments.size() == 1) {
                exchange.refuse(0, "008", "2");
            } else {
                exchange.release(0);
            }
        });
        assertThat(run(few, clock, service, Retries.SAFE).outcomes())
                .hasSize(3)
                .allMatch(Outcome.Done.class::isInstance);
        assertThat(sent.values()).hasSize(3).allSatisfy(moments -> {
            assertThat(moments).hasSize(2);
            assertThat(moments.get(1) - moments.get(0)).isGreaterThanOrEqualTo(2_000_000_000L);
        });
    }

    /** What S and P threw was taken for the service's word, and causes that go round in a circle had no end. */
    @ParameterizedTest
    @MethodSource("ways")
    void whatTheCallersCodeThrowsIsNeitherTheServicesNorRepeated(Way way) throws Exception {
        IllegalStateException circle = new IllegalStateException("of a test");
        circle.initCause(new IllegalStateException(circle));
        FakeExchange service = new FakeExchange(exchange -> {
            if (Integer.parseInt(exchange.message(0)) % 3 == 1) {
                exchange.fail(0, circle);
            } else {
                exchange.release(0);
            }
        });
        Codec<Integer, Integer> codec = new Ways.Numbers() {
            @Override
            public byte[] encode(Integer input, Loop loop) {
                if (input % 3 == 0) {
                    throw new MalformedAnswer("of a test", null);
                }
                return super.encode(input, loop);
            }
        };
        Job.Processor<Integer, Integer, Integer> refusing = (index, input, output) -> {
            throw new ServiceRefused(503, ServiceRefused.BUSY, "of a test", null);
        };
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = strategy.start(
                        way.inputs(),
                        new Job<>(codec, service, refusing),
                        way.limits().withRetries(Retries.SAFE))) {
            assertThat(calls.all()).hasSize(50).allSatisfy(outcome -> {
                Outcome.Failed<Integer> failed = (Outcome.Failed<Integer>) outcome;
                int which = (int) failed.index() % 3;
                assertThat(failed.stage())
                        .isEqualTo(List.of(Stage.S, Stage.C, Stage.P).get(which));
                assertThat(failed.kind()).isEqualTo(Kind.USER);
                assertThat(failed.attempts()).isEqualTo(which == 0 ? 0 : 1);
                assertThat(failed.errorCode()).isNull();
            });
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void whatMayDoWorkTwiceHasABudgetAndNeedsLeave(Way way) throws Exception {
        for (Retries retries : List.of(Retries.SAFE, Retries.IDEMPOTENT)) {
            FakeExchange service = new FakeExchange(exchange -> exchange.fail(0, new IOException("of a test")));
            List<Outcome<Integer>> all =
                    run(way, new FakeClock(), service, retries).outcomes();
            assertThat(all).hasSize(50).allMatch(outcome -> outcome instanceof Outcome.Failed);
            int repeats = service.sent().size() - 50;
            if (retries.idempotent()) {
                assertThat(repeats).isBetween(10, 50 / 10 + 10);
            } else {
                assertThat(repeats).isZero();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aServiceThatIsAtItsLimitIsGotThrough(Way small) throws Exception {
        Way way = new Way(
                small.name(),
                30,
                small.teams() == null
                        ? null
                        : small.name().equals("pipeline") ? List.of(1, 30, 1, 1) : List.of(1, 1, 1),
                100,
                Limits.DEFAULT,
                1);
        FakeClock clock = new FakeClock();
        FakeExchange service = new FakeExchange(exchange -> {
            if (exchange.holds() > 20) {
                exchange.refuse(exchange.holds() - 1, "008");
            } else {
                clock.after(10_000_000, () -> exchange.releaseFirst());
            }
        });
        List<Outcome<Integer>> all = run(way, clock, service, Retries.SAFE).outcomes();
        assertThat(all).hasSize(100).allMatch(outcome -> outcome instanceof Outcome.Done);
        assertThat(IntStream.range(0, 100).mapToObj(String::valueOf)).allMatch(service.sent()::contains);
        if (way.name().equals("adaptive")) {
            assertThat(service.sent().size()).isLessThanOrEqualTo(150);
        }
    }

    /** N = 100 of 300 ms; the service takes 20 at a time. */
    @Test
    void adaptiveIsSeldomRefusedAfterItsFirstSecond() throws Exception {
        Way way = new Way("adaptive", 2, null, 100, Limits.DEFAULT, 1);
        FakeClock clock = new FakeClock();
        AtomicInteger sent = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        FakeExchange service = new FakeExchange(exchange -> {
            boolean isFull = exchange.holds() > 20;
            if (clock.nanos() > 1_000_000_000L) {
                sent.incrementAndGet();
                refused.addAndGet(isFull ? 1 : 0);
            }
            if (isFull) {
                exchange.refuse(exchange.holds() - 1, "008");
            } else {
                clock.after(300_000_000, exchange::releaseFirst);
            }
        });
        assertThat(run(way, clock, service, Retries.SAFE).outcomes())
                .hasSize(100)
                .allMatch(Outcome.Done.class::isInstance);
        assertThat(sent.get()).isPositive();
        assertThat(refused.get()).isLessThanOrEqualTo(sent.get() / 5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"async", "adaptive", "pipeline-async", "pipeline"})
    void aCallThatWaitsToBeSentAgainHoldsNoThreadAndNoPlaceInFlight(String name) throws Exception {
        FakeExchange service = new FakeExchange(exchange -> {
            if (exchange.message(0).equals("0")) {
                exchange.refuse(0, "008");
            } else {
                exchange.release(0);
            }
        });
        CallingStrategy real = Strategies.of(name, name.startsWith("pipeline") ? 4 : 1, Loop.IN_ORDER);
        try (CallingStrategy strategy = Strategies.withClock(real, new FakeClock());
                Calls<Integer> calls = strategy.start(
                        IntStream.range(0, 10).iterator(),
                        Ways.job(service),
                        Limits.DEFAULT.withInFlight(1).withRetries(Retries.SAFE))) {
            for (int i = 1; i < 10; i++) {
                assertThat(calls.take()).isInstanceOf(Outcome.Done.class);
            }
            calls.cancel();
            assertThat(calls.take()).isInstanceOf(Outcome.Cancelled.class);
            assertThat(calls.take()).isNull();
        }
    }

    /** A timer would keep the batch in memory until it is due. */
    @ParameterizedTest
    @ValueSource(strings = {"async", "pipeline-async", "pipeline", "task-pool"})
    void aBatchThatIsClosedLeavesNoTimer(String name) throws Exception {
        FakeClock clock = new FakeClock();
        FakeExchange busy = new FakeExchange(exchange -> exchange.refuse(0, "008"));
        try (CallingStrategy strategy = Strategies.withClock(Strategies.of(name, 4, Loop.IN_ORDER), clock);
                Calls<Integer> calls = strategy.start(
                        IntStream.range(0, 10).iterator(),
                        Ways.job(busy),
                        Limits.DEFAULT
                                .withDeadlines(Duration.ofSeconds(9), Duration.ofHours(1))
                                .withRetries(Retries.SAFE))) {
            until(() -> calls.totals().retries() > 0, "a call that waits");
        }
        assertThat(clock.isIdle()).isTrue();
    }

    /** One call at a time is with a service that takes 100 ms, while the others wait for their turn. */
    @ParameterizedTest
    @MethodSource("ways")
    void timeInABufferIsNotTheServices(Way way) throws Exception {
        long takes = 100_000_000;
        FakeClock clock = new FakeClock();
        FakeExchange service = new FakeExchange(exchange -> clock.after(takes, exchange::releaseFirst));
        try (CallingStrategy strategy = way.strategy(clock);
                Calls<Integer> calls = strategy.start(
                        IntStream.range(0, 5).iterator(),
                        Ways.job(service),
                        way.limits().withInFlight(1))) {
            CompletableFuture<Void> passing = CompletableFuture.runAsync(() -> {
                while (service.answered() < 5) {
                    if (service.holds() > 0) {
                        clock.step(takes);
                    }
                    Thread.onSpinWait();
                }
            });
            List<Outcome<Integer>> all = calls.all();
            passing.get();
            assertThat(all).hasSize(5);
            for (Outcome<Integer> outcome : all) {
                assertThat(outcome.times().c()).isEqualTo(takes);
                assertThat(outcome.times().answered() - outcome.times().sent()).isEqualTo(takes);
            }
            assertThat(calls.totals().elapsedSeconds()).isEqualTo(0.5);
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void theWholeBatchEndsAtItsDeadline(Way way) throws Exception {
        FakeClock clock = new FakeClock();
        AtomicInteger processed = new AtomicInteger();
        FakeExchange service = new FakeExchange(exchange -> exchange.releaseIf(exchange.answered() < 10));
        try (CallingStrategy strategy = way.strategy(clock);
                Calls<Integer> calls = strategy.start(
                        way.inputs(),
                        new Job<>(new Ways.Numbers(), service, (index, input, output) -> processed.incrementAndGet()),
                        way.limits().withDeadlines(way.limits().perCall(), Duration.ofSeconds(5)))) {
            CompletableFuture<Void> passing = CompletableFuture.runAsync(() -> {
                while (processed.get() < 10 || service.holds() == 0) {
                    Thread.onSpinWait();
                }
                while (clock.nanos() < 5_000_000_000L) {
                    clock.step(100_000_000);
                }
            });
            List<Outcome<Integer>> all = calls.all();
            passing.get();
            assertThat(all.stream().filter(Outcome.Done.class::isInstance)).hasSize(10);
            assertThat(all.stream().filter(Outcome.Cancelled.class::isInstance))
                    .isNotEmpty()
                    .hasSize(all.size() - 10);
            until(() -> service.holds() == 0, "the end of the connections");
        }
    }
}
