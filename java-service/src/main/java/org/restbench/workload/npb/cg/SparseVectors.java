package org.restbench.workload.npb.cg;

import java.util.function.IntConsumer;
import org.restbench.workload.LinearCongruential;

/**
 * As many sparse vectors as the matrix has rows; vector i has 0.5 at place i and a few random entries. They are stored
 * row-major, {@code stride} elements each. An index lists the entries at each place.
 */
final class SparseVectors {
    private static final double AT_OWN_PLACE = 0.5;

    final int order;
    final int stride;
    /** order × stride: places and values of vector i's entries from {@code i * stride}, {@code length[i]} of them. */
    final int[] places;

    final double[] values;
    final int[] length;
    /**
     * The entries at place j, as indices into {@link #places}: the elements of {@code owners} from index
     * {@code ownersFrom[j]} (inclusive) to {@code ownersFrom[j + 1]} (exclusive).
     */
    final int[] ownersFrom;

    final int[] owners;

    private SparseVectors(int order, int nonzeros) {
        this.order = order;
        this.stride = nonzeros + 1;
        this.places = new int[order * stride];
        this.values = new double[order * stride];
        this.length = new int[order];
        this.ownersFrom = new int[order + 1];
        this.owners = new int[order * stride];
    }

    /**
     * Draws all vectors sequentially from one stream of random numbers: the values drawn decide how many a vector
     * needs.
     */
    static SparseVectors draw(int order, int nonzeros, long seed) {
        SparseVectors vectors = new SparseVectors(order, nonzeros);
        LinearCongruential random = new LinearCongruential(seed);
        random.nextBits(); // NPB does not use its first number
        for (int i = 0; i < order; i++) {
            vectors.draw(i, nonzeros, random);
            vectors.set(i, i, AT_OWN_PLACE);
        }
        vectors.indexByPlace();
        return vectors;
    }

    private void draw(int vector, int nonzeros, LinearCongruential random) {
        int placeBits = Integer.SIZE - Integer.numberOfLeadingZeros(order - 1);
        while (length[vector] < nonzeros) {
            double value = random.next();
            int place = (int) (random.nextBits() >> LinearCongruential.BITS - placeBits);
            if (place < order && find(vector, place) < 0) {
                set(vector, place, value);
            }
        }
    }

    /** The index of a vector's entry at a place; negative where there is none. */
    private int find(int vector, int place) {
        for (int at = vector * stride; at < vector * stride + length[vector]; at++) {
            if (places[at] == place) {
                return at;
            }
        }
        return -1;
    }

    private void set(int vector, int place, double value) {
        int at = find(vector, place);
        if (at < 0) {
            at = vector * stride + length[vector]++;
        }
        places[at] = place;
        values[at] = value;
    }

    private void indexByPlace() {
        eachEntry(at -> ownersFrom[places[at] + 1]++);
        for (int place = 0; place < order; place++) {
            ownersFrom[place + 1] += ownersFrom[place];
        }
        int[] next = ownersFrom.clone();
        eachEntry(at -> owners[next[places[at]]++] = at);
    }

    private void eachEntry(IntConsumer entry) {
        for (int vector = 0; vector < order; vector++) {
            for (int at = vector * stride; at < vector * stride + length[vector]; at++) {
                entry.accept(at);
            }
        }
    }
}
