package org.restbench.affinity;

import java.util.BitSet;
import java.util.concurrent.atomic.AtomicReference;

/** An operating system that pins nothing. */
public final class RefusingAffinity implements CoreAffinity {
    @Override
    public BitSet coresOfProcess() {
        return new OpenHftAffinity().coresOfProcess();
    }

    @Override
    public PinnedCore pinCurrentThread(int core) {
        throw new PinRefused("the pin to core " + core + " was refused by the test");
    }

    /**
     * A real one that can be told what to say of the thread's cores.
     *
     * @param seen what it says; the truth while it holds null
     */
    public record Pretending(CoreAffinity real, AtomicReference<BitSet> seen) implements CoreAffinity {
        @Override
        public BitSet coresOfProcess() {
            return real.coresOfProcess();
        }

        @Override
        public PinnedCore pinCurrentThread(int core) {
            PinnedCore pin = real.pinCurrentThread(core);
            return () -> seen.get() == null ? pin.allowedCores() : seen.get();
        }
    }
}
