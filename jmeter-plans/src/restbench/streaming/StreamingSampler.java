package restbench.streaming;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.config.Arguments;
import org.apache.jmeter.protocol.java.sampler.AbstractJavaSamplerClient;
import org.apache.jmeter.protocol.java.sampler.JavaSamplerContext;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One user of a load whose requests are of one or several kinds: sends the next of the common order, and compares the answer
 * with the exact product while it arrives.
 *
 * <p>JMeter's own HTTP sampler keeps several copies of a body and of an answer for each user, which is gigabytes for 60 users
 * with matrices of a million elements, and as much work for its garbage collector beside the service under test.
 */
public final class StreamingSampler extends AbstractJavaSamplerClient {

    private static final Logger LOG = LoggerFactory.getLogger(StreamingSampler.class);
    /** By the folder of the payload: read once for all users. Empty where it could not be read. */
    private static final Map<Path, Optional<Mix>> MIXES = new ConcurrentHashMap<>();
    /** By the list of the strategies: all users of a plan share their turns. */
    private static final Map<String, Turns> TURNS = new ConcurrentHashMap<>();
    /** Stands in the address for the strategy whose turn it is. */
    private static final String TURN = "{turn}";
    /** Where nobody takes turns: the address and the plan say which strategy it is. */
    private static final String THE_PLANS = "";

    /** JMeter's own clock counts whole milliseconds, which is more than a small request takes. */
    private static final long NANOS_PER_MICRO = 1_000;

    private Connection connection;
    private long requests;

    /** Every parameter with its default, as the plan's README describes them. */
    @Override
    public Arguments getDefaultParameters() {
        Arguments defaults = new Arguments();
        defaults.addArgument("url", "http://127.0.0.1:8080/matrix/serial?kernel=native");
        defaults.addArgument("payload", "jmeter-plans/example");
        defaults.addArgument("connect_timeout_ms", "5000");
        defaults.addArgument("response_timeout_ms", "120000");
        Turns.DEFAULTS.forEach(defaults::addArgument);
        return defaults;
    }

    /** One request; null, and the end of the test, where there is nothing to send; null, too, when the load is over. */
    @Override
    public SampleResult runTest(JavaSamplerContext context) {
        Optional<Mix> mix = MIXES.computeIfAbsent(Path.of(context.getParameter("payload")), StreamingSampler::read);
        if (mix.isEmpty()) {
            return endTest();
        }
        try {
            Optional<String> strategy = strategy(context);
            return strategy.isEmpty() ? null : request(context, mix.get().next(), strategy.get());
        } catch (IOException e) {
            LOG.error("The load ends: {}", e.toString());
            return endTest();
        }
    }

    private static SampleResult endTest() {
        JMeterContextService.getContext().getEngine().stopTest(true);
        return null;
    }

    /** Whose turn it is; nothing where the load is over. */
    private static Optional<String> strategy(JavaSamplerContext context) throws IOException {
        String strategies = context.getParameter("turns");
        if (strategies.isEmpty()) {
            return Optional.of(THE_PLANS);
        }
        JMeterContext here = JMeterContextService.getContext();
        Turns turns = TURNS.computeIfAbsent(
                strategies, list -> Turns.of(list, here.getThreadGroup().getNumThreads(), context));
        return turns.strategy(here.getThread().getEndTime());
    }

    private SampleResult request(JavaSamplerContext context, Mix.Kind kind, String strategy) {
        JMeterVariables told = JMeterContextService.getContext().getVariables();
        told.put("kind", kind.name());
        told.put("serverTiming", "");
        told.put("elapsed_us", "");
        SampleResult sample = new SampleResult();
        sample.setDataType(SampleResult.TEXT);
        if (!strategy.equals(THE_PLANS)) {
            sample.setSampleLabel(strategy);
        }
        URL url = urlOf(context, strategy);
        sample.setURL(url);
        sample.sampleStart();
        long startedNanos = System.nanoTime();
        try {
            told.put("serverTiming", exchange(context, url, kind, sample));
            told.put("elapsed_us", String.valueOf((System.nanoTime() - startedNanos) / NANOS_PER_MICRO));
        } catch (IOException e) {
            failed(sample, e);
        }
        return sample;
    }

    private static Optional<Mix> read(Path payload) {
        try {
            return Optional.of(Mix.read(payload));
        } catch (IOException e) {
            LOG.error("Nothing is sent: no readable payload: {}", e.toString());
            return Optional.empty();
        }
    }

    private static URL urlOf(JavaSamplerContext context, String strategy) {
        String url = context.getParameter("url").replace(TURN, strategy);
        try {
            return URI.create(url).toURL();
        } catch (IOException e) {
            throw new IllegalArgumentException("url: " + url, e);
        }
    }

    /** Sends, receives, judges; returns the service's stages. */
    private String exchange(JavaSamplerContext context, URL url, Mix.Kind kind, SampleResult sample) throws IOException {
        String id = "u" + (JMeterContextService.getContext().getThreadNum() + 1) + "-" + ++requests;
        byte[] start = bytes("{\"requestId\":\"" + id + "\",");
        byte[] head = bytes(requestHead(url, start.length + kind.rest().length));
        Expected expected = new Expected(bytes("{\"requestId\":\"" + id + "\",\"rows\":"), kind.rows(), bytes("}"));
        if (connection == null) {
            connection = connect(context, url);
            sample.connectEnd();
        }
        connection.send(head, start, kind.rest());
        sample.setSentBytes((long) head.length + start.length + kind.rest().length);
        Head answer = connection.receive(expected, sample::latencyEnd);
        sample.sampleEnd();
        sample.setResponseCode(String.valueOf(answer.status()));
        sample.setResponseMessage(answer.reason());
        sample.setHeadersSize(answer.bytes());
        sample.setBodySize(answer.length());
        judge(sample, answer.status() == 200, expected.complete());
        if (answer.last()) {
            disconnect();
        }
        return answer.serverTiming();
    }

    private static Connection connect(JavaSamplerContext context, URL url) throws IOException {
        int port = url.getPort() < 0 ? url.getDefaultPort() : url.getPort();
        return new Connection(
                new InetSocketAddress(url.getHost(), port),
                context.getIntParameter("connect_timeout_ms"),
                context.getIntParameter("response_timeout_ms"));
    }

    private static String requestHead(URL url, int length) {
        return "POST " + url.getFile() + " HTTP/1.1\r\nHost: " + url.getAuthority()
                + "\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: " + length + "\r\n\r\n";
    }

    private static void judge(SampleResult sample, boolean ok, boolean right) {
        sample.setSuccessful(ok && right);
        if (!ok) {
            sample.addAssertionResult(failure("The status is not 200"));
        } else if (!right) {
            sample.addAssertionResult(failure("The body is not this request's id with the exact product"));
        }
    }

    private static AssertionResult failure(String message) {
        AssertionResult found = new AssertionResult("The answer");
        found.setResultForFailure(message);
        return found;
    }

    /** As JMeter's own HTTP sampler tells a request that got no answer. */
    private void failed(SampleResult sample, IOException error) {
        disconnect();
        if (sample.getEndTime() == 0) {
            sample.sampleEnd();
        }
        sample.setSuccessful(false);
        sample.setResponseCode("Non HTTP response code: " + error.getClass().getName());
        sample.setResponseMessage("Non HTTP response message: " + error.getMessage());
    }

    private void disconnect() {
        try {
            if (connection != null) {
                connection.close();
            }
        } catch (IOException e) {
            LOG.debug("closing a connection: {}", e.toString());
        }
        connection = null;
    }

    /** Ends the user's connection. */
    @Override
    public void teardownTest(JavaSamplerContext context) {
        disconnect();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
