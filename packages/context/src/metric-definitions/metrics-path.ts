export const METRICS_PREFIX = "metrics/";

/** `metrics/<connection>/<entity>.yaml`. */
export const isMetricsPath = (path: string): boolean => /^metrics\/[^/]+\/[^/]+\.yaml$/.test(path);

/** `metrics/shop/order.yaml` belongs to the connection `shop`. */
export const connectionOf = (path: string): string => path.slice(METRICS_PREFIX.length).split("/", 1)[0]!;
