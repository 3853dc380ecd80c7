//! What the journeys, conformance vectors and benchmarks share.
