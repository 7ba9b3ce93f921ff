export const SCAN_ROLE = "candidateExtraction";

/** Calls at once. The runtime's own limit may be lower: then they wait there. */
export const CALLS_AT_ONCE = 4;
