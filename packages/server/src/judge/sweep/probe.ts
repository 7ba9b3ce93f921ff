import type Anthropic from "@anthropic-ai/sdk";
import type { JudgeStage } from "../../testing/judge-stage.ts";

export interface SweepStage extends JudgeStage {
  /** A session that has had one turn with a subagent, which is its second thread. Only reads may use it. */
  readonly finished: { session: string; primaryThread: string; childThread: string };
}

/** Calls one method of the official client with sensible arguments and returns its answer; streams as an array. */
export type Call = (client: Anthropic, stage: SweepStage) => PromiseLike<unknown>;

/** How the sweep calls a method. Only a call, or a call with more to say in the table. */
export type Probe =
  | Call
  | {
      run: Call;
      /** Arguments that are answered differently than by Anthropic's API, by the words of the table: "`vault_ids`". */
      variants?: Readonly<Record<string, Call>>;
      /** A difference from Anthropic's API that no refusal shows. */
      note?: string;
    };

/** By the name that the client has for the method: `beta.agents.create`. */
export type Probes = Readonly<Record<string, Probe>>;

/** Takes the place of any parameter object: every field that the client puts into a path is there. */
export const anyParameters: never = new Proxy(
  {},
  { get: (_, name) => (typeof name === "string" && name !== "betas" ? "made_up" : undefined) },
) as never;
