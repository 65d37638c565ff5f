package org.restbench.soap;

import java.util.function.Function;
import java.util.function.Predicate;
import org.restbench.execution.Technique;

/**
 * A SOAP service of the contract, which has one operation.
 *
 * @param name its file's in {@code contract/soap}, and the last part of its namespace
 * @param serviceName as the WSDL calls it
 * @param port as the WSDL calls its port type and its port
 * @param isTakenBy whether a strategy offers it
 * @param operation makes it of the one part of a request, as JAXB has read it
 */
record Service(
        String name,
        String serviceName,
        Class<?> port,
        Predicate<Technique> isTakenBy,
        Function<Object, Operation<?, ?>> operation) {
    String namespace() {
        return "urn:restbench:" + name;
    }
}
