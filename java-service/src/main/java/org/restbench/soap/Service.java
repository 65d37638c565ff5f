package org.restbench.soap;

import org.restbench.execution.Technique;

/**
 * A SOAP service of the contract, which has one operation.
 *
 * @see SoapProtocol
 */
interface Service {
    /** Its file's name in {@code contract/soap}, and the last part of its namespace. */
    String name();

    /** As the WSDL calls it. */
    String serviceName();

    /** As the WSDL calls its port type and its port. */
    Class<?> port();

    boolean isTakenBy(Technique technique);

    /** @param message the one part of a request, as JAXB has read it */
    Operation<?, ?> operation(Object message);

    default String namespace() {
        return "urn:restbench:" + name();
    }
}
