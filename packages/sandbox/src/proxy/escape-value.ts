/** The forms in which a value may come back. */
export const escapedForms = (value: string): string[] => [
  value,
  ...["application/json", "application/x-www-form-urlencoded"].map((type) => escapeFor(type)(value)),
];

/** Escapes a value for a place inside a body of this type. */
export function escapeFor(type: string): (value: string) => string {
  const name = type.split(";")[0]!.trim().toLowerCase();
  if (name === "application/x-www-form-urlencoded") return (value) => encodeURIComponent(value);
  return /[/+]json$/.test(name) ? (value) => JSON.stringify(value).slice(1, -1) : (value) => value;
}
