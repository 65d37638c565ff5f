package org.restbench.client.strategy;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import org.restbench.client.Answer;
import org.restbench.client.Deadline;
import org.restbench.client.Exchange;
import org.restbench.client.ExchangeFailure;
import org.restbench.client.Kind;
import org.restbench.client.Outcome;
import org.restbench.client.Stage;
import org.restbench.client.strategy.Plan.Team;
import org.restbench.client.strategy.Plan.Way;

/** Runs the stages of a batch's calls on the threads that its plan names. */
final class Workers<I, O, R> {
    private final Batch<I, O, R> batch;
    private final Plan plan;
    private final Buffers<I, O, R> buffers;
    private final Condition placeFree;
    private final Condition processFree;
    private final Condition callerFree;
    /** Sequential: who takes at the moment. */
    private boolean callerWorks;

    private int inFlight;
    private int inProcess;
    private int encoding;
    private boolean sending;

    Workers(Batch<I, O, R> batch) {
        this.batch = batch;
        plan = batch.plan;
        buffers = batch.buffers;
        placeFree = buffers.condition();
        processFree = buffers.condition();
        callerFree = buffers.condition();
    }

    void begin() {
        switch (plan.way()) {
            case CALLER -> {}
            case VIRTUAL -> VirtualThreads.start(this::oneOnVirtualThread);
            default -> plan.teams().forEach(this::begin);
        }
        if (plan.adapts()) {
            batch.every(Window.TICK_NANOS, this::widen);
        }
    }

    private void begin(Team team) {
        for (int number = 1; number <= team.threads(); number++) {
            Thread thread = new Thread(() -> work(team), team.thread() + "-" + number);
            thread.setDaemon(true);
            batch.enter(thread, team.thread());
            try {
                thread.start();
            } catch (OutOfMemoryError noMoreThreads) {
                batch.leave(thread);
                batch.close();
                throw noMoreThreads;
            }
        }
    }

    private void work(Team team) {
        try {
            if (plan.way() == Way.THROUGH) {
                for (Call<I, O, R> call = next(); call != null; call = next()) {
                    runThrough(call);
                    Thread.interrupted(); // one that user code left behind is not for the next call
                }
            } else {
                while (runNext(team)) {
                    Thread.interrupted();
                }
            }
        } finally {
            batch.leave(Thread.currentThread());
        }
    }

    /** Pulls an input, begins the thread that will pull the next one, and makes the call. */
    private void oneOnVirtualThread() {
        batch.enter(Thread.currentThread(), "virtual");
        try {
            Call<I, O, R> call = next();
            if (call != null) {
                VirtualThreads.start(this::oneOnVirtualThread);
                runThrough(call);
            }
        } finally {
            batch.leave(Thread.currentThread());
        }
    }

    /** Waits until an input may be pulled; null where there is none. */
    private Call<I, O, R> next() {
        return batch.locked(() -> {
            batch.await(buffers.work(Stage.S), () -> batch.mayPull() || batch.noMoreInputs);
            return batch.mayPull() ? batch.pull() : null;
        });
    }

    // --- one thread for all stages ---

    /** The outcome of the next input, on the thread that takes it. */
    Outcome<R> takeInTurn() throws InterruptedException {
        batch.lock.lockInterruptibly();
        Call<I, O, R> call = null;
        try {
            while (callerWorks) {
                callerFree.await();
            }
            Outcome<R> before = batch.poll();
            if (before == null && !batch.isOver()) {
                batch.enter(Thread.currentThread(), "caller");
                callerWorks = true;
                call = batch.mayPull() ? batch.pull() : null;
            }
            if (call == null) {
                leaveCaller();
                return before == null && batch.isOver() ? null : before;
            }
        } finally {
            batch.lock.unlock();
        }
        try {
            runThrough(call);
        } finally {
            batch.locking(this::leaveCaller);
        }
        if (call.failure instanceof InterruptedException stopped && !batch.cancelled) {
            throw stopped;
        }
        return batch.locked(batch::poll);
    }

    private void leaveCaller() {
        if (callerWorks) {
            callerWorks = false;
            batch.leave(Thread.currentThread());
            callerFree.signal();
            if (batch.cancelled) {
                Thread.interrupted(); // the cancel's
            }
        }
    }

    private void runThrough(Call<I, O, R> call) {
        boolean isOut = encode(call) && exchangeAndDecode(call);
        if (isOut && enterProcess()) {
            process(call);
            leaveProcess();
        } else if (isOut) {
            isOut = false;
        }
        settle(call, isOut || call.failure != null);
    }

    private boolean exchangeAndDecode(Call<I, O, R> call) {
        while (true) {
            if (!enterPlace(call)) {
                return false;
            }
            sendAndWait(call);
            leavePlace();
            if (call.failure == null && decode(call)) {
                return true;
            }
            long wait = retryAfter(call);
            if (wait < 0) {
                return false;
            }
            try {
                plan.clock().sleep(wait);
            } catch (InterruptedException stopped) {
                call.fail(Stage.C, stopped);
                return false;
            }
        }
    }

    private boolean enterPlace(Call<I, O, R> call) {
        return batch.locked(() -> {
            batch.await(placeFree, () -> inFlight < batch.window.calls());
            if (!batch.cancelled) {
                batch.sending(call, ++inFlight);
            }
            return !batch.cancelled;
        });
    }

    private void leavePlace() {
        batch.locking(() -> {
            inFlight--;
            placeFree.signal();
            buffers.signal(Stage.C);
        });
    }

    private boolean enterProcess() {
        return batch.locked(() -> {
            batch.await(processFree, () -> inProcess < plan.inProcess());
            inProcess += batch.cancelled ? 0 : 1;
            return !batch.cancelled;
        });
    }

    private void leaveProcess() {
        batch.locking(() -> {
            inProcess--;
            processFree.signal();
            buffers.signal(Stage.P);
        });
    }

    // --- a team for some of the stages ---

    /** Waits for the most urgent work of a team and does it; false where there will be none. */
    private boolean runNext(Team team) {
        Call<I, O, R> call = null;
        Stage stage = null;
        batch.lock.lock();
        try {
            while (call == null) {
                if (batch.isSettled() || batch.cancelled) {
                    return false;
                }
                stage = firstPossible(team);
                if (stage == null) {
                    buffers.work(team.stages().get(0)).awaitUninterruptibly();
                } else {
                    call = take(stage);
                }
            }
        } finally {
            batch.lock.unlock();
        }
        run(stage, call);
        return true;
    }

    private Stage firstPossible(Team team) {
        for (Stage stage : team.stages()) {
            boolean isPossible = switch (stage) {
                case S -> batch.mayPull() && (!plan.isMixed() || buffers.encoded() + encoding < batch.limits.queue());
                case C -> !buffers.isEmpty(Stage.C) && inFlight < batch.window.calls();
                case D -> !buffers.isEmpty(Stage.D);
                case P -> !buffers.isEmpty(Stage.P) && inProcess < plan.inProcess();
            };
            if (isPossible) {
                return stage;
            }
        }
        return null;
    }

    private Call<I, O, R> take(Stage stage) {
        encoding += stage == Stage.S ? 1 : 0;
        inProcess += stage == Stage.P ? 1 : 0;
        Call<I, O, R> call = stage == Stage.S ? batch.pull() : buffers.poll(stage);
        encoding -= call == null ? 1 : 0;
        if (stage == Stage.C) {
            batch.sending(call, ++inFlight);
        }
        return call;
    }

    private void run(Stage stage, Call<I, O, R> call) {
        switch (stage) {
            case S -> {
                boolean isMessage = encode(call);
                if (isMessage) {
                    put(Stage.C, call);
                }
                batch.locking(() -> {
                    encoding--;
                    buffers.signal(Stage.S);
                });
                if (!isMessage) {
                    settle(call, true);
                }
                sendAll();
            }
            case C -> {
                sendAndWait(call);
                leavePlace();
                if (call.failure == null) {
                    put(Stage.D, call);
                } else {
                    again(call);
                }
            }
            case D -> {
                sendAll(); // the place of an answer that waited for room
                if (call.failure != null || !decode(call)) {
                    again(call);
                } else if (plan.isMixed() && tryProcess()) {
                    process(call);
                    leaveProcess();
                    settle(call, true);
                } else {
                    put(Stage.P, call);
                }
            }
            case P -> {
                process(call);
                leaveProcess();
                settle(call, true);
            }
        }
    }

    private boolean tryProcess() {
        return batch.locked(() -> {
            boolean isFree = inProcess < plan.inProcess() && buffers.isEmpty(Stage.P);
            inProcess += isFree ? 1 : 0;
            return isFree;
        });
    }

    /**
     * Into the buffer before a stage, once there is room: where the same threads empty it, S was begun only with room.
     */
    private void put(Stage stage, Call<I, O, R> call) {
        boolean isIn = batch.locked(() -> {
            batch.await(buffers.room(stage), () -> buffers.hasRoom(stage));
            if (!batch.cancelled) {
                buffers.add(stage, call);
            }
            return !batch.cancelled;
        });
        if (!isIn) {
            settle(call, false);
        }
    }

    /** Sends a failed call again in a while, without a thread, or settles it. */
    private void again(Call<I, O, R> call) {
        boolean isParked = batch.locked(() -> {
            long wait = batch.cancelled ? -1 : batch.retryAfter(call);
            if (wait >= 0) {
                batch.park(call);
                plan.clock().after(wait, () -> isDue(call));
            }
            return wait >= 0;
        });
        if (!isParked) {
            settle(call, true);
        }
    }

    private void isDue(Call<I, O, R> call) {
        batch.locking(() -> {
            if (batch.unpark(call)) {
                buffers.addAgain(call);
            }
        });
        sendAll();
    }

    // --- C without a thread ---

    /** Begins what may be sent. One thread does, whatever becomes free meanwhile: an answer may be there at once. */
    private void sendAll() {
        if (plan.way() != Way.STARTED) {
            return;
        }
        batch.lock.lock();
        try {
            if (sending) {
                return;
            }
            sending = true;
            while (!batch.cancelled
                    && !buffers.isEmpty(Stage.C)
                    && inFlight + buffers.overflow() < batch.window.calls()) {
                Call<I, O, R> call = buffers.poll(Stage.C);
                inFlight++;
                batch.sending(call, inFlight + buffers.overflow());
                batch.park(call);
                call.pending = null;
                buffers.signal(Stage.S);
                batch.lock.unlock();
                try {
                    start(call);
                } finally {
                    batch.lock.lock();
                }
            }
            sending = false;
        } finally {
            batch.lock.unlock();
        }
    }

    private void start(Call<I, O, R> call) {
        long from = plan.clock().nanos();
        Exchange.Pending pending;
        try {
            pending = batch.job.exchange().start(call.message, deadline());
        } catch (Throwable wrong) {
            answered(call, from, null, wrong);
            return;
        }
        batch.lock.lock();
        boolean isLate = batch.cancelled;
        call.pending = pending;
        batch.lock.unlock();
        if (isLate) {
            pending.cancel();
        }
        pending.whenDone((answer, failure) -> answered(call, from, answer, failure));
    }

    /** On a thread of the exchange: nothing here waits, and a failure's outcome is made by a thread of the batch. */
    private void answered(Call<I, O, R> call, long from, Answer answer, Throwable failure) {
        batch.locking(() -> {
            if (batch.unpark(call)) { // else it was cancelled
                inFlight--;
                long now = plan.clock().nanos();
                call.answeredAt(now);
                call.wall[Stage.C.ordinal()] += now - from;
                accept(call, answer, failure);
                buffers.add(Stage.D, call);
            }
        });
        sendAll();
    }

    private void accept(Call<I, O, R> call, Answer answer, Throwable failure) {
        int most = batch.limits.maxAnswerBytes();
        if (failure != null) {
            call.fail(Stage.C, failure);
        } else if (answer.body().length > most) {
            call.fail(Stage.C, new ExchangeFailure(Kind.TOO_LARGE, "more than " + most + " bytes", null));
        } else {
            call.answer = answer;
        }
    }

    private void widen() {
        batch.locking(() -> {
            int forCpu = buffers.size(Stage.D) + buffers.size(Stage.P);
            int held = inFlight + buffers.overflow();
            batch.window.widen(held, buffers.size(Stage.C), forCpu, plan.clock().nanos());
        });
        sendAll();
    }

    // --- the stages ---

    private Deadline deadline() {
        return Deadline.in(batch.limits.perCall(), plan.clock());
    }

    private boolean encode(Call<I, O, R> call) {
        call.message = call.run(Stage.S, plan.clock(), isVirtual(), () -> {
            byte[] message = batch.job.codec().encode(call.input, plan.loop());
            return Objects.requireNonNull(message, "the codec's message");
        });
        return call.failure == null;
    }

    private void sendAndWait(Call<I, O, R> call) {
        Answer answer = call.run(Stage.C, plan.clock(), isVirtual(), () -> {
            Answer whole = batch.job.exchange().send(call.message, deadline());
            if (whole == null) {
                throw new IOException("the exchange gave no answer");
            }
            return whole;
        });
        call.answeredAt(plan.clock().nanos());
        if (call.failure == null) {
            accept(call, answer, null);
        }
    }

    private boolean decode(Call<I, O, R> call) {
        call.output = call.run(
                Stage.D, plan.clock(), isVirtual(), () -> batch.job.codec().decode(call.answer, plan.loop()));
        if (call.failure != null) {
            return false;
        }
        call.answer = null;
        call.message = null;
        if (plan.adapts()) {
            batch.locking(batch.window::answered);
        }
        return true;
    }

    private void process(Call<I, O, R> call) {
        call.result = call.run(
                Stage.P,
                plan.clock(),
                isVirtual(),
                () -> batch.job.process().process(call.index, call.input, call.output));
        call.output = null;
    }

    private long retryAfter(Call<I, O, R> call) {
        return batch.locked(() -> batch.cancelled ? -1 : batch.retryAfter(call));
    }

    /** @param isThrough whether it got to its own end; else the batch's end cut it */
    private void settle(Call<I, O, R> call, boolean isThrough) {
        boolean isStopped =
                call.failure instanceof InterruptedException && (batch.cancelled || plan.way() == Way.CALLER);
        boolean isClosed = batch.cancelled && call.failure != null && call.failedIn == Stage.C;
        batch.settle(call, !isThrough || isStopped || isClosed);
    }

    private boolean isVirtual() {
        return plan.way() == Way.VIRTUAL;
    }
}
