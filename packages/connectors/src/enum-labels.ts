/** Labels of a type that lists them: `enum('a','b')` and `set(…)` in MySQL, `ENUM('a', 'b')` in DuckDB. */
export function enumLabels(type: string): string[] | undefined {
  if (!/^(?:enum|set)\s*\(/i.test(type)) return undefined;
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, label]) => label!.replaceAll("''", "'"));
}
