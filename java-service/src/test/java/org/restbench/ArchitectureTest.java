package org.restbench;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The arrows between packages point one way. */
class ArchitectureTest {
    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("org.restbench");

    private static void neverUses(String user, String... used) {
        noClasses()
                .that()
                .resideInAPackage(user)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(used)
                .check(OURS);
    }

    @Test
    void the_core_knows_no_framework_and_no_server() {
        for (String free : new String[] {
            "org.restbench.core..",
            "org.restbench.codec..",
            "org.restbench.execution..",
            "org.restbench.workload..",
            "org.restbench.memory.."
        }) {
            neverUses(
                    free,
                    "org.restbench.framework..",
                    "org.restbench.settings..",
                    "org.springframework..",
                    "jakarta.servlet..",
                    "org.apache..",
                    "org.eclipse.jetty..",
                    "io.vertx..",
                    "io.netty..",
                    "reactor..",
                    "io.helidon..");
        }
    }

    @Test
    void only_soap_knows_cxf_and_xml() {
        for (String free : new String[] {"core", "codec", "execution", "workload", "framework", "memory", "settings"}) {
            neverUses(
                    "org.restbench." + free + "..",
                    "org.restbench.soap..",
                    "org.apache.cxf..",
                    "javax.xml..",
                    "jakarta.xml..");
        }
        neverUses(
                "org.restbench.soap..",
                "org.restbench.framework..",
                "org.restbench.affinity..",
                "org.springframework..",
                "jakarta.servlet..",
                "tools.jackson..");
    }

    @Test
    void the_core_knows_no_single_workload() {
        neverUses(
                "org.restbench.core..",
                "..workload.matrix..",
                "..workload.logs..",
                "..workload.npb..",
                "..workload.messages..",
                "org.restbench.database..");
    }

    @Test
    void frameworks_know_the_core_alone() {
        neverUses(
                "org.restbench.framework..",
                "org.restbench.execution..",
                "org.restbench.codec..",
                "org.restbench.workload..",
                "org.restbench.memory..",
                "org.restbench.affinity..");
    }

    @Test
    void workloads_know_nothing_of_text_strategies_or_cores() {
        neverUses(
                "org.restbench.workload..",
                "org.restbench.codec..",
                "org.restbench.execution..",
                "org.restbench.affinity..",
                "org.restbench.core..",
                "tools.jackson..");
    }

    @Test
    void codecs_know_workloads_and_nothing_above_them() {
        neverUses(
                "org.restbench.codec..",
                "org.restbench.execution..",
                "org.restbench.affinity..",
                "org.restbench.core..");
    }

    @Test
    void workloads_start_no_threads() {
        neverUses("org.restbench.workload..", "java.util.concurrent", "java.util.concurrent.locks..");
    }

    @Test
    void strategies_know_no_workload_but_the_seam() {
        neverUses(
                "org.restbench.execution..",
                "..workload.matrix..",
                "..workload.logs..",
                "..workload.npb..",
                "..workload.messages..",
                "org.restbench.database..",
                "org.restbench.core..",
                "tools.jackson..");
    }

    @Test
    void affinity_memory_settings_and_database_stand_alone() {
        for (String alone : new String[] {
            "org.restbench.affinity..", "org.restbench.memory..", "org.restbench.settings..", "org.restbench.database.."
        }) {
            neverUses(
                    alone,
                    "org.restbench.core..",
                    "org.restbench.execution..",
                    "org.restbench.codec..",
                    "org.restbench.workload..",
                    "org.restbench.framework..");
        }
    }

    @Test
    void workloads_and_kernels_stand_each_for_itself() {
        String[] all = {"..workload.matrix..", "..workload.npb..", "..workload.logs..", "..workload.messages.."};
        for (String each : all) {
            neverUses(each, Stream.of(all).filter(other -> !other.equals(each)).toArray(String[]::new));
        }
        slices().matching("..workload.npb.(*)..")
                .should()
                .notDependOnEachOther()
                .check(OURS);
    }

    /** So that SQL is given to the driver in one place, which takes names of files and of settings alone (SqlTest). */
    @Test
    void only_the_database_makes_statements() {
        ArchRule rule = noClasses()
                .that()
                .resideOutsideOfPackage("org.restbench.database..")
                .should()
                .dependOnClassesThat(resideInAnyPackage("com.zaxxer..", "org.postgresql..", "javax.sql..")
                        .or(assignableTo(java.sql.Statement.class))
                        .or(assignableTo(java.sql.Connection.class)));
        rule.check(OURS);
        JavaClasses formatsSql = new ClassFileImporter().importClasses(PostgresServer.class);
        assertThat(rule.evaluate(formatsSql).hasViolation()).isTrue();
    }

    @Test
    void packages_have_no_cycles() {
        slices().matching("org.restbench.(*)..").should().beFreeOfCycles().check(OURS);
    }
}
