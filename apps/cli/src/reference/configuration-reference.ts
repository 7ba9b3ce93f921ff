import { type ConfigKey, configKeys, range, formatValue } from "@tandem/tandem/config";

const INTRODUCTION = `# Configuration

A folder with a \`tandem.yaml\` is a project. Commands take the nearest one at or above the folder where they are started;
\`--project DIR\` or the variable \`TANDEM_PROJECT\` names another. Every key has a default, so an empty file is valid. An
unknown key is an error, and errors name the file, the line, the key, what is allowed and the nearest match.

\`\`\`yaml
llm:
  provider:
    backend: claude-code
  models:
    default: sonnet
    triage: haiku
\`\`\`

\`tandem setup\` writes the file, \`tandem config set KEY VALUE\` changes it and keeps its comments and layout,
\`tandem config show\` prints what is in force and where it comes from, and \`tandem config schema\` prints the JSON Schema
for editors.

## Secrets

A secret never stands in the file, only the place where it is kept. Its value is never printed.

| place | meaning |
| --- | --- |
| \`env:NAME\` | the variable NAME |
| \`file:path\` | the content of a file; the path is relative to the project, \`~\` is your home folder |
| \`command:program …\` | what a program prints, a password manager for instance; run without a shell, 30 s at most |

## Trust

The \`tandem.yaml\` of a folder that you have cloned was written by another person. A setting that decides who pays, which
changes a person reviews, which programs run, or where data goes takes effect only after \`tandem trust\`, and only with the
values that you have trusted: when one of them changes, you are asked again. These are the settings marked *needs trust*
below; one that has its default needs none. In the JSON Schema, every other setting says why it is harmless
(\`x-harmless\`).

It holds in both directions: rules, hooks, budgets, the sandbox, approvals, checkpoints and worktrees protect you, so that
one which you have trusted and which is gone, or has its default again, asks as well, and nothing runs until you have
answered. An agent that may write the file cannot take its own limits out of it. \`tandem setup\`, \`tandem config set\` and
\`tandem connections add\` trust what they write in a folder that is trusted; \`tandem trust --revoke\` takes it back. The
list is in \`~/.tandem/trusted.json\`.

## Durations

A number and a unit: \`500ms\`, \`30s\`, \`5m\`, \`2h\`, \`1d\`; 24 days at most.
`;

/** Generates the reference of all config keys from the schema. */
export function configurationReference(): string {
  const keys = configKeys();
  const sections = keys.filter(({ type }) => type === "section");
  const parts = sections.flatMap((section) => {
    const settings = keys.filter(({ path, type }) => type !== "section" && parentOf(path) === section.path);
    if (settings.length === 0) return [];
    return [
      `## \`${section.path}\`\n\n${section.description}\n`,
      ["| key | default | meaning |", "| --- | --- | --- |", ...settings.map(row)].join("\n") + "\n",
    ];
  });
  return [INTRODUCTION, ...parts].join("\n");
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf("."));

function row(key: ConfigKey): string {
  const name = key.path.slice(key.path.lastIndexOf(".") + 1);
  const value = key.default === undefined ? "" : `\`${formatValue(key.default)}\``;
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
      return "A secret's place.";
    case "url":
      return "A URL.";
    case "list":
      return "A list of texts.";
    case "section":
    case "text":
      return "";
  }
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
