package org.restbench.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BackgroundThreadsTest {
    private static boolean idleIn(BackgroundThreads threads) {
        CompletableFuture<Boolean> idle = new CompletableFuture<>();
        threads.newThread(() -> idle.complete(BackgroundThreads.currentThreadGivesWay()))
                .start();
        return idle.join();
    }

    @Test
    void its_threads_give_way_and_others_do_not() {
        BackgroundThreads threads = new BackgroundThreads("adapt-test-");
        assertThat(idleIn(threads)).isTrue();
        assertThat(threads.giveWay()).isTrue();
        assertThat(BackgroundThreads.currentThreadGivesWay()).isFalse();
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("adapt-test-2");
    }

    @Test
    void a_refusal_is_told_and_the_work_is_done_all_the_same() {
        BackgroundThreads refused = new BackgroundThreads("adapt-test-", () -> {});
        assertThat(idleIn(refused)).isFalse();
        assertThat(refused.giveWay()).isFalse();
    }
}
