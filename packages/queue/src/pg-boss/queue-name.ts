/** Queue of dead letters; no place can have this name. */
export const DEAD_LETTERS = "dead";

/**
 * One pg-boss queue per place and tenant: choosing the next run is then a choice between queues, and a tenant at its
 * limit blocks no other. Names may contain only letters, digits and `_-./`.
 */
export const queueName = (place: string, tenant: string): string => `${inName(place)}/${inName(tenant)}`;

/** Encodes any text for such a name, injectively. */
export const inName = (text: string): string =>
  text.replace(/[^\w-]/gu, (character) => `.${character.codePointAt(0)!.toString(16)}.`);

export const placeIn = (name: string): string => fromName(name.split("/", 1)[0] ?? "");
export const tenantIn = (name: string): string => fromName(name.split("/")[1] ?? "");

const fromName = (part: string): string =>
  part.replace(/\.([0-9a-f]+)\./g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
