package restbench.streaming;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.jmeter.protocol.java.sampler.JavaSamplerContext;

/**
 * Several strategies that take turns at one load: a moment each, in random order, round after round.
 *
 * <p>What disturbs a machine for longer than a round disturbs all of them alike (randomized multiple interleaved trials: Abedi
 * and Brecht, ICPE 2017). A turn begins when every answer of the one before has come, so that no two strategies ever have
 * requests in flight together. All users begin it at once: its first part, until that is forgotten, is left out.
 */
final class Turns {

    /** Its parameters, as the plan's README describes them: who takes turns, if anybody does, and how. */
    static final Map<String, String> DEFAULTS = Map.of(
            "turns", "",
            "turn_ms", "1000",
            "turn_left_out_ms", "200",
            "turns_seed", "0",
            "turns_file", "turns.csv",
            "turns_pids", "");

    /** How much longer than for an answer a user waits for the others to come to the next turn. */
    private static final long SPARE_MILLIS = 10_000;

    private final Plan plan;
    private final TurnsFile file;
    private final Random shuffler;
    private final CyclicBarrier change;

    private final List<String> leftOfRound = new ArrayList<>();
    private volatile Turn turn;

    /**
     * What is planned, for all turns alike.
     *
     * @param strategies each has one turn a round
     * @param users all of them wait for one another when a turn is over
     * @param patienceMillis how long for: more than an answer may take
     * @param leftOutMillis the part of a turn, from its begin, that is not measured
     */
    record Plan(
            List<String> strategies, int users, long patienceMillis, long seed, long turnMillis, long leftOutMillis) {}

    Turns(Plan plan, TurnsFile file) {
        this.plan = plan;
        this.file = file;
        this.shuffler = new Random(plan.seed());
        this.change = new CyclicBarrier(plan.users(), this::begin);
    }

    /** Those of a plan, whose parameters these are; {@code users} of them share the turns of these strategies. */
    static Turns of(String strategies, int users, JavaSamplerContext context) {
        Plan plan = new Plan(
                List.of(strategies.split(",")),
                users,
                context.getLongParameter("response_timeout_ms") + SPARE_MILLIS,
                context.getLongParameter("turns_seed"),
                context.getLongParameter("turn_ms"),
                context.getLongParameter("turn_left_out_ms"));
        return new Turns(plan, TurnsFile.of(context.getParameter("turns_file"), context.getParameter("turns_pids")));
    }

    /**
     * The strategy whose turn it is; waits, where one is over, until all users are here.
     *
     * @param loadEndMillis when nobody sends any more, milliseconds since the epoch
     * @return nothing where that is now, or before all are here
     * @throws IOException when they do not come otherwise, or a turn cannot be written down
     */
    Optional<String> strategy(long loadEndMillis) throws IOException {
        try {
            while (turn == null || turn.isOver()) {
                long leftMillis = loadEndMillis - System.currentTimeMillis();
                change.await(Math.min(leftMillis, plan.patienceMillis()), TimeUnit.MILLISECONDS);
            }
            return Optional.of(turn.strategy());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted between two turns", e);
        } catch (BrokenBarrierException | TimeoutException e) {
            if (System.currentTimeMillis() >= loadEndMillis) {
                return Optional.empty();
            }
            throw new IOException("not all users came to the next turn", e);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Runs while all users wait: no request is in flight. */
    private void begin() {
        if (turn != null) {
            file.add(turn.line());
        }
        if (leftOfRound.isEmpty()) {
            leftOfRound.addAll(plan.strategies());
            Collections.shuffle(leftOfRound, shuffler);
        }
        turn = new Turn(leftOfRound.remove(leftOfRound.size() - 1), plan, file);
    }
}
