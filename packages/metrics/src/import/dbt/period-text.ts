import { MetricError } from "../../metric-error.ts";
import type { SourceNode } from "../source-node.ts";

/** `7 days`, which the manifest writes as a count and a granularity. */
export function periodText(node: SourceNode): string {
  const text = node.isMap ? `${node.textOf("count")} ${node.textOf("granularity")}` : (node.text ?? "");
  const [, count, unit] = /^\s*([1-9]\d{0,3})\s+(minute|hour|day|week|month|quarter|year)s?\s*$/i.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new MetricError("unsupported", `The period \`${text.trim()}\` has no counterpart.`);
  }
  return `${count} ${unit.toLowerCase()}${count === "1" ? "" : "s"}`;
}
