package org.restbench.client.strategy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Looked up by name, once: the library is compiled for Java 17. */
final class VirtualThreads {
    private static final Method START = find();

    private VirtualThreads() {}

    static boolean areOffered() {
        return START != null;
    }

    private static Method find() {
        try {
            return Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException olderJava) {
            return null;
        }
    }

    static void start(Runnable work) {
        try {
            START.invoke(null, work);
        } catch (InvocationTargetException | IllegalAccessException failed) {
            throw new IllegalStateException("no virtual thread, though this Java has them", failed);
        }
    }
}
