package org.restbench.core;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.restbench.codec.Query;
import org.restbench.core.Catalogue.Route;
import org.restbench.core.Protocol.Call;
import org.restbench.execution.StageClock;
import org.restbench.memory.MemoryBudget;

/**
 * A request in progress: takes the body, waits for the delay that the request asks for, and runs. Used by one thread at
 * a time. Unless taking the body has returned a reply, exactly one of {@link #run} (once {@link #delayed} is done),
 * {@link #cutOff}, {@link #tooLarge} and {@link #refused} is called, once.
 */
public final class Exchange implements Core.OpenResult {
    /** Largest array by the declared length alone; beyond it, memory grows with the bytes that arrive. */
    private static final int MAX_INITIAL_BYTES = 1 << 20;

    /** Size of the first array where no length is declared. */
    private static final int FIRST_BYTES = 1 << 16;

    /** Memory that does not depend on the body: the tasks of a loop (100 bytes each), buffers, the request itself. */
    private static final long BYTES_PER_REQUEST = 384 << 10;

    private final Core core;
    private final Route route;
    private final Head head;
    private final Query query;
    private MemoryBudget.Hold memory;
    private boolean admitted;
    private byte[] body = {};
    private int received;
    private Throwable refusal;
    private long wholeNanos;

    Exchange(Core core, Route route, Head head, List<String> open) {
        this.core = core;
        this.route = route;
        this.head = head;
        this.query = new Query(head.rawQuery(), core.delays().maxMillis, open);
    }

    /**
     * Reserves memory. A request whose body has a declared length is admitted here, before the body is read; one of
     * unknown length is admitted after the body, which may turn out to be too large.
     *
     * @throws RequestRefused 007 or 008
     * @throws org.restbench.memory.MemoryBudget.MemoryRefused where there is no memory for the body
     */
    void open() {
        long declared = head.declaredBytes();
        if (declared > core.maxBodyBytes()) {
            throw new RequestRefused(core.tooLarge());
        }
        if (declared >= 0) {
            admit();
        }
        long expected = declared < 0 ? FIRST_BYTES : declared;
        memory = core.memory().hold(BYTES_PER_REQUEST + route.protocol().bytesPerByte() * expected);
    }

    private void admit() {
        if (admitted) {
            return;
        }
        core.admission().enter();
        admitted = true;
    }

    /**
     * Takes the next bytes of the body. Where the supplier runs out of memory, the request is refused, too.
     *
     * @param bytes makes them; they belong to the exchange from now on: a piece that is the whole body is not copied
     * @return null where the bytes are accepted; else the reply that refuses the request, and the exchange is over
     */
    public Reply take(Supplier<byte[]> bytes) {
        try {
            byte[] piece = bytes.get();
            if (piece.length > core.maxBodyBytes() - received) {
                throw new RequestRefused(core.tooLarge());
            }
            if (received == 0 && piece.length == head.declaredBytes()) {
                body = piece;
            } else {
                makeRoom(received + piece.length);
                System.arraycopy(piece, 0, body, received, piece.length);
            }
            received += piece.length;
            return null;
        } catch (Throwable refused) {
            return refused(refused);
        }
    }

    /**
     * Takes the whole body from a stream. An {@link Error} of the stream is answered with a refusal, too.
     *
     * @return as {@link #take}
     * @throws IOException where the stream fails: the body is cut off
     */
    public Reply takeAll(InputStream in) throws IOException {
        try {
            for (int next = in.read(); next >= 0; next = in.read()) {
                byte[] first = {(byte) next};
                Reply refused = take(() -> first); // this makes room for more
                if (refused != null) {
                    return refused;
                }
                received += in.readNBytes(body, received, body.length - received);
            }
            return null;
        } catch (Error failed) {
            return refused(failed);
        }
    }

    /** Refuses the request with 007, as the server has found that the body is too large. */
    public Reply tooLarge() {
        return refused(new RequestRefused(core.tooLarge()));
    }

    private void makeRoom(int needed) {
        if (needed <= body.length) {
            return;
        }
        boolean declared = head.declaredBytes() >= 0;
        long most = declared ? head.declaredBytes() : core.maxBodyBytes();
        long wanted = Math.max(2L * body.length, declared ? MAX_INITIAL_BYTES : FIRST_BYTES);
        int capacity = (int) Math.max(needed, Math.min(most, wanted));
        if (!declared) { // memory for the first bytes is held already
            memory.grow(route.protocol().bytesPerByte() * Math.max(0, capacity - Math.max(body.length, FIRST_BYTES)));
        }
        body = Arrays.copyOf(body, capacity);
    }

    /** Refuses the request with 002, as the body ended early. */
    public Reply cutOff() {
        return end(route.protocol().refusal(Refusal.of(ErrorCode.MALFORMED, "the body was cut off", null)));
    }

    /**
     * Begins the wait that the request asks for. To be called once the body is complete, before {@link #run}.
     *
     * @return completed when the request is to be run, already where it asks for no delay or is refused; it never
     *     fails, and the thread that completes it must not be blocked
     */
    public CompletableFuture<Void> delayed() {
        wholeNanos = System.nanoTime();
        OptionalInt millis = query.delayMillis();
        if (millis.isPresent() && received >= head.declaredBytes()) {
            try {
                admit();
                return core.delays().begin(millis.getAsInt());
            } catch (Throwable refused) {
                refusal = refused;
            }
        }
        return CompletableFuture.completedFuture(null);
    }

    /**
     * Runs the request under its strategy.
     *
     * @return the reply, completed already where the strategy works on the calling thread; it never fails
     */
    public CompletionStage<Reply> run() {
        if (received < head.declaredBytes()) {
            return CompletableFuture.completedFuture(cutOff());
        }
        if (refusal != null) {
            return CompletableFuture.completedFuture(refused(refusal));
        }
        try {
            admit();
            byte[] whole = received == body.length ? body : Arrays.copyOf(body, received);
            return start(whole);
        } catch (Throwable refused) {
            return CompletableFuture.completedFuture(refused(refused));
        }
    }

    private CompletionStage<Reply> start(byte[] whole) {
        String delay =
                query.delayMillis().isPresent() ? StageClock.entry("delay", System.nanoTime() - wholeNanos) + ", " : "";
        Call call = new Call(
                head, whole, query, memory, core.limits(), route.technique().strategy(), delay);
        return route.protocol().run(call).handle((reply, failure) -> failure == null ? end(reply) : lastResort());
    }

    private Reply end(Reply reply) {
        body = null;
        try {
            return route.counted(reply).releasing(this::release);
        } catch (Throwable failure) { // e.g. for want of memory: the reply is valid all the same
            release();
            return reply;
        }
    }

    /** Ends the exchange with a refusal, in place of {@link #run}. Never fails. */
    public Reply refused(Throwable thrown) {
        try {
            return end(route.protocol().refusal(Refusal.of(thrown, () -> null)));
        } catch (Throwable failure) {
            return lastResort();
        }
    }

    /** The reply where not even a refusal can be made any more: it was made beforehand, and is not counted. */
    private Reply lastResort() {
        release();
        return route.lastResort();
    }

    private void release() {
        if (memory != null) {
            memory.close();
        }
        if (admitted) {
            core.admission().leave();
        }
    }
}
