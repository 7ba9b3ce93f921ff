import type { Work } from "./sql-statement.ts";

/** Named database work, so that another thread can run it. Arguments and result are plain data. */
export interface Operation<A, T> {
  readonly name: string;
  work(args: A): Work<T>;
  /**
   * A single-statement variant that needs no explicit transaction, for engines with data-modifying `with`. Undefined if
   * these arguments need several statements.
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

/** Looks up an operation by the name that another thread sent. Both threads run the same code. */
export function workOf(name: string, args: unknown): Work<unknown> {
  const found = known.get(name);
  if (!found) throw new Error(`There is no operation called ${name}.`);
  // The caller used the typed `Operation` of this name, so the arguments match.
  return found.work(args as never);
}
