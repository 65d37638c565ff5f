package org.restbench.web;

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
    String page() throws IOException {
        return new ClassPathResource("docs.html").getContentAsString(StandardCharsets.UTF_8);
    }

    @GetMapping("/docs/swagger-ui.css")
    ResponseEntity<Resource> style() {
        return asset("swagger-ui.css", "text/css");
    }

    @GetMapping("/docs/swagger-ui-bundle.js")
    ResponseEntity<Resource> script() {
        return asset("swagger-ui-bundle.js", "text/javascript");
    }

    private ResponseEntity<Resource> asset(String name, String type) {
        MediaType utf8 = new MediaType(MediaType.valueOf(type), StandardCharsets.UTF_8);
        return ResponseEntity.ok().contentType(utf8).body(new ClassPathResource(assets + name));
    }
}
