package org.restbench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/** A service that listens on a port of this machine, and a client for it. */
abstract class ServiceUnderTest {
    static final String PRODUCT = "{\"requestId\":\"2238\",\"rows\":[[58,64],[139,154]]}";
    static final String BODY = """
            {"requestId":2238,"matrixOne":{"columnCount":3,"rows":[{"value":"1,2,3"},{"value":"4,5,6"}]},
            "matrixTwo":{"columnCount":2,"rows":[{"value":"7,8"},{"value":"9,10"},{"value":"11,12"}]}}""";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    abstract int port();

    HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path));
    }

    HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, BodyHandlers.ofString());
        } catch (IOException | InterruptedException failed) {
            throw new IllegalStateException(request.toString(), failed);
        }
    }

    HttpResponse<String> get(String path) {
        return send(to(path).build());
    }

    /** A body in JSON. */
    HttpResponse<String> post(String path, String body) {
        return post(path, "application/json", body);
    }

    HttpResponse<String> post(String path, String contentType, String body) {
        return send(to(path).header("Content-Type", contentType)
                .POST(BodyPublishers.ofString(body))
                .build());
    }

    /** @param strategy and the query, where there is to be one */
    HttpResponse<String> multiply(String strategy) {
        return post("/matrix/" + strategy, BODY);
    }

    /** The multiplication, from a thread of its own. */
    CompletableFuture<HttpResponse<String>> multiplyLater(String strategy) {
        return CompletableFuture.supplyAsync(() -> multiply(strategy), task -> new Thread(task).start());
    }

    /** All that are offered with a workload. */
    List<String> strategies(String workload) {
        return ContractExample.JSON
                .readTree(get("/strategies").body())
                .get("strategies")
                .valueStream()
                .filter(offer -> offer.get("workloads")
                        .valueStream()
                        .anyMatch(it -> it.asString().equals(workload)))
                .map(offer -> offer.get("name").asString())
                .toList();
    }

    /** The sum of the values behind what lines of the metrics begin with. */
    double metric(String begin) {
        return get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(begin))
                .mapToDouble(line -> Double.parseDouble(line.substring(begin.length())))
                .sum();
    }

    /** Returns when so many requests wait for their delay. */
    void awaitDelayed(int requests) throws InterruptedException {
        awaitMetric("restbench_requests_delayed " + requests + ".0");
    }

    /** Returns when the metrics have this in them. */
    void awaitMetric(String text) throws InterruptedException {
        while (!get("/metrics").body().contains(text)) {
            Thread.sleep(1);
        }
    }

    /** Returns when a request has been answered by the database. */
    void awaitDatabase() {
        while (get("/messages/serial/queues?limit=1").statusCode() != 200) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
