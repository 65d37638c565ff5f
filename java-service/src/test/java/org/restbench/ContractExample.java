package org.restbench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One file of contract/examples: a request, and how its answer is held against it. The form is in contract/README.md.
 */
record ContractExample(String name, JsonNode content) {
    static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNumberLength(100_000)
                            .build())
                    .build())
            .build();

    /** Read once. */
    private static final List<ContractExample> ALL = Stream.of("contract/examples", "contract/soap/examples")
            .flatMap(folder -> Arrays.stream(files(folder)))
            .map(file -> new ContractExample(file.getFilename(), read(file)))
            .filter(example -> !example.rawPath().contains("%zz")) // no URI for Java's client: see HttpTest
            .sorted(Comparator.comparing(ContractExample::name))
            .toList();

    static List<ContractExample> all() {
        return ALL;
    }

    private static Resource[] files(String folder) {
        try {
            return new PathMatchingResourcePatternResolver().getResources("classpath*:" + folder + "/*.json");
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    private static JsonNode read(Resource file) {
        try (var in = file.getInputStream()) {
            return JSON.readTree(in);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    String given() {
        return content.path("given").asString("");
    }

    /** Texts of a list, such as the techniques it holds for; empty where it says nothing. */
    List<String> texts(String name) {
        return content.path(name).valueStream().map(JsonNode::asString).toList();
    }

    /** With what stands for the names in braces. */
    ContractExample with(Map<String, String> names) {
        String text = JSON.writeValueAsString(content);
        for (Map.Entry<String, String> each : names.entrySet()) {
            text = text.replace("{" + each.getKey() + "}", each.getValue());
        }
        return new ContractExample(name, JSON.readTree(text));
    }

    /** The requests that are sent first. */
    List<ContractExample> before() {
        return content.path("before")
                .valueStream()
                .map(request ->
                        new ContractExample(name, JSON.createObjectNode().set("request", request)))
                .toList();
    }

    boolean isOfMessages() {
        return rawPath().startsWith("/messages/");
    }

    private String rawPath() {
        return content.get("request").get("path").asString();
    }

    boolean everyStrategy() {
        return rawPath().contains("{strategy}");
    }

    boolean everyKernel() {
        return everyStrategy() && workload().equals("matrix") && !rawPath().contains("kernel=");
    }

    /** What stands before the strategy in the path. */
    String workload() {
        String[] parts = rawPath().split("[/?]");
        return isSoap() ? "soap/" + parts[2] : parts[1];
    }

    /** What is below {@code /soap/} alone is no service of SOAP. */
    boolean isSoap() {
        return rawPath().startsWith("/soap/") && !rawPath().equals("/soap/");
    }

    /** @param query added to the path, empty for none */
    HttpRequest request(RunningService service, String strategy, String query) {
        JsonNode request = content.get("request");
        String path = rawPath().replace("{strategy}", strategy);
        String full = query.isEmpty() ? path : path + (path.contains("?") ? "&" : "?") + query;
        HttpRequest.Builder builder = service.to(full);
        request.get("headers")
                .properties()
                .forEach(header ->
                        builder.header(header.getKey(), header.getValue().asString()));
        byte[] body = body();
        String method = request.get("method").asString();
        return builder.method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body))
                .build();
    }

    private byte[] body() {
        JsonNode request = content.get("request");
        if (request.has("bodyBase64")) {
            return Base64.getDecoder().decode(request.get("bodyBase64").asString());
        }
        if (request.has("bodyText")) {
            return request.get("bodyText").asString().getBytes(StandardCharsets.UTF_8);
        }
        return request.has("body") ? JSON.writeValueAsBytes(request.get("body")) : null;
    }

    void check(HttpResponse<String> answer) {
        check(answer, JSON.nullNode());
    }

    /** @param before the answer to the last of {@link #before} */
    void check(HttpResponse<String> answer, JsonNode before) {
        assertThat(answer.statusCode())
                .as(answer.body())
                .isEqualTo(content.get("status").asInt());
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValue(isSoap() ? "text/xml;charset=utf-8" : "application/json");
        assertThat(answer.headers().firstValue("Content-Length")).isPresent();
        content.path("responseHeaders").properties().forEach(header -> {
            String value = answer.headers().firstValue(header.getKey()).orElse(null);
            if (header.getValue().isNull()) {
                assertThat(value).isNull();
            } else {
                assertThat(value).isNotNull();
                assertThat(List.of(value.split(", ")))
                        .contains(header.getValue().asString());
            }
        });
        if (isSoap()) {
            SoapAnswer soap = SoapAnswer.parse(answer.body());
            assertThat(soap.faultCode()).isEqualTo(content.path("faultCode").asString(""));
            check(JSON.writeValueAsString(soap.members()), before);
        } else if (content.has("responseText")) {
            assertThat(answer.body()).isEqualTo(content.get("responseText").asString());
        } else {
            if (content.has("varying")) {
                assertThat(answer.body().replaceAll("\"(\\\\.|[^\"\\\\])*+\"", "\"\""))
                        .doesNotContainAnyWhitespaces();
            }
            check(answer.body(), before);
        }
    }

    private void check(String json, JsonNode before) {
        if (content.has("varying")) {
            JsonNode found = JSON.readTree(json);
            checkVarying(found, content.get("response"), content.get("varying"), before);
        } else {
            checkError(JSON.readTree(json));
        }
    }

    private static void checkVarying(JsonNode found, JsonNode expected, JsonNode varying, JsonNode before) {
        assertThat(List.copyOf(found.propertyNames())).isEqualTo(List.copyOf(expected.propertyNames()));
        expected.properties().forEach(member -> {
            JsonNode tolerance = varying.get(member.getKey());
            JsonNode value = found.get(member.getKey());
            if (tolerance == null) {
                assertThat(value).as(member.getKey()).isEqualTo(member.getValue());
            } else if (tolerance.isNull() && value.isArray()) {
                assertThat(value.size()).isEqualTo(member.getValue().size());
            } else if (tolerance.isNull()) {
                assertThat(value.asDouble()).as(member.getKey()).isPositive();
            } else if (tolerance.isString()) {
                assertThat(value).as(member.getKey()).isEqualTo(before.get(member.getKey()));
            } else if (tolerance.isObject()) {
                assertThat(value.size()).isEqualTo(member.getValue().size());
                for (int i = 0; i < value.size(); i++) {
                    checkVarying(value.get(i), member.getValue().get(i), tolerance, before);
                }
            } else {
                checkClose(value, member.getValue(), tolerance.asDouble());
            }
        });
    }

    private static void checkClose(JsonNode found, JsonNode expected, double relative) {
        assertThat(found.getNodeType()).isEqualTo(expected.getNodeType());
        assertThat(found.size()).isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            checkClose(found.get(i), expected.get(i), relative);
        }
        if (expected.isNumber()) {
            double off = Math.abs(found.asDouble() - expected.asDouble());
            assertThat(off).isLessThanOrEqualTo(relative * Math.abs(expected.asDouble()));
        }
    }

    private void checkError(JsonNode error) {
        JsonNode expected = content.get("response");
        assertThat(error.propertyNames()).containsExactly("requestId", "errorCode", "errorMessage");
        assertThat(error.get("requestId")).isEqualTo(expected.get("requestId"));
        assertThat(error.get("errorCode")).isEqualTo(expected.get("errorCode"));
        String message = error.get("errorMessage").asString();
        if (expected.has("errorMessage")) {
            assertThat(message).isEqualTo(expected.get("errorMessage").asString());
        }
        assertThat(message).contains(content.path("where").asString(""));
        assertThat(message.codePointCount(0, message.length())).isBetween(1, 300);
        assertThat(message).doesNotContain("org.", "java.", "Exception", "\tat ");
        requireNoEcho(message);
    }

    private void requireNoEcho(String message) {
        byte[] body = body();
        String sent = rawPath() + "\n" + (body == null ? "" : new String(body, StandardCharsets.UTF_8));
        for (int i = 0; i + 41 <= message.length(); i++) {
            assertThat(sent).doesNotContain(message.substring(i, i + 41));
        }
    }
}
