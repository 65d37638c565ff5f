package org.restbench.client.calls;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.restbench.client.strategy.Strategies;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads requests for batches from the standard input, a JSON object per line, and writes the result of each as a JSON
 * object on one line. Ends with its input.
 */
final class Main {
    static final List<String> TRANSPORTS = List.of("rest", "soap", "cxf");

    private Main() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        PrintStream answers = System.out;
        System.setOut(System.err); // nothing but answers on the standard output
        JsonMapper json = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .build();
        Runner runner = new Runner(json);
        Runtime.getRuntime().addShutdownHook(new Thread(runner::close, "closing"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(json.writeValueAsString(answer(json, runner, line)));
            answers.flush();
        }
    }

    private static Map<String, Object> answer(JsonMapper json, Runner runner, String line) throws InterruptedException {
        try {
            if (!(json.readTree(line) instanceof ObjectNode asked)) {
                throw new IllegalArgumentException("a line must be a JSON object");
            }
            String what = asked.path("do").asString("");
            asked.remove("do");
            return switch (what) {
                case "hello" -> hello();
                case "batch" -> runner.run(json.treeToValue(asked, Options.class));
                default -> throw new IllegalArgumentException("do: must be hello or batch, is " + what);
            };
        } catch (JacksonException | IllegalArgumentException wrong) {
            return error(wrong.getCause() instanceof IllegalArgumentException own ? own : wrong);
        } catch (IOException unusable) { // of a file; the message alone is just the file's name
            return error(new IllegalArgumentException(unusable.toString()));
        }
    }

    private static Map<String, Object> error(Throwable wrong) {
        return Map.of(
                "error", String.valueOf(wrong.getMessage()).lines().findFirst().orElse(wrong.toString()));
    }

    private static Map<String, Object> hello() {
        String version = Main.class.getPackage().getImplementationVersion();
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("version", version == null ? "unpacked" : version);
        hello.put("strategies", Strategies.names());
        hello.put("transports", TRANSPORTS);
        hello.put("pid", ProcessHandle.current().pid());
        hello.put("cores", Runtime.getRuntime().availableProcessors());
        return hello;
    }
}
