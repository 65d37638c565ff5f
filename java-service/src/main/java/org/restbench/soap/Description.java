package org.restbench.soap;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.restbench.core.Head;
import org.restbench.core.Pages;
import org.restbench.core.Pages.Page;
import org.restbench.core.Refusal;
import org.restbench.core.Reply;
import org.restbench.core.RequestRefused;

/** A service's WSDL under {@code ?wsdl}, and its schema under {@code ?xsd=NAME.xsd}: no other query is served. */
record Description(Service service) implements Page {
    private static final int OK = 200;
    private static final String ANY_HOST = "localhost:8080";

    /** The form that a Host header must have to be copied into the WSDL. */
    private static final String HOST = "[A-Za-z0-9.:\\[\\]-]{1,255}";

    @Override
    public Reply get(Head head) {
        String name = service.name();
        if ("wsdl".equals(head.rawQuery())) {
            return xml(wsdl(head.headers().apply("Host")));
        }
        if (("xsd=" + name + ".xsd").equals(head.rawQuery())) {
            return xml(read(name + ".xsd"));
        }
        throw new RequestRefused(Refusal.noSuchPath());
    }

    /** The WSDL, with the addresses of the service and its schema as the client reaches them. */
    private String wsdl(String host) {
        String wsdl = read(service.name() + ".wsdl")
                .replace("schemaLocation=\"", "schemaLocation=\"" + service.name() + "?xsd=");
        return host != null && host.matches(HOST) ? wsdl.replace(ANY_HOST, host) : wsdl;
    }

    private static Reply xml(String text) {
        return Reply.of(OK, SoapProtocol.TEXT_XML, Map.of(), text.getBytes(StandardCharsets.UTF_8));
    }

    private static String read(String file) {
        return new String(Pages.read("contract/soap/" + file), StandardCharsets.UTF_8);
    }
}
