interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface ParsedMetric {
  name: string;
  type: string;
  help: string;
  samples: Sample[];
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i;

/** Parses Prometheus' text format strictly and fails on any violation. */
export function parseMetrics(text: string): Map<string, ParsedMetric> {
  if (!text.endsWith("\n")) throw new Error("The last line has no end.");
  const found = new Map<string, ParsedMetric>();
  const seen = new Set<string>();
  let present: ParsedMetric | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, word, name, rest = ""] = /^# (HELP|TYPE) (\S+)(?: (.*))?$/.exec(line) ?? [];
    if (word === "HELP" && name !== undefined) {
      if (found.has(name)) throw new Error(`${name} comes twice.`);
      present = { name, type: "untyped", help: rest, samples: [] };
      found.set(name, present);
    } else if (word === "TYPE") {
      if (!present || present.name !== name || present.samples.length > 0)
        throw new Error(`TYPE out of place: ${line}`);
      if (!["counter", "gauge", "histogram"].includes(rest)) throw new Error(`Unknown type: ${line}`);
      present.type = rest;
    } else {
      if (!present) throw new Error(`A sample of nothing: ${line}`);
      const sample = parseSample(line);
      const suffixes = present.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      if (!suffixes.some((suffix) => sample.name === present!.name + suffix)) throw new Error(`Not of it: ${line}`);
      const key = `${sample.name} ${JSON.stringify(sample.labels)}`;
      if (seen.has(key)) throw new Error(`Twice: ${line}`);
      seen.add(key);
      present.samples.push(sample);
    }
  }
  for (const metric of found.values()) if (metric.type === "histogram") checkHistogram(metric);
  return found;
}

function parseSample(line: string): Sample {
  const [, name, inner, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined || !NUMBER.test(value)) throw new Error(`Not a sample: ${line}`);
  const labels: Record<string, string> = {};
  if (inner !== undefined) {
    LABEL.lastIndex = 0;
    while (LABEL.lastIndex < inner.length) {
      const label = LABEL.exec(inner);
      if (!label) throw new Error(`Not labels: ${line}`);
      labels[label[1]!] = label[2]!.replaceAll(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));
    }
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

/** Buckets must not decrease, and the last one must equal the count. */
function checkHistogram({ name, samples }: ParsedMetric): void {
  const keyOf = (labels: Record<string, string>) =>
    JSON.stringify(Object.entries(labels).filter(([label]) => label !== "le"));
  for (const group of Map.groupBy(samples, ({ labels }) => keyOf(labels)).values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels["le"]!.replace("Inf", "Infinity")));
    const counts = buckets.map(({ value }) => value);
    const isRising = (list: readonly number[]) =>
      list.every((value, index) => index === 0 || value >= list[index - 1]!);
    if (!isRising(bounds) || bounds.at(-1) !== Infinity || !isRising(counts)) throw new Error(`Buckets of ${name}`);
    const count = group.find((sample) => sample.name === `${name}_count`);
    const sum = group.find((sample) => sample.name === `${name}_sum`);
    if (!sum || count?.value !== counts.at(-1)) throw new Error(`Count of ${name}`);
  }
}
