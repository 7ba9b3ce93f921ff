/** The report of a job as rows. Empty values are left out, and proposals too, because they have links. */
export function reportRows(result: Record<string, unknown>): [name: string, words: string][] {
  return Object.entries(result).flatMap(([name, value]): [string, string][] => {
    if (name === "proposals") return [];
    const words = Array.isArray(value) ? value.map(valueText).filter(Boolean).join("; ") : valueText(value);
    return words === "" ? [] : [[name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), words]];
  });
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return value === 0 ? "" : String(value);
  if (typeof value !== "object" || value === null) return "";
  const { name, ...rest } = value as Record<string, unknown>;
  const parts = Object.entries(rest).flatMap(([key, own]) => {
    const words = Array.isArray(own) ? own.map(valueText).filter(Boolean).join(", ") : valueText(own);
    return words === "" ? [] : [`${words} ${key}`];
  });
  const all = parts.join(", ");
  return typeof name === "string" ? `${name}: ${all || "nothing"}` : all;
}
