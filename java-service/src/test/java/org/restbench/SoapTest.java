package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import jakarta.xml.ws.BindingProvider;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.cxf.frontend.ClientProxy;
import org.apache.cxf.transport.http.HTTPConduit;
import org.apache.cxf.transports.http.configuration.HTTPClientPolicy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.restbench.soap.matrix.MatrixPort;
import org.restbench.soap.matrix.MatrixService;
import org.restbench.soap.matrix.Multiply;
import org.restbench.soap.matrix.Operand;
import org.restbench.soap.matrix.RequestFault;
import org.restbench.soap.npb.KernelName;
import org.restbench.soap.npb.NpbPort;
import org.restbench.soap.npb.NpbService;
import org.restbench.soap.npb.Result;
import org.restbench.soap.npb.Run;

/** SOAP as a user of CXF meets it, and what it must not do. Its messages one by one are the contract's examples. */
class SoapTest {
    static final String ENVELOPE = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\">"
            + "<s:Body><multiply xmlns=\"urn:restbench:matrix\"><requestId>2238</requestId>"
            + "<matrixOne><columnCount>3</columnCount><row>1,2,3</row><row>4,5,6</row></matrixOne>"
            + "<matrixTwo><columnCount>2</columnCount><row>7,8</row><row>9,10</row><row>11,12</row></matrixTwo>"
            + "</multiply></s:Body></s:Envelope>";

    private static final int SHORT_BYTES = 1 << 14;
    private static final int TIMES = 16;

    private static RunningService service;

    @BeforeAll
    static void start() {
        service = RunningService.withDefaults();
    }

    @AfterAll
    static void stop() {
        service.close();
    }

    private static <T> T calling(T port, RunningService of, String path) {
        BindingProvider provider = (BindingProvider) port;
        provider.getRequestContext()
                .put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, "http://127.0.0.1:" + of.port() + path);
        HTTPClientPolicy policy = new HTTPClientPolicy();
        policy.setVersion("1.1"); // else the first request asks for HTTP/2
        policy.setAllowChunking(false);
        ((HTTPConduit) ClientProxy.getClient(port).getConduit()).setClient(policy);
        return port;
    }

    private static MatrixPort matrix(RunningService of, String strategy) {
        return calling(new MatrixService().getMatrixPort(), of, "/soap/matrix/" + strategy);
    }

    private static Multiply multiplication(String id, int columnCount) {
        Multiply request = new Multiply();
        request.setRequestId(id);
        request.setMatrixOne(operand(columnCount, "1,2,3", "4,5,6"));
        request.setMatrixTwo(operand(2, "7,8", "9,10", "11,12"));
        return request;
    }

    private static Operand operand(int columnCount, String... rows) {
        Operand operand = new Operand();
        operand.setColumnCount(columnCount);
        operand.getRow().addAll(List.of(rows));
        return operand;
    }

    private static HttpResponse<String> post(RunningService to, String path, String body) {
        return to.post(path, "text/xml", body);
    }

    @Test
    void a_proxy_of_cxf_multiplies_under_every_strategy_that_takes_matrices() throws RequestFault {
        for (String strategy : service.strategies("matrix")) {
            var product = matrix(service, strategy)
                    .multiply(multiplication("ü<&>", 3))
                    .getProduct();
            assertThat(product.getRow()).as(strategy).containsExactly("58,64", "139,154");
            assertThat(product.getRequestId()).isEqualTo("ü<&>");
        }
    }

    @Test
    void a_proxy_gets_a_fault_with_the_contracts_code_and_the_id() {
        RequestFault fault = catchThrowableOfType(
                RequestFault.class, () -> matrix(service, "pinned").multiply(multiplication("a", 4)));
        assertThat(fault.getFaultInfo().getErrorCode()).isEqualTo("004");
        assertThat(fault.getFaultInfo().getRequestId()).isEqualTo("a");
        assertThat(fault).hasMessage("matrixOne.rows[0]: the number of values is 3, columnCount is 4");
    }

    @ParameterizedTest
    @EnumSource(KernelName.class)
    void a_proxy_runs_every_kernel_and_it_is_verified(KernelName kernel) throws Exception {
        NpbPort port = calling(new NpbService().getNpbPort(), service, "/soap/npb/serial");
        Run request = new Run();
        request.setRequestId("a");
        request.setKernel(kernel);
        request.setClazz("S");
        Result result = port.run(request).getResult();
        assertThat(result.isVerified()).isTrue();
        assertThat(result.getKernel()).isEqualTo(kernel);
        assertThat(result.getReference()).hasSameSizeAs(result.getValue());
    }

    @Test
    void the_wsdl_leads_a_client_to_its_schema_and_to_the_service() {
        for (String name : List.of("matrix", "npb")) {
            HttpResponse<String> wsdl = service.get("/soap/" + name + "?wsdl");
            assertThat(wsdl.statusCode()).isEqualTo(200);
            assertThat(wsdl.headers().firstValue("Content-Type")).hasValue("text/xml;charset=utf-8");
            assertThat(wsdl.body())
                    .contains("schemaLocation=\"" + name + "?xsd=" + name + ".xsd\"")
                    .contains("location=\"http://127.0.0.1:" + service.port() + "/soap/" + name + "/serial\"");
            assertThat(service.get("/soap/" + name + "?xsd=" + name + ".xsd").body())
                    .contains("targetNamespace=\"urn:restbench:" + name + "\"");
            assertThat(service.get("/docs").body()).contains("href=\"/soap/" + name + "?wsdl\"");
        }
    }

    @Test
    void a_content_type_of_many_parameters_is_read_to_its_end() {
        String type = "text/xml" + ";".repeat(8000) + "charset=latin1";
        assertThat(service.post("/soap/matrix/serial", type, ENVELOPE).statusCode())
                .isEqualTo(415);
    }

    @Test
    void requests_are_counted_by_a_route_of_their_own_with_stages_of_their_own() {
        String counter = "restbench_requests_total{status=\"200\",strategy=\"fork-join\",workload=\"soap/matrix\"} ";
        double before = service.metric(counter);
        post(service, "/soap/matrix/fork-join", ENVELOPE);
        assertThat(service.metric(counter)).isEqualTo(before + 1);
        long begunNanos = System.nanoTime();
        HttpResponse<String> answer = post(service, "/soap/matrix/fork-join?delay=500", ENVELOPE);
        double tookMillis = (System.nanoTime() - begunNanos) / 1e6;
        assertThat(DelayTest.stagesMillis(answer)).isLessThan(tookMillis + DelayTest.ROUNDING_MILLIS);
        assertThat(answer.headers().firstValue("Server-Timing").orElseThrow())
                .matches("delay;dur=[0-9.]+, unmarshal;dur=[0-9.]+, queue;dur=[0-9.]+, parse;dur=[0-9.]+, "
                        + "compute;dur=[0-9.]+, serialize;dur=[0-9.]+, marshal;dur=[0-9.]+");
        assertThat(service.get("/metrics").body())
                .contains("restbench_requests_in_flight 0.0", "restbench_memory_held_bytes 0.0");
    }

    @Test
    void memory_is_taken_before_a_body_is_read_and_as_an_answer_grows() {
        Map<String, String> limit = Map.of("RESTBENCH_MEMORY_BUDGET_BYTES", Integer.toString(4 << 20));
        String column = "<columnCount>1</columnCount>" + "<row>3037000499</row>".repeat(220);
        String row = "<columnCount>220</columnCount><row>" + "3037000499,".repeat(219) + "3037000499</row>";
        String long19Digits = ENVELOPE.replaceFirst("<columnCount>3.*(?=</matrixOne>)", column)
                .replaceFirst("<columnCount>2.*(?=</matrixTwo>)", row);
        try (RunningService small = new RunningService(limit)) {
            for (String body : List.of(" ".repeat(600_000), long19Digits)) {
                assertThat(post(small, "/soap/matrix/serial", body).body())
                        .contains("<errorCode>010<", " of memory, the limit is 4 MiB");
            }
            assertThat(post(small, "/soap/matrix/serial", ENVELOPE).statusCode())
                    .isEqualTo(200);
            assertThat(small.get("/metrics").body()).contains("restbench_memory_held_bytes 0.0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\"><b", "a&b", "a_b"})
    void the_wsdl_repeats_no_host_that_is_none(String host) throws IOException {
        String head = "GET /soap/matrix?wsdl HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
        assertThat(RawHttp.all(service, head)).matches("(?s)HTTP/1.1 [24]00 .*").doesNotContain(host);
    }

    @Test
    void cxf_is_loaded_by_the_first_request_in_soap_and_hostile_ones_leave_no_line_in_the_log() throws Exception {
        List<String> java = ServiceProcess.java("-Xlog:class+load:stdout");
        List<String> lines;
        try (ServiceProcess process = ServiceProcess.start(Map.of(), java)) {
            assertThat(process.multiply("serial").body()).isEqualTo(RunningService.PRODUCT);
            process.get("/soap/matrix?wsdl");
            process.get("/strategies");
            process.post("/soap/matrix/nothing", "text/xml", ENVELOPE);
            process.post("/soap/matrix/serial", "text/plain", ENVELOPE);
            assertThat(process.get("/docs").body()).contains("soap");
            assertThat(process.output()).noneMatch(SoapTest::isOfCxf);
            for (String hostile : List.of("", "Secret<", "<!DOCTYPE Secret>" + ENVELOPE, ENVELOPE + "Secret")) {
                assertThat(process.post("/soap/matrix/serial", "text/xml", hostile)
                                .body())
                        .contains("<errorCode>002<");
            }
            String against = ENVELOPE.replace("<matrixOne>", "<matrixOne Secret=\"1\">");
            assertThat(process.post("/soap/matrix/serial", "text/xml", against).body())
                    .contains("<errorCode>003<")
                    .doesNotContain("Secret");
            process.signal("TERM");
            assertThat(process.exitCode()).isZero();
            lines = process.output();
        }
        assertThat(lines).anyMatch(SoapTest::isOfCxf);
        assertThat(lines.stream().filter(line -> !line.contains("[class,load]")))
                .noneMatch(line -> line.contains("Secret") || line.matches(".* (WARN|ERROR) .*"));
    }

    private static boolean isOfCxf(String line) {
        return line.contains("[class,load] org.apache.cxf.");
    }

    @Test
    void nothing_that_a_message_names_is_fetched() throws Exception {
        try (ServerSocket named = new ServerSocket(0)) {
            String url = "http://127.0.0.1:" + named.getLocalPort() + "/x";
            String xsi = " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"";
            String replyTo = "<s:Header><ReplyTo xmlns=\"http://www.w3.org/2005/08/addressing\"><Address>" + url
                    + "</Address></ReplyTo></s:Header><s:Body>";
            for (String body : List.of(
                    "<!DOCTYPE a SYSTEM \"" + url + "\">" + ENVELOPE,
                    "<!DOCTYPE a [<!ENTITY x SYSTEM \"" + url + "\">]>" + ENVELOPE.replace("2238", "&x;"),
                    "<!DOCTYPE a [<!ENTITY % x SYSTEM \"" + url + "\"> %x;]>" + ENVELOPE,
                    "<?xml-stylesheet href=\"" + url + "\"?>" + ENVELOPE,
                    ENVELOPE.replace("<multiply", "<multiply" + xsi + "urn:restbench:matrix " + url + "\""),
                    ENVELOPE.replace(
                            "1,2,3", "<Include xmlns=\"http://www.w3.org/2004/08/xop/include\" href=\"" + url + "\"/>"),
                    ENVELOPE.replace("<s:Body>", replyTo))) {
                assertThat(post(service, "/soap/matrix/serial", body).statusCode())
                        .isIn(200, 500);
            }
            named.setSoTimeout(200);
            assertThat(catchThrowableOfType(SocketTimeoutException.class, named::accept))
                    .isNotNull();
        }
    }

    @Test
    void more_elements_than_an_envelope_may_have_are_007_and_are_not_read_to_their_end() {
        String rows = ENVELOPE.replace("<row>1,2,3</row>", "<row/>".repeat(1 << 21));
        for (String body : List.of(rows, rows.substring(0, rows.length() - 100) + "<<")) {
            assertThat(post(service, "/soap/matrix/serial", body).body()).contains("<errorCode>007<");
        }
        String fewer = ENVELOPE.replace("<row>1,2,3</row>", "<row>1,2,3</row>".repeat(60_000));
        assertThat(post(service, "/soap/matrix/serial", fewer).statusCode()).isEqualTo(200);
    }

    /** Sixteen times the bytes cost about sixteen times as much, of whatever they are: what costs 256 is an attack. */
    @Test
    void no_hostile_body_costs_more_than_its_length_allows() {
        List<Hostile> hostile = List.of(
                bytes -> ENVELOPE.replace("<row>1,2,3</row>", "<row>1</row>".repeat(bytes / 12)),
                bytes -> ENVELOPE.replace("<row>1,2,3</row>", "<row/>".repeat(bytes / 6)),
                bytes -> ENVELOPE.replace("<row>1,2,3", "<row>" + "1".repeat(bytes)),
                bytes -> ENVELOPE.replace("<columnCount>3", "<columnCount>" + "1".repeat(bytes)),
                bytes -> ENVELOPE.replace("<columnCount>3", "<columnCount>" + "0".repeat(bytes)),
                bytes -> ENVELOPE.replace("2238", "x".repeat(bytes)),
                bytes -> ENVELOPE.replace("2238", "&#x41;".repeat(bytes / 6)),
                bytes -> ENVELOPE.replace("<s:Body>", "<s:Header>" + "<a/>".repeat(bytes / 4) + "</s:Header><s:Body>"),
                bytes -> ENVELOPE.replace("<s:Body>", "<!--" + " x".repeat(bytes / 2) + "--><s:Body>"),
                bytes -> ENVELOPE + " ".repeat(bytes),
                bytes -> ENVELOPE.replace("<matrixOne>", "<matrixOne " + "a".repeat(bytes) + "=\"\">"),
                bytes -> ENVELOPE.replace("</multiply>", "<a/>".repeat(bytes / 4) + "</multiply>"),
                bytes -> ENVELOPE.replace("<matrixOne>", namesOfOneHashCode(bytes / 39) + "<matrixOne>"),
                bytes -> "<".repeat(bytes),
                bytes -> "<a>".repeat(bytes / 3));
        List<String> costly = new ArrayList<>();
        for (int i = 0; i < hostile.size(); i++) {
            long shorter = leastNanos(hostile.get(i).body(SHORT_BYTES));
            long longer = leastNanos(hostile.get(i).body(TIMES * SHORT_BYTES));
            if (longer > 4 * TIMES * shorter) {
                costly.add(i + ": " + shorter + ", " + longer);
            }
        }
        assertThat(costly).isEmpty();
    }

    private static String namesOfOneHashCode(int count) {
        return IntStream.range(1 << 17, (1 << 17) + count)
                .mapToObj(
                        i -> "<" + Integer.toBinaryString(i).replace("0", "Aa").replace("1", "BB") + "/>")
                .collect(Collectors.joining());
    }

    private interface Hostile {
        String body(int bytes);
    }

    private static long leastNanos(String body) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            Map<Long, Long> before = cpuNanos();
            assertThat(post(service, "/soap/matrix/serial", body).body()).doesNotContain("<errorCode>099<");
            long spent = cpuNanos().entrySet().stream()
                    .mapToLong(each -> each.getValue() - before.getOrDefault(each.getKey(), 0L))
                    .filter(nanos -> nanos > 0) // a thread has ended else
                    .sum();
            least = Math.min(least, spent);
        }
        return least;
    }

    /** That each thread has taken of a processor: on a busy machine as much as on one that is idle. */
    private static Map<Long, Long> cpuNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return LongStream.of(threads.getAllThreadIds())
                .boxed()
                .collect(Collectors.toMap(id -> id, threads::getThreadCpuTime));
    }
}
