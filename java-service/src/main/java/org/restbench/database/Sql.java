package org.restbench.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * A statement of {@code contract/database/statements} in the driver's form.
 *
 * @param text with a question mark for each parameter
 * @param names of the parameters, in order; a name may occur twice
 */
record Sql(String text, List<String> names) {
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");
    private static final JsonMapper JSON = JsonMapper.shared();

    /** @param name of the file without its ending; never a text of a request */
    static Sql named(String name) {
        try (InputStream file = Sql.class.getResourceAsStream("/contract/database/statements/" + name + ".sql")) {
            if (file == null) {
                throw new IllegalStateException("no statement " + name);
            }
            return parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    static Sql parse(String named) {
        Matcher parameters = PARAMETER.matcher(named);
        List<String> names = parameters.results().map(found -> found.group(1)).toList();
        return new Sql(parameters.replaceAll("?"), names);
    }

    /**
     * @param values by name, for all parameters and maybe others: null, a list of 64-bit integers, a map, which is
     *     written as JSON, or a type that the driver knows
     */
    void bind(PreparedStatement statement, Map<String, ?> values) throws SQLException {
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            Object value = values.get(name);
            if (value == null && !values.containsKey(name)) {
                throw new IllegalArgumentException("no value for " + name);
            }
            if (value instanceof List<?> numbers) {
                value = statement.getConnection().createArrayOf("int8", numbers.toArray());
            } else if (value instanceof Map<?, ?> members) {
                value = JSON.writeValueAsString(members);
            }
            statement.setObject(i + 1, value);
        }
    }
}
