package org.restbench.client.strategy;

import java.util.List;
import org.restbench.client.Clock;
import org.restbench.client.Loop;
import org.restbench.client.Stage;

/**
 * All that tells one strategy from another.
 *
 * @param adapts whether the window is found, and not the limit that was given
 * @param loop for the elements within one document
 */
record Plan(Way way, List<Team> teams, boolean adapts, Loop loop, Clock clock) {
    /** Which threads a call sees. */
    enum Way {
        /** The one that takes the outcomes. */
        CALLER,
        /** One of a team from start to end. */
        THROUGH,
        /** A virtual one of its own. */
        VIRTUAL,
        /** One of a team for each stage; C holds it. */
        STAGES,
        /** One of a team for each stage but C, which holds none. */
        STARTED
    }

    /** @param stages that its threads look for, the most urgent first */
    record Team(String thread, int threads, List<Stage> stages) {}

    Plan(Way way, Loop loop, Team... teams) {
        this(way, List.of(teams), false, loop, Clock.SYSTEM);
    }

    Plan with(Clock other) {
        return new Plan(way, teams, adapts, loop, other);
    }

    int threads() {
        return teams.stream().mapToInt(Team::threads).sum();
    }

    /** Whether the thread that pulled an input keeps its call to the end. */
    boolean keepsCalls() {
        return way != Way.STAGES && way != Way.STARTED;
    }

    /** Whether the threads that pull inputs have other stages to run as well: they pull where there is room already. */
    boolean isMixed() {
        return teams.get(0).stages().size() > 1;
    }

    /**
     * Calls that may be in a stage at once: as many as it has threads, where these are a team. In P it is one where no
     * team is for P alone: the caller's code needs no lock.
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
