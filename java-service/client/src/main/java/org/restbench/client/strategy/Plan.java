package org.restbench.client.strategy;

import java.util.List;
import org.restbench.client.Clock;
import org.restbench.client.Loop;
import org.restbench.client.Stage;

/**
 * Everything in which one strategy differs from another.
 *
 * @param adapts whether the number of calls in flight adapts to the service; else it is the limit given by the caller
 * @param loop runs the elements within one document
 */
record Plan(ThreadModel threadModel, List<Team> teams, boolean adapts, Loop loop, Clock clock) {
    /** Which threads run the stages of a call. */
    enum ThreadModel {
        /** The thread that takes the outcomes. */
        CALLER,
        /** One thread of a team, from start to end. */
        POOL_THREAD,
        /** A virtual thread for each call. */
        VIRTUAL,
        /** A thread of each stage's team; C holds its thread. */
        STAGES,
        /** A thread of a team for each stage but C, which holds no thread. */
        ASYNC
    }

    /**
     * @param thread name of the threads, without their number
     * @param stages that the threads run, the most urgent first
     */
    record Team(String thread, int threads, List<Stage> stages) {}

    Plan(ThreadModel threadModel, Loop loop, Team... teams) {
        this(threadModel, List.of(teams), false, loop, Clock.SYSTEM);
    }

    int threads() {
        return teams.stream().mapToInt(Team::threads).sum();
    }

    /** Whether the thread that pulled an input keeps its call to the end. */
    boolean keepsCalls() {
        return threadModel != ThreadModel.STAGES && threadModel != ThreadModel.ASYNC;
    }

    /** Whether threads that pull inputs run other stages too; they pull only where the buffer before C has room. */
    boolean isMixed() {
        return teams.get(0).stages().size() > 1;
    }

    /**
     * Number of calls that may be in a stage at once: the number of its team's threads, or unlimited where no team is
     * bound to the stage. For P it is 1 unless P has a team of its own, so that the caller's code needs no lock.
     */
    int width(Stage stage) {
        if (stage == Stage.P && (keepsCalls() || isMixed())) {
            return 1;
        }
        int threads = teams.stream()
                .filter(team -> !keepsCalls() && team.stages().contains(stage))
                .mapToInt(Team::threads)
                .sum();
        return threads > 0 ? threads : Integer.MAX_VALUE;
    }
}
