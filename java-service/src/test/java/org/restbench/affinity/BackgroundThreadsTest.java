package org.restbench.affinity;

import static org.assertj.core.api.Assertions.assertThat;

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
    void its_threads_have_the_highest_nice_value_and_others_keep_theirs() {
        int before = BackgroundThreads.niceOfCurrentThread();
        BackgroundThreads threads = new BackgroundThreads("adapt-test-");
        assertThat(niceIn(threads)).isEqualTo(BackgroundThreads.NICEST);
        assertThat(threads.giveWay()).isTrue();
        assertThat(BackgroundThreads.niceOfCurrentThread()).isEqualTo(before);
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("adapt-test-2");
    }

    @Test
    void a_refusal_is_told_and_the_work_is_done_all_the_same() {
        BackgroundThreads refused = new BackgroundThreads("adapt-test-", () -> {});
        assertThat(niceIn(refused)).isLessThan(BackgroundThreads.NICEST);
        assertThat(refused.giveWay()).isFalse();
    }
}
