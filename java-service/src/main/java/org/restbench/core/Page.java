package org.restbench.core;

/** What is there to GET under a path. */
@FunctionalInterface
public interface Page {
    /** @throws Refused where it is not there with this query */
    Reply get(Head head);
}
