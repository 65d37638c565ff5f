package org.restbench.soap;

import java.util.function.Function;
import java.util.function.Predicate;
import org.restbench.execution.Strategies.Technique;

/**
 * A SOAP service of the contract, which has one operation.
 *
 * @param name of the service's files in {@code contract/soap}, and the last part of its namespace
 * @param serviceName the service's name in the WSDL
 * @param port the interface of the port; the WSDL's port type and port have the same name
 * @param isTakenBy whether a technique offers the service
 * @param operation makes the operation of a request from its single part, as read by JAXB
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
