import type { Command, Option } from "commander";
import { configKeys } from "@tandem/tandem/config";
import type { Shell } from "./option-choices.ts";

/** The completions after a command, in a form for all shells. */
interface Step {
  /** `config set`. Empty for `tandem` itself. */
  path: string;
  words: { name: string; description: string }[];
  /** Options with a fixed set of values. */
  values: { flag: string; choices: readonly string[] }[];
}

/** Generates a shell script that completes commands, options and values without starting `tandem`. */
export function completionScript(shell: Shell, program: Command): string {
  const steps = collect(program, "");
  switch (shell) {
    case "bash":
      return bash(steps);
    case "zsh":
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(steps)}`;
    case "fish":
      return fish(steps);
  }
}

function collect(command: Command, path: string): Step[] {
  const help = command.createHelp();
  const options: Option[] = [...help.visibleOptions(command), ...(command.parent ? command.parent.options : [])];
  const longOptions = options.filter((option) => option.long);
  const key = command.registeredArguments.some((argument) => argument.name() === "key");
  const choices = command.registeredArguments.flatMap((argument) => argument.argChoices ?? []);
  // User-chosen names cannot be completed, and `<` is a redirection in a shell.
  const keys = configKeys().filter(({ path }) => !path.includes("<"));
  const step: Step = {
    path,
    words: [
      ...command.commands.map((child) => ({ name: child.name(), description: child.description() })),
      ...choices.map((name) => ({ name, description: "" })),
      ...(key ? keys.map(({ path, description }) => ({ name: path, description })) : []),
      ...longOptions.map((option) => ({ name: option.long!, description: option.description })),
    ],
    values: longOptions.flatMap((option) =>
      option.argChoices ? [{ flag: option.long!, choices: option.argChoices }] : [],
    ),
  };
  return [
    step,
    ...command.commands.flatMap((child) => collect(child, path ? `${path} ${child.name()}` : child.name())),
  ];
}

/** Options whose value is a file. */
const FILE_FLAGS = ["--schema", "--json-schema", "--file", "--system-file", "--output"];

function bash(steps: readonly Step[]): string {
  const paths = steps.map(({ path }) => path).filter(Boolean);
  const values = new Map(steps.flatMap((step) => step.values.map(({ flag, choices }) => [flag, choices])));
  return `_tandem() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" word list
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.map((path) => `"${path}"`).join("|")}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$previous" in
${[...values].map(([flag, choices]) => `    ${flag}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); return ;;`).join("\n")}
    --project|--cwd) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${FILE_FLAGS.join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$path" in
${steps.map((step) => `    "${step.path}") list="${step.words.map(({ name }) => name).join(" ")}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$current"))
  [[ \${#COMPREPLY[@]} -gt 0 || "$path" != @(rehearse*|"sessions import"|"connections add") ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -F _tandem tandem
`;
}

function fish(steps: readonly Step[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
  const lines = steps.flatMap(({ path, words, values }) => {
    const names = path.split(" ").filter(Boolean);
    const children = steps.filter((step) => step.path.startsWith(path ? `${path} ` : "") && step.path !== path);
    const next = [...new Set(children.map((step) => step.path.split(" ")[names.length]!))];
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const notYet = next.length > 0 ? [`not __fish_seen_subcommand_from ${next.join(" ")}`] : [];
    const condition = quote([...seen, ...notYet].join("; and ") || "true");
    return words.map(({ name, description }) => {
      if (!name.startsWith("--"))
        return `complete -c tandem -f -n ${condition} -a ${quote(name)} -d ${quote(description)}`;
      const choices = values.find(({ flag }) => flag === name)?.choices;
      const value = choices ? ` -x -a ${quote(choices.join(" "))}` : "";
      return `complete -c tandem -n ${condition} -l ${name.slice(2)}${value} -d ${quote(description)}`;
    });
  });
  return `${lines.join("\n")}\n`;
}
