package org.restbench.microbench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A request's bytes and the only right answer to it, made by the harness: the same for both services. */
@State(Scope.Benchmark)
public class MatrixBody {
    /** System property: the folder with a body {@code SHAPE.json} and its answer {@code SHAPE.answer.json}. */
    static final String FOLDER = "restbench.bodies";

    @Param("low")
    public String shape;

    private byte[] body;
    private byte[] answer;

    @Setup
    public void read() throws IOException {
        Path folder = Path.of(System.getProperty(FOLDER));
        body = Files.readAllBytes(folder.resolve(shape + ".json"));
        answer = Files.readAllBytes(folder.resolve(shape + ".answer.json"));
    }

    byte[] bytes() {
        return body;
    }

    /** What is wrong is never timed. */
    void requireRight(byte[] answered) {
        require(Arrays.equals(answer, answered), answered.length);
    }

    /** @param answered the product's rows as the answer in JSON has them */
    void requireRows(String answered) {
        require(new String(answer, StandardCharsets.UTF_8).contains(answered), answered.length());
    }

    private void require(boolean isRight, int length) {
        if (!isRight) {
            throw new IllegalStateException(shape + ": a wrong answer of " + length + " bytes");
        }
    }
}
