package org.restbench.database;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class FreeSpaceTest {
    private static final long MINIMUM = 1000;
    private static final long SECOND = 1_000_000_000;

    private long free = MINIMUM;
    private long now;
    private int looks;
    private final FreeSpace space = new FreeSpace(this::measure, MINIMUM, () -> now);

    private long measure() {
        looks++;
        return free;
    }

    @Test
    void it_is_looked_at_once_a_second_at_most() {
        for (int i = 0; i < 5; i++) {
            assertThat(space.isEnough()).isTrue();
        }
        free = MINIMUM - 1;
        now = SECOND - 1;
        assertThat(space.isEnough()).isTrue();
        assertThat(looks).isEqualTo(1);
        now = SECOND;
        assertThat(space.isEnough()).isFalse();
        assertThat(space.isEnough()).isFalse();
        assertThat(looks).isEqualTo(2);
        free = MINIMUM;
        now = 2 * SECOND;
        assertThat(space.isEnough()).isTrue();
    }

    @Test
    void a_change_is_one_line_of_the_log(CapturedOutput log) {
        for (long each : new long[] {MINIMUM, 999, 998, MINIMUM, MINIMUM + 1}) {
            free = each;
            space.isEnough();
            now += SECOND;
        }
        assertThat(log.getAll())
                .containsOnlyOnce("has 999 bytes free, the minimum is 1000: no message is taken")
                .containsOnlyOnce("has 1000 bytes free, the minimum is 1000: messages are taken again")
                .doesNotContain("has 998", "has 1001");
    }

    @Test
    void a_database_elsewhere_has_enough_and_a_place_where_nothing_can_be_told_has_not() {
        assertThat(FreeSpace.of(null, Long.MAX_VALUE).isEnough()).isTrue();
        assertThat(FreeSpace.of(Path.of("/"), 1).isEnough()).isTrue();
        assertThat(FreeSpace.of(Path.of("/no/such/place"), 1).isEnough()).isFalse();
    }
}
