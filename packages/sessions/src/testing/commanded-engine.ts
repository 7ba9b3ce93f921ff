import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApprovalAnswer, Session } from "@tandem/protocol";
import { openStore } from "@tandem/storage";
import { createEngine } from "../create-engine.ts";
import { handle, SLOWNESS, stageSettings, type EngineStage } from "./engine-stage.ts";

type Command =
  | { type: "create" }
  | { type: "say"; session: Session; text: string }
  | { type: "answer"; approval: string; answer: ApprovalAnswer };

interface Reply {
  id: number;
  value?: unknown;
  error?: string;
}

/** An engine in its own process, which tests command and kill. */
export class CommandedEngine {
  readonly process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.process = child;
    child.on("message", (reply: Reply) => {
      const { resolve, reject } = this.#waiting.get(reply.id) ?? Promise.withResolvers();
      if (reply.error === undefined) resolve(reply.value);
      else reject(new Error(reply.error));
    });
    child.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The engine was killed."));
    });
  }

  static async start({ root, rehearsal }: EngineStage): Promise<CommandedEngine> {
    const env = {
      PATH: process.env["PATH"],
      HOME: root,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      TANDEM_TEST_SLOWNESS: String(SLOWNESS),
    };
    const child = fork(fileURLToPath(import.meta.url), [root, rehearsal.url], { env });
    await once(child, "message");
    return new CommandedEngine(child);
  }

  /** Rejects if the engine refuses the command, or is killed before it has replied. */
  async send<T>(command: Command): Promise<T> {
    const id = (this.#last += 1);
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    if (!this.process.connected) throw new Error("The engine was killed.");
    this.process.send({ id, command });
    try {
      return (await waiting.promise) as T;
    } finally {
      this.#waiting.delete(id);
    }
  }

  async kill(): Promise<void> {
    const exited = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await exited;
  }
}

async function serve(root: string, url: string): Promise<void> {
  const store = await openStore(join(root, "tandem.db"));
  const engine = await createEngine(store, await stageSettings(root, url));
  await engine.start();
  const running = handle(engine, store);
  const run = async (command: Command): Promise<unknown> => {
    switch (command.type) {
      case "create":
        return running.session();
      case "say":
        return running.say(command.session, command.text);
      case "answer":
        return engine.approvals.answer(command.approval, command.answer, "Ada");
    }
  };
  process.on("message", ({ id, command }: { id: number; command: Command }) => {
    run(command).then(
      (value) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: String(error) }),
    );
  });
  process.send?.({ id: 0 });
  flushCompileCache();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root = "", url = ""] = process.argv.slice(2);
  await serve(root, url);
}
