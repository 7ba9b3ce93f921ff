/** Lists the differences of two values, one line each; empty if they are equal. */
export function differences(recorded: unknown, arrived: unknown, path = ""): string[] {
  if (recorded === arrived) return [];
  if (isContainer(recorded) && isContainer(arrived) && Array.isArray(recorded) === Array.isArray(arrived)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(arrived)])];
    return keys.flatMap((key) => differences(recorded[key], arrived[key], join(path, key, Array.isArray(recorded))));
  }
  if (typeof recorded === "string" && typeof arrived === "string") return [describeTexts(path, recorded, arrived)];
  return [`${path}: recorded ${brief(recorded)}, arrived ${brief(arrived)}`];
}

/** Shows long texts from just before the difference. */
function describeTexts(path: string, recorded: string, arrived: string): string {
  let same = 0;
  while (same < recorded.length && recorded[same] === arrived[same]) same++;
  const from = Math.max(0, same - 20);
  const show = (text: string) => JSON.stringify(`${from > 0 ? "…" : ""}${text.slice(from, same + 60)}`);
  return `${path}: recorded ${show(recorded)}, arrived ${show(arrived)}`;
}

function brief(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function join(path: string, key: string, inList: boolean): string {
  if (inList) return `${path}[${key}]`;
  return path === "" ? key : `${path}.${key}`;
}
