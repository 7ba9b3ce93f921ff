import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { killGroup, type ProcessLedger } from "../process-ledger.ts";

const STDERR_TAIL = 2_000;
/** Time to close files after the end of stdin. */
const GRACE_MS = 1_000;
/** Output written last can arrive after the exit. */
const STDERR_DRAIN_MS = 500;

/** Running servers, killed on a normal exit of this process. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) killGroup(pid);
});

export interface StdioEndpoint {
  command: string;
  args: readonly string[];
  /** Its complete environment; nothing else is inherited. */
  variables: Readonly<Record<string, string>>;
  folder: string;
}

/** A local MCP server process. It leads its own process group and is in the ledger, so that it ends with its owner. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #place: StdioEndpoint;
  readonly #ledger: ProcessLedger;
  readonly #buffer = new ReadBuffer();
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  #gone: Promise<void> = Promise.resolve();
  #stderr = "";
  #hasEnded = false;

  constructor(place: StdioEndpoint, ledger: ProcessLedger) {
    this.#place = place;
    this.#ledger = ledger;
  }

  /** The end of its stderr, to explain why it does not answer. */
  get stderrTail(): string {
    return this.#stderr.trim().replace(/\s*\n\s*/g, " | ");
  }

  async start(): Promise<void> {
    const { command, args, variables, folder } = this.#place;
    const child = spawn(command, args, { cwd: folder, env: { ...variables }, stdio: "pipe", detached: true });
    this.#child = child;
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_TAIL);
    });
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#gone = new Promise((gone) => {
      const end = (): void => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        child.stdin.destroy();
        child.stdout.destroy();
        child.stderr.destroy();
        if (child.pid !== undefined) {
          killGroup(child.pid);
          running.delete(child.pid);
          this.#ledger.remove(child.pid);
        }
        gone();
        this.onclose?.();
      };
      child.once("close", end);
      // Kill leftover group members, which would keep the pipes open. A child that left the group survives, so do not
      // wait for the pipes forever.
      child.once("exit", () => {
        if (child.pid !== undefined) killGroup(child.pid);
        setTimeout(end, STDERR_DRAIN_MS).unref();
      });
    });
    child.once("error", reject).once("spawn", resolve);
    await promise;
    running.add(child.pid!);
    try {
      this.#ledger.add(child.pid!);
    } catch (error) {
      // Without a ledger entry, the process would survive a crash of the host as an orphan.
      killGroup(child.pid!);
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#child?.stdin.writable) throw new Error("The MCP server has ended.");
    this.#child.stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child?.pid) return;
    child.stdin.end();
    const timer = setTimeout(() => killGroup(child.pid!), GRACE_MS);
    await this.#gone;
    clearTimeout(timer);
  }

  #read(chunk: Buffer): void {
    this.#buffer.append(chunk);
    while (true) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
