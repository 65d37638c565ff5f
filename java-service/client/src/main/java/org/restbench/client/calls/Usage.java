package org.restbench.client.calls;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/** What this process has used since it began, in seconds. */
record Usage(double cpuSeconds, double compileSeconds, double gcSeconds) {
    static Usage now() {
        var system = ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class);
        var compiler = ManagementFactory.getCompilationMXBean();
        double gcMillis = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionTime)
                .sum();
        return new Usage(
                system.getProcessCpuTime() / 1e9,
                compiler == null ? 0 : compiler.getTotalCompilationTime() / 1e3,
                gcMillis / 1e3);
    }
}
