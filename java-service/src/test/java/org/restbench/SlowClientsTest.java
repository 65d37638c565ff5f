package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.affinity.OpenHftAffinity;

/** Clients that are slow, or gone without a word, give back what they hold within the deadlines. */
@Timeout(300)
class SlowClientsTest {
    private static final String POST = "POST /matrix/serial HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    /** Far more than the hasty deadline, and than a busy machine adds to it. */
    private static final long PATIENCE_MILLIS = 60_000;
    /** Enough for a client that means no harm on whatever machine. */
    private static final int PATIENT_SECONDS = 6;

    private static RunningService service;
    private static RunningService patient;

    @BeforeAll
    static void start() {
        patient = withDeadlines(PATIENT_SECONDS);
        patient.get("/health"); // what a first request costs is not the hasty service's to wait for
        service = withDeadlines(2);
    }

    private static RunningService withDeadlines(int seconds) {
        Map<String, String> settings = Map.of(
                "RESTBENCH_RECEIVE_TIMEOUT_SECONDS", Integer.toString(seconds),
                "RESTBENCH_SEND_TIMEOUT_SECONDS", Integer.toString(seconds),
                "RESTBENCH_MAX_CONNECTIONS", "40");
        return new RunningService(settings, new OpenHftAffinity());
    }

    @AfterAll
    static void stop() {
        service.close();
        patient.close();
    }

    /** Sends a byte now and then until the service ends the connection; what it answered. */
    private static String trickle(String begin, String more) throws Exception {
        StringBuilder answer = new StringBuilder();
        try (Socket socket = new Socket("127.0.0.1", service.port())) {
            socket.setSoTimeout(50);
            OutputStream out = socket.getOutputStream();
            out.write(begin.getBytes(StandardCharsets.ISO_8859_1));
            long end = System.currentTimeMillis() + PATIENCE_MILLIS;
            while (System.currentTimeMillis() < end) {
                try {
                    int next = socket.getInputStream().read();
                    if (next < 0) {
                        return answer.toString();
                    }
                    answer.append((char) next);
                } catch (SocketTimeoutException nothingYet) {
                    out.write(more.getBytes(StandardCharsets.ISO_8859_1));
                }
            }
        } catch (IOException reset) {
            return answer.toString();
        }
        throw new AssertionError("the service waits for ever; so far it said " + answer);
    }

    @Test
    void a_header_that_never_ends_is_not_waited_for() throws Exception {
        assertThat(trickle("POST /matrix/serial HTTP/1.1\r\nX: ", "x")).isEmpty();
        assertThat(trickle("PO", "S")).isEmpty();
        assertThat(trickle("", "")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 9000\r\n\r\n{| ",
                "Content-Length: 9000\r\n\r\n{|",
                "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n|1\r\n \r\n"
            })
    void a_body_that_never_ends_is_002(String body) throws Exception {
        String[] parts = body.split("\\|", -1);
        assertThat(trickle(POST + parts[0], parts[1]))
                .startsWith("HTTP/1.1 400 ")
                .contains("\"002\"");
        isFreeAgain();
    }

    @Test
    void a_body_that_is_refused_is_not_waited_for_either() throws Exception {
        String begin = POST.replace("/matrix/", "/nowhere/") + "Content-Length: 9000\r\n\r\n{";
        assertThat(trickle(begin, " ")).startsWith("HTTP/1.1 404 ").contains("\"009\"");
    }

    @Test
    void a_request_in_pieces_within_the_deadline_is_answered_each_time_on_one_connection() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", patient.port())) {
            String request =
                    POST + "Content-Length: " + RunningService.BODY.length() + "\r\n\r\n" + RunningService.BODY;
            long begun = System.nanoTime();
            while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(PATIENT_SECONDS + 1)) {
                OutputStream out = socket.getOutputStream();
                for (int at = 0; at < request.length(); at += 150) {
                    out.write(request.substring(at, Math.min(request.length(), at + 150))
                            .getBytes(StandardCharsets.UTF_8));
                    Thread.sleep(120);
                }
                assertThat(json(socket.getInputStream())).isEqualTo(RunningService.PRODUCT);
            }
        }
    }

    private static String json(InputStream in) throws IOException {
        StringBuilder json = new StringBuilder();
        for (int next = in.read(); next != '}'; next = in.read()) {
            if (next == '{' || !json.isEmpty()) {
                json.append((char) next);
            }
        }
        return json.append('}').toString();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 500})
    void an_answer_that_is_not_taken_is_given_up(int bytesNowAndThen) throws Exception {
        String body = HostileBodies.columnTimesRow(1500); // 4.5 MB: more than the kernel keeps for a socket
        try (Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4096);
            socket.setSoTimeout((int) PATIENCE_MILLIS);
            socket.connect(new InetSocketAddress("127.0.0.1", service.port()));
            socket.getOutputStream()
                    .write((POST + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.UTF_8));
            socket.getInputStream().read();
            isFreeAgain(() -> took(socket, bytesNowAndThen));
            assertThat(took(socket, Integer.MAX_VALUE)).as("what is left of it").isLessThan(4_400_000);
        }
    }

    /** How much of an answer came, up to so many bytes or to where it was cut off. */
    private static int took(Socket socket, int bytes) throws IOException {
        byte[] piece = new byte[4096];
        int taken = 0;
        try {
            while (taken < bytes) {
                int length = socket.getInputStream().read(piece, 0, Math.min(piece.length, bytes - taken));
                if (length < 0) {
                    return taken;
                }
                taken += length;
            }
        } catch (SocketException cutOff) {
            return taken;
        }
        return taken;
    }

    private interface Meanwhile {
        void run() throws IOException;
    }

    private static void isFreeAgain() throws Exception {
        isFreeAgain(() -> {});
    }

    private static void isFreeAgain(Meanwhile meanwhile) throws Exception {
        long end = System.currentTimeMillis() + PATIENCE_MILLIS;
        while (!isFree()) {
            assertThat(System.currentTimeMillis()).as("still held").isLessThan(end);
            meanwhile.run();
            Thread.sleep(50);
        }
        assertThat(service.send(service.multiplication("serial")).body()).isEqualTo(RunningService.PRODUCT);
    }

    private static boolean isFree() {
        return service.get("/metrics")
                        .body()
                        .lines()
                        .filter(line -> line.equals("restbench_requests_in_flight 0.0")
                                || line.equals("restbench_memory_held_bytes 0.0"))
                        .count()
                == 2;
    }

    @Test
    void idle_connections_give_way_to_new_ones() throws Exception {
        List<Socket> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 60; i++) {
                Socket socket = new Socket("127.0.0.1", patient.port());
                socket.setSoTimeout((int) PATIENCE_MILLIS);
                idle.add(socket);
                socket.getOutputStream()
                        .write("GET /strategies HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(socket.getInputStream().read()).isEqualTo('H');
            }
        } finally {
            for (Socket socket : idle) {
                socket.close();
            }
        }
    }
}
