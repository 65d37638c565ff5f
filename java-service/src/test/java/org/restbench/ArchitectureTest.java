package org.restbench;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
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
    void workloads_know_nothing_of_text_strategies_cores_settings_or_http() {
        neverUses(
                "..workload..",
                "..codec..",
                "..json..",
                "..execution..",
                "..affinity..",
                "..settings..",
                "..web..",
                "org.springframework..");
    }

    @Test
    void codecs_know_workloads_and_nothing_above_them() {
        neverUses("..codec..", "..execution..", "..affinity..", "..settings..", "..web..", "org.springframework..");
    }

    @Test
    void workloads_start_no_threads() {
        neverUses("..workload..", "java.util.concurrent", "java.util.concurrent.locks..");
    }

    @Test
    void strategies_know_no_workload_but_the_seam() {
        neverUses(
                "..execution..",
                "..workload.matrix..",
                "..workload.npb..",
                "..settings..",
                "..web..",
                "..json..",
                "org.springframework..");
    }

    @Test
    void affinity_and_json_stand_alone() {
        neverUses("..affinity..", "..execution..", "..codec..", "..workload..", "..settings..", "..web..", "..json..");
        neverUses("..json..", "..affinity..", "..execution..", "..workload..", "..settings..", "..web..");
    }

    @Test
    void memory_and_connections_stand_alone() {
        for (String alone : new String[] {"..memory..", "..connection.."}) {
            neverUses(alone, "..execution..", "..workload..", "..settings..", "..web..", "..json..", "..affinity..");
        }
    }

    @Test
    void the_web_knows_no_single_workload_and_no_settings() {
        neverUses("..web..", "..workload.matrix..", "..workload.npb..", "..settings..");
    }

    @Test
    void workloads_and_kernels_stand_each_for_itself() {
        neverUses("..workload.matrix..", "..workload.npb..");
        neverUses("..workload.npb..", "..workload.matrix..");
        slices().matching("..workload.npb.(*)..")
                .should()
                .notDependOnEachOther()
                .check(OURS);
    }

    @Test
    void packages_have_no_cycles() {
        slices().matching("org.restbench.(*)..").should().beFreeOfCycles().check(OURS);
    }
}
