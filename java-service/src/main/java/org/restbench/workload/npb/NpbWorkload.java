package org.restbench.workload.npb;

import java.util.Locale;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.RequestId;
import org.restbench.workload.Workload;
import org.restbench.workload.npb.Problem.Kernel;
import org.restbench.workload.npb.Problem.Outcome;

/** Runs one kernel of the NAS Parallel Benchmarks on the class of input that a request names. */
public record NpbWorkload(Kernel kernel, InputCache inputs)
        implements Workload<NpbWorkload.NpbRequest, NpbWorkload.NpbResult> {
    private static final double MILLION = 1e6;

    @Override
    public String name() {
        return "npb-" + kernel.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String kind(NpbRequest request) {
        return "npb " + kernel.name();
    }

    /** NPB's count for the timed region, used for all of compute: the untimed work grows in the same proportion. */
    @Override
    public long operations(NpbRequest request) {
        return (long) (MILLION * request.problem().millionOperations());
    }

    @Override
    public Bound bound(NpbRequest request) {
        return Bound.MEMORY;
    }

    /** Those of the run and, where the input is shared, those of the input. */
    @Override
    public long workingBytes(NpbRequest request) {
        Problem<?> problem = request.problem();
        return problem.workingBytes() + (request.generate() ? 0 : problem.keptBytes());
    }

    @Override
    public String subject(NpbRequest request) {
        return "class: " + request.problem().name();
    }

    /** False: the units are far smaller than a task. */
    @Override
    public boolean takesSingleUnits() {
        return false;
    }

    @Override
    public NpbResult compute(NpbRequest request, ParallelLoop loop) {
        long start = System.nanoTime();
        Outcome outcome = run(request.problem(), request.generate(), loop);
        String npbClass = request.problem().name();
        return new NpbResult(request.id(), kernel.name(), npbClass, outcome, System.nanoTime() - start);
    }

    private <T> Outcome run(Problem<T> problem, boolean generate, ParallelLoop loop) {
        T input = generate ? problem.input(false, loop) : inputs.get(problem, loop);
        return problem.run(input, loop);
    }

    /** A request to run a kernel on a class, with an input that is built for it alone or shared. */
    public record NpbRequest(RequestId id, Problem<?> problem, boolean generate) {}

    /** @param totalNanos duration of the whole stage of compute, input and verification included */
    public record NpbResult(RequestId id, String kernel, String npbClass, Outcome outcome, long totalNanos) {}
}
