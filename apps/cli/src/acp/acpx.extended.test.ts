import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { slowly, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { isRunning } from "@tandem/tandem/testing";
import { expect, test } from "vitest";
import { TANDEM } from "../testing/run-tandem.ts";
import { setAcpStage, type AcpStage } from "./testing/acp-stage.ts";

/** The third-party ACP client `acpx` from npm. */
const manifest = fileURLToPath(import.meta.resolve("acpx/package.json"));

async function acpx(stage: AcpStage, args: readonly string[], during?: (end: () => void) => Promise<void>) {
  const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { bin: Record<string, string> };
  const agent = `${process.execPath} ${TANDEM} --project ${stage.project} acp`;
  const child = spawn(
    process.execPath,
    [join(dirname(manifest), bin["acpx"]!), "--agent", agent, "--cwd", stage.folder, "--format", "json", ...args],
    { cwd: stage.folder, env: stage.variables, stdio: ["ignore", "pipe", "pipe"] },
  );
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  await during?.(() => child.kill("SIGINT"));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}

test("acpx can prompt, allow, deny and cancel", async () => {
  let folder = "";
  const script = ({ lastUserText, messages }: ModelRequest): Reply => {
    const content = messages.at(-1)?.content;
    if (Array.isArray(content) && content.at(-1)?.type === "tool_result") return text("Done, one way or the other.");
    if (lastUserText.includes("write")) {
      return reply([toolUse("Write", { file_path: join(folder, "made.txt"), content: "made\n" })]);
    }
    return slowly(text("word ".repeat(1_000)), { tokenMs: 50 });
  };
  await using stage = await setAcpStage(script);
  folder = stage.folder;

  await acpx(stage, ["--deny-all", "exec", "please write"]);
  expect(await readdir(folder)).toEqual([]);
  const allowed = await acpx(stage, ["--approve-all", "exec", "please write"]);
  expect(allowed.stderr).not.toContain("Error");
  expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('"stopReason":"end_turn"') });
  expect(allowed.stdout).toContain('"agent_message_chunk"');
  expect(await readFile(join(folder, "made.txt"), "utf8")).toBe("made\n");

  const cancelled = await acpx(stage, ["exec", "slow"], async (end) => {
    await stage.rehearsal.waitForModelRequest((request) => request.lastUserText.includes("slow"));
    end();
  });
  expect(cancelled.stdout).toContain('"session/cancel"');
  expect(cancelled.stdout).toContain('"stopReason":"cancelled"');
  // acpx kills an agent that takes longer than two seconds to end. Its Claude Code then ends without it, and stays in the ledger.
  await expect.poll(async () => (await stage.processes()).filter(isRunning)).toEqual([]);
});
