package restbench.trials;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A short run of one cell at one load. All users begin at once; the measured window begins {@code dropMillis} later and
 * lasts {@code keepMillis}.
 *
 * <p>The first user that asks for its next request after the planned begin or end of the window marks that end, so both
 * ends of the window are ends of requests. Fixed moments would alias with the waves in which slow requests of many
 * users end.
 */
final class Trial {

    private final long number;
    private final Cell cell;
    private final int users;
    private final Clocks clocks;
    private final long[] arrivals;
    private final CountDownLatch left;
    private final Clocks.Mark begun;
    private final long openNanos;
    private final long closeNanos;
    private final AtomicReference<Clocks.Mark> opened = new AtomicReference<>();
    private final AtomicReference<Clocks.Mark> closed = new AtomicReference<>();
    private final AtomicReference<String> firstError = new AtomicReference<>("");
    private final AtomicInteger nextArrival = new AtomicInteger();
    private final List<Records> records = new ArrayList<>();

    Trial(long number, Cell cell, int users, long dropMillis, long keepMillis, Clocks clocks, long[] arrivals) {
        this.number = number;
        this.cell = cell;
        this.users = users;
        this.clocks = clocks;
        this.arrivals = arrivals;
        this.left = new CountDownLatch(users);
        this.begun = clocks.now();
        this.openNanos = begun.nanos() + TimeUnit.MILLISECONDS.toNanos(dropMillis);
        this.closeNanos = openNanos + TimeUnit.MILLISECONDS.toNanos(keepMillis);
    }

    long number() {
        return number;
    }

    int users() {
        return users;
    }

    Cell cell() {
        return cell;
    }

    long beginNanos() {
        return begun.nanos();
    }

    /** Reads the arrivals of an open load: a moment per line, in microseconds from the begin. */
    static long[] arrivals(Path file) throws IOException {
        return Files.readAllLines(file).stream().mapToLong(Long::parseLong).toArray();
    }

    /**
     * The moment at which a user's next request is due. In a closed load that is now; in an open load the method waits
     * for the next arrival. A request that has not been sent when both the window and the last arrival are over is not
     * sent at all.
     *
     * @return {@link System#nanoTime} of that moment; -1 where the trial is over
     */
    long next() {
        long now = System.nanoTime();
        markUpTo(now);
        if (arrivals == null) {
            return now - closeNanos < 0 ? now : -1;
        }
        int arrival = nextArrival.getAndIncrement();
        if (arrival >= arrivals.length || now - closeNanos >= 0 && now - dueNanos(arrivals.length - 1) > 0) {
            return -1;
        }
        long due = dueNanos(arrival);
        for (long wait = due - now; wait > 0; wait = due - System.nanoTime()) {
            LockSupport.parkNanos(wait);
        }
        markUpTo(due);
        return due;
    }

    private long dueNanos(int arrival) {
        return begun.nanos() + TimeUnit.MICROSECONDS.toNanos(arrivals[arrival]);
    }

    private void markUpTo(long moment) {
        if (moment - openNanos >= 0) {
            mark(opened);
        }
        if (moment - closeNanos >= 0) {
            mark(closed);
        }
    }

    /** Called when a user has finished its part. */
    void leave(Records own) {
        synchronized (records) {
            records.add(own);
        }
        left.countDown();
    }

    void noteError(String text) {
        firstError.compareAndSet("", text);
    }

    /**
     * Waits until all users have finished, and sets the marks that no user has set. Returns false where a user has not
     * finished {@code patienceMillis} after the window.
     */
    boolean await(long patienceMillis) throws InterruptedException {
        long planned = TimeUnit.NANOSECONDS.toMillis(closeNanos - begun.nanos());
        boolean allCame = left.await(planned + patienceMillis, TimeUnit.MILLISECONDS);
        mark(opened);
        mark(closed);
        return allCame;
    }

    /** Writes every request of every user in the format of {@link Records}. */
    void write(OutputStream file) throws IOException {
        synchronized (records) {
            for (Records each : records) {
                each.write(file);
            }
        }
    }

    /**
     * A line of {@code done}, the marks of the trial's begin and of the window's begin and end (each: nanoseconds from
     * the begin, milliseconds since the epoch, and the CPU times of {@link Clocks.Mark}), the names of the kinds,
     * separated by commas, and the first error's text. Tabs separate the parts.
     */
    String summary() {
        StringBuilder line = new StringBuilder("done");
        for (Clocks.Mark mark : List.of(begun, opened.get(), closed.get())) {
            line.append('\t').append(mark.nanos() - begun.nanos());
            line.append('\t').append(mark.epochMillis());
            line.append('\t').append(mark.serviceMillis());
            line.append('\t').append(mark.loadMillis());
            line.append('\t').append(mark.busyMillis());
            line.append('\t').append(mark.stealMillis());
        }
        String kinds = String.join(",", cell.kinds().stream().map(Kind::name).toList());
        return line.append('\t').append(kinds).append('\t').append(firstError.get().replaceAll("[\\t\\r\\n]+", " ")).toString();
    }

    private void mark(AtomicReference<Clocks.Mark> moment) {
        if (moment.get() == null) {
            Clocks.Mark now = clocks.now();
            moment.compareAndSet(null, now);
        }
    }

    /**
     * The requests of a trial and the addresses to which they are sent.
     *
     * @param urls one address or several, among which users are spread by their numbers
     * @param order indices into {@code kinds}, in the order of sending, shared by all users: a free user sends the next
     *     one
     * @param messages what each user sends and pops instead; null where there is an order
     */
    record Cell(List<URI> urls, List<Kind> kinds, int[] order, AtomicLong sent, Messages messages) {

        /**
         * Reads a payload's folder: its own {@code body-rest.json} and {@code answer-rest.json} or, where there is an
         * {@code order.txt} with the name of a kind per line, those of the folders of these names next to it; or
         * {@link Messages}.
         *
         * @param addresses separated by spaces
         */
        static Cell read(String addresses, Path payload) throws IOException {
            List<URI> urls = Arrays.stream(addresses.split(" ")).map(URI::create).toList();
            Path folder = payload.toAbsolutePath().normalize();
            Messages messages = Messages.read(folder);
            if (messages != null) {
                return new Cell(urls, Messages.KINDS, new int[0], new AtomicLong(), messages);
            }
            Path order = folder.resolve("order.txt");
            List<String> lines =
                    Files.exists(order) ? Files.readAllLines(order) : List.of(folder.getFileName().toString());
            List<String> names = lines.stream().distinct().toList();
            List<Kind> kinds = new ArrayList<>();
            for (String name : names) {
                kinds.add(Kind.read(folder.resolveSibling(name)));
            }
            int[] indices = lines.stream().mapToInt(names::indexOf).toArray();
            return new Cell(urls, List.copyOf(kinds), indices, new AtomicLong(), null);
        }

        URI url(int user) {
            return urls.get(user % urls.size());
        }

        int nextKind() {
            return order.length == 1 ? 0 : order[(int) (sent.getAndIncrement() % order.length)];
        }
    }

    /** One kind of request: what follows the id in its body, and what must follow it in the answer. */
    record Kind(String name, byte[] rest, byte[] answer) {

        private static final Map<Path, Kind> READ = new ConcurrentHashMap<>();

        /** Each folder is read once: many cells send the same. */
        static Kind read(Path folder) throws IOException {
            Kind known = READ.get(folder);
            if (known == null) {
                known = new Kind(
                        folder.getFileName().toString(),
                        Files.readAllBytes(folder.resolve("body-rest.json")),
                        Files.readAllBytes(folder.resolve("answer-rest.json")));
                READ.put(folder, known);
            }
            return known;
        }
    }

    /** A user's requests of one trial: {@link #BYTES} bytes each, little-endian. */
    static final class Records {

        static final int BYTES = 57;
        private static final int FIRST_CAPACITY = 256;
        /** The largest lateness that is recorded: it has 16 bits. */
        private static final long LATEST_MILLIS = 0xFFFF;

        private ByteBuffer buffer = ByteBuffer.allocate(FIRST_CAPACITY * BYTES).order(ByteOrder.LITTLE_ENDIAN);

        /** Forgets all requests. */
        void clear() {
            buffer.clear();
        }

        /**
         * Adds a request.
         *
         * @param startNanos when the request was due, from the trial's begin
         * @param lateMillis how long after that moment it was sent
         * @param elapsedNanos from the moment at which it was due to the end of the answer
         * @param latencyNanos from that moment to the answer's first byte
         * @param stagesMillis queue, parse, compute, serialize, connection, database by the service's own clock; NaN
         *     where the service reported none
         * @param token of the message, see {@link Messages}; else 0
         * @param code of a refusal of messages; else 0
         */
        void add(long startNanos, long elapsedNanos, long latencyNanos, int status, int outcome, int kind, int user, long lateMillis, float[] stagesMillis, long token, int code) {
            if (buffer.remaining() < BYTES) {
                buffer = ByteBuffer.allocate(2 * buffer.capacity()).order(ByteOrder.LITTLE_ENDIAN).put(buffer.flip());
            }
            buffer.putLong(startNanos / 1000);
            buffer.putInt((int) (elapsedNanos / 1000)).putInt((int) (latencyNanos / 1000));
            buffer.putShort((short) status).put((byte) outcome).put((byte) kind);
            buffer.putShort((short) user).putShort((short) Math.min(lateMillis, LATEST_MILLIS));
            for (float stage : stagesMillis) {
                buffer.putFloat(stage);
            }
            buffer.putLong(token).put((byte) code);
        }

        void write(OutputStream file) throws IOException {
            file.write(buffer.array(), 0, buffer.position());
        }
    }
}
