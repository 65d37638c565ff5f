package org.restbench.affinity;

import java.util.BitSet;

/** The kernel's way to write a set of cores: {@code 0-3,8}. */
final class CoreList {
    private CoreList() {}

    static BitSet parse(String list) {
        BitSet cores = new BitSet();
        for (String range : list.split(",")) {
            int dash = range.indexOf('-');
            int first = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
            int last = Integer.parseInt(range.substring(dash + 1));
            cores.set(first, last + 1);
        }
        return cores;
    }
}
