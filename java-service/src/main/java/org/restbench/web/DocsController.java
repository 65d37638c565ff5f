package org.restbench.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The contract as JSON and as a page; both work without network. */
@RestController
public final class DocsController {
    private static final String JAVASCRIPT = "text/javascript";

    private final String assets;

    /** @param swaggerUiVersion of the webjar in the class path, whose folder it names */
    public DocsController(String swaggerUiVersion) {
        assets = "META-INF/resources/webjars/swagger-ui/" + swaggerUiVersion + "/";
    }

    @GetMapping(path = "/openapi.json", produces = MediaType.APPLICATION_JSON_VALUE)
    Object openApi() throws IOException {
        try (InputStream yaml = new ClassPathResource("contract/openapi.yaml").getInputStream()) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(yaml);
        }
    }

    @GetMapping(path = "/docs", produces = MediaType.TEXT_HTML_VALUE)
    String page(HttpServletResponse response) throws IOException {
        SecurityHeaders.letPageRun(response);
        return new ClassPathResource("docs.html").getContentAsString(StandardCharsets.UTF_8);
    }

    @GetMapping("/docs/swagger-ui.css")
    ResponseEntity<Resource> style() {
        return asset(assets + "swagger-ui.css", "text/css");
    }

    @GetMapping("/docs/swagger-ui-bundle.js")
    ResponseEntity<Resource> script() {
        return asset(assets + "swagger-ui-bundle.js", JAVASCRIPT);
    }

    /** A file of its own: the page's policy runs no script that stands in the page. */
    @GetMapping("/docs/start.js")
    ResponseEntity<Resource> start() {
        return asset("docs-start.js", JAVASCRIPT);
    }

    private static ResponseEntity<Resource> asset(String path, String type) {
        MediaType utf8 = new MediaType(MediaType.valueOf(type), StandardCharsets.UTF_8);
        return ResponseEntity.ok().contentType(utf8).body(new ClassPathResource(path));
    }
}
