import { existsSync } from "node:fs";
import {
  nearest,
  RequestError,
  type ClientEvent,
  type EventOf,
  type SessionEventBody,
  type SessionId,
} from "@tandem/protocol";
import type { EventLog, FileStore, SessionRow } from "@tandem/storage";
import { type FolderConfig, readInside } from "@tandem/workspace";
import type { ModelContent } from "@tandem/claude-code";
import type { KillSwitch } from "../budgets/kill-switch.ts";
import { rosterOf } from "../log/agent-roster.ts";
import { readContent } from "../log/read-content.ts";
import { PROMPT_TYPES, promptOf } from "../log/outcome-prompt.ts";
import type { Rules } from "../rules/kept-rules.ts";
import { CommandCatalogue, type SlashCommand } from "./command-catalogue.ts";
import type { CommandFile } from "./command-file.ts";
import { expandCommand, fenced } from "./expand-command.ts";
import { mentioned } from "./mentions.ts";
import type { ProgramSandbox } from "../sandbox/program-sandbox.ts";
import { runShell, type ShellRun } from "../sandbox/run-shell.ts";

type Message = EventOf<"user.message">;
type RuledRow = Pick<SessionRow, "id" | "agent" | "folder">;

/** Insertions block the turn, so they have a short timeout; a person's command may run a build. */
const INSERTION_MS = 30_000;
const SHELL_MS = 10 * 60_000;
const MAX_FILE = 200 * 1_024;
const RECENT = 50;

const COMMAND = /^\/([A-Za-z][\w:-]*)(?:\s+([\s\S]*))?$/;

export interface PreparedMessage {
  content: ModelContent[];
  /** Claude Code runs it itself. */
  isCommand: boolean;
  /** Events to log before the model request. */
  events: SessionEventBody[];
}

interface SessionCommandsOptions {
  events: EventLog;
  files: FileStore;
  rules: Pick<Rules, "rulesOf">;
  killSwitch: Pick<KillSwitch, "during">;
  /** The content of a folder if it is trusted. */
  trustedConfig: (folder: string) => Promise<FolderConfig | undefined>;
  /** The sandbox of a command; undefined if it runs without one. Rejects if one is required and unavailable. */
  openSandbox: (row: SessionRow) => Promise<ProgramSandbox | undefined>;
  stateFolder: string;
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** The folder of the user's own `commands`. */
  userFolders: readonly string[];
}

/** Slash commands, `@file` and `!command` of sessions. */
export class SessionCommands {
  readonly #catalogue: CommandCatalogue;
  readonly #parts: SessionCommandsOptions;

  constructor(parts: SessionCommandsOptions) {
    this.#catalogue = new CommandCatalogue(parts.userFolders);
    this.#parts = parts;
  }

  async list({ folder }: Pick<SessionRow, "folder">): Promise<SlashCommand[]> {
    return this.#catalogue.list(folder, await this.#parts.trustedConfig(folder));
  }

  /** Rejects misspelled commands when they are sent; returns the model that a command names. */
  async check<E extends Extract<ClientEvent, { type: "user.message" }>>(row: SessionRow, message: E): Promise<E> {
    const typed = commandOf(message);
    if (!typed) return message;
    const found = await this.#find(row, typed);
    if (!found || !("file" in found)) return message;
    const { file } = found;
    this.#checkAgent(row, file);
    if (file.model === null || message.tandem?.model !== undefined) return message;
    return { ...message, tandem: { ...message.tandem, model: file.model } };
  }

  /** The expanded prompt. A command that was expanded before expands to the same text. */
  async prepare(row: SessionRow, message: Message): Promise<PreparedMessage> {
    const shells = await this.#shellsBefore(row.id, message);
    const typed = commandOf(message);
    const found = typed && (await this.#find(row, typed));
    if (!found) {
      const own = await readContent(message.content, this.#parts.files);
      const files = isTyped(message) ? await mentioned(textOf(message), row.folder) : [];
      return { content: [...shells, ...own, ...files], isCommand: false, events: [] };
    }
    const [, ...attached] = await readContent(message.content, this.#parts.files);
    if ("builtIn" in found) {
      return { content: [{ type: "text", text: typed.text }, ...attached], isCommand: true, events: [] };
    }
    const known = await this.#expandedBefore(row.id, message);
    const text = known ?? (await this.#expand(row, found.file, typed.arguments));
    const event: SessionEventBody = {
      type: "tandem.command",
      message_id: message.id,
      name: typed.name,
      arguments: typed.arguments,
      source: found.file.path,
      text,
    };
    return {
      content: [...shells, { type: "text", text }, ...attached],
      isCommand: false,
      events: known === undefined ? [event] : [],
    };
  }

  /** Runs a person's `!` command. Typing it is the approval; a deny rule still applies. */
  async shell(row: SessionRow, command: string, signal: AbortSignal, timeoutMs = SHELL_MS): Promise<ShellRun> {
    await this.judgeShell(row, command);
    return this.#parts.killSwitch.during((stopped) =>
      this.#run(row, command, { timeoutMs, signal: AbortSignal.any([signal, stopped]) }),
    );
  }

  /** Rejects a command that `shell` would not run. */
  async judgeShell(row: RuledRow, command: string): Promise<void> {
    const verdict = await this.#judge(row, command);
    if (verdict?.action === "deny") throw new RequestError("forbidden", `The command is not allowed. ${verdict.why}`);
  }

  /** Undefined for text that only begins like a command, such as "/tmp is full". */
  async #find(
    row: SessionRow,
    { name, arguments: rest }: TypedCommand,
  ): Promise<{ file: CommandFile } | { builtIn: string } | undefined> {
    const trusted = await this.#parts.trustedConfig(row.folder);
    const found = await this.#catalogue.find(name, row.folder, trusted);
    if (found && !("instead" in found)) return found;
    if (found) {
      throw new RequestError("invalid_request", `A session has no /${name}.`, { fix: `Instead, ${found.instead}.` });
    }
    const names = (await this.#catalogue.list(row.folder, trusted)).map((command) => command.name);
    const guess = nearest(name, names);
    if (guess === undefined && (rest !== "" || existsSync(`/${name}`))) return undefined;
    throw new RequestError("invalid_request", `There is no command /${name}.`, {
      fix: guess === undefined ? "`tandem sessions commands` lists them." : `Did you mean /${guess}?`,
    });
  }

  async #expand(row: SessionRow, file: CommandFile, typed: string): Promise<string> {
    const text = await expandCommand(file, typed, {
      readFile: async (path) => {
        const content = await readInside(row.folder, path, { maxBytes: MAX_FILE });
        if ("text" in content) return content.text;
        throw new RequestError("invalid_request", `${path}, which /${file.name} includes, is no text.`);
      },
      runShell: (command, words, all) => this.#insert(row, file, command, words, all),
    });
    if (file.agent === null || file.agent === row.agent.name) return text;
    this.#checkAgent(row, file);
    return `Have the agent "${file.agent}" do the following, and report what it answers:\n\n${text}`;
  }

  async #insert(
    row: SessionRow,
    file: CommandFile,
    command: string,
    words: readonly string[],
    typed: string,
  ): Promise<string> {
    const refused = (why: string, fix: string): RequestError =>
      new RequestError("forbidden", `/${file.name} would run \`${command}\`: ${why}.`, { fix });
    if (!file.isTrusted) {
      throw refused(
        "the folder is not trusted",
        "Read the command's file; if you stand by it, run `tandem trust --folder`.",
      );
    }
    const verdict = await this.#judge(row, command);
    if (verdict && verdict.action !== "allow") {
      throw refused(verdict.why.replace(/\.$/, ""), "Change the rule, or the command's file.");
    }
    const run = await this.#parts.killSwitch.during((signal) =>
      this.#run(row, command, { variables: { ARGUMENTS: typed }, words, timeoutMs: INSERTION_MS, signal }),
    );
    return run.exitCode === 0 ? run.output : `${run.output}\n(\`${command}\` ended with ${run.exitCode})`;
  }

  async #judge(row: RuledRow, command: string) {
    const sessionRules = await this.#parts.rules.rulesOf({ id: row.id, agentId: row.agent.id, folder: row.folder });
    return sessionRules.judge({ name: "Bash", input: { command }, thread: null });
  }

  async #run(
    row: SessionRow,
    command: string,
    how: Pick<Parameters<typeof runShell>[1], "variables" | "words" | "timeoutMs" | "signal">,
  ): Promise<ShellRun> {
    const { openSandbox, stateFolder, hostVariables } = this.#parts;
    await using sandbox = await openSandbox(row);
    return await runShell(command, { ...how, folder: row.folder, stateFolder, hostVariables, sandbox });
  }

  #checkAgent(row: SessionRow, { name, agent }: CommandFile): void {
    if (agent === null || agent === row.agent.name || rosterOf(row.agent).some((other) => other.name === agent)) return;
    throw new RequestError("invalid_request", `/${name} is for the agent "${agent}", which this session cannot call.`, {
      fix: "Use an agent that has it among its subagents.",
    });
  }

  async #expandedBefore(session: SessionId, { id }: Message): Promise<string | undefined> {
    const logged = await this.#parts.events.read(session, { order: "desc", limit: RECENT, types: ["tandem.command"] });
    for (const { event } of logged) {
      if (event.type === "tandem.command" && event.message_id === id) return event.text;
    }
    return undefined;
  }

  /** Shell commands since the previous message. */
  async #shellsBefore(session: SessionId, { id }: Message): Promise<ModelContent[]> {
    const types = ["tandem.shell", ...PROMPT_TYPES];
    const logged = await this.#parts.events.read(session, { order: "desc", limit: RECENT, types });
    const blocks: ModelContent[] = [];
    for (const { event } of logged) {
      if (promptOf(event) && event.id !== id) break;
      if (event.type === "tandem.shell") blocks.unshift({ type: "text", text: shellWords(event) });
    }
    return blocks;
  }
}

const shellWords = ({ command, exit_code, output, truncated }: EventOf<"tandem.shell">): string =>
  fenced(
    "The user ran a command in the working folder",
    `$ ${command}\n${truncated ? "(…)\n" : ""}${output}${output.endsWith("\n") || output === "" ? "" : "\n"}(exit code ${exit_code})`,
  );

type Typed = Pick<Message, "content" | "tandem">;

/** Only text that a person typed is parsed; an application's text is sent unchanged. */
const isTyped = ({ tandem }: Typed): boolean => tandem?.commands === true;

const textOf = ({ content }: Typed): string => (content[0]?.type === "text" ? content[0].text : "");

interface TypedCommand {
  name: string;
  arguments: string;
  text: string;
}

export function commandOf(message: Typed): TypedCommand | undefined {
  if (!isTyped(message)) return undefined;
  const text = textOf(message).trim();
  const match = COMMAND.exec(text);
  return match ? { name: match[1]!, arguments: (match[2] ?? "").trim(), text } : undefined;
}
