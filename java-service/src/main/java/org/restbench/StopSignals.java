package org.restbench;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes TERM and INT (Ctrl-C) an ordinary end of the process, with exit code 0: Spring closes the service in the course
 * of it, after the requests in flight. A Java process would else exit with 143 or 130, as if it had been cut off. A
 * second signal finds the end under way and does nothing.
 */
final class StopSignals {
    private static final Logger LOG = LoggerFactory.getLogger(StopSignals.class);

    private StopSignals() {}

    /** From now on. */
    static void exitWithZero() {
        for (String signal : new String[] {"TERM", "INT"}) {
            try {
                handle(signal, () -> System.exit(0));
            } catch (InvocationTargetException taken) {
                // nohup, an asynchronous shell job (INT), or java -Xrs: whoever started the service wants it otherwise
                LOG.debug("{} is left as it is: {}", signal, taken.getCause().getMessage());
            } catch (ReflectiveOperationException missing) {
                LOG.warn("this Java has no signal handlers: {} ends the service with an exit code above 128", signal);
            }
        }
    }

    /** {@code sun.misc.Signal}, the only way there is, by name: the compiler would warn of it. */
    private static void handle(String name, Runnable action) throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Object proxy = Proxy.newProxyInstance(
                StopSignals.class.getClassLoader(), new Class<?>[] {handler}, (self, method, arguments) -> {
                    action.run();
                    return null;
                });
        signal.getMethod("handle", signal, handler)
                .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
    }
}
