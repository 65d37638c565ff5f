package org.restbench.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.restbench.client.codec.Matrix;
import org.restbench.client.codec.MatrixProduct;
import org.restbench.client.http.HttpExchange;
import org.restbench.client.strategy.Strategies;

/** The lines of the README are those of this test, and run. */
class ReadmeTest {
    private static void example(URI url, Iterator<MatrixProduct.Input> inputs) throws InterruptedException {
        Codec<MatrixProduct.Input, MatrixProduct> codec = MatrixProduct.JSON;
        Exchange exchange = new HttpExchange(url, Map.of("Content-Type", "application/json"));
        try (CallingStrategy strategy = Strategies.of("async", Loop.IN_ORDER);
                Calls<Matrix> calls = strategy.start(
                        inputs, new Job<>(codec, exchange, (i, in, out) -> out.rows()), Limits.DEFAULT)) {
            for (Outcome<Matrix> next = calls.take(); next != null; next = calls.take()) System.out.println(next);
        }
    }

    @Test
    void theExampleRuns() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            byte[] answer = "{\"requestId\":\"1\",\"rows\":[[58,64]]}".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        PrintStream out = System.out;
        ByteArrayOutputStream told = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(told, true));
            Matrix one = new Matrix(1, new long[] {58, 64});
            URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/matrix/serial");
            example(
                    url,
                    List.of(new MatrixProduct.Input("1", one, one), new MatrixProduct.Input("1", one, one))
                            .iterator());
        } finally {
            System.setOut(out);
            server.stop(0);
        }
        assertThat(told.toString().lines()).hasSize(2).allMatch(line -> line.startsWith("Done[index="));
    }

    @Test
    void itIsTheReadmes() throws IOException {
        String readme = Files.readString(Path.of("README.md"));
        String shown =
                readme.substring(readme.indexOf("```java") + 7, readme.indexOf("```", readme.indexOf("```java") + 7));
        String own = Files.readString(Path.of("src/test/java/org/restbench/client/ReadmeTest.java"));
        assertThat(own.replaceAll("\\s+", "")).contains(shown.replaceAll("\\s+", ""));
    }
}
