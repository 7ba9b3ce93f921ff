import { useContextQuery } from "../context-api.ts";

/** All metrics, with broken ones. */
export const useMetrics = ({ enabled = true } = {}) => useContextQuery("context.metrics.list", {}, { enabled });
