import { ENVIRONMENT_METADATA, type Environment } from "@tandem/protocol";
import type { WorkerRow } from "@tandem/storage";

/** Any worker matches. */
export const ANYWHERE = "any";

const MACHINE = "machine:";
const NEEDS = "needs:";

type Metadata = Environment["metadata"];

/** The place of a folder prepared on this machine: this machine, unless workers share its volume. */
export function placeOf({ metadata }: Pick<Environment, "metadata">, machine: string): string {
  return metadata[ENVIRONMENT_METADATA.volume] === undefined ? `${MACHINE}${machine}` : placeWanted({ metadata })!;
}

/** The requirements of an environment for the worker that prepares its folder; undefined if any can. */
export function placeWanted({ metadata }: Pick<Environment, "metadata">): string | undefined {
  const wanted = needsOf(metadata);
  return wanted.length === 0 ? undefined : `${NEEDS}${wanted.join(",")}`;
}

/** Whether a worker matches this place. Does not check that it is alive. */
export function fits(
  worker: Pick<WorkerRow, "role" | "machine" | "labels" | "tenants">,
  place: string | null,
  tenant: string,
): boolean {
  if (worker.role === "server" || (worker.tenants && !worker.tenants.includes(tenant))) return false;
  if (place === null || place === ANYWHERE) return true;
  if (place.startsWith(MACHINE)) return worker.machine === place.slice(MACHINE.length);
  // Jobs have workers of their own (`isJobPlace`). An unknown kind of place, from a later version, never matches.
  if (!place.startsWith(NEEDS)) return false;
  return [...parseLabels(place.slice(NEEDS.length))].every(([name, value]) => worker.labels[name] === value);
}

/** Whether a living worker takes new work. */
export const takesWork = ({ draining, problem }: Pick<WorkerRow, "draining" | "problem">): boolean =>
  !draining && !problem;

/** Describes a place, after "It needs". */
export const isMachine = (place: string): boolean => place.startsWith(MACHINE);

export function describePlace(place: string | null): string {
  if (place === null || place === ANYWHERE) return "any worker";
  if (place.startsWith(MACHINE)) return `a worker on ${place.slice(MACHINE.length)}, where its folder is`;
  return `a worker with ${place.slice(NEEDS.length).replaceAll(",", ", ")}`;
}

/** Parses `gpu=yes,region=eu`; ignores other text. */
function parseLabels(text: string): Map<string, string> {
  const pairs = text.split(",").map((pair) => LABEL.exec(pair.trim()));
  return new Map(pairs.flatMap((pair) => (pair ? [[pair[1]!, pair[2]!]] : [])));
}

export const LABEL = /^([A-Za-z0-9][\w.-]{0,62})=([\w./:-]{1,100})$/;

function needsOf(metadata: Metadata): string[] {
  const needs = parseLabels(metadata[ENVIRONMENT_METADATA.needs] ?? "");
  const volume = metadata[ENVIRONMENT_METADATA.volume];
  if (volume !== undefined) needs.set("volume", volume);
  return [...needs].map(([name, value]) => `${name}=${value}`).toSorted();
}
