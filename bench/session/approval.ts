import { setTimeout as sleep } from "node:timers/promises";
import { BenchClient, BenchSession } from "./bench-session.ts";
import type { Measurement } from "./measurement.ts";
import type { Sample } from "./sample.ts";
import { askForCall, startOf, type ToolName } from "./tool-call.ts";

/** After a restart, before a late answer. */
const SETTLE_MS = 2_500;

/** From a person's approval until the call has an effect: the file that it creates. */
export const approval: Measurement<"write" | "bareWrite" | "hookWrite" | "bash" | "bareBash" | "hookBash" | "late"> = {
  rows: {
    write: { what: "approval → Write running, process alive", unit: "ms", target: { of: "absolute", atMost: 50 } },
    bareWrite: { what: "… the same with `canUseTool` of a bare call", unit: "ms" },
    hookWrite: { what: "… the same with a `PreToolUse` hook of a bare call", unit: "ms" },
    bash: { what: "approval → Bash running, process alive", unit: "ms", target: { of: "absolute", atMost: 50 } },
    bareBash: { what: "… the same with `canUseTool` of a bare call", unit: "ms" },
    hookBash: { what: "… the same with a `PreToolUse` hook of a bare call", unit: "ms" },
    late: { what: "late approval → Bash running, server restarted", unit: "ms", target: { of: "bare", atMost: 1 } },
  },
  async open(stage) {
    const machine = await stage.machine();
    let server = await machine.up();

    const ask = async (tool: ToolName) => {
      const { prompt, effect } = askForCall(tool, machine.project);
      const session = await new BenchClient(server).session("env_local");
      await session.say(prompt);
      return { session, call: await session.untilAsked(), effect };
    };
    const allow = async (session: BenchSession, call: string, effect: string): Promise<Sample> => {
      const allowedAt = Date.now();
      await session.allow(call);
      await session.until("session.status_idle");
      await session.end();
      return { value: startOf(effect) - allowedAt };
    };
    const alive = async (tool: ToolName): Promise<Sample> => {
      const { session, call, effect } = await ask(tool);
      return allow(session, call, effect);
    };
    const late = async (): Promise<Sample> => {
      const { session, call, effect } = await ask("bash");
      await session.leave();
      await server.stop();
      server = await machine.up();
      await sleep(SETTLE_MS);
      return allow(await BenchSession.follow(new BenchClient(server).api, session.id), call, effect);
    };

    return {
      round: async () => ({
        write: await alive("write"),
        bareWrite: await stage.bare.approve("write"),
        hookWrite: await stage.bare.approve("write", "hook"),
        bash: await alive("bash"),
        bareBash: await stage.bare.approve("bash"),
        hookBash: await stage.bare.approve("bash", "hook"),
        late: await late(),
      }),
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await machine[Symbol.asyncDispose]();
      },
    };
  },
};
