/** Old names of commands. They work until version 0.3 and print the new name. */
export const OLD_COMMANDS: Readonly<Record<string, string>> = {
  "sessions rm": "sessions remove",
  commands: "sessions commands",
  shell: "sessions shell",
  worktrees: "sessions worktrees",
  "agents create": "agents add",
  "agents update": "agents set",
  "budget show": "budgets list",
  budget: "budgets",
  "notify test": "notifications test",
  notify: "notifications",
  "token create": "tokens add",
  "token revoke": "tokens remove",
  token: "tokens",
  "tenants create": "tenants add",
  "tenants delete": "tenants remove",
  scan: "context scan",
  ingest: "context ingest",
  joins: "context joins",
  remember: "context remember",
  proposals: "context proposals",
  "memories forget": "context memories remove",
  "memories keep": "context memories set",
  memories: "context memories",
  jobs: "context jobs",
};

/** Old names of options, by command. They work until version 0.3 and print the new name. */
export const OLD_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  run: { "--allow-everything": "--bypass-permissions" },
  logs: { "--lines": "--tail" },
};

/** Short commands that are also members of a group. Both names are current. */
export const GROUP_MEMBERS: Readonly<Record<string, string>> = {
  "sessions run": "run",
  "sessions resume": "resume",
  "sessions stop": "stop",
  "sessions diff": "diff",
  "sessions rewind": "rewind",
  "sessions fork": "fork",
  "context sql": "sql",
};

/** Options before and between the words of a command, with the number of their values. */
const GLOBAL_OPTIONS: Readonly<Record<string, number>> = { "--project": 1, "--claude-path": 1, "--debug": 0 };

interface ResolvedArguments {
  args: string[];
  /** One sentence for each old name that was used. */
  notices: string[];
}

/** Replaces old names in the arguments. `help COMMAND` becomes `COMMAND --help`. */
export function resolveAliases(given: readonly string[]): ResolvedArguments {
  let args = [...given];
  const notices: string[] = [];
  const [helpAt] = wordPositions(args);
  if (helpAt !== undefined && args[helpAt] === "help" && !args.includes("--all")) {
    args = [...args.toSpliced(helpAt, 1), "--help"];
  }
  for (const [table, isOld] of [
    [OLD_COMMANDS, true],
    [GROUP_MEMBERS, false],
  ] as const) {
    const positions = wordPositions(args);
    const words = positions.map((at) => args[at]!);
    // The longest name first: `token create` has a replacement of its own.
    const length = [2, 1].find((count) => words.slice(0, count).join(" ") in table && words.length >= count);
    if (length === undefined) continue;
    const from = words.slice(0, length).join(" ");
    const to = table[from]!;
    if (isOld) notices.push(`\`tandem ${from}\` is now \`tandem ${to}\`; the old name works until version 0.3.`);
    const taken = positions.slice(0, length);
    args = args.flatMap((arg, at) => (at === taken[0] ? to.split(" ") : taken.includes(at) ? [] : [arg]));
  }
  const command = args[wordPositions(args)[0] ?? -1] ?? "";
  const options = OLD_OPTIONS[command] ?? {};
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  args = args.map((arg, at) => {
    const [name = "", ...value] = arg.split("=");
    const to = options[name];
    if (to === undefined || at > end) return arg;
    notices.push(`\`${name}\` is now \`${to}\`; the old name works until version 0.3.`);
    return [to, ...value].join("=");
  });
  return { args, notices };
}

/** The positions of the words before the first option that is not global. */
export function wordPositions(args: readonly string[]): number[] {
  const positions: number[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (!arg.startsWith("-")) positions.push(at);
    else if (arg in GLOBAL_OPTIONS) at += GLOBAL_OPTIONS[arg]!;
    else if (!((arg.split("=")[0] ?? "") in GLOBAL_OPTIONS)) break;
  }
  return positions;
}
