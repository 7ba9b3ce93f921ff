import type { SlashCommand } from "@tandem/protocol";
import { join } from "node:path";
import { COMMAND_FOLDERS, type FolderConfig } from "@tandem/workspace";
import { readCommand, type CommandFile } from "./command-file.ts";
import { findMarkdown, trustedMarkdown, type FoundFile } from "./find-files.ts";

export type { SlashCommand } from "@tandem/protocol";

/**
 * Claude Code's own commands that a session forwards. The others concern a terminal, a login or settings that a session does
 * not have.
 */
const BUILT_IN: Readonly<Record<string, string>> = {
  compact: "Replace the conversation so far by a summary of it",
  context: "Show what fills the context window",
  init: "Write a CLAUDE.md for the folder",
  review: "Review a pull request",
  "security-review": "Review the changes of the branch for security",
};

/** Commands of other tools, with the alternative to suggest. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  clear: "begin another session, or rewind this one",
  new: "begin another session",
  resume: "open the other session",
  model: "name the model with the message, or in the session's settings",
  cost: "see the session's usage",
  usage: "see the session's usage",
  permissions: "see `tandem rules`",
  login: "run `tandem setup`",
  logout: "log out of Claude Code itself",
  undo: "rewind the session",
  rewind: "rewind the session with `tandem rewind`",
};

export interface CommandSettings {
  /** Folders with the user's own `commands` and `agents`, which apply to all projects. */
  userFolders?: readonly string[];
}

/** The slash commands of a folder: its files, the user's own, and built-in ones. */
export class CommandCatalogue {
  readonly #userFolders: readonly string[];

  constructor(userFolders: readonly string[]) {
    this.#userFolders = userFolders;
  }

  /** `trusted`: the content of the folder if it is trusted. */
  async list(folder: string, trusted: FolderConfig | undefined): Promise<SlashCommand[]> {
    const files = await this.#files(folder, trusted);
    const named = new Set(files.map(({ name }) => name));
    const builtIn = Object.entries(BUILT_IN).filter(([name]) => !named.has(name));
    return [
      ...files.map(describe),
      ...builtIn.map(([name, description]) => ({
        name,
        description,
        argument_hint: null,
        model: null,
        agent: null,
        source: "built_in" as const,
        path: null,
        runs_shell: false,
      })),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A file, a built-in command, a suggested alternative, or an unknown name. */
  async find(
    name: string,
    folder: string,
    trusted: FolderConfig | undefined,
  ): Promise<{ file: CommandFile } | { builtIn: string } | { instead: string } | undefined> {
    const file = (await this.#files(folder, trusted)).find((command) => command.name === name);
    if (file) return { file };
    if (Object.hasOwn(BUILT_IN, name)) return { builtIn: name };
    return Object.hasOwn(ELSEWHERE, name) ? { instead: ELSEWHERE[name]! } : undefined;
  }

  /** The first of a name wins. An untrusted folder must not replace the user's own commands. */
  async #files(folder: string, trusted: FolderConfig | undefined): Promise<CommandFile[]> {
    const found = trusted
      ? COMMAND_FOLDERS.map((place) => trustedMarkdown(trusted, place))
      : await Promise.all(COMMAND_FOLDERS.map((place) => findMarkdown(folder, place)));
    const project = read(found.flat(), { source: "project", isTrusted: trusted !== undefined });
    const user = (await Promise.all(this.#userFolders.map(readUser))).flat();
    const ordered = trusted ? [...project, ...user] : [...user, ...project];
    return [...new Map(ordered.toReversed().map((command) => [command.name, command])).values()];
  }
}

async function readUser(place: string): Promise<CommandFile[]> {
  const root = join(place, "commands");
  const files = (await findMarkdown(root, "")).map((file) => ({ ...file, path: join(root, file.path) }));
  return read(files, { source: "user", isTrusted: true });
}

function read(files: readonly FoundFile[], origin: Pick<CommandFile, "source" | "isTrusted">): CommandFile[] {
  return files.flatMap(({ name, path, text }) => {
    try {
      return [readCommand(text, { ...origin, name: name.replaceAll("/", ":"), path })];
    } catch {
      // Ignore a file whose front matter cannot be parsed.
      return [];
    }
  });
}

const describe = (command: CommandFile): SlashCommand => ({
  name: command.name,
  description: command.description ?? firstLine(command.template),
  argument_hint: command.argumentHint,
  model: command.model,
  agent: command.agent,
  source: command.source,
  path: command.path,
  runs_shell: /!`[^`\n]+`/.test(command.template),
});

const firstLine = (text: string): string | null => text.split("\n", 1)[0]?.slice(0, 120) || null;
