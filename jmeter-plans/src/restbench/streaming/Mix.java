package restbench.streaming;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The kinds of request of a load and the order in which they are sent, shared by all users: whoever is free sends the next.
 *
 * <p>So the shares are those of the order, whatever each kind takes. The bodies and answers are in memory once, however many
 * users send them.
 */
final class Mix {

    private final List<Kind> order;
    private final AtomicLong sent = new AtomicLong();

    private Mix(List<Kind> order) {
        this.order = order;
    }

    /**
     * Reads what a level of complexity sends: the folder's own {@code body-rest.json} and {@code rows.json} or, where there is
     * an {@code order.txt}, a kind's name a line, those of the folders of these names beside it.
     *
     * @throws IOException when a file cannot be read, or the order has no line
     */
    static Mix read(Path payload) throws IOException {
        Path folder = payload.toAbsolutePath().normalize();
        Path order = folder.resolve("order.txt");
        Map<String, Kind> kinds = new LinkedHashMap<>();
        List<Kind> lines = new ArrayList<>();
        for (String name : Files.exists(order) ? Files.readAllLines(order) : List.of(folder.getFileName().toString())) {
            if (!kinds.containsKey(name)) {
                kinds.put(name, Kind.read(folder.resolveSibling(name)));
            }
            lines.add(kinds.get(name));
        }
        if (lines.isEmpty()) {
            throw new IOException(order + ": no kind of request in it");
        }
        return new Mix(List.copyOf(lines));
    }

    /** The next request's kind; after the last line comes the first again. */
    Kind next() {
        return order.get((int) (sent.getAndIncrement() % order.size()));
    }

    /** One kind of request: what follows the id in its body, and the product that must come back. */
    record Kind(String name, byte[] rest, byte[] rows) {

        static Kind read(Path folder) throws IOException {
            return new Kind(
                    folder.getFileName().toString(),
                    Files.readAllBytes(folder.resolve("body-rest.json")),
                    Files.readAllBytes(folder.resolve("rows.json")));
        }
    }
}
