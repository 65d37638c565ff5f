package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.client.Ways.until;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.restbench.client.Ways.Way;
import org.restbench.client.strategy.Strategies;

/** What holds of every strategy, for random numbers of calls, threads, places and queues. */
class StrategiesTest {
    static Stream<Way> ways() {
        return Ways.random(12, 1);
    }

    static Stream<Way> fifty() {
        return Ways.each();
    }

    @AfterEach
    void noThreadIsLeft() throws InterruptedException {
        until(() -> Ways.threads().isEmpty(), "the end of " + Ways.threads());
    }

    private static List<Object> results(List<Outcome<Integer>> outcomes) {
        List<Object> results = new ArrayList<>();
        for (Outcome<Integer> outcome : outcomes) {
            results.add(outcome.index() + ":" + outcome.attempts() + ":" + ended(outcome));
        }
        return results;
    }

    private static String ended(Outcome<Integer> outcome) {
        if (outcome instanceof Outcome.Done<Integer> done) {
            return "done " + done.result();
        } else if (outcome instanceof Outcome.Failed<Integer> failed) {
            return failed.stage() + " " + failed.kind();
        }
        return "cancelled";
    }

    /** Fails by what a message's number says. */
    private static final class Faults extends Ways.Numbers {
        static String expected(int index) {
            return switch (Math.floorMod(index * 7, 10)) {
                case 0 -> "S USER";
                case 1 -> "C CUT_OFF";
                case 2 -> "C USER";
                case 3 -> "D REFUSED";
                case 4 -> "D MALFORMED";
                case 5 -> "D USER";
                case 6 -> "P USER";
                default -> "done " + index;
            };
        }

        @Override
        public byte[] encode(Integer input, Loop loop) {
            if (expected(input).equals("S USER")) {
                throw new OutOfMemoryError("of a test");
            }
            return super.encode(input, loop);
        }

        @Override
        public Integer decode(Answer answer, Loop loop) throws ServiceRefused {
            int number = super.decode(answer, loop);
            if (expected(number).equals("D USER")) {
                throw new IllegalStateException("of a test");
            }
            return number;
        }

        static int process(long index, int input, int output) throws Exception {
            if (expected(input).equals("P USER")) {
                if (index % 2 == 0) {
                    throw new Exception("of a test");
                }
                throw new StackOverflowError("of a test");
            }
            return output;
        }

        static FakeExchange exchange() {
            return new FakeExchange(exchange -> {
                int number = Integer.parseInt(exchange.message(0));
                switch (expected(number)) {
                    case "C CUT_OFF" -> exchange.fail(0, new IOException("of a test"));
                    case "C USER" -> exchange.blowUp(0);
                    case "D REFUSED" -> exchange.refuse(0, "005");
                    case "D MALFORMED" -> exchange.garble(0);
                    default -> exchange.release(0);
                }
            });
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void outcomesAreThoseOfSequentialAndExactlyTheFaultyCallsFailed(Way way) throws InterruptedException {
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = strategy.start(
                        way.inputs(), new Job<>(new Faults(), Faults.exchange(), Faults::process), way.limits())) {
            List<Object> expected = new ArrayList<>();
            for (int i = 0; i < way.calls(); i++) {
                String ended = Faults.expected(i);
                expected.add(i + ":" + (ended.equals("S USER") ? 0 : 1) + ":" + ended);
            }
            assertThat(results(calls.all())).isEqualTo(expected);
            assertThat(calls.take()).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void theCodecRunsTheLoopThatTheStrategyWasGiven(Way way) throws InterruptedException {
        Loop own = (count, body) -> Loop.IN_ORDER.forEach(count, body);
        Set<Loop> given = ConcurrentHashMap.newKeySet();
        Codec<Integer, Integer> codec = new Ways.Numbers() {
            @Override
            public byte[] encode(Integer input, Loop loop) {
                given.add(loop);
                return super.encode(input, loop);
            }

            @Override
            public Integer decode(Answer answer, Loop loop) throws ServiceRefused {
                given.add(loop);
                return super.decode(answer, loop);
            }
        };
        Job<Integer, Integer, Integer> job = new Job<>(codec, FakeExchange.echo(), (index, input, output) -> output);
        try (CallingStrategy strategy = Strategies.of(way.name(), way.threads(), way.teams(), Map.of(), own);
                Calls<Integer> calls = strategy.start(way.inputs(), job, way.limits())) {
            assertThat(calls.all()).hasSize(50);
        }
        assertThat(given).containsExactly(own);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void asManyCallsAsThePlanSaysAreWithTheService(Way way) throws InterruptedException {
        int most = way.surelyInExchange();
        FakeExchange service = new FakeExchange(exchange -> {
            int left = way.calls() - exchange.answered();
            if (exchange.holds() >= Math.min(left, most)) {
                while (exchange.holds() > 0 && exchange.holds() >= Math.min(way.calls() - exchange.answered(), most)) {
                    exchange.release(0);
                }
            }
        });
        try (CallingStrategy strategy = way.strategy(new FakeClock());
                Calls<Integer> calls = way.start(strategy, service, (index, input, output) -> output)) {
            assertThat(calls.all()).hasSize(way.calls());
            assertThat(service.peak()).isLessThanOrEqualTo(way.inExchange());
            assertThat(calls.totals().peakInFlight()).isLessThanOrEqualTo(way.inExchange());
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void theOrderOfTheAnswersDoesNotMatter(Way way) throws InterruptedException {
        Random random = new Random(way.seed());
        boolean reverse = random.nextBoolean();
        int batch = way.surelyInExchange();
        FakeExchange service = new FakeExchange(exchange -> {
            int left = way.calls() - exchange.answered();
            if (exchange.holds() >= Math.min(left, batch)) {
                while (exchange.holds() > 0) {
                    exchange.release(reverse ? exchange.holds() - 1 : random.nextInt(exchange.holds()));
                }
            }
        });
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = way.start(strategy, service, (index, input, output) -> output)) {
            List<Long> taken = new ArrayList<>();
            for (Outcome<Integer> next = calls.take(); next != null; next = calls.take()) {
                assertThat(next).isInstanceOf(Outcome.Done.class);
                assertThat(((Outcome.Done<Integer>) next).result()).isEqualTo((int) next.index());
                taken.add(next.index());
            }
            List<Long> inOrder = new ArrayList<>(taken);
            Collections.sort(inOrder);
            assertThat(inOrder)
                    .isEqualTo(IntStream.range(0, way.calls())
                            .mapToObj(i -> (long) i)
                            .toList());
            if (way.limits().ordered()) {
                assertThat(taken).isEqualTo(inOrder);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void afterACancelAtAnyMomentEachInputThatWasPulledHasAnOutcome(Way way) throws InterruptedException {
        Random random = new Random(way.seed());
        int at = random.nextInt(way.calls() + 1);
        AtomicInteger pulled = new AtomicInteger();
        Iterator<Integer> inputs = IntStream.range(0, way.calls())
                .peek(i -> pulled.incrementAndGet())
                .iterator();
        FakeExchange service = new FakeExchange(exchange -> {
            if (random.nextInt(3) > 0) {
                exchange.release(random.nextInt(exchange.holds()));
            }
        });
        CallingStrategy strategy = way.strategy();
        CompletableFuture<Calls<Integer>> own = new CompletableFuture<>();
        Calls<Integer> calls = strategy.start(
                inputs,
                new Job<>(new Ways.Numbers(), service, (index, input, output) -> {
                    if (index == at) {
                        own.join().cancel(); // from P
                    }
                    return output;
                }),
                way.limits());
        own.complete(calls);
        if (random.nextBoolean()) {
            CompletableFuture.runAsync(calls::cancel, CompletableFuture.delayedExecutor(2, TimeUnit.MILLISECONDS));
        } else {
            CompletableFuture.runAsync(calls::close, CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS));
        }
        List<Outcome<Integer>> all = calls.all();
        calls.close();
        strategy.close();
        assertThat(all.stream().map(Outcome::index))
                .isEqualTo(
                        IntStream.range(0, pulled.get()).mapToObj(i -> (long) i).toList());
        assertThat(all).allMatch(outcome -> !(outcome instanceof Outcome.Failed));
        until(() -> service.holds() == 0, "the end of the connections");
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void closingWithoutReadingEndsAllThreadsAndConnections(Way way) throws InterruptedException {
        FakeExchange service = new FakeExchange(exchange -> {});
        try (CallingStrategy strategy = way.strategy()) {
            way.start(strategy, service, (index, input, output) -> output);
            if (!way.name().equals("sequential")) {
                until(() -> service.holds() > 0, "a call in flight");
            }
        }
        until(() -> service.holds() == 0, "the end of the connections");
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void aFailingIteratorEndsTheBatchAfterWhatItGave(Way way) throws InterruptedException {
        for (Throwable failure : List.of(new IllegalStateException(), new AssertionError(), new IOException())) {
            try (CallingStrategy strategy = way.strategy();
                    Calls<Integer> calls =
                            strategy.start(failing(failure), Ways.job(FakeExchange.echo()), way.limits())) {
                for (int i = 0; i < 20; i++) {
                    assertThat(calls.take()).isInstanceOf(Outcome.Done.class);
                }
                assertThatThrownBy(calls::take).isSameAs(failure);
                assertThat(calls.take()).isNull();
            }
        }
    }

    /** Gives 20 numbers. */
    private static Iterator<Integer> failing(Throwable failure) {
        return IntStream.range(0, 50)
                .map(i -> i == 20 ? StrategiesTest.<Integer, Error>fail(failure) : i)
                .iterator();
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void allThatAnExceptionEndedReturnsWhatItHadTakenWhenItIsCalledAgain(Way way) throws InterruptedException {
        IOException failure = new IOException("of a test");
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = strategy.start(failing(failure), Ways.job(FakeExchange.echo()), way.limits())) {
            assertThatThrownBy(calls::all).isSameAs(failure);
            assertThat(calls.all().stream().map(Outcome::index))
                    .isEqualTo(LongStream.range(0, 20).boxed().toList());
            assertThat(calls.all()).isEmpty();
        }
    }

    @Test
    void anEndThatMakesTwoOutcomesTakeableWakesBothThreadsThatWait() throws InterruptedException {
        Limits ordered = new Limits(3, 1, Limits.DEFAULT.perCall(), null, 1024, Retries.NONE, true);
        FakeExchange service = new FakeExchange(exchange -> {});
        try (CallingStrategy strategy = Strategies.of("async", 1, Loop.IN_ORDER);
                Calls<Integer> calls = strategy.start(IntStream.range(0, 3).iterator(), Ways.job(service), ordered)) {
            Runnable taking = () -> {
                try {
                    calls.take();
                } catch (InterruptedException stopped) {
                    throw new IllegalStateException(stopped);
                }
            };
            until(() -> service.holds() == 3, "three calls in flight");
            service.release(1);
            until(() -> calls.totals().wall().get(Stage.C) > 0, "the end of the second call");
            List<Thread> takers = List.of(new Thread(taking), new Thread(taking));
            takers.forEach(Thread::start);
            until(() -> takers.stream().allMatch(each -> each.getState() == Thread.State.WAITING), "two that wait");
            service.release(0);
            until(() -> takers.stream().noneMatch(Thread::isAlive), "two outcomes, while the third call is under way");
        }
    }

    @SuppressWarnings("unchecked") // so that what is checked can be thrown where nothing is declared
    private static <R, T extends Throwable> R fail(Throwable failure) throws T {
        throw (T) failure;
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void anInterruptEndsTheWaitingAndNotTheBatch(Way way) throws InterruptedException {
        FakeExchange service = new FakeExchange(exchange -> {});
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = way.start(strategy, service, (index, input, output) -> output)) {
            Thread waiting = Thread.currentThread();
            boolean callsItself = way.name().equals("sequential");
            CompletableFuture.runAsync(() -> {
                while (waiting.getState() != Thread.State.WAITING || callsItself && service.holds() == 0) {
                    Thread.onSpinWait();
                }
                waiting.interrupt();
            });
            assertThatThrownBy(calls::take).isInstanceOf(InterruptedException.class);
            Thread answering = new Thread(() -> {
                while (service.answered() < 50 && !Thread.currentThread().isInterrupted()) {
                    if (service.holds() > 0) {
                        service.release(0);
                    }
                    Thread.onSpinWait();
                }
            });
            answering.start();
            List<Outcome<Integer>> all = calls.all();
            answering.interrupt();
            assertThat(all).hasSize(50);
            long cancelled =
                    all.stream().filter(Outcome.Cancelled.class::isInstance).count();
            assertThat(cancelled).isEqualTo(way.name().equals("sequential") ? 1 : 0);
        }
    }

    @ParameterizedTest
    @MethodSource("fifty")
    void twoBatchesShareOneExchange(Way way) throws Exception {
        FakeExchange service = FakeExchange.echo();
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> one = way.start(strategy, service, (index, input, output) -> output);
                Calls<Integer> two = way.start(strategy, service, (index, input, output) -> -output)) {
            CompletableFuture<List<Outcome<Integer>>> other = CompletableFuture.supplyAsync(() -> Ways.all(two));
            assertThat(results(one.all()))
                    .hasSize(50)
                    .allMatch(text -> !text.toString().contains("-"));
            assertThat(other.get()).hasSize(50);
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void userCodeInPNeedsNoLock(Way way) throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (CallingStrategy strategy = way.strategy();
                Calls<Integer> calls = way.start(strategy, FakeExchange.echo(), (index, input, output) -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.yield();
                    inside.decrementAndGet();
                    return output;
                })) {
            calls.all();
        }
        int team =
                way.name().startsWith("pipeline") ? way.teams().get(way.teams().size() - 1) : 1;
        assertThat(most.get()).isLessThanOrEqualTo(team);
    }
}
