package org.restbench.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;

class ErrorHandlerTest {
    private static MockHttpServletResponse answerTo(Exception thrown) throws IOException {
        MockHttpServletResponse response = new MockHttpServletResponse();
        new ErrorHandler().other(thrown, response);
        return response;
    }

    @Test
    void the_end_of_memory_is_008_also_where_the_framework_has_wrapped_it() throws IOException {
        MockHttpServletResponse response =
                answerTo(new ServletException("Handler dispatch failed", new OutOfMemoryError("heap")));
        assertEquals(503, response.getStatus());
        assertNotNull(response.getHeader("Retry-After"));
        assertTrue(response.getContentAsString().contains("\"008\""), response.getContentAsString());
    }

    @Test
    void any_other_wrapped_error_stays_099() throws IOException {
        MockHttpServletResponse response = answerTo(new ServletException(new StackOverflowError()));
        assertEquals(500, response.getStatus());
        assertTrue(response.getContentAsString().contains("\"099\""), response.getContentAsString());
    }
}
