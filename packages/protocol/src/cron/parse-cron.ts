/** A parsed five-field cron expression. Sets are sorted and without duplicates. */
export interface Cron {
  expression: string;
  minutes: readonly number[];
  hours: readonly number[];
  days: readonly number[];
  months: readonly number[];
  /** 0 is Sunday. */
  weekdays: readonly number[];
  /** Whether the field restricts the days: false for `*`. If both do, a day that matches either one matches. */
  hasDays: boolean;
  hasWeekdays: boolean;
}

export type ParsedCron = { ok: true; cron: Cron } | { ok: false; reason: string };

interface Field {
  name: string;
  min: number;
  max: number;
  names?: readonly string[];
}

const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTH_NAMES },
  { name: "day of week", min: 0, max: 7, names: WEEKDAY_NAMES },
] as const satisfies readonly Field[];
const MAX_LENGTH = 256;
/** In a leap year. */
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

class Refusal extends Error {}

/**
 * Parses the grammar of Anthropic's schedules: five fields of numbers, ranges, steps and lists, weekday 0 to 7, and names of
 * months and weekdays. No seconds, no `L`, `W`, `#` or `?`, no `@daily`. Refuses expressions that never match.
 */
export function parseCron(expression: string): ParsedCron {
  try {
    return { ok: true, cron: parse(expression) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

function parse(expression: string): Cron {
  if (expression.length > MAX_LENGTH) throw new Refusal(`expected at most ${MAX_LENGTH} characters`);
  const text = expression.trim();
  if (text.startsWith("@")) throw new Refusal(`shortcuts such as ${text} are not supported: write five fields`);
  const parts = text === "" ? [] : text.split(/[ \t]+/);
  if (parts.length !== FIELDS.length) {
    const expected = "five fields: minute, hour, day of month, month, day of week";
    throw new Refusal(`expected ${expected}, and found ${parts.length}`);
  }
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => parseField(parts[index]!, field));
  const cron: Cron = {
    expression: text,
    minutes: minutes!,
    hours: hours!,
    days: days!,
    months: months!,
    weekdays: [...new Set(weekdays!.map((day) => day % 7))].toSorted((a, b) => a - b),
    hasDays: !isEvery(parts[2]!),
    hasWeekdays: !isEvery(parts[4]!),
  };
  if (cron.hasWeekdays || cron.months.some((month) => cron.days[0]! <= MONTH_DAYS[month - 1]!)) return cron;
  throw new Refusal(`it never matches: no month of ${parts[3]} has a day ${cron.days[0]}`);
}

const isEvery = (text: string): boolean => text === "*" || text === "*/1";

function parseField(text: string, field: Field): number[] {
  const values = new Set<number>();
  for (const item of text.split(",")) for (const value of parseItem(item, field)) values.add(value);
  return [...values].toSorted((a, b) => a - b);
}

function parseItem(item: string, field: Field): number[] {
  const { name, min, max } = field;
  if (/[LW#?]/.test(item.replaceAll(/[a-z]{3}/gi, ""))) {
    throw new Refusal(`${name}: L, W, # and ? are not supported`);
  }
  const [range, step, ...rest] = item.split("/");
  if (range === undefined || range === "" || rest.length > 0)
    throw new Refusal(`${name}: ${quote(item)} is not a value`);
  const by = step === undefined ? 1 : parseStep(step, field);
  if (range === "*") return steps(min, name === "day of week" ? 6 : max, by);
  const [from, to, ...more] = range.split("-");
  if (more.length > 0) throw new Refusal(`${name}: ${quote(item)} is not a range`);
  const low = parseValue(from!, field);
  if (to === undefined) {
    if (step === undefined) return [low];
    throw new Refusal(`${name}: a step needs a range: write ${low}-${max}/${step} instead of ${item}`);
  }
  const high = parseValue(to, field);
  if (low <= high) return steps(low, high, by);
  throw new Refusal(`${name}: the range ${range} is reversed: write it as two, such as ${low}-${max},${min}-${high}`);
}

function parseStep(text: string, { name, max }: Field): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) < 1) throw new Refusal(`${name}: ${quote(text)} is not a step`);
  if (Number(text) > max) throw new Refusal(`${name}: the step ${text} is larger than ${max}`);
  return Number(text);
}

function parseValue(text: string, { name, min, max, names }: Field): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Refusal(`${name}: expected ${min} to ${max}, and found ${quote(text)}`);
}

const steps = (low: number, high: number, by: number): number[] =>
  Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, index) => low + index * by);

const quote = (text: string): string => JSON.stringify(text);
