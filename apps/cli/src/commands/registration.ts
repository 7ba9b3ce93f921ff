import { type Command, InvalidArgumentError, Option } from "commander";
import type { Invocation } from "../invocation.ts";

/** Runs an action. The action returns the exit code of the process; nothing means 0. */
export type Runner = (command: Command, run: (invocation: Invocation) => Promise<number | void>) => Promise<void>;

/** The tools with which a command declares its options and action. */
export interface Registration {
  examples: (command: Command, ...lines: string[]) => Command;
  /** The option `--json`. */
  json: () => Option;
  runner: Runner;
}

export const subcommandsOf =
  (parent: Command) =>
  (name: string, description: string, isDefault = false) =>
    parent.command(name, { isDefault }).description(description).helpOption("-h, --help", "print help");

/** A repeatable option with comma-separated values. It takes one argument only, because the next one may be the prompt. */
export function listOption(flags: string, description: string, choices?: readonly string[]): Option {
  return new Option(flags, description).argParser((text: string, previous: string[] | undefined) => {
    const names = text.split(",").filter(Boolean);
    const wrong = choices && names.find((name) => !choices.includes(name));
    if (wrong !== undefined) throw new InvalidArgumentError(`There is no ${wrong}. Allowed: ${choices?.join(", ")}.`);
    return [...(previous ?? []), ...names];
  });
}
