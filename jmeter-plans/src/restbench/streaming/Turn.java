package restbench.streaming;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One strategy's turn. Whoever first asks after a moment has passed marks it: so the part that is measured ends before any user
 * stops sending.
 */
final class Turn {

    private final String strategy;
    private final TurnsFile file;
    private final long openNanos;
    private final long closeNanos;
    private final AtomicReference<TurnsFile.Mark> opened = new AtomicReference<>();
    private final AtomicReference<TurnsFile.Mark> closed = new AtomicReference<>();

    Turn(String strategy, Turns.Plan plan, TurnsFile file) {
        this.strategy = strategy;
        this.file = file;
        long now = System.nanoTime();
        this.openNanos = now + TimeUnit.MILLISECONDS.toNanos(plan.leftOutMillis());
        this.closeNanos = now + TimeUnit.MILLISECONDS.toNanos(plan.turnMillis());
    }

    String strategy() {
        return strategy;
    }

    /** Whether nobody may begin a request of this turn any more. */
    boolean isOver() {
        long now = System.nanoTime();
        if (now - openNanos >= 0) {
            mark(opened);
        }
        if (now - closeNanos < 0) {
            return false;
        }
        mark(closed);
        return true;
    }

    /** What is written down of it, when it is over. */
    String line() {
        return strategy + "," + opened.get() + "," + closed.get();
    }

    private void mark(AtomicReference<TurnsFile.Mark> moment) {
        if (moment.get() == null) {
            moment.compareAndSet(null, file.now());
        }
    }
}
