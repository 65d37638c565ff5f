package restbench.trials;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jmeter.protocol.java.sampler.AbstractJavaSamplerClient;
import org.apache.jmeter.protocol.java.sampler.JavaSamplerContext;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContextService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One user of a load. Another program orders the trials over a socket, one after the other (README.md, "Trials").
 *
 * <p>JMeter starts and ends the users. Its samples are not used: they would cost as much per request as a small request
 * costs the service. Each user keeps its own records in memory; they are written after the trial.
 */
public final class TrialSampler extends AbstractJavaSamplerClient {

    private static final Logger LOG = LoggerFactory.getLogger(TrialSampler.class);
    /** The conductors by the path of their socket: all users of a plan share one. */
    private static final Map<Path, Conductor> CONDUCTORS = new ConcurrentHashMap<>();

    private User user;

    /** Runs the user's part of all trials. Returns, and ends the test, when the conductor's socket is closed. */
    @Override
    public SampleResult runTest(JavaSamplerContext context) {
        int timeoutMs = context.getIntParameter("response_timeout_ms");
        user = new User(
                JMeterContextService.getContext().getThreadNum(), context.getIntParameter("connect_timeout_ms"), timeoutMs);
        try {
            Conductor conductor = CONDUCTORS.computeIfAbsent(
                    Path.of(context.getParameter("socket")), path -> Conductor.start(path, timeoutMs));
            long last = 0;
            for (Trial trial = conductor.after(last); trial != null; trial = conductor.after(last)) {
                last = trial.number();
                if (user.number() < trial.users()) {
                    user.take(trial);
                } else {
                    user.sitOut(trial);
                }
            }
        } catch (InterruptedException e) {
            LOG.error("The load ends: {}", e.toString());
        }
        JMeterContextService.getContext().getEngine().stopTest(true);
        return null;
    }

    /** Ends the user's connections. */
    @Override
    public void teardownTest(JavaSamplerContext context) {
        if (user != null) {
            user.close();
        }
    }
}
