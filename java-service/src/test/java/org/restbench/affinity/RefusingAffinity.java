package org.restbench.affinity;

import java.util.BitSet;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** An operating system that pins nothing. */
public final class RefusingAffinity implements CoreAffinity {
    @Override
    public BitSet coresOfProcess() {
        return new OpenHftAffinity().coresOfProcess();
    }

    @Override
    public Supplier<BitSet> pinCurrentThread(int core) {
        throw new PinRefused("the pin to core " + core + " was refused by the test");
    }

    /**
     * A real one whose word on a thread's cores goes through a test.
     *
     * @param told what is said, of what is so; called by the thread that asks
     */
    public record Overheard(UnaryOperator<BitSet> told) implements CoreAffinity {
        @Override
        public BitSet coresOfProcess() {
            return new OpenHftAffinity().coresOfProcess();
        }

        @Override
        public Supplier<BitSet> pinCurrentThread(int core) {
            Supplier<BitSet> pin = new OpenHftAffinity().pinCurrentThread(core);
            return () -> told.apply(pin.get());
        }
    }
}
