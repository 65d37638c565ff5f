package org.restbench.workload.npb.ft;

import java.util.function.IntConsumer;
import org.restbench.workload.ParallelLoop;
import org.restbench.workload.npb.Blocks;

/** The three-dimensional discrete Fourier transform, not normalised, in place. Holds only tables. */
record BoxTransform(LineTransform alongX, LineTransform alongY, LineTransform alongZ) {
    BoxTransform(FourierClass sizes) {
        this(new LineTransform(sizes.nx()), new LineTransform(sizes.ny()), new LineTransform(sizes.nz()));
    }

    void forward(Field field, ParallelLoop loop) {
        transform(field, z -> {}, loop);
    }

    /**
     * The inverse.
     *
     * @param prepare called with the z of each plane, by the task that then transforms the plane, so that the plane is
     *     still in the core's cache
     */
    void inverse(Field field, IntConsumer prepare, ParallelLoop loop) {
        transform(field.exchanged(), prepare, loop);
    }

    private void transform(Field field, IntConsumer prepare, ParallelLoop loop) {
        Blocks.of(field.nz(), field.plane()).forEach(loop, (from, to) -> {
            Batch batch = new Batch(Math.max(field.nx(), field.ny()));
            for (int z = from; z < to; z++) {
                prepare.accept(z);
                alongX(field, z, batch);
                alongY(field, z, batch);
            }
        });
        Blocks.of(field.ny(), (long) field.nx() * field.nz()).forEach(loop, (from, to) -> {
            Batch batch = new Batch(field.nz());
            for (int y = from; y < to; y++) {
                alongZ(field, y, batch);
            }
        });
    }

    private void alongX(Field field, int z, Batch batch) {
        for (int y = 0; y < field.ny(); y += Batch.WIDTH) {
            int first = z * field.plane() + y * field.nx();
            batch.readAlong(field, first, field.nx());
            alongX.forward(batch);
            batch.writeAlong(field, first, field.nx());
        }
    }

    private void alongY(Field field, int z, Batch batch) {
        for (int x = 0; x < field.nx(); x += Batch.WIDTH) {
            across(alongY, field, z * field.plane() + x, field.nx(), batch);
        }
    }

    private void alongZ(Field field, int y, Batch batch) {
        for (int x = 0; x < field.nx(); x += Batch.WIDTH) {
            across(alongZ, field, y * field.nx() + x, field.plane(), batch);
        }
    }

    private static void across(LineTransform transform, Field field, int first, int stride, Batch batch) {
        batch.readAcross(field, first, stride, transform.points());
        transform.forward(batch);
        batch.writeAcross(field, first, stride, transform.points());
    }
}
