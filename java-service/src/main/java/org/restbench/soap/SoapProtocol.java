package org.restbench.soap;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.restbench.codec.Workloads;
import org.restbench.codec.Workloads.CodedWorkload;
import org.restbench.core.ErrorCode;
import org.restbench.core.Head;
import org.restbench.core.Pages;
import org.restbench.core.Protocol;
import org.restbench.core.Refusal;
import org.restbench.core.Reply;
import org.restbench.core.RequestRefused;
import org.restbench.execution.Strategies.Technique;
import org.restbench.soap.Operation.KernelRun;
import org.restbench.soap.Operation.Multiplication;
import org.restbench.soap.Operation.Service;

/**
 * SOAP 1.1 by Apache CXF. CXF reads the XML on the server's thread before the strategy runs, and writes it there
 * afterwards. As is usual in JAX-WS, a request holds that thread until it is answered. The first request loads CXF.
 */
public final class SoapProtocol implements Protocol {
    static final String TEXT_XML = "text/xml;charset=utf-8";

    /** Bytes of body and JAXB's objects per byte of the body: measured, at most 7.4 (rows of one digit). */
    private static final long BYTES_PER_BYTE = 8;

    /** The status of faults: CXF's client ignores a fault with any other status. */
    private static final int FAULT_STATUS = 500;

    private static final String ANY_HOST = "localhost:8080";

    /** The form that a Host header must have to be copied into the WSDL. */
    private static final String HOST = "[A-Za-z0-9.:\\[\\]-]{1,255}";

    private final Service service;
    private CxfEndpoint endpoint;

    private SoapProtocol(Service service) {
        this.service = service;
    }

    public static List<SoapProtocol> of(Workloads workloads) {
        return List.of(
                new SoapProtocol(Multiplication.service(named("matrix", workloads))),
                new SoapProtocol(KernelRun.service(workloads)));
    }

    @SuppressWarnings("unchecked") // the workload of this name
    static <I, O> CodedWorkload<I, O> named(String name, Workloads workloads) {
        return (CodedWorkload<I, O>) workloads.byName().get(name);
    }

    @Override
    public String name() {
        return "soap/" + service.name();
    }

    /** The service's WSDL under {@code ?wsdl}, and its schema under {@code ?xsd=NAME.xsd}: no other query is served. */
    public Reply description(Head head) {
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
        return Reply.of(200, TEXT_XML, Map.of(), text.getBytes(StandardCharsets.UTF_8));
    }

    private static String read(String file) {
        return new String(Pages.read("contract/soap/" + file), StandardCharsets.UTF_8);
    }

    @Override
    public boolean isTakenBy(Technique technique) {
        return service.isTakenBy().test(technique);
    }

    @Override
    public String mediaTypeFault(String contentType) {
        boolean isXml = contentType != null
                && contentType
                        .toLowerCase(Locale.ROOT)
                        .matches("\\s*text/xml\\s*(;(?!\\s*charset\\s*=)[^;]*)*+"
                                + "(;\\s*charset\\s*=\\s*(utf-8|\"utf-8\")\\s*)?(;(?!\\s*charset\\s*=)[^;]*)*+");
        return isXml ? null : "Content-Type must be text/xml in UTF-8";
    }

    @Override
    public long bytesPerByte() {
        return BYTES_PER_BYTE;
    }

    @Override
    public CompletionStage<Reply> run(Call call) {
        return CompletableFuture.completedFuture(endpoint().answer(call));
    }

    private synchronized CxfEndpoint endpoint() {
        if (endpoint == null) {
            endpoint = new CxfEndpoint(service);
        }
        return endpoint;
    }

    @Override
    public Reply refusal(Refusal refusal) {
        return refusal(service, refusal);
    }

    static Reply refusal(Service service, Refusal refusal) {
        boolean isOurs = refusal.code() == ErrorCode.BUSY || refusal.code() == ErrorCode.FAULT;
        return fault(service, isOurs ? "Server" : "Client", refusal);
    }

    /** @param faultCode SOAP 1.1's fault code, without its prefix */
    static Reply fault(Service service, String faultCode, Refusal refusal) {
        String id = refusal.requestId() == null
                ? "<requestId xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/>"
                : "<requestId>" + escaped(refusal.requestId().text()) + "</requestId>";
        String xml = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body><soap:Fault>"
                + "<faultcode>soap:" + faultCode + "</faultcode>"
                + "<faultstring>" + escaped(refusal.message()) + "</faultstring>"
                + "<detail><requestFault xmlns=\"" + service.namespace() + "\">" + id
                + "<errorCode>" + refusal.code().code() + "</errorCode>"
                + "<errorMessage>" + escaped(refusal.message()) + "</errorMessage>"
                + "</requestFault></detail></soap:Fault></soap:Body></soap:Envelope>";
        int status = refusal.code() == ErrorCode.NO_ROUTE ? refusal.status() : FAULT_STATUS;
        return Reply.of(status, TEXT_XML, refusal.headers(), xml.getBytes(StandardCharsets.UTF_8));
    }

    /** Escapes a text that has only characters allowed in XML. */
    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\r", "&#13;");
    }
}
