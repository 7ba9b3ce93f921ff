import { reference, referencesOf } from "../expression/expression.ts";
import { parseExpression } from "../expression/parse-expression.ts";
import { writeExpression } from "../expression/write-expression.ts";
import { attempt, MetricError } from "../metric-error.ts";
import type { MeasureEntry, MetricEntry } from "../model/metrics-file.ts";
import { definedName, type Draft, type DraftEntity, type DraftMetric, type MetricSink } from "./draft-file.ts";
import { draftAggregates } from "./draft-aggregates.ts";
import { EntityScope } from "./entity-scope.ts";
import type {
  About,
  ImportedFilter,
  ImportedFormula,
  ImportedInput,
  ImportedMetric,
  Located,
} from "./imported-project.ts";
import { plain, type TermType } from "./sql-term.ts";
import { translateSql } from "./translate-sql.ts";

type Of<Kind extends ImportedFormula["kind"]> = Extract<ImportedFormula, { kind: Kind }>;

const WORD_OR_TEXT = /'(?:[^']|'')*'|[A-Za-z_]\w*/g;
const PERIODS = ["week", "month", "quarter", "year"] as const;

/** Drafts the metrics of a project, each after those that it is computed from. */
export class MetricDrafts implements MetricSink {
  readonly draft: Draft;
  readonly #byId = new Map<string, DraftMetric | MetricError | "open">();
  readonly #byName = new Map<string, DraftMetric>();

  constructor(draft: Draft) {
    this.draft = draft;
  }

  all(): void {
    // Single aggregates come first, so that computations name them instead of repeating them.
    const { metrics } = this.draft.project;
    for (const metric of [...metrics.filter(isSingle), ...metrics.filter((each) => !isSingle(each))]) {
      this.draft.attempt(metric, `metric ${metric.name}`, () => this.define(metric.id));
    }
  }

  /** The metric of an id. Throws the reason if it is not imported. */
  define(id: string): DraftMetric {
    const known = this.#byId.get(id);
    if (known === "open") throw new MetricError("broken_definition", `${id} is defined by itself.`);
    if (known instanceof MetricError) throw known;
    if (known) return known;
    const metric = this.draft.project.metrics.find((each) => each.id === id);
    if (!metric) throw new MetricError("broken_definition", `The metric ${id} does not exist or was skipped.`);
    this.#byId.set(id, "open");
    const drafted = attempt(() => this.#draft(metric));
    this.#byId.set(id, drafted);
    if (drafted instanceof MetricError) throw drafted;
    return drafted;
  }

  #draft(metric: ImportedMetric): DraftMetric {
    const name = definedName(this.draft, metric, metric.name);
    const about = metric.about;
    const { formula } = metric;
    switch (formula.kind) {
      case "simple":
        return this.#simple(metric, name, formula);
      case "aggregates":
        return draftAggregates(this, metric, name, formula);
      case "ratio": {
        const sides = [formula.numerator, formula.denominator] as const;
        const [numerator, denominator] = sides.map((input, at) =>
          this.#input(input, metric, `${name}__${at === 0 ? "numerator" : "denominator"}`),
        ) as [DraftMetric, DraftMetric];
        return this.add(metric, name, numerator.entity, { ratio: [numerator.name, denominator.name] }, about, "number");
      }
      case "derived":
        return this.#derived(metric, name, formula);
      case "cumulative": {
        const input = this.#input({ ...formula.input, filters: formula.input.filters }, metric, `${name}__base`);
        const to = PERIODS.find((period) => period === formula.to);
        if (formula.to !== undefined && !to) {
          throw new MetricError(
            "unsupported",
            `A running total from the start of each ${formula.to} has no counterpart.`,
          );
        }
        const entry = {
          cumulative: input.base,
          ...(to && { to }),
          ...(formula.window !== undefined && { window: formula.window }),
        };
        return this.add(metric, name, input.entity, entry, about, input.type);
      }
    }
  }

  #simple(metric: ImportedMetric, name: string, { entity: id, measure, filters, missing }: Of<"simple">): DraftMetric {
    const entity = this.draft.entity(id);
    const type = entity.measureTypes.get(measure.toLowerCase());
    if (type === undefined) {
      throw (
        entity.refused.get(`measures.${measure}`) ??
        new MetricError("broken_definition", `${id} has no measure ${measure}.`)
      );
    }
    const where = this.conditions(entity, measure.toLowerCase(), [...filters, ...metric.filters]);
    const entry = { measure: measure.toLowerCase(), ...(where.length > 0 && { where }) };
    const isCount = ["count", "count_distinct"].some((key) => key in entity.file.measures[measure.toLowerCase()]!);
    // A count without rows is zero anyway.
    if (missing === undefined || (isCount && Number(missing) === 0)) {
      return this.add(metric, name, entity, entry, metric.about, type);
    }
    const base = this.add(metric, `${name}__value`, entity, entry, {}, type);
    const filled = { derived: `coalesce(${base.name}, ${missing})` };
    return { ...this.add(metric, name, entity, filled, metric.about, type), base: base.name };
  }

  #derived(metric: ImportedMetric, name: string, formula: Of<"derived">): DraftMetric {
    const inputs = new Map(
      [...formula.inputs].map(([alias, input]) => {
        const own = definedName(this.draft, metric, alias);
        const drafted = this.#input(input, metric, `${name}__${own}`);
        return [alias.toLowerCase(), { own, drafted, offset: input.offset }] as const;
      }),
    );
    const used = new Map<string, { metric: string; offset?: string }>();
    // An alias such as `now` would be a function in SQL.
    const aliases = [...inputs.keys()];
    const sql = formula.sql.replaceAll(WORD_OR_TEXT, (word) => {
      const at = aliases.indexOf(word.toLowerCase());
      return at < 0 ? word : `tandem_input_${at}`;
    });
    const node = this.draft.parse(sql, this.draft.flavour);
    const term = translateSql(node, {
      dialect: this.draft.catalogue.dialect,
      resolve: (qualifiers, wanted) => {
        const at = /^tandem_input_(\d+)$/.exec(wanted)?.[1];
        const input = qualifiers.length === 0 && at !== undefined ? inputs.get(aliases[Number(at)]!) : undefined;
        if (!input) throw new MetricError("broken_definition", `${wanted} is not among the metrics that it lists.`);
        const { own, drafted, offset } = input;
        if (own !== drafted.name || offset !== undefined) {
          used.set(own, { metric: drafted.name, ...(offset !== undefined && { offset }) });
        }
        return { expression: reference(own), type: drafted.type };
      },
    });
    const [first] = inputs.values();
    if (!first) throw new MetricError("broken_definition", "It is computed from no metric.");
    const entry = {
      derived: writeExpression(plain(term)),
      ...(used.size > 0 && { with: Object.fromEntries(used) }),
    };
    return this.add(metric, name, first.drafted.entity, entry, metric.about, term.type);
  }

  /** The metric of an input, with the input's and the whole metric's conditions. */
  #input(input: ImportedInput, metric: ImportedMetric, name: string): DraftMetric {
    const drafted = this.define(input.metric);
    const filters = [...input.filters, ...metric.filters];
    return filters.length === 0 ? drafted : this.#filtered(drafted, filters, name, metric);
  }

  /** The same metric under further conditions, which apply to all that it is computed from. */
  #filtered(metric: DraftMetric, filters: readonly ImportedFilter[], name: string, at: Located): DraftMetric {
    const { entry, entity, type } = metric;
    const inner = (input: string, suffix: string): DraftMetric =>
      this.#filtered(this.#byName.get(input)!, filters, `${name}__${suffix}`, at);
    if ("measure" in entry) {
      const where = [...(entry.where ?? []), ...this.conditions(entity, entry.measure, filters)];
      return this.add(at, name, entity, { measure: entry.measure, where }, {}, type);
    }
    if ("ratio" in entry) {
      const [numerator, denominator] = entry.ratio;
      const ratio: [string, string] = [inner(numerator, "numerator").name, inner(denominator, "denominator").name];
      return this.add(at, name, entity, { ratio }, {}, type);
    }
    if ("cumulative" in entry) {
      const { to, window } = entry;
      const cumulative = inner(entry.cumulative, "base").name;
      return this.add(at, name, entity, { cumulative, ...(to && { to }), ...(window && { window }) }, {}, type);
    }
    const given = entry.with ?? {};
    const names = [...new Set(referencesOf(parseExpression(entry.derived)).map((each) => each.name))];
    const inputs = names.map((alias) => {
      const { metric: input = alias, offset } = given[alias] ?? {};
      return [alias, { metric: inner(input, alias).name, ...(offset !== undefined && { offset }) }] as const;
    });
    return this.add(at, name, entity, { derived: entry.derived, with: Object.fromEntries(inputs) }, {}, type);
  }

  /** Conditions of the rows of a measure, as texts. */
  conditions(entity: DraftEntity, measure: string, filters: readonly ImportedFilter[]): string[] {
    const scope = new EntityScope(this.draft, entity);
    const time = entity.file.measures[measure]?.time ?? entity.file.time;
    return filters.flatMap((filter) => scope.conditions(filter, time)).map((each) => writeExpression(each));
  }

  /** A simple metric of the project that computes the same from a measure of the same content. */
  sameMeasure(entity: DraftEntity, measure: MeasureEntry): DraftMetric | undefined {
    const wanted = JSON.stringify(measure);
    return [...this.#byName.values()].find(
      ({ entity: owner, entry }) =>
        owner === entity &&
        "measure" in entry &&
        entry.where === undefined &&
        JSON.stringify(entity.file.measures[entry.measure]) === wanted,
    );
  }

  add(
    { path, line }: Located,
    name: string,
    entity: DraftEntity,
    entry: MetricEntry,
    about: About,
    type: TermType,
  ): DraftMetric {
    const other = this.#byName.get(name);
    if (other) throw new MetricError("unsupported", `Two metrics of the project are called ${name}.`, "Rename one.");
    if (name.length > 64) throw new MetricError("unsupported", `The name ${name} is too long.`);
    const { aka, ...rest } = about;
    const full = { ...entry, ...rest, ...(aka && { aka: [...aka] }) };
    const metric: DraftMetric = { name, entity, type, entry: full, base: name };
    this.#byName.set(name, metric);
    entity.file.metrics[name] = full;
    entity.sources.set(`metrics.${name}`, { path, line });
    return metric;
  }
}

/** Whether its SQL is one aggregate: an opening parenthesis that closes at the end. */
const isSingle = ({ formula }: ImportedMetric): boolean =>
  formula.kind === "aggregates" && /^\s*\w+\s*\([^()]*\)\s*$/.test(formula.sql);
