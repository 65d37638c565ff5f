package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The batch program as those who drive it see it, against a service that knows one product: one for all tests. */
class ProgramTest {
    private static final String INPUT =
            "{\"requestId\":\"x\",\"matrixOne\":{\"columnCount\":3,\"rows\":[{\"value\":\"1,2,3\"}]},"
                    + "\"matrixTwo\":{\"columnCount\":2,\"rows\":[{\"value\":\"7,8\"},{\"value\":\"9,10\"},{\"value\":\"11,12\"}]}}";
    private static final String ENVELOPE =
            "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\"><e:Body>" + "%s</e:Body></e:Envelope>";
    private static final Pattern ID = Pattern.compile("requestId(?:\":\"|>)(call-[0-9]+)");

    private static HttpServer server;
    private static Process program;
    private static BufferedReader answers;

    @TempDir
    private static Path errors;

    private final JsonMapper json = new JsonMapper();

    @TempDir
    private Path folder;

    @BeforeAll
    static void begin() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(
                "/matrix/serial", http -> serve(http, "{\"requestId\":\"%s\",\"rows\":[[58,64]]}", "application/json"));
        String product = "<multiplyResponse xmlns=\"urn:restbench:matrix\"><product><requestId>%s</requestId>"
                + "<row>58,64</row></product></multiplyResponse>";
        server.createContext(
                "/soap/matrix/serial", http -> serve(http, ENVELOPE.formatted(product), "text/xml;charset=UTF-8"));
        String result = "<runResponse xmlns=\"urn:restbench:npb\"><result><requestId>%s</requestId><kernel>IS</kernel>"
                + "<class>S</class><verified>true</verified><value>51</value><reference>51</reference>"
                + "<iterations>10</iterations><kernelSeconds>0.25</kernelSeconds><totalSeconds>0.5</totalSeconds>"
                + "<mops>2.5</mops></result></runResponse>";
        server.createContext(
                "/soap/npb/serial", http -> serve(http, ENVELOPE.formatted(result), "text/xml;charset=UTF-8"));
        server.createContext("/stalls", ProgramTest::stall);
        server.start();
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        program = new ProcessBuilder(
                        java,
                        "-XX:TieredStopAtLevel=1", // it starts sooner
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.restbench.client.calls.Main")
                .redirectError(errors.resolve("err.txt").toFile())
                .start();
        answers = program.inputReader(StandardCharsets.UTF_8);
    }

    @AfterAll
    static void end() throws InterruptedException {
        server.stop(0);
        program.destroy();
        assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @BeforeEach
    void write() throws IOException {
        Files.writeString(folder.resolve("inputs.json"), "[" + INPUT + "]");
        Files.writeString(folder.resolve("right.json"), "[[[58,64]]]");
        Files.writeString(folder.resolve("other.json"), "[[[58,65]]]");
    }

    private static void serve(HttpExchange http, String template, String type) throws IOException {
        String body = new String(http.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        Matcher id = ID.matcher(body);
        byte[] answer = template.formatted(id.find() ? id.group(1) : "none").getBytes(StandardCharsets.UTF_8);
        http.getResponseHeaders().add("Content-Type", type);
        http.getResponseHeaders().add("Server-Timing", "compute;dur=0.1");
        http.sendResponseHeaders(200, answer.length);
        http.getResponseBody().write(answer);
        http.close();
    }

    /** Sends a head and half a body, and leaves the connection open. */
    private static void stall(HttpExchange http) throws IOException {
        http.getRequestBody().readAllBytes();
        http.getResponseHeaders().add("Content-Type", "text/xml;charset=UTF-8");
        http.sendResponseHeaders(200, ENVELOPE.length());
        http.getResponseBody().write(ENVELOPE.substring(0, 50).getBytes(StandardCharsets.UTF_8));
        http.getResponseBody().flush();
    }

    private JsonNode ask(String line) throws IOException {
        program.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        program.getOutputStream().flush();
        String answer = answers.readLine();
        assertThat(answer).as(Files.readString(errors.resolve("err.txt"))).isNotNull();
        return json.readTree(answer);
    }

    private JsonNode batch(String path, String members) throws IOException {
        return ask(
                "{\"do\":\"batch\",\"url\":\"http://127.0.0.1:%d%s\",\"inputs\":\"%s/inputs.json\",\"log\":\"%s/log.jsonl\",%s}"
                        .formatted(server.getAddress().getPort(), path, folder, folder, members));
    }

    @Test
    void itSaysWhatItOffers() throws IOException {
        JsonNode hello = ask("{\"do\":\"hello\"}");
        assertThat(hello.get("pid").asLong()).isEqualTo(program.pid());
        assertThat(hello.get("transports").toString()).isEqualTo("[\"rest\",\"soap\",\"cxf\"]");
        assertThat(hello.get("strategies").toString()).contains("task-pool", "adaptive");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rest", "soap", "cxf"})
    void aBatchIsCheckedAndLogged(String transport) throws IOException {
        String path = transport.equals("rest") ? "/matrix/serial" : "/soap/matrix/serial";
        String members =
                "\"transport\":\"%s\",\"strategy\":\"task-pool\",\"threads\":2,\"calls\":10,\"expected\":\"%s/%s\"";
        JsonNode told = batch(path, members.formatted(transport, folder, "right.json"));
        assertThat(told.path("done").asInt()).as("%s", told).isEqualTo(10);
        assertThat(told.get("wrong").asInt()).isZero();
        assertThat(told.get("threads").toString()).isEqualTo("{\"call-pool\":2}");
        assertThat(batch(path, members.formatted(transport, folder, "other.json"))
                        .get("wrong")
                        .asInt())
                .isEqualTo(10);
        List<String> log = Files.readAllLines(folder.resolve("log.jsonl"));
        assertThat(log).hasSize(20);
        JsonNode line = json.readTree(log.get(0));
        assertThat(line.propertyNames())
                .contains(("index outcome stage kind error_code attempts status begun_ms sent_ms answered_ms ended_ms "
                                + "s_ms c_ms d_ms p_ms server_timing wrong")
                        .split(" "));
        assertThat(line.get("outcome").asString()).isEqualTo("done");
        assertThat(line.get("status").asInt()).isEqualTo(200);
        assertThat(line.get("server_timing").asString()).isEqualTo("compute;dur=0.1");
    }

    /** Under CXF the batch had no end. */
    @ParameterizedTest
    @CsvSource({"rest, async", "soap, async", "cxf, sequential", "cxf, task-pool"})
    void aBodyThatStallsEndsWithTheTimeOfItsCall(String transport, String strategy) throws IOException {
        String members = "\"transport\":\"%s\",\"strategy\":\"%s\",\"threads\":2,\"calls\":4,\"per_call_s\":0.5";
        JsonNode told = batch("/stalls", members.formatted(transport, strategy));
        assertThat(told.path("failed").toString()).as("%s", told).isEqualTo("{\"TIMEOUT\":4}");
    }

    @Test
    void theThreadsOfALoopAreCountedWhereTheyRunTheRowsOfADocument() throws IOException {
        String rows = "{\"value\":\"1,2,3\"}" + ",{\"value\":\"1,2,3\"}".repeat(20_000);
        Files.writeString(folder.resolve("inputs.json"), "[" + INPUT.replace("{\"value\":\"1,2,3\"}", rows) + "]");
        JsonNode told = batch("/matrix/serial", "\"strategy\":\"sequential\",\"calls\":100,\"loop_threads\":2");
        assertThat(told.path("threads").toString()).as("%s", told).isEqualTo("{\"caller\":1,\"loop\":2}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"soap", "cxf"})
    void aKernelsResultIsInTheLog(String transport) throws IOException {
        Files.writeString(folder.resolve("inputs.json"), "[{\"requestId\":\"x\",\"kernel\":\"IS\",\"class\":\"S\"}]");
        String members = "\"transport\":\"%s\",\"workload\":\"npb\",\"strategy\":\"sequential\",\"calls\":2";
        JsonNode told = batch("/soap/npb/serial", members.formatted(transport));
        assertThat(told.path("done").asInt()).as("%s", told).isEqualTo(2);
        assertThat(told.get("wrong").asInt()).isZero();
        JsonNode line =
                json.readTree(Files.readAllLines(folder.resolve("log.jsonl")).get(1));
        assertThat(line.get("result").toString())
                .isEqualTo("{\"kernel\":\"IS\",\"class\":\"S\",\"verified\":true,\"value\":[51.0],\"iterations\":10,"
                        + "\"kernelSeconds\":0.25,\"totalSeconds\":0.5,\"mops\":2.5}");
    }

    @Test
    void onlyTheIndicesAskedForAreMade() throws IOException {
        JsonNode told = batch("/matrix/serial", "\"strategy\":\"async\",\"calls\":10,\"only\":[3,7]");
        assertThat(told.get("done").asInt()).isEqualTo(2);
        int cores = Runtime.getRuntime().availableProcessors();
        assertThat(told.get("threads").toString()).as("one a core").isEqualTo("{\"call-cpu\":" + cores + "}");
        assertThat(Files.readAllLines(folder.resolve("log.jsonl")).stream()
                        .map(line -> json.readTree(line).get("index").asInt()))
                .containsExactlyInAnyOrder(3, 7);
    }

    @Test
    void aFileIsReadForEachWorkloadAndAWrongOneIsToldEachTime() throws IOException {
        String ofBoth = INPUT.replace("\"x\",", "\"x\",\"kernel\":\"IS\",\"class\":\"S\",");
        Files.writeString(folder.resolve("inputs.json"), "[" + ofBoth + "]");
        String members = "\"transport\":\"soap\",\"workload\":\"%s\",\"strategy\":\"async\",\"calls\":1";
        for (String workload : List.of("matrix", "npb")) {
            JsonNode told = batch("/soap/" + workload + "/serial", members.formatted(workload));
            assertThat(told.path("done").asInt()).as("%s", told).isEqualTo(1);
        }
        Files.writeString(folder.resolve("inputs.json"), "[{}");
        for (int time = 0; time < 2; time++) {
            assertThat(batch("/soap/npb/serial", members.formatted("npb")).has("error"))
                    .isTrue();
        }
    }

    @Test
    void wrongOptionsAreAnsweredWithALine() throws IOException {
        assertThat(batch("/matrix/serial", "\"strategy\":\"pipeline\",\"threads\":3,\"calls\":1")
                        .get("error")
                        .asString())
                .isEqualTo("threads: must be from 4 to 1024 for pipeline, is 3");
        assertThat(batch("/matrix/serial", "\"strategy\":\"async\",\"transport\":\"mail\",\"calls\":1")
                        .get("error")
                        .asString())
                .isEqualTo("transport: must be one of [rest, soap, cxf], is mail");
        assertThat(batch("/matrix/serial", "\"strategy\":\"async\",\"transport\":\"cxf\",\"calls\":1")
                        .get("error")
                        .asString())
                .isEqualTo("strategy: must be one of [sequential, task-pool] for cxf, is async");
        JsonNode beyond = batch("/matrix/serial", "\"strategy\":\"async\",\"calls\":1,\"only\":[1]");
        assertThat(beyond.get("error").asString()).isEqualTo("only: must be from 0 to 0 each");
        for (String number : List.of("2.7", "\"2\"")) {
            assertThat(batch("/matrix/serial", "\"strategy\":\"async\",\"calls\":" + number)
                            .get("error")
                            .asString())
                    .contains("2");
        }
        assertThat(ask("{\"do\":\"dance\"}").get("error").asString()).isEqualTo("do: must be hello or batch, is dance");
        assertThat(ask("nonsense").has("error")).isTrue();
        assertThat(batch("/nowhere", "\"strategy\":\"async\",\"calls\":1")
                        .get("failed")
                        .toString())
                .isEqualTo("{\"MALFORMED\":1}");
        Path log = folder.resolve("log.jsonl");
        Files.delete(log);
        Files.createDirectory(log);
        JsonNode unwritten = batch("/matrix/serial", "\"strategy\":\"async\",\"calls\":1");
        assertThat(unwritten.get("error").asString()).contains(log.toString());
        assertThat(ask("{\"do\":\"hello\"}").has("pid")).as("it goes on").isTrue();
    }
}
