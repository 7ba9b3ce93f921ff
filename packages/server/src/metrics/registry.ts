/** Numbers by their labels' values, in the order in which they came up. */
type Series = Map<string, { labels: readonly string[]; value: number }>;

interface Description {
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** One sentence without its full stop. */
  help: string;
  labels: readonly string[];
}

interface Metric extends Description {
  lines(): string[];
}

export interface Counter {
  add(value: number, ...labels: string[]): void;
}

export interface Gauge {
  set(value: number, ...labels: string[]): void;
  /** Forgets what was set: a place or a state that is no more has no line. */
  clear(): void;
}

export interface Histogram {
  observe(value: number, ...labels: string[]): void;
}

/**
 * Metrics in the text format that Prometheus reads. Labels are few and their values bounded: no ids, no paths, no names
 * that clients choose.
 */
export class MetricRegistry {
  readonly #metrics: Metric[] = [];

  /** What there is, in the order in which it was defined. */
  get descriptions(): readonly Description[] {
    return this.#metrics;
  }

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const series: Series = new Map();
    // One without labels is 0 from the beginning, so that its first increase can be seen.
    if (labels.length === 0) series.set("", { labels: [], value: 0 });
    this.#define({ name, help, labels, type: "counter", lines: () => linesOf(name, labels, series) });
    return { add: (value, ...values) => (at(series, values, labels).value += value) };
  }

  gauge(name: string, help: string, labels: readonly string[] = []): Gauge {
    const series: Series = new Map();
    this.#define({ name, help, labels, type: "gauge", lines: () => linesOf(name, labels, series) });
    return {
      set: (value, ...values) => (at(series, values, labels).value = value),
      clear: () => series.clear(),
    };
  }

  /** `buckets` are upper bounds, in rising order. */
  histogram(name: string, help: string, buckets: readonly number[], labels: readonly string[] = []): Histogram {
    const counts: Series = new Map();
    const totals: Series = new Map();
    const sums: Series = new Map();
    const bounds = [...buckets.map(String), "+Inf"];
    this.#define({
      ...{ name, help, labels, type: "histogram" },
      lines: () =>
        [...totals.values()].flatMap(({ labels: values, value: total }) => [
          ...bounds.map((bound) => {
            const { value } = at(counts, [...values, bound], [...labels, "le"]);
            return `${name}_bucket${labelText([...labels, "le"], [...values, bound])} ${value}`;
          }),
          `${name}_sum${labelText(labels, values)} ${at(sums, values, labels).value}`,
          `${name}_count${labelText(labels, values)} ${total}`,
        ]),
    });
    return {
      observe: (value, ...values) => {
        at(totals, values, labels).value += 1;
        at(sums, values, labels).value += value;
        buckets.forEach((bound, index) => {
          if (value <= bound) at(counts, [...values, bounds[index]!], [...labels, "le"]).value += 1;
        });
        at(counts, [...values, "+Inf"], [...labels, "le"]).value += 1;
      },
    };
  }

  text(): string {
    const blocks = this.#metrics.map((metric) => {
      const { name, help, type } = metric;
      return [`# HELP ${name} ${help.replaceAll("\\", "\\\\")}.`, `# TYPE ${name} ${type}`, ...metric.lines()];
    });
    return `${blocks.flat().join("\n")}\n`;
  }

  #define(metric: Metric): void {
    this.#metrics.push(metric);
  }
}

function at(series: Series, values: readonly string[], labels: readonly string[]): { value: number } {
  if (values.length !== labels.length) throw new Error(`expected values for ${labels.join(", ") || "no labels"}`);
  const key = JSON.stringify(values);
  const found = series.get(labels.length === 0 ? "" : key);
  if (found) return found;
  const made = { labels: values, value: 0 };
  series.set(labels.length === 0 ? "" : key, made);
  return made;
}

const linesOf = (name: string, labels: readonly string[], series: Series): string[] =>
  [...series.values()].map(({ labels: values, value }) => `${name}${labelText(labels, values)} ${value}`);

function labelText(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return "";
  const escaped = values.map((value) => value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"'));
  return `{${labels.map((label, index) => `${label}="${escaped[index]}"`).join(",")}}`;
}
