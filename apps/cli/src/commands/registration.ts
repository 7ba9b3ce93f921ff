import { type Command, InvalidArgumentError, Option } from "commander";
import type { Invocation } from "../invocation.ts";
import { MODE_CHOICES, WIRE_MODES } from "../option-choices.ts";

/** Returns the exit code of the process; nothing means 0. */
type Action<Args extends unknown[]> = (invocation: Invocation, ...args: Args) => Promise<number | void>;

/** The tools with which a command declares its options and action. */
export interface Registration {
  examples: (command: Command, ...lines: string[]) => Command;
  /** The option `--json`. */
  json: () => Option;
  /** Turns a function into an action of commander. It gets the invocation, the arguments and the options. */
  runner: <Args extends unknown[]>(action: Action<Args>) => (this: Command, ...args: Args) => Promise<void>;
}

export const subcommandsOf =
  (parent: Command) =>
  (name: string, description: string): Command =>
    parent.command(name).description(description).helpOption("-h, --help", "print help");

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Adds examples to the help of a command. An error about a missing argument prints the first one. */
export function setExamples(command: Command, ...lines: string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`);
}

export const examplesOf = (command: Command): readonly string[] => EXAMPLES.get(command) ?? [];

/** An option with a permission mode. Also accepts the names that Claude Code and the API use. */
export function modeOption(flags: string, description: string, choices: readonly string[] = MODE_CHOICES): Option {
  return new Option(flags, description).choices(choices).argParser((text: string) => {
    const mode = choices.includes(text) ? WIRE_MODES[text] : undefined;
    const wire = choices.map((choice) => WIRE_MODES[choice]).find((known) => known === text);
    if (mode ?? wire) return mode ?? wire;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
  });
}

/** Collects the values of a repeatable option. */
export const collect = (text: string, previous: string[] | undefined): string[] => [...(previous ?? []), text];

/** A repeatable option with comma-separated values. It takes one argument only, because the next one may be the prompt. */
export function listOption(flags: string, description: string, choices?: readonly string[]): Option {
  return new Option(flags, description).argParser((text: string, previous: string[] | undefined) => {
    const names = text.split(",").filter(Boolean);
    const wrong = choices && names.find((name) => !choices.includes(name));
    if (wrong !== undefined) throw new InvalidArgumentError(`Unknown value ${wrong}. Allowed: ${choices?.join(", ")}.`);
    return [...(previous ?? []), ...names];
  });
}
