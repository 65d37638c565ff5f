package org.restbench.workload.messages;

/** A queue as the database knows it. */
record Queue(long id, QueueTechnique technique) {
    String pgmqName() {
        return "q" + id;
    }
}
