package org.restbench.codec;

import java.util.function.Function;
import org.restbench.memory.MemoryBudget;
import org.restbench.workload.InvalidRequest;
import tools.jackson.core.JacksonException;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.json.JsonMapper;

/** Reads bodies by the contract's rules, what {@link BodyText} checks included, and has the writer for answers. */
final class Json {
    /** Levels of objects and arrays, the outermost included. */
    static final int MAX_DEPTH = 32;

    /** Escapes as JSON.stringify does; members stay in their order. */
    static final JsonMapper WRITER = JsonMapper.builder(JsonFactory.builder()
                    .disable(JsonWriteFeature.WRITE_HEX_UPPER_CASE)
                    .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
                    .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
                    .build())
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    /** Bytes of memory per byte of a name, measured: Jackson holds several copies of a long name while it reads it. */
    private static final int BYTES_OF_LONG_NAMES = 8;

    /** Readers of these refuse an object that has the same name twice. */
    private static final Factories UNIQUE = new Factories(true);

    /** Readers of these accept such an object, to distinguish this fault from JSON that is not well-formed. */
    private static final Factories REPEATED = new Factories(false);

    private Json() {}

    /** One for names up to Jackson's limit of 50 000 characters, which nearly all are, and one for others. */
    private record Factories(JsonFactory shortNames, JsonFactory anyNames) {
        Factories(boolean unique) {
            this(
                    factory(unique, StreamReadConstraints.defaults().getMaxNameLength()),
                    factory(unique, Integer.MAX_VALUE));
        }

        private static JsonFactory factory(boolean unique, int maxNameLength) {
            StreamReadConstraints constraints = StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNameLength(maxNameLength)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .build();
            return JsonFactory.builder()
                    .streamReadConstraints(constraints)
                    .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION, unique)
                    .disable(TokenStreamFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW) // any number of names is allowed
                    .build();
        }
    }

    /**
     * Reads a body that is one object.
     *
     * @param memory from which the names of members take their memory
     * @param reading walks the object's members, with the reader inside of the object; may be called several times
     * @throws InvalidRequest 002
     */
    static <T> T read(byte[] body, MemoryBudget.Hold memory, Function<JsonReader, T> reading) {
        long before = memory.bytes();
        if (BodyText.isSound(body)) {
            try {
                T read = read(UNIQUE, body, memory, reading);
                if (read != null) {
                    return read;
                }
            } catch (JacksonException malformed) {
                // fault() finds which fault comes first
            }
        }
        memory.shrink(memory.bytes() - before);
        throw new InvalidRequest("002", fault(body, memory, reading), null);
    }

    /** The result of reading; null where the value is no object. */
    private static <T> T read(
            Factories factories, byte[] body, MemoryBudget.Hold memory, Function<JsonReader, T> reading) {
        long before = memory.bytes();
        try {
            return read(factories.shortNames, body, memory, reading);
        } catch (StreamConstraintsException exceeded) {
            if (BodyText.isTooDeep(body)) {
                throw exceeded;
            }
            memory.shrink(memory.bytes() - before);
            memory.grow((long) BYTES_OF_LONG_NAMES * body.length);
            return read(factories.anyNames, body, memory, reading);
        }
    }

    private static <T> T read(
            JsonFactory factory, byte[] body, MemoryBudget.Hold memory, Function<JsonReader, T> reading) {
        try (JsonReader reader = new JsonReader(factory.createParser(ObjectReadContext.empty(), body), body, memory)) {
            return reader.readAll(reading);
        }
    }

    /** The message of the first fault in the contract's order; each is looked for in the whole body. */
    private static String fault(byte[] body, MemoryBudget.Hold memory, Function<JsonReader, ?> reading) {
        if (!BodyText.isUtf8(body)) {
            return "the body is not valid UTF-8";
        }
        if (BodyText.isTooDeep(body)) {
            return "the body is nested deeper than " + MAX_DEPTH + " levels";
        }
        byte[] text = BodyText.withoutLoneSurrogates(body);
        if (BodyText.looksEncoded(body) || !isReadable(REPEATED, text, memory, reading)) {
            return "the body is not well-formed JSON";
        }
        if (!isReadable(UNIQUE, text, memory, reading)) {
            return "the body has a member twice in one object";
        }
        if (text != body) {
            return "the body has a lone surrogate in a string";
        }
        return "the body is not a JSON object";
    }

    private static boolean isReadable(
            Factories factories, byte[] body, MemoryBudget.Hold memory, Function<JsonReader, ?> reading) {
        long before = memory.bytes();
        try {
            read(factories, body, memory, reading);
            return true;
        } catch (JacksonException malformed) {
            return false;
        } finally {
            memory.shrink(memory.bytes() - before);
        }
    }
}
