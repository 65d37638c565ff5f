package org.restbench.client;

import java.util.Map;

/**
 * What a batch took so far.
 *
 * @param wall seconds by stage, summed over the calls that ended
 * @param cpu seconds of the threads that ran the stage; 0 where no thread was held, and on virtual threads
 * @param peakInFlight most calls between sending and answer
 * @param peakQueued most messages in the buffer before C, D and P; under S most outcomes that waited to be taken
 * @param attempts how often a call was sent, retries included
 * @param peakThreads most threads at once by name without number
 * @param threadsMade in all
 */
public record Totals(
        double elapsedSeconds,
        Map<Stage, Double> wall,
        Map<Stage, Double> cpu,
        int peakInFlight,
        Map<Stage, Integer> peakQueued,
        long attempts,
        long retries,
        Map<String, Integer> peakThreads,
        long threadsMade) {}
