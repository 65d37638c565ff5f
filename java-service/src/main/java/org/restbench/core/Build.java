package org.restbench.core;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * What was built.
 *
 * @param version the service's
 * @param swaggerUi the version of Swagger UI, after which its folder in the class path is called
 */
public record Build(String version, String swaggerUi) {
    /** As the build noted it. */
    public static Build read() throws IOException {
        Properties noted = new Properties();
        try (InputStream in = Build.class.getResourceAsStream("/META-INF/build-info.properties")) {
            noted.load(in);
        }
        return new Build(noted.getProperty("build.version"), noted.getProperty("build.swagger-ui"));
    }
}
