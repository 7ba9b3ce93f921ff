import { createInterface } from "node:readline";
import type { PipedCommand } from "./open-command.ts";

interface Permission {
  options: { optionId: string; kind: string }[];
}

interface Line {
  id?: string | number;
  method?: string;
  params?: Permission & { update?: { sessionUpdate: string; content?: { text?: string } } };
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** An editor that exchanges lines with `tandem acp`. A line that is not JSON fails the pending request. */
export class AcpLines implements AsyncDisposable {
  readonly #agent: PipedCommand;
  readonly #waiting = new Map<
    string | number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  readonly #listeners = new Set<(line: Line) => void>();
  readonly lines: Line[] = [];
  #next = 0;

  /** `permit` selects an option. Undefined leaves the request unanswered. */
  constructor(agent: PipedCommand, permit: (permission: Permission) => string | undefined) {
    this.#agent = agent;
    agent.stdin.on("error", () => undefined);
    createInterface({ input: agent.stdout }).on("line", (text) => {
      const line = parse(text);
      this.lines.push(line);
      for (const listener of this.#listeners) listener(line);
      if (line.method === "session/request_permission") {
        const optionId = permit(line.params!);
        if (optionId !== undefined) this.#send({ id: line.id, result: { outcome: { outcome: "selected", optionId } } });
      } else if (line.method === undefined && line.id !== undefined) {
        const waiting = this.#waiting.get(line.id);
        this.#waiting.delete(line.id);
        if (line.error) waiting?.reject(new Error(line.error.message));
        else waiting?.resolve(line.result);
      }
    });
  }

  /** The agent's text so far. */
  get said(): string {
    const chunks = this.lines.map(({ params }) => params?.update);
    return chunks
      .map((update) => (update?.sessionUpdate === "agent_message_chunk" ? update.content?.text : ""))
      .join("");
  }

  ask(method: string, params: object): Promise<unknown> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  /** Waits for the next matching line. */
  next(fits: (line: Line) => boolean): Promise<Line> {
    return new Promise((resolve) => {
      const listener = (line: Line): void => {
        if (!fits(line)) return;
        this.#listeners.delete(listener);
        resolve(line);
      };
      this.#listeners.add(listener);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.stdin.end();
    await this.#agent.outcome;
  }

  #send(message: object): void {
    this.#agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

function parse(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    throw new Error(`Not a line of JSON: ${text}`);
  }
}
