export const SCAN_ROLE = "candidateExtraction";

/** Concurrent calls. The runtime may limit them further. */
export const CALLS_AT_ONCE = 4;
