package org.restbench.workload.matrix;

import org.restbench.workload.RequestId;

/** What a client asks for: {@code one} (rows × inner) times {@code two} (inner × columns). */
record MatrixRequest(RequestId id, Matrix one, Matrix two) {}
