package org.restbench.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BackgroundThreadsTest {
    private static boolean givesWayIn(BackgroundThreads threads) {
        CompletableFuture<Boolean> givesWay = new CompletableFuture<>();
        threads.newThread(() -> givesWay.complete(BackgroundThreads.currentThreadGivesWay()))
                .start();
        return givesWay.join();
    }

    @Test
    void its_threads_give_way_and_others_do_not() {
        int before = BackgroundThreads.niceOfCurrentThread();
        BackgroundThreads threads = new BackgroundThreads("adapt-test-");
        assertThat(givesWayIn(threads)).isTrue();
        assertThat(threads.giveWay()).isTrue();
        assertThat(BackgroundThreads.niceOfCurrentThread()).isEqualTo(before);
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("adapt-test-2");
    }

    @Test
    void a_refusal_is_told_and_the_work_is_done_all_the_same() {
        assumeTrue(BackgroundThreads.niceOfCurrentThread() < BackgroundThreads.NICE, "started under nice");
        BackgroundThreads refused = new BackgroundThreads("adapt-test-", () -> {});
        assertThat(givesWayIn(refused)).isFalse();
        assertThat(refused.giveWay()).isFalse();
    }
}
