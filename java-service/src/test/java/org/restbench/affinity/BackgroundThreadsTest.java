package org.restbench.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class BackgroundThreadsTest {
    private static int niceIn(BackgroundThreads threads) {
        CompletableFuture<Integer> nice = new CompletableFuture<>();
        threads.newThread(() -> nice.complete(BackgroundThreads.niceOfCurrentThread()))
                .start();
        return nice.join();
    }

    @Test
    void its_threads_give_way_and_others_do_not() {
        int before = BackgroundThreads.niceOfCurrentThread();
        BackgroundThreads threads = new BackgroundThreads("adapt-test-");
        assertThat(niceIn(threads)).isGreaterThanOrEqualTo(BackgroundThreads.NICE);
        assertThat(threads.isRefused()).isFalse();
        assertThat(BackgroundThreads.niceOfCurrentThread()).isEqualTo(before);
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("adapt-test-2");
    }

    @Test
    void a_refusal_is_told_and_the_work_is_done_all_the_same() {
        assumeTrue(BackgroundThreads.niceOfCurrentThread() < BackgroundThreads.NICE, "started under nice");
        BackgroundThreads refused = new BackgroundThreads("adapt-test-", () -> {});
        assertThat(niceIn(refused)).isLessThan(BackgroundThreads.NICE);
        assertThat(refused.isRefused()).isTrue();
    }
}
