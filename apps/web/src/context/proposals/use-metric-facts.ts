import { useEffect, useState } from "react";
import type { metricFactsOf } from "./metric-facts.ts";

type Read = typeof metricFactsOf;

/** Reads metrics files; undefined until the YAML parser has loaded. Until then, and if that fails, the source is shown. */
export function useMetricFacts(isNeeded: boolean): Read | undefined {
  const [read, setRead] = useState<Read>();
  useEffect(() => {
    if (!isNeeded) return;
    void import("./metric-facts.ts").then(
      (module) => setRead(() => module.metricFactsOf),
      () => undefined,
    );
  }, [isNeeded]);
  return read;
}
