package org.restbench.core;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** The pages that GET returns. The contract is there as JSON and as HTML, without access to other hosts. */
public final class Pages {
    private static final JsonMapper JSON_MAPPER = JsonMapper.builder()
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    private static final String SCRIPT = "text/javascript;charset=UTF-8";
    private static final String METRICS = "text/plain;version=0.0.4;charset=utf-8";

    /**
     * Content-Security-Policy for Swagger UI, which loads only its own files and this service's contract. Its style
     * sheet has icons as {@code data:} images; the hash is that of its logo's style.
     */
    private static final String DOCS = "default-src 'none'; script-src 'self'; connect-src 'self'; "
            + "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; "
            + "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

    private Pages() {}

    /** Answers GET for one path. */
    @FunctionalInterface
    public interface Page {
        /**
         * @return a new reply for each request, as it may hold a place in flight and memory
         * @throws RequestRefused where there is no page with this query
         */
        Reply get(Head head);
    }

    /**
     * The pages by path.
     *
     * @param health the members of {@code /health}, called for each request
     * @param swaggerUi version of Swagger UI, which names its folder in the class path
     * @param descriptions pages for what the contract's JSON does not describe, by path: WSDLs
     */
    public static Map<String, Page> of(
            Catalogue catalogue,
            Metrics metrics,
            Supplier<Map<String, Object>> health,
            String swaggerUi,
            Map<String, Page> descriptions) {
        String swagger = "META-INF/resources/webjars/swagger-ui/" + swaggerUi + "/";
        byte[] strategies = JSON_MAPPER.writeValueAsBytes(catalogue.offers);
        byte[] openApi = openApi();
        byte[] docs = docs(descriptions.keySet());
        Map<String, Page> pages = new HashMap<>(descriptions);
        pages.put("/health", head -> json(JSON_MAPPER.writeValueAsBytes(health.get())));
        pages.put("/strategies", head -> json(strategies));
        pages.put("/metrics", head -> data(METRICS, metrics.scrape().getBytes(StandardCharsets.UTF_8)));
        pages.put("/openapi.json", head -> json(openApi));
        pages.put("/docs", head -> Reply.page("text/html;charset=UTF-8", DOCS, docs));
        pages.put("/docs/start.js", file("docs-start.js", SCRIPT)); // the policy of /docs forbids inline scripts
        pages.put("/docs/swagger-ui.css", file(swagger + "swagger-ui.css", "text/css;charset=UTF-8"));
        pages.put("/docs/swagger-ui-bundle.js", file(swagger + "swagger-ui-bundle.js", SCRIPT));
        return pages;
    }

    /** The page {@code /docs}, with a link to each WSDL. */
    private static byte[] docs(Set<String> wsdlPaths) {
        String links = wsdlPaths.stream()
                .map(path -> "<a href=\"" + path + "?wsdl\">" + path + "?wsdl</a>")
                .collect(Collectors.joining(" "));
        String page = new String(read("docs.html"), StandardCharsets.UTF_8);
        return page.replace("<!-- WSDL -->", links).getBytes(StandardCharsets.UTF_8);
    }

    private static Reply json(byte[] json) {
        return data(Reply.JSON, json);
    }

    private static Reply data(String contentType, byte[] data) {
        return Reply.page(contentType, Reply.DATA, data);
    }

    private static byte[] openApi() {
        byte[] yaml = read("contract/openapi.yaml");
        Object read = new Yaml(new SafeConstructor(new LoaderOptions())).load(new String(yaml, StandardCharsets.UTF_8));
        return JSON_MAPPER.writeValueAsBytes(read);
    }

    private static Page file(String resource, String contentType) {
        byte[] file = read(resource);
        return head -> data(contentType, file);
    }

    public static byte[] read(String resource) {
        try (InputStream in = Pages.class.getResourceAsStream("/" + resource)) {
            if (in == null) {
                throw new IllegalStateException("not in the class path: " + resource);
            }
            return in.readAllBytes();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
