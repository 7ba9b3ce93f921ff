import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

const FLAGS = `--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-extensions
  --disable-background-networking --disable-component-update --disable-sync`.split(/\s+/);
const DEADLINE_MS = 60_000;
const LOOK_MS = 20;

const answer = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
type Answer = z.infer<typeof answer>;

/**
 * A browser as people have it, with a profile of its own. One that is driven by tools for tests reads every script once more
 * when it makes a request, to say on which line that was: a tenth of what the first rows of a page take.
 */
export class BareBrowser {
  readonly #child: ChildProcess;
  readonly #socket: WebSocket;
  readonly #profile: string;
  readonly #waiting = new Map<number, (said: Answer) => void>();
  #sent = 0;
  #tab = "";

  private constructor(child: ChildProcess, socket: WebSocket, profile: string) {
    this.#child = child;
    this.#socket = socket;
    this.#profile = profile;
    socket.addEventListener("message", ({ data }) => {
      const said = answer.parse(JSON.parse(String(data)));
      if (said.id !== undefined) this.#waiting.get(said.id)?.(said);
    });
  }

  /** With one tab of this size, in which `script` runs before anything of a page. */
  static async start(
    path: string,
    tab: { folder: string; width: number; height: number; script: string },
  ): Promise<BareBrowser> {
    const profile = await mkdtemp(join(tab.folder, "profile-"));
    const args = [
      ...FLAGS,
      "--disable-background-networking",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
    ];
    const child = spawn(path, [...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      const socket = new WebSocket(await addressOf(child));
      await once(socket, "open");
      const browser = new BareBrowser(child, socket, profile);
      const { targetId } = z.object({ targetId: z.string() }).parse(
        await browser.#call("Target.createTarget", {
          url: "about:blank",
          newWindow: true,
          width: tab.width,
          height: tab.height,
        }),
      );
      const attached = await browser.#call("Target.attachToTarget", { targetId, flatten: true });
      browser.#tab = z.object({ sessionId: z.string() }).parse(attached).sessionId;
      await browser.#call("Page.enable");
      await browser.#call("Page.addScriptToEvaluateOnNewDocument", { source: tab.script });
      return browser;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** Leaves what is there, goes to the address, and waits for the number that this expression becomes there. */
  async visit(address: string, expression: string): Promise<number> {
    await this.#call("Page.navigate", { url: "about:blank" });
    await this.#number("location.href === 'about:blank' ? 1 : undefined");
    await this.#call("Page.navigate", { url: address });
    // The page removes the code of a sign-in link from its address.
    const [own] = address.split("#");
    return this.#number(`location.href.split("#")[0] === ${JSON.stringify(own)} ? ${expression} : undefined`);
  }

  async #number(expression: string): Promise<number> {
    const shape = z.object({ result: z.object({ value: z.number().optional() }).loose() });
    const params = { expression, awaitPromise: true, returnByValue: true };
    for (const until = Date.now() + DEADLINE_MS; Date.now() < until; await sleep(LOOK_MS)) {
      // A page that is being left answers with an error.
      const said = await this.#call("Runtime.evaluate", params).catch(() => undefined);
      const value = shape.safeParse(said).data?.result.value;
      if (value !== undefined) return value;
    }
    throw new Error(`In ${DEADLINE_MS} ms the page did not come to: ${expression}`);
  }

  async #call(method: string, params: object = {}): Promise<unknown> {
    this.#sent += 1;
    const id = this.#sent;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params, ...(this.#tab !== "" && { sessionId: this.#tab }) }));
    const { result, error } = await answered;
    this.#waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#socket.close();
    this.#child.kill();
    await ended;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let said = "";
  for await (const chunk of child.stderr!) {
    said += String(chunk);
    const found = /ws:\/\/\S+/.exec(said)?.[0];
    if (found !== undefined) {
      child.stderr!.resume();
      return found;
    }
  }
  throw new Error(`The browser ended at once:\n${said}`);
}
