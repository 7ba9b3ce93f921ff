import { type ConfigKey, configKeys, range, formatValue } from "@tandem/tandem/config";

const INTRODUCTION = `# Configuration

A folder with a \`tandem.yaml\` is a project. Commands use the nearest one in this folder or a parent folder; \`--project DIR\`
or the variable \`TANDEM_PROJECT\` names another. Every key has a default, so an empty file is valid. An unknown key is an
error. Errors name the file, the line, the key, the allowed values and the nearest match.

\`\`\`yaml
llm:
  provider:
    backend: claude-code
  models:
    default: sonnet
    triage: haiku
\`\`\`

\`tandem setup\` writes the file. \`tandem config set KEY VALUE\` validates and changes one setting and keeps comments and
layout. \`tandem config show\` prints every effective setting and its source. \`tandem config schema\` prints the JSON Schema
for editors.

## Secrets

The file contains references to secrets, never secrets. Commands never print their values.

| reference | meaning |
| --- | --- |
| \`env:NAME\` | the variable NAME |
| \`file:path\` | the content of a file; the path is relative to the project, \`~\` is your home folder |
| \`command:program …\` | the output of a program, such as a password manager; runs without a shell, for at most 30 s |

## Trust

A \`tandem.yaml\` that you cloned was written by another person. Some settings decide who is billed, which changes are
reviewed, which programs run or where data goes. They take effect only after \`tandem trust\`, and only with the values that
you trusted; a change needs your trust again. These settings are marked *needs trust* below. A setting with its default value
needs no trust. In the JSON Schema, every other setting states why it is harmless (\`x-harmless\`).

Removing a setting needs trust as well: rules, hooks, budgets, the sandbox, approvals, checkpoints and worktrees protect you.
Nothing runs while a trusted one is missing or back at its default. So an agent that may write the file cannot remove its own
limits. \`tandem setup\`, \`tandem config set\` and \`tandem connections add\` trust the values that they write in a trusted
folder. \`tandem trust --revoke\` revokes the trust. The list is in \`~/.tandem/trusted.json\`.

## Durations

A number and a unit: \`500ms\`, \`30s\`, \`5m\`, \`2h\`, \`1d\`; at most 24 days.
`;

/** Generates the reference of all config keys from the schema. */
export function configurationReference(): string {
  const keys = configKeys();
  const aboutOf = (path: string): string => keys.find((key) => key.path === path)?.description ?? "";
  const parts = keys.flatMap((key) => {
    const about = key.description || aboutOf(parentOf(key.path));
    if (key.type === "section") {
      const settings = keys.filter(({ path, type }) => type !== "section" && parentOf(path) === key.path);
      return part(key, about, settings);
    }
    const list = [about, "A list; each entry has these keys.", trust(key)].filter(Boolean).join(" ");
    // Trust is decided for the list as a whole.
    const entryKeys = key.entryKeys.map((each) => ({ ...each, needsTrust: false }));
    return part(key, list, entryKeys);
  });
  return [INTRODUCTION, ...parts].join("\n");
}

function part({ path }: ConfigKey, about: string, settings: readonly ConfigKey[]): string[] {
  if (settings.length === 0) return [];
  return [
    `## \`${path}\`\n\n${about}\n`,
    ["| key | default | meaning |", "| --- | --- | --- |", ...settings.map(row)].join("\n") + "\n",
  ];
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("."));

function row(key: ConfigKey): string {
  const name = key.path.slice(key.path.lastIndexOf(".") + 1);
  const value =
    key.default === undefined ? (key.isRequired ? "required" : "") : `\`${formatValue(key.default) || '""'}\``;
  const notes = [key.description, allowed(key), trust(key)].filter(Boolean).join(" ");
  return `| \`${name}\` | ${value} | ${notes} |`;
}

function trust({ needsTrust, harmlessValues }: ConfigKey): string {
  if (!needsTrust) return "";
  const exceptions = harmlessValues.map((value) => `\`${value}\``).join(", ");
  return exceptions ? `*Needs trust*, except ${exceptions}.` : "*Needs trust.*";
}

function allowed(key: ConfigKey): string {
  switch (key.type) {
    case "choice":
      return `One of ${key.allowed.map((value) => `\`${value}\``).join(", ")}.`;
    case "number":
      return `${capitalised(range(key))}.`;
    case "boolean":
      return "`true` or `false`.";
    case "duration":
      return "A duration.";
    case "secret":
      return "A secret reference.";
    case "url":
      return "A URL.";
    case "list":
      return key.entryKeys.length > 0 ? "A list; its keys are below." : "A list of texts.";
    case "section":
    case "text":
      return "";
  }
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
