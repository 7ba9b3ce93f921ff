import type { Work } from "./sql.ts";

/** Work that has a name, so that it can be asked for from another thread. Arguments and result are plain data. */
export interface Operation<A, T> {
  readonly name: string;
  work(args: A): Work<T>;
  /**
   * The same in a single statement, which needs no transaction around it, for an engine that can write within a `with`. Undefined
   * if these arguments take more than that.
   */
  single?(args: A): Work<T> | undefined;
}

const known = new Map<string, Operation<never, unknown>>();

export function operation<A, T>(
  name: string,
  work: (args: A) => Work<T>,
  more: Pick<Operation<A, T>, "single"> = {},
): Operation<A, T> {
  if (known.has(name)) throw new Error(`There are two operations called ${name}.`);
  const made: Operation<A, T> = { name, work, ...more };
  known.set(name, made);
  return made;
}

/** The work that was asked for by name, by a thread that runs the same code. */
export function workOf(name: string, args: unknown): Work<unknown> {
  const found = known.get(name);
  if (!found) throw new Error(`There is no operation called ${name}.`);
  // The caller has named it through the same `Operation`, which goes with its arguments.
  return found.work(args as never);
}
