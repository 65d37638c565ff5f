package org.restbench.workload.npb.is;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntBinaryOperator;

/**
 * The constants of one class of IS.
 *
 * @param keyBits log2 of the number of keys
 * @param rangeBits log2 of the range of their values
 * @param testIndices indices of the keys that are tested
 * @param testRanks expected ranks of the test keys, without the drift
 * @param drift what is added to a test key's rank, by the number of the test key and the iteration
 */
record SortClass(String name, int keyBits, int rangeBits, int[] testIndices, int[] testRanks, IntBinaryOperator drift) {
    static final SortClass S = new SortClass(
            "S",
            16,
            11,
            new int[] {48427, 17148, 23627, 62548, 4431},
            new int[] {0, 18, 346, 64917, 65463},
            (j, it) -> j <= 2 ? it : -it);
    static final SortClass W = new SortClass(
            "W",
            20,
            16,
            new int[] {357773, 934767, 875723, 898999, 404505},
            new int[] {1249, 11698, 1039987, 1043896, 1048018},
            (j, it) -> j < 2 ? it - 2 : -it);
    static final SortClass A = new SortClass(
            "A",
            23,
            19,
            new int[] {2112377, 662041, 5336171, 3642833, 4250760},
            new int[] {104, 17523, 123928, 8288932, 8388264},
            (j, it) -> j <= 2 ? it - 1 : 1 - it);
    static final SortClass B = new SortClass(
            "B",
            25,
            21,
            new int[] {41869, 812306, 5102857, 18232239, 26860214},
            new int[] {33422937, 10244, 59149, 33135281, 99},
            (j, it) -> j == 1 || j == 2 || j == 4 ? it : -it);
    static final SortClass C = new SortClass(
            "C",
            27,
            23,
            new int[] {44172927, 72999161, 74326391, 129606274, 21736814},
            new int[] {61147, 882988, 266290, 133997595, 133525895},
            (j, it) -> j <= 2 ? it : -it);

    static final List<SortClass> ALL = List.of(S, W, A, B, C);

    int keys() {
        return 1 << keyBits;
    }

    int range() {
        return 1 << rangeBits;
    }

    int[] testKeysOf(int[] keys) {
        return Arrays.stream(testIndices).map(index -> keys[index]).toArray();
    }

    int expectedRank(int testKey, int iteration) {
        return testRanks[testKey] + drift.applyAsInt(testKey, iteration);
    }
}
