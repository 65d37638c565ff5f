package org.restbench;

import java.io.PrintStream;
import java.util.List;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.settings.Cores;
import org.restbench.settings.InvalidSetting;
import org.restbench.settings.Settings;
import org.restbench.settings.Wiring;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;

/** Starts the service. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import(Wiring.class)
public class Application {
    private static final Logger LOG = LoggerFactory.getLogger(Application.class);
    private static final int BAD_SETTING = 2;
    private static final int CANNOT_START = 1;

    /**
     * Without arguments the service, with {@code npb …} a kernel without it. Exit codes: 0 where it was told to stop or
     * the kernel ran, 2 for a bad setting or argument, 1 where the service cannot start; each with one line that says
     * why.
     */
    public static void main(String[] arguments) {
        try {
            if (arguments.length > 0) {
                direct(DirectArguments.parse(List.of(arguments)));
            } else {
                StopSignals.exitWithZero();
                announce(builder(Settings.from(System.getenv()), new OpenHftAffinity())
                        .run());
            }
        } catch (Throwable thrown) {
            exit(thrown);
        }
    }

    private static void direct(DirectArguments arguments) {
        PrintStream responses = System.out;
        System.setOut(System.err); // the log, which knows of no other place to go
        DirectRun.run(arguments, Settings.from(System.getenv()), new OpenHftAffinity(), responses);
    }

    /** A service ready to be run; its context is closed by whoever runs it. */
    static SpringApplicationBuilder builder(Settings settings, CoreAffinity affinity) {
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties("spring.lifecycle.timeout-per-shutdown-phase="
                        + settings.deadlines().stopSeconds() + "s")
                .initializers(context -> {
                    GenericApplicationContext beans = (GenericApplicationContext) context;
                    beans.registerBean(Settings.class, () -> settings);
                    beans.registerBean(Cores.class, () -> cores);
                    beans.registerBean(CoreAffinity.class, () -> affinity);
                });
    }

    private static void announce(ConfigurableApplicationContext context) {
        String host = context.getBean(Settings.class).host();
        String port = context.getEnvironment().getProperty("local.server.port");
        LOG.info("listening on http://{}:{}, {}", host, port, context.getBean(Cores.class));
    }

    private static void exit(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidSetting || cause instanceof DirectArguments.Wrong) {
                System.err.println("restbench: " + cause.getMessage());
                System.exit(BAD_SETTING);
            }
            if (cause instanceof PortInUseException inUse) {
                System.err.println("restbench: port " + inUse.getPort() + " is in use; set RESTBENCH_PORT to another");
                System.exit(CANNOT_START);
            }
        }
        thrown.printStackTrace();
        System.exit(CANNOT_START);
    }
}
