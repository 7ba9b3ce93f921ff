/** An entry of a metrics file: validated by the server, or as a proposal has it. */
type Entry = Readonly<Record<string, unknown>>;

const AGGREGATES = ["sum", "count", "count_distinct", "min", "max", "average", "median"];

/** `sum(amount_cents / 100) where real`. Empty if it is no measure. */
export function measureFormula(measure: Entry): string {
  const aggregate = AGGREGATES.find((name) => measure[name] !== undefined);
  if (aggregate === undefined) return "";
  const over = isEntry(measure["over"]) ? measure["over"]["time"] : undefined;
  const time = over === undefined ? "" : `, ${textOf(over)} of each period`;
  return `${aggregate}(${textOf(measure[aggregate])})${time}${condition(measure["where"])}`;
}

/**
 * A metric in one line: the formula of its measure, `revenue / orders`, an expression of other metrics, or what it
 * accumulates. Empty if it is no metric.
 */
export function metricFormula(metric: Entry, measures: Entry): string {
  const { measure, ratio, derived, cumulative } = metric;
  if (measure !== undefined) {
    const known = measures[textOf(measure)];
    const formula = isEntry(known) ? measureFormula(known) : "";
    const where = condition(metric["where"]);
    return joined(formula === "" ? textOf(measure) : formula, where);
  }
  if (Array.isArray(ratio)) return ratio.map(textOf).join(" / ");
  if (derived !== undefined) return [textOf(derived), ...inputs(metric["with"])].join(", ");
  if (cumulative === undefined) return "";
  const { to, window } = metric;
  if (to !== undefined) return `${textOf(cumulative)}, accumulated since the start of the ${textOf(to)}`;
  return `${textOf(cumulative)}, accumulated${window === undefined ? "" : ` over ${textOf(window)}`}`;
}

function inputs(given: unknown): string[] {
  if (!isEntry(given)) return [];
  return Object.entries(given).map(([alias, input]) => {
    const { metric, offset } = isEntry(input) ? input : {};
    return `${alias} = ${textOf(metric)}${offset === undefined ? "" : ` ${textOf(offset)} earlier`}`;
  });
}

/** ` where a and b`. */
function condition(where: unknown): string {
  const all = [where].flat().filter((each) => each !== undefined);
  if (all.length === 0) return "";
  const texts = all.map((each) =>
    all.length > 1 && /\bor\b/i.test(textOf(each)) ? `(${textOf(each)})` : textOf(each),
  );
  return ` where ${texts.join(" and ")}`;
}

/** A second condition continues the first one. */
const joined = (formula: string, where: string): string =>
  formula.includes(" where ") ? `${formula}${where.replace(/^ where /, " and ")}` : `${formula}${where}`;

const isEntry = (value: unknown): value is Entry => typeof value === "object" && value !== null;
const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
