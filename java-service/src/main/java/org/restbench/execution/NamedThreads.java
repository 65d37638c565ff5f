package org.restbench.execution;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes threads named by a prefix and a number from 1. The names are an interface: the harness finds the threads of a
 * strategy by them in {@code /proc}, which shows 15 characters.
 */
final class NamedThreads implements ThreadFactory {
    private final String prefix;
    private final AtomicInteger made = new AtomicInteger();

    NamedThreads(String prefix) {
        this.prefix = prefix;
    }

    @Override
    public Thread newThread(Runnable work) {
        return new Thread(work, prefix + made.incrementAndGet());
    }
}
