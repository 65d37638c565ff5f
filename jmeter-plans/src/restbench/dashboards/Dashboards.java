package restbench.dashboards;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.apache.jmeter.report.config.ConfigurationException;
import org.apache.jmeter.report.core.SampleException;
import org.apache.jmeter.report.dashboard.GenerationException;
import org.apache.jmeter.report.dashboard.ReportGenerator;
import org.apache.jmeter.report.processor.NormalizerSampleConsumer;
import org.apache.jmeter.util.JMeterUtils;

/**
 * JMeter's own HTML dashboards for many sample files, in one JVM.
 *
 * <p>Arguments: a properties file, then any number of pairs {@code samples.jtl folder}. A dashboard covers every sample of its
 * file and has the folder's name as its title; a dashboard that exists is replaced. A file that cannot be read or has no
 * sample, and a path that is neither a dashboard nor an empty folder, is named on standard error. The others are still
 * made; the exit code is then 1 (2 for wrong arguments).
 */
public final class Dashboards {

    private static final String HOME_PROPERTY = "jmeter.home";
    private static final String TIME_FORMAT = "jmeter.save.saveservice.timestamp_format";

    private Dashboards() {}

    /** See the class. The system property {@code jmeter.home} names JMeter's folder. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 3 || arguments.length % 2 == 0) {
            System.err.println("usage: dashboards PROPERTIES SAMPLES.JTL FOLDER [SAMPLES.JTL FOLDER]...");
            System.exit(2);
        }
        readProperties(System.getProperty(HOME_PROPERTY), Path.of(arguments[0]));
        int failures = 0;
        for (int pair = 1; pair < arguments.length; pair += 2) {
            failures += make(Path.of(arguments[pair]), Path.of(arguments[pair + 1])) ? 0 : 1;
        }
        System.exit(failures == 0 ? 0 : 1);
    }

    private static void readProperties(String home, Path own) throws IOException {
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.initLocale();
        try (Reader reader = Files.newBufferedReader(own)) {
            JMeterUtils.getJMeterProperties().load(reader);
        }
        showTimesOfDay();
    }

    /**
     * Sets the format in which a dashboard shows the begin and the end of a run. By default it is that of the samples'
     * times: with {@code ms}, milliseconds since the epoch, a dashboard shows minutes and seconds ("5215"). The class
     * that reads the samples keeps the format that was set when it was loaded, so it is loaded first.
     */
    private static void showTimesOfDay() {
        new NormalizerSampleConsumer();
        JMeterUtils.setProperty(TIME_FORMAT, "yyyy-MM-dd HH:mm:ss z");
    }

    private static boolean make(Path samples, Path folder) throws IOException {
        Path scratch = Files.createTempDirectory("dashboard");
        try {
            requireSample(samples);
            requireReplaceable(folder);
            FileUtils.deleteDirectory(folder.toFile());
            JMeterUtils.setProperty("jmeter.reportgenerator.outputdir", folder.toString());
            JMeterUtils.setProperty("jmeter.reportgenerator.temp_dir", scratch.toString());
            JMeterUtils.setProperty("jmeter.reportgenerator.report_title", folder.getFileName().toString());
            new ReportGenerator(samples.toString(), null).generate();
            System.out.println(folder.resolve("index.html"));
            return true;
        } catch (ConfigurationException | GenerationException | SampleException | IOException e) {
            System.err.println("dashboards: " + samples + ": " + e.getMessage());
            return false;
        } finally {
            FileUtils.deleteDirectory(scratch.toFile());
        }
    }

    /** Throws IOException where a file has only its header: JMeter would make an empty dashboard without an error. */
    private static void requireSample(Path samples) throws IOException {
        try (Stream<String> lines = Files.lines(samples)) {
            if (lines.limit(2).count() < 2) {
                throw new IOException("the file has no sample");
            }
        }
    }

    /** Throws IOException where something else than a dashboard or an empty folder has the path: it would be deleted. */
    private static void requireReplaceable(Path folder) throws IOException {
        boolean isEmpty = Files.isDirectory(folder) && FileUtils.isEmptyDirectory(folder.toFile());
        if (Files.exists(folder) && !isEmpty && !Files.exists(folder.resolve("statistics.json"))) {
            throw new IOException(folder + " exists and is no dashboard");
        }
    }
}
