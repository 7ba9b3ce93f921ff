import { type Granularity, GRANULARITIES } from "../sql/granularity.ts";
import { untranslatable } from "./sql-term.ts";

/** `{{ TimeDimension('order__placed', 'month') }}` */
export interface JinjaReference {
  readonly kind: "dimension" | "entity";
  /** Entities on the way, then the name. */
  readonly names: readonly string[];
  readonly grain?: Granularity;
}

export interface JinjaFilter {
  /** SQL with a name of `references` in place of each template. */
  readonly sql: string;
  readonly references: ReadonlyMap<string, JinjaReference>;
}

const TEMPLATE = /\{\{([\s\S]*?)\}\}/g;
const CALL = /^\s*(Dimension|TimeDimension|Entity|Metric)\s*\(([\s\S]*?)\)((?:\s*\.\s*\w+\s*\([^)]*\))*)\s*$/;
const ARGUMENT = /^\s*(?:(\w+)\s*=\s*)?('[^']*'|"[^"]*"|\[[^\]]*\]|None)\s*(?:,|$)/;
const MARK = "tandem_template_";

/** Reads the templates of a filter. Throws `unsupported` for those that are not a dimension or an entity. */
export function readJinjaFilter(text: string): JinjaFilter {
  if (/\{%|\{#/.test(text)) throw untranslatable("The filter has Jinja statements, which only dbt can render.");
  if (text.toLowerCase().includes(MARK)) throw untranslatable(`The filter contains the name ${MARK}.`);
  const references = new Map<string, JinjaReference>();
  const sql = text.replaceAll(TEMPLATE, (_, inner: string) => {
    const name = `${MARK}${references.size}`;
    references.set(name, readReference(inner));
    return ` ${name} `;
  });
  return { sql, references };
}

function readReference(text: string): JinjaReference {
  const [, kind, parameters = "", methods = ""] = CALL.exec(text) ?? [];
  if (kind === undefined) throw untranslatable(`The template {{${text}}} is not a dimension or an entity.`);
  if (kind === "Metric") throw untranslatable("A filter by the value of a metric has no counterpart in definitions.");
  const { positional, named } = readArguments(parameters);
  const [first, second, third] = positional;
  if (first?.length !== 1 || third) throw untranslatable(`The template {{${text}}} cannot be read.`);
  const path = named.get("entity_path") ?? (kind === "TimeDimension" ? undefined : second) ?? [];
  const grains = [
    ...(kind === "TimeDimension" ? (second ?? []) : []),
    ...(named.get("time_granularity_name") ?? []),
    ...[...methods.matchAll(/\.\s*(\w+)\s*\(\s*['"](\w+)['"]\s*\)/g)].map(([, method, value]) => {
      if (method === "grain") return value!;
      throw untranslatable(`The template {{${text}}} uses ${method}, which has no counterpart.`);
    }),
  ];
  const unknown = [...named.keys()].find((key) => key !== "entity_path" && key !== "time_granularity_name");
  if (unknown !== undefined)
    throw untranslatable(`The template {{${text}}} uses ${unknown}, which has no counterpart.`);
  if (methods.trim() !== "" && grains.length === 0) throw untranslatable(`The template {{${text}}} cannot be read.`);
  const grain = grains[0] === undefined ? undefined : GRANULARITIES.find((known) => known === grains[0]!.toLowerCase());
  if (grains.length > 1 || (grains.length === 1 && !grain)) {
    throw untranslatable(`The template {{${text}}} names a period that metrics do not have.`);
  }
  return {
    kind: kind === "Entity" ? "entity" : "dimension",
    names: [...path.flatMap((part) => part.split("__")), ...first[0]!.split("__")],
    ...(grain && { grain }),
  };
}

function readArguments(text: string): { positional: string[][]; named: Map<string, string[]> } {
  const positional: string[][] = [];
  const named = new Map<string, string[]>();
  for (let rest = text; rest.trim() !== "";) {
    const match = ARGUMENT.exec(rest);
    if (!match) throw untranslatable(`The arguments (${text}) of a template cannot be read.`);
    const [whole, name, value = ""] = match;
    rest = rest.slice(whole.length);
    const values = [...value.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, single, double]) => single ?? double ?? "");
    if (value === "None") continue;
    if (name === undefined) positional.push(values);
    else named.set(name, values);
  }
  return { positional, named };
}
