import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { inSandbox } from "../in-sandbox.ts";
import type { SandboxPlan, WallOn } from "../sandbox-plan.ts";
import { MAY_START } from "../start-permission.ts";

export interface Ran {
  code: number;
  output: string;
}

/** Runs a shell script in a sandbox, as an owned process does. */
export async function runInSandbox(wall: WallOn, plan: SandboxPlan, cwd: string, script: string): Promise<Ran> {
  const start = inSandbox(wall, plan, {
    command: "/bin/sh",
    args: ["-c", script],
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: plan.home.at },
    statusDescriptor: 3,
    startDescriptor: 4,
    firstDescriptor: 5,
  });
  const stdio = Array.from({ length: 5 + start.feeds.length }, () => "pipe" as const);
  const child = spawn(start.command, [...start.args], { cwd: "/", env: start.env, stdio, ...plan.user });
  child.stdin.end();
  for (const { descriptor, bytes } of [...start.feeds, { descriptor: 4, bytes: MAY_START }]) {
    const channel: unknown = child.stdio[descriptor];
    if (channel instanceof Socket) channel.end(bytes);
  }
  const exit = once(child, "exit");
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await exit) as [number];
  return { code, output: out + error };
}
