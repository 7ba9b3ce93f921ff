/** Where dead letters are kept; no place has such a name. */
export const DEAD_LETTERS = "dead";

/**
 * A queue of pg-boss for each place and tenant: who is next is then a choice between queues, and a tenant that is at its limit
 * holds up nobody else. Its names take letters, digits and `_-./` only.
 */
export const queueName = (place: string, tenant: string): string => `${inName(place)}/${inName(tenant)}`;

/** Any text as a part of such a name; different texts stay different. */
export const inName = (text: string): string =>
  text.replace(/[^\w-]/gu, (character) => `.${character.codePointAt(0)!.toString(16)}.`);

export const placeIn = (name: string): string => fromName(name.split("/", 1)[0] ?? "");
export const tenantIn = (name: string): string => fromName(name.split("/")[1] ?? "");

const fromName = (part: string): string =>
  part.replace(/\.([0-9a-f]+)\./g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
