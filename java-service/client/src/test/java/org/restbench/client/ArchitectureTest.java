package org.restbench.client;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Codec, exchange and strategy are chosen apart: none knows another. */
class ArchitectureTest {
    private static final String[] PARTS = {
        "org.restbench.client.codec..", "org.restbench.client.http..", "org.restbench.client.strategy.."
    };

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("org.restbench.client");

    @Test
    void codecExchangeAndStrategyDoNotKnowEachOther() {
        slices().matching("org.restbench.client.(*)..")
                .should()
                .notDependOnEachOther()
                .ignoreDependency(
                        com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage("..calls.."),
                        com.tngtech.archunit.base.DescribedPredicate.alwaysTrue())
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("org.restbench.client")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(PARTS)
                .check(CLASSES);
    }

    @Test
    void theLibraryNeedsTheJdkAndJacksonsCore() {
        classes()
                .that()
                .resideInAPackage("org.restbench.client..")
                .and()
                .resideOutsideOfPackage("..calls..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(
                        "org.restbench.client",
                        "org.restbench.client.codec..",
                        "org.restbench.client.http..",
                        "org.restbench.client.strategy..",
                        "java..",
                        "javax.xml.namespace",
                        "javax.xml.stream..",
                        "tools.jackson.core..")
                .check(CLASSES);
    }
}
