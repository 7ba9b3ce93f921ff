import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRehearsal, type Script } from "@tandem/rehearsal";
import { MovableClock } from "@tandem/sessions";
import type { ToolScript } from "./tool-script.ts";
import { control } from "./control-api.ts";
import type { Emulator } from "./emulator.ts";
import { EmulatedServer } from "./emulated-server.ts";
import { Faults } from "./faults.ts";
import { FrontDoor } from "./front-door.ts";
import { WebhookInbox } from "./webhook-inbox.ts";

export interface EmulatorOptions {
  /** The model's answers. Without a script, every request is refused and says what it asked. */
  script?: Script;
  /** Answers of built-in tools, such as `Bash`. Not with `claudeCode`, which has real tools. */
  tools?: ToolScript;
  /** Runs turns with the real Claude Code and real tools in scratch folders. By default there is no process at all. */
  claudeCode?: boolean;
  /** The time at which the test clock starts. Default: now. */
  now?: Date;
  /** The port on 127.0.0.1. Default: a free one. */
  port?: number;
}

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  await using parts = new AsyncDisposableStack();
  const root = await realpath(await mkdtemp(join(tmpdir(), "tandem-emulator-")));
  parts.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const folder = join(root, "project");
  await Promise.all([folder, join(root, "home"), join(root, "state")].map((path) => mkdir(path)));
  const model = parts.use(await startRehearsal(options.script ?? [], { offeredName }));
  const webhooks = parts.use(new WebhookInbox());
  await webhooks.listen();
  const faults = new Faults();
  const clock = new MovableClock(options.now);
  const tools = { ...options.tools };
  const door = parts.use(
    new FrontDoor(faults, async ({ method = "GET", url: path = "", headers }, body) => {
      const key = headers["x-api-key"] ?? headers.authorization?.replace(/^Bearer /, "");
      if (key !== emulator.apiKey) return { status: 401, body: { error: { message: "Send the emulator's API key." } } };
      return control(emulator, method, path, body);
    }),
  );
  const url = await door.listen(options.port);
  const settings = { root, folder, model, clock, faults, tools, claudeCode: options.claudeCode ?? false };
  let server = await EmulatedServer.start(settings);
  parts.defer(() => server.stop());
  door.passTo(server);
  const { apiKey } = server;
  const owned = parts.move();
  const close = (): Promise<void> => owned.disposeAsync();
  const emulator: Emulator = {
    url,
    apiKey,
    variables: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: apiKey },
    model,
    clock,
    faults,
    tools,
    webhooks,
    folder,
    async restart(how = "stop") {
      door.passTo(undefined);
      await (how === "kill" ? server.kill() : server.stop());
      server = await EmulatedServer.start(settings, apiKey);
      door.passTo(server);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return emulator;
}

/**
 * The name under which a tool is offered to the model. A script may name tools as the API does (`bash`, `web_fetch`, or a custom
 * tool by its own name); Claude Code offers `Bash`, `WebFetch` and `mcp__SERVER__NAME`.
 */
function offeredName(name: string, offered: readonly string[]): string {
  if (offered.includes(name)) return name;
  const found = offered.filter((each) => plain(each) === plain(name) || each.endsWith(`__${name}`));
  return found.length === 1 ? found[0]! : name;
}

const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");
