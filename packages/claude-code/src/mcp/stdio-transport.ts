import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { SandboxPlan } from "@tandem/sandbox";
import { OwnedProcess, settledWithin } from "../processes/owned-process.ts";
import type { ProcessLedger } from "../processes/process-ledger.ts";

const STDERR_TAIL = 2_000;
/** Time to close files after the end of stdin. */
const GRACE_MS = 1_000;
/** Output written last can arrive after the exit. */
const STDERR_DRAIN_MS = 500;

export interface StdioEndpoint {
  command: string;
  args: readonly string[];
  /** Its complete environment; nothing else is inherited. */
  variables: Readonly<Record<string, string>>;
  folder: string;
  sandbox?: SandboxPlan;
}

/** A local MCP server process. It and everything that it has started end with their owner. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #place: StdioEndpoint;
  readonly #ledger: ProcessLedger;
  readonly #buffer = new ReadBuffer();
  #owned: OwnedProcess | undefined;
  #gone: Promise<void> = Promise.resolve();
  #stderr = "";

  constructor(place: StdioEndpoint, ledger: ProcessLedger) {
    this.#place = place;
    this.#ledger = ledger;
  }

  /** The end of its stderr, to explain why it does not answer. */
  get stderrTail(): string {
    return this.#stderr.trim().replace(/\s*\n\s*/g, " | ");
  }

  async start(): Promise<void> {
    const { command, args, variables, folder, sandbox } = this.#place;
    const owned = new OwnedProcess(this.#ledger, { command, args, cwd: folder, env: variables, sandbox });
    const child = owned.process;
    this.#owned = owned;
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_TAIL);
    });
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#gone = this.#close(owned);
    await new Promise((resolve, reject) => child.once("error", reject).once("spawn", resolve));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#owned?.process.stdin;
    if (!stdin?.writable) throw new Error("The MCP server has ended.");
    stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    const owned = this.#owned;
    if (!owned) return;
    owned.process.stdin.end();
    const timer = setTimeout(() => owned.kill(), GRACE_MS);
    await this.#gone;
    clearTimeout(timer);
  }

  async #close({ process: child, gone }: OwnedProcess): Promise<void> {
    const closed = new Promise((resolve) => child.once("close", resolve));
    await gone;
    await settledWithin(STDERR_DRAIN_MS, closed);
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    this.onclose?.();
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
