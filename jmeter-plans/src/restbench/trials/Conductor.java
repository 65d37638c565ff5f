package restbench.trials;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads orders from a socket, one per line with tabs between the parts, and lets the users carry them out (README.md,
 * "Trials"). The load ends when the socket is closed.
 */
final class Conductor {

    private static final Logger LOG = LoggerFactory.getLogger(Conductor.class);
    /** Time to wait for the users of a trial in addition to the timeout of an answer. */
    private static final long SPARE_MILLIS = 10_000;

    private final Map<String, Trial.Cell> cells = new HashMap<>();
    private final SocketChannel socket;
    private final long patienceMillis;
    private Trial current;
    private boolean over;

    private Conductor(SocketChannel socket, long patienceMillis) {
        this.socket = socket;
        this.patienceMillis = patienceMillis;
    }

    /** Connects to the socket at a path and listens in a thread of its own. */
    static Conductor start(Path path, int responseTimeoutMs) {
        try {
            SocketChannel socket = SocketChannel.open(UnixDomainSocketAddress.of(path));
            Conductor conductor = new Conductor(socket, responseTimeoutMs + SPARE_MILLIS);
            Thread thread = new Thread(conductor::listen, "conductor");
            thread.setDaemon(true);
            thread.start();
            return conductor;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for the trial that follows the one with this number; null where no more trials will come. */
    synchronized Trial after(long number) throws InterruptedException {
        while (!over && (current == null || current.number() <= number)) {
            wait();
        }
        return over ? null : current;
    }

    private void listen() {
        try (socket) {
            BufferedReader lines = new BufferedReader(
                    new InputStreamReader(Channels.newInputStream(socket), StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                obey(List.of(line.split("\t", -1)));
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            LOG.error("No more orders: {}", e.toString(), e);
        } finally {
            synchronized (this) {
                over = true;
                notifyAll();
            }
        }
    }

    private void obey(List<String> order) throws IOException, InterruptedException {
        switch (order.get(0)) {
            case "cell" -> cells.put(order.get(1), Trial.Cell.read(order.get(2), Path.of(order.get(3))));
            case "trial" -> answer(carryOut(order));
            default -> throw new IOException("not an order: " + order);
        }
    }

    private String carryOut(List<String> order) throws IOException, InterruptedException {
        Trial.Cell cell = cells.get(order.get(1));
        if (cell == null) {
            return "failed\tno cell " + order.get(1);
        }
        long[] arrivals = order.size() > 7 ? Trial.arrivals(Path.of(order.get(7))) : null;
        Trial trial;
        synchronized (this) {
            trial = new Trial(
                    current == null ? 1 : current.number() + 1,
                    cell,
                    Integer.parseInt(order.get(2)),
                    Long.parseLong(order.get(3)),
                    Long.parseLong(order.get(4)),
                    Clocks.of(order.get(6)),
                    arrivals);
            current = trial;
            notifyAll();
        }
        if (!trial.await(patienceMillis)) {
            return "failed\tnot all users came to the end of the trial";
        }
        try (OutputStream file = Files.newOutputStream(Path.of(order.get(5)))) {
            trial.write(file);
        }
        return trial.summary();
    }

    private void answer(String line) throws IOException {
        Channels.newOutputStream(socket).write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }
}
