package org.restbench.web;

import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.servlet.config.annotation.ContentNegotiationConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Every route has one media type: what a client says it would accept changes nothing, as the contract has it. */
public final class AnyAccept implements WebMvcConfigurer {
    @Override
    public void configureContentNegotiation(ContentNegotiationConfigurer negotiation) {
        negotiation.strategies(List.of(request -> List.of(MediaType.ALL)));
    }
}
