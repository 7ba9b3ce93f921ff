/**
 * The values of a payload at a path such as `pull_request.base.ref`, `labels.0.name` or `labels.*.name`. Reads own
 * properties only, so that no name of JavaScript's own is found.
 */
export function payloadValues(payload: unknown, path: string): unknown[] {
  let found: unknown[] = [payload];
  for (const name of path.split(".")) found = found.flatMap((value) => entriesAt(value, name));
  return found;
}

function entriesAt(value: unknown, name: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (name === "*") return Array.isArray(value) ? value : Object.values(value);
  return Object.hasOwn(value, name) ? [Reflect.get(value, name)] : [];
}
