package org.restbench;

import java.io.PrintStream;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.restbench.DirectRun.DirectArguments;
import org.restbench.affinity.CoreAffinity;
import org.restbench.affinity.OpenHftAffinity;
import org.restbench.framework.Framework;
import org.restbench.settings.Settings;
import org.restbench.settings.Settings.Cores;
import org.restbench.settings.Settings.InvalidSetting;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;

/** Starts the service. */
@SpringBootConfiguration(proxyBeanMethods = false)
@Import(Wiring.class)
public class Application {
    private static final Logger LOG = LoggerFactory.getLogger(Application.class);
    private static final int BAD_SETTING = 2;
    private static final int CANNOT_START = 1;

    /** Time after that for requests in flight in which the server and all threads have to end. */
    private static final int END_SECONDS = 5;

    /**
     * Runs the service; with the arguments {@code npb …}, runs a kernel without HTTP. Exit codes: 0 where the service
     * was asked to stop or the kernel ran; 2 for an invalid setting or argument; 1 for any other failure. The reason is
     * one line on standard error, or a stack trace where it is unexpected.
     */
    public static void main(String[] arguments) {
        try {
            if (arguments.length > 0) {
                direct(DirectArguments.parse(List.of(arguments)));
            } else {
                serve(Settings.from(System.getenv()));
            }
        } catch (Throwable thrown) {
            exit(thrown);
        }
    }

    private static void direct(DirectArguments arguments) {
        PrintStream responses = System.out;
        System.setOut(System.err); // where the log goes: standard output is for the responses alone
        DirectRun.run(arguments, Settings.from(System.getenv()), new OpenHftAffinity(), responses);
    }

    private static void serve(Settings settings) {
        ConfigurableApplicationContext context = builder(settings, new OpenHftAffinity())
                .registerShutdownHook(false)
                .run();
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> stop(context, settings.stopSeconds() + END_SECONDS), "stop"));
        int port = context.getBean(Framework.Listener.class).port();
        String host = settings.host().contains(":") ? "[" + settings.host() + "]" : settings.host();
        LOG.info("listening on http://{}:{}, {}", host, port, context.getBean(Cores.class));
    }

    /**
     * Stops the service in order after TERM or Ctrl-C, at the latest after some seconds, as work that cannot be
     * interrupted would keep the server and the strategies waiting one after the other. Ends with exit code 0, where
     * Java by itself would end with 143 or 130.
     */
    private static void stop(ConfigurableApplicationContext context, int seconds) {
        try {
            CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS)
                    .execute(() -> Runtime.getRuntime().halt(0));
            context.close();
        } finally {
            Runtime.getRuntime().halt(0);
        }
    }

    /** Builds a service that is ready to run; the caller closes the context that running returns. */
    static SpringApplicationBuilder builder(Settings settings, CoreAffinity affinity) {
        Framework framework = Framework.named(settings.framework());
        framework.handoff(settings.handoff()); // an invalid choice is refused before anything is started
        Cores cores = Cores.of(affinity.coresOfProcess(), settings.pinnedWorkers());
        return new SpringApplicationBuilder(Application.class, framework.configuration())
                .web(framework.kind())
                .properties("spring.lifecycle.timeout-per-shutdown-phase=" + settings.stopSeconds() + "s")
                .initializers(context -> {
                    GenericApplicationContext beans = (GenericApplicationContext) context;
                    beans.registerBean(Settings.class, () -> settings);
                    beans.registerBean(Cores.class, () -> cores);
                    beans.registerBean(CoreAffinity.class, () -> affinity);
                    beans.registerBean(Framework.class, () -> framework);
                });
    }

    private static void exit(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidSetting || cause instanceof DirectArguments.InvalidArguments) {
                exit(BAD_SETTING, cause.getMessage());
            }
            if (cause instanceof DirectRun.Unwritten) {
                exit(CANNOT_START, cause.getMessage());
            }
            if (cause instanceof PortInUseException inUse) {
                exit(CANNOT_START, "port " + inUse.getPort() + " is in use; set RESTBENCH_PORT to another");
            }
            if (cause instanceof SocketException unbound) {
                Settings settings = Settings.from(System.getenv());
                exit(CANNOT_START, settings.host() + ":" + settings.port() + ": " + unbound.getMessage());
            }
        }
        thrown.printStackTrace();
        System.exit(CANNOT_START);
    }

    private static void exit(int code, String reason) {
        System.err.println("restbench: " + reason);
        System.exit(code);
    }
}
