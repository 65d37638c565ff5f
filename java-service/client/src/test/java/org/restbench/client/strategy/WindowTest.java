package org.restbench.client.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How many calls {@code adaptive} has in flight, by what it sees and when. */
class WindowTest {
    private static final long MS = 1_000_000;

    @Test
    void itBeginsAtTwoACoreAndDoublesWhileServiceAndCoresCanDoMore() {
        Window window = Window.adaptive(100, 2);
        assertThat(window.calls()).isEqualTo(4);
        window.widen(4, 1, 1);
        assertThat(window.calls()).isEqualTo(8);
        window.widen(7, 1, 1); // a place is free
        window.widen(8, 0, 1); // nothing is to be sent
        window.widen(8, 1, 2); // the cores have work
        assertThat(window.calls()).isEqualTo(8);
    }

    @Test
    void itIsNeverBeyondTheLimitOr128() {
        for (int limit : new int[] {1, 100, 1000}) {
            Window window = Window.adaptive(limit, 2);
            for (int i = 0; i < 10; i++) {
                window.widen(window.calls(), 1, 0);
            }
            assertThat(window.calls()).isEqualTo(Math.min(limit, 128));
        }
    }

    @Test
    void aRefusalHalvesItOnceIn100MsAndItNeverDoublesAgain() {
        Window window = Window.adaptive(100, 8);
        window.refused(5 * MS);
        window.refused(104 * MS);
        assertThat(window.calls()).isEqualTo(8);
        window.refused(105 * MS);
        assertThat(window.calls()).isEqualTo(4);
        window.widen(4, 1, 0);
        assertThat(window.calls()).isEqualTo(4);
    }

    @Test
    void afterARefusalItGrowsByOneAWindowOfAnswersAndIsNeverBelowOne() {
        Window window = Window.adaptive(100, 2);
        window.answered();
        window.answered();
        window.answered();
        window.answered();
        assertThat(window.calls()).isEqualTo(4);
        for (int cut = 0; cut < 4; cut++) {
            window.refused(cut * 100 * MS);
        }
        assertThat(window.calls()).isEqualTo(1);
        window.answered();
        assertThat(window.calls()).isEqualTo(2);
        window.answered();
        assertThat(window.calls()).isEqualTo(2);
        window.answered();
        assertThat(window.calls()).isEqualTo(3);
    }
}
