package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.restbench.client.Ways.until;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.restbench.client.Outcome.Kind;
import org.restbench.client.http.HttpExchange;
import org.restbench.client.strategy.Strategies;

/** What goes over a socket, against servers that misbehave in each way there is. */
class HttpExchangeTest {
    private static final int MOST_BYTES = 100_000;
    /** For a call whose server says nothing. */
    private static final int PATIENCE_MS = 500;

    /** Answers each connection by a script. */
    private static final class Server implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Set<Socket> open = ConcurrentHashMap.newKeySet();
        final List<String> heads = new CopyOnWriteArrayList<>();
        private final Script script;

        interface Script {
            void answer(String number, Socket connection) throws IOException, InterruptedException;
        }

        Server(Script script) throws IOException {
            this.script = script;
            start(this::accept);
        }

        private static void start(Runnable work) {
            Thread thread = new Thread(work, "server");
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            while (!socket.isClosed()) {
                try {
                    Socket connection = socket.accept();
                    open.add(connection);
                    start(() -> serve(connection));
                } catch (IOException closed) {
                    return;
                }
            }
        }

        private void serve(Socket connection) {
            try (connection) {
                for (String body = read(connection.getInputStream());
                        body != null;
                        body = read(connection.getInputStream())) {
                    script.answer(body, connection);
                }
            } catch (IOException | InterruptedException gone) {
                // by the client, or by the script: what a test is about
            } finally {
                open.remove(connection);
            }
        }

        /** The body of the next request, of 3 bytes, null at the end. */
        private String read(InputStream in) throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = in.read();
                if (next < 0) {
                    return null;
                }
                head.append((char) next);
            }
            heads.add(head.toString());
            return new String(in.readNBytes(3), StandardCharsets.UTF_8);
        }

        URI url() {
            return URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/matrix/serial");
        }

        HttpExchange exchange() {
            return new HttpExchange(url(), Map.of("Content-Type", "application/json"));
        }

        int connections() {
            return open.size();
        }

        @Override
        public void close() throws IOException {
            socket.close();
            for (Socket each : open) {
                each.close();
            }
        }
    }

    private static Limits limits(int perCallMillis) {
        return new Limits(64, 16, Duration.ofMillis(perCallMillis), null, MOST_BYTES, Retries.NONE, false);
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static void right(String number, Socket connection) throws IOException {
        write(connection.getOutputStream(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + number);
    }

    private static void answer(String how, String number, Socket connection) throws IOException, InterruptedException {
        OutputStream out = connection.getOutputStream();
        String head = "HTTP/1.1 200 OK\r\nContent-Length: ";
        switch (how) {
            case "silent" -> connection.getInputStream().read(); // until the client closes
            case "stalled" -> {
                write(out, head + "6000\r\n\r\n");
                for (int i = 0; i < 6000; i++) {
                    write(out, "1");
                    Thread.sleep(100);
                }
            }
            case "endless" -> {
                write(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                while (true) {
                    write(out, "400\r\n" + "1".repeat(0x400) + "\r\n");
                }
            }
            case "announced" -> write(out, head + "100001\r\n\r\n1");
            case "cut off" -> {
                write(out, head + "60\r\n\r\n1");
                throw new IOException("of a test");
            }
            case "closed" -> throw new IOException("of a test");
            case "garbage" -> {
                write(out, "nothing of HTTP\r\n\r\n");
                connection.getInputStream().read(); // until the client closes
            }
            case "no length" -> {
                write(out, head + "x\r\n\r\n" + number);
                connection.getInputStream().read(); // until the client closes
            }
            case "empty" -> write(out, head + "0\r\n\r\n");
            case "wrong" -> right("999", connection);
            case "refused" -> write(out, "HTTP/1.1 503 Busy\r\nContent-Length: 3\r\nRetry-After: 1\r\n\r\n008");
            default -> throw new AssertionError(how);
        }
    }

    private static boolean misbehaves(long number) {
        return number % 4 == 2;
    }

    /** Where a timeout is due, only the calls that meet it have little time: the others may be slow. */
    private static Exchange bounded(Exchange exchange, Kind kind) {
        return new Exchange() {
            @Override
            public CompletableFuture<Answer> start(byte[] message, Limits limits) {
                long number = Long.parseLong(new String(message, StandardCharsets.UTF_8));
                boolean isLate = kind == Kind.TIMEOUT && misbehaves(number);
                return exchange.start(message, isLate ? limits(PATIENCE_MS) : limits);
            }

            @Override
            public void close() {
                exchange.close();
            }
        };
    }

    @ParameterizedTest
    @CsvSource({
        "silent, C, TIMEOUT", "stalled, C, TIMEOUT", "endless, C, TOO_LARGE", "announced, C, TOO_LARGE",
        "cut off, C, CUT_OFF", "closed, C, CUT_OFF", "garbage, C, NOT_HTTP", "no length, C, NOT_HTTP",
        "empty, D, MALFORMED", "wrong, P, USER", "refused, D, REFUSED"
    })
    void eachMisbehaviourIsItsKindAndSparesTheOtherCalls(String how, Stage stage, Kind kind) throws Exception {
        AtomicInteger misbehaving = new AtomicInteger();
        for (String name : Strategies.names()) {
            try (Server server = new Server((number, connection) -> {
                        if (misbehaves(Long.parseLong(number))) {
                            misbehaving.incrementAndGet();
                            try {
                                answer(how, number, connection);
                            } finally {
                                misbehaving.decrementAndGet();
                            }
                        } else {
                            right(number, connection);
                        }
                    });
                    HttpExchange exchange = server.exchange();
                    CallingStrategy strategy = Strategies.of(name, 8, Loop.IN_ORDER);
                    Calls<Integer> calls = strategy.start(
                            IntStream.range(100, 110).iterator(),
                            new Job<>(new Ways.Numbers(), bounded(exchange, kind), (index, input, output) -> {
                                if (!input.equals(output)) {
                                    throw new IllegalStateException("another's");
                                }
                                return output;
                            }),
                            limits(60_000))) {
                for (Outcome<Integer> outcome : calls.all()) {
                    if (misbehaves(outcome.index())) {
                        assertThat(outcome).isInstanceOfSatisfying(Outcome.Failed.class, failed -> {
                            assertThat(failed.stage()).as("%s %s", name, failed).isEqualTo(stage);
                            assertThat(failed.kind()).as("%s %s", name, failed).isEqualTo(kind);
                            assertThat(failed.cause()).as(name).isNotInstanceOf(CompletionException.class);
                        });
                    } else {
                        assertThat(outcome).as(name).isInstanceOf(Outcome.Done.class);
                    }
                }
                until(() -> misbehaving.get() == 0, "the end of the connections of " + name);
                assertThat(server.heads).noneMatch(head -> head.contains("Upgrade"));
            }
        }
    }

    /** And on no thread of each answer's own, which the client would start were it given none. */
    @Test
    void answersComeOnItsTwoThreads() throws Exception {
        Set<String> names = ConcurrentHashMap.newKeySet();
        CountDownLatch heard = new CountDownLatch(1);
        try (Server server = new Server((number, connection) -> {
                    heard.await();
                    right(number, connection);
                });
                HttpExchange exchange = server.exchange()) {
            List<CompletableFuture<Void>> answers = new ArrayList<>();
            for (int number = 100; number < 140; number++) {
                byte[] message = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
                CompletableFuture<Answer> answer = exchange.start(message, limits(30_000));
                answers.add(answer.thenRun(() -> note(names)));
            }
            heard.countDown();
            for (CompletableFuture<Void> answer : answers) {
                answer.get();
            }
        }
        assertThat(names).isNotEmpty().isSubsetOf("http-1", "http-2");
    }

    private static void note(Set<String> names) {
        names.add(Thread.currentThread().getName());
    }

    @Test
    void anotherUrlOfTheSameServiceUsesTheSameConnection() throws Exception {
        Map<String, String> headers = Map.of("Content-Type", "text/xml");
        try (Server server = new Server(HttpExchangeTest::right);
                HttpExchange exchange = server.exchange()) {
            HttpExchange other = exchange.to(server.url().resolve("/soap/matrix?delay=1"), headers);
            for (Exchange each : List.of(exchange, other, exchange)) {
                byte[] message = "123".getBytes(StandardCharsets.UTF_8);
                assertThat(each.start(message, limits(30_000)).get().status()).isEqualTo(200);
            }
            assertThat(server.connections()).isEqualTo(1);
            assertThat(server.heads.get(0))
                    .startsWith("POST /matrix/serial HTTP/1.1")
                    .contains("application/json");
            assertThat(server.heads.get(1))
                    .startsWith("POST /soap/matrix?delay=1 HTTP/1.1")
                    .contains("text/xml");
            other.close();
            assertThatThrownBy(() -> exchange.start(new byte[3], limits(30_000)))
                    .hasMessage("the exchange is closed");
        }
    }

    @Test
    void noConnectionIsItsKind() throws Exception {
        try (Socket silent = new Socket()) { // keeps its port from others, and does not listen
            silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            URI nobody = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/matrix/serial");
            for (String name : Strategies.names()) {
                try (HttpExchange exchange = new HttpExchange(nobody, Map.of());
                        CallingStrategy strategy = Strategies.of(name, 8, Loop.IN_ORDER);
                        Calls<Integer> calls = strategy.start(
                                IntStream.range(100, 110).iterator(), Ways.job(exchange), Limits.DEFAULT)) {
                    assertThat(calls.all())
                            .hasSize(10)
                            .allSatisfy(outcome -> assertThat(((Outcome.Failed<Integer>) outcome).kind())
                                    .isEqualTo(Kind.CONNECT));
                }
            }
        }
    }

    /** As it may do with an idle one at the moment in which a request comes. */
    @Test
    void aConnectionThatTheServerClosedMeanwhileIsRepeatedWithLeave() throws Exception {
        Set<Socket> used = ConcurrentHashMap.newKeySet();
        try (Server server = new Server((number, connection) -> {
                    if (!used.add(connection)) {
                        throw new IOException("closes each connection at its second request");
                    }
                    right(number, connection);
                });
                HttpExchange exchange = server.exchange();
                CallingStrategy strategy = Strategies.of("sequential", 1, Loop.IN_ORDER);
                Calls<Integer> calls = strategy.start(
                        IntStream.range(100, 110).iterator(),
                        Ways.job(exchange),
                        Limits.DEFAULT.withRetries(new Retries(10, 10, true, false, 1)))) {
            assertThat(calls.all()).hasSize(10).allMatch(Outcome.Done.class::isInstance);
            assertThat(calls.totals().retries()).isPositive();
        }
    }

    /** As a service does with a body that is too large. */
    @Test
    void anAnswerBeforeTheEndOfTheRequestIsRead() throws Exception {
        String early = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\n007";
        try (Server server = new Server((start, connection) -> {
                    write(connection.getOutputStream(), early);
                    connection.getInputStream().readAllBytes();
                });
                HttpExchange exchange = server.exchange()) {
            Answer answer = exchange.start(new byte[8 << 20], limits(10_000)).get();
            assertThat(answer.status()).isEqualTo(413);
            assertThat(new String(answer.body(), StandardCharsets.UTF_8)).isEqualTo("007");
        }
    }

    @ParameterizedTest
    @CsvSource({"task-pool", "async", "pipeline-async", "virtual-threads"})
    void cancelClosesTheConnectionsInFlight(String name) throws Exception {
        if (!Strategies.names().contains(name)) {
            return;
        }
        try (Server server = new Server((number, connection) -> answer("silent", number, connection));
                HttpExchange exchange = server.exchange();
                CallingStrategy strategy = Strategies.of(name, 8, Loop.IN_ORDER);
                Calls<Integer> calls =
                        strategy.start(IntStream.range(100, 108).iterator(), Ways.job(exchange), Limits.DEFAULT)) {
            until(() -> server.connections() == 8, "8 connections");
            calls.cancel();
            assertThat(calls.all()).hasSize(8).allMatch(Outcome.Cancelled.class::isInstance);
            until(() -> server.connections() == 0, "the end of the connections");
        }
    }
}
