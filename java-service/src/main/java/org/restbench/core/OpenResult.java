package org.restbench.core;

/** What becomes of a request once its head is known: its answer already, or an exchange that wants its body. */
public sealed interface OpenResult permits Reply, Exchange {}
