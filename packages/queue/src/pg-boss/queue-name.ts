import type { Run } from "../run-queue.ts";

/** Queue of dead letters; no place can have this name. */
export const DEAD_LETTERS = "dead";

/**
 * One pg-boss queue per place, tenant and kind: choosing the next run is then a choice between queues, and a tenant at
 * its limit blocks no other. Names may contain only letters, digits and `_-./`. The third part is only in the names of
 * queues of jobs.
 */
export const queueName = ({ place, tenant, kind }: Pick<Run, "place" | "tenant" | "kind">): string =>
  [place, tenant, ...(kind === "job" ? [kind] : [])].map(inName).join("/");

/** Encodes any text for such a name, injectively. */
export const inName = (text: string): string =>
  text.replace(/[^\w-]/gu, (character) => `.${character.codePointAt(0)!.toString(16)}.`);

export const placeIn = (name: string): string => fromName(name.split("/", 1)[0] ?? "");
export const kindIn = (name: string): Run["kind"] => (name.split("/")[2] === "job" ? "job" : "session");
export const tenantIn = (name: string): string => fromName(name.split("/")[1] ?? "");

const fromName = (part: string): string =>
  part.replace(/\.([0-9a-f]+)\./g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
