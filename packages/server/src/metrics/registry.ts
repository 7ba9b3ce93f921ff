import type { Attributes, Counter, Histogram } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationTemporality, InstrumentType, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";

interface Description {
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** One sentence without its full stop. */
  help: string;
  labels: readonly string[];
}

type Labelled<Label extends string> = Record<Label, string>;

export interface Gauge<Labels extends Attributes = Attributes> {
  set(value: number, labels?: Labels): void;
  /** Removes all values, so that a place or state that no longer exists has no line. */
  clear(): void;
}

/**
 * OpenTelemetry instruments, exported as the text format of Prometheus. Labels are few and their values bounded: no ids,
 * no paths, no names that clients choose.
 */
export class MetricRegistry {
  readonly #collect: () => Promise<void>;
  readonly #descriptions: Description[] = [];
  readonly #reader = new ScrapeReader();
  readonly #meter = new MeterProvider({ readers: [this.#reader] }).getMeter("tandem");
  readonly #serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

  /** `collect` updates the gauges; it is called whenever the metrics are read. */
  constructor(collect: () => Promise<void>) {
    this.#collect = collect;
  }

  /** All metrics in the order of their definition. */
  get descriptions(): readonly Description[] {
    return this.#descriptions;
  }

  counter<Label extends string = never>(
    name: string,
    help: string,
    labels: readonly Label[] = [],
  ): Counter<Labelled<Label>> {
    const counter = this.#meter.createCounter<Labelled<Label>>(name, this.#describe("counter", name, help, labels));
    // Without labels it starts at 0, so that its first increase is visible.
    if (labels.length === 0) counter.add(0);
    return counter;
  }

  gauge<Label extends string = never>(
    name: string,
    help: string,
    labels: readonly Label[] = [],
  ): Gauge<Labelled<Label>> {
    const values = new Map<string, { value: number; labels: Labelled<Label> | undefined }>();
    const gauge = this.#meter.createObservableGauge<Labelled<Label>>(name, this.#describe("gauge", name, help, labels));
    gauge.addCallback(async (result) => {
      await this.#collect();
      for (const { value, labels: own } of values.values()) result.observe(value, own);
    });
    return {
      set: (value, own) => void values.set(JSON.stringify(own), { value, labels: own }),
      clear: () => values.clear(),
    };
  }

  /** `buckets` are upper bounds, in rising order. */
  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    const options = this.#describe("histogram", name, help, []);
    return this.#meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries: [...buckets] } });
  }

  async text(): Promise<string> {
    const { resourceMetrics } = await this.#reader.collect();
    const text = this.#serializer.serialize(resourceMetrics);
    const written = new Set(
      resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map((m) => m.descriptor.name)),
    );
    // OpenTelemetry omits a metric without values; dashboards look it up by its HELP and TYPE.
    const empty = this.#descriptions.filter(({ name }) => !written.has(name));
    return text + empty.map(({ name, type, help }) => `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n`).join("");
  }

  #describe(type: Description["type"], name: string, help: string, labels: readonly string[]) {
    this.#descriptions.push({ name, type, help, labels });
    return { description: `${help}.` };
  }
}

/** Reads the instruments on demand. */
class ScrapeReader extends MetricReader {
  constructor() {
    super({
      // With cumulative gauges, OpenTelemetry repeats values that were cleared.
      aggregationTemporalitySelector: (type) =>
        type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
    });
  }

  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
