package org.restbench.framework;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameworkTest {
    @ParameterizedTest
    @CsvSource({
        "http://h/a%2Fb?c=d, /a%2Fb?c=d",
        "HTTPS://u@[::1]:80/a, /a",
        "http://h?b=/c, /?b=/c",
        "http://h, /",
        "/a?b=http://h/c, /a?b=http://h/c",
        "//h/a, //h/a",
        "a?b=http://h/c, a?b=http://h/c",
        "*, *"
    })
    void of_a_target_in_absolute_form_the_path_and_the_query_count(String target, String counts) {
        assertThat(Framework.withoutAuthority(target)).isEqualTo(counts);
    }
}
