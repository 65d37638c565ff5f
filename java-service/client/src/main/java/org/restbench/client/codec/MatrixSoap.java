package org.restbench.client.codec;

import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.restbench.client.Answer;
import org.restbench.client.Codec;
import org.restbench.client.Loop;
import org.restbench.client.MalformedAnswer;
import org.restbench.client.ServiceRefused;

/** Products in SOAP. The loop makes and reads the texts of the rows; one thread writes and reads the XML round them. */
public final class MatrixSoap implements Codec<MatrixInput, MatrixProduct> {
    private static final String NAMESPACE = "urn:restbench:matrix";

    @Override
    public byte[] encode(MatrixInput input, Loop loop) {
        return Soap.write(NAMESPACE, "multiply", xml -> {
            Soap.element(xml, "requestId", input.requestId());
            write(xml, "matrixOne", input.one(), loop);
            write(xml, "matrixTwo", input.two(), loop);
        });
    }

    private static void write(XMLStreamWriter xml, String name, Matrix matrix, Loop loop) throws XMLStreamException {
        xml.writeStartElement(name);
        Soap.element(xml, "columnCount", Integer.toString(matrix.columns()));
        for (String row : matrix.texts(loop)) {
            Soap.element(xml, "row", row);
        }
        xml.writeEndElement();
    }

    @Override
    public MatrixProduct decode(Answer answer, Loop loop) throws ServiceRefused {
        Fields product = Soap.read(answer, NAMESPACE, "product");
        try {
            return new MatrixProduct(product.one("requestId"), Matrix.parse(product.all("row"), loop));
        } catch (IllegalArgumentException malformed) {
            throw new MalformedAnswer("a row that is no integers", malformed);
        }
    }
}
