import { asCalled } from "../../called-as.ts";
import type { Finding } from "@tandem/protocol";
import { runHealthChecks, type ServerProbe } from "@tandem/tandem/health";
import type { Invocation } from "../../invocation.ts";
import { EXIT_CODES } from "../../exit-code.ts";
import { Progress } from "../../progress.ts";
import { ServerConnection } from "../../sessions/server-connection.ts";
import { printable, styleFor, widthOf, wrap, writeResult } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  examples(
    command
      .option("--probe", "also make one minimal model call; costs a few tokens")
      .addOption(json())
      .action(runner(doctor)),
    "tandem doctor",
    "tandem doctor --probe",
    "tandem doctor --json | jq '.checks[] | select(.result != \"ok\")'",
  );
}

export interface DoctorOptions {
  probe?: boolean;
}

/** Runs all checks in parallel. Exits with 1 if one fails. */
export async function doctor(invocation: Invocation, { probe = false }: DoctorOptions = {}): Promise<number> {
  const findings = await (async () => {
    using progress = new Progress(invocation, "Checking …");
    const onDone = (done: number, all: number) => progress.label(`Checked ${done} of ${all} …`);
    return runHealthChecks(invocation, isServerReady, { onDone, probe });
  })();
  const failures = findings.filter(({ result }) => result === "failure").length;
  const warnings = findings.filter(({ result }) => result === "warning").length;
  const counts = [count(failures, "failure"), count(warnings, "warning")].filter(Boolean).join(", ");
  const lines = [render(invocation, findings), "", counts || "No problems found."];
  await writeResult(invocation, { ok: failures === 0, checks: findings }, lines);
  return failures > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

const isServerReady: ServerProbe = async (server, signal) => {
  using connection = await ServerConnection.open(server);
  return connection.isReady(signal);
};

function render({ stdout }: Invocation, findings: readonly Finding[]): string {
  const style = styleFor(stdout);
  const paint = { ok: style.good, warning: style.warn, failure: style.bad };
  const nameWidth = Math.max(...findings.map(({ name }) => name.length));
  const indent = "warning".length + 2 + nameWidth + 2;
  const width = widthOf(stdout) - indent;
  const hang = (text: string) => wrap(asCalled(printable(text)), width).join(`\n${" ".repeat(indent)}`);
  return findings
    .map(({ name, result, detail, fix }) => {
      const head = `${paint[result](result)}${" ".repeat(9 - result.length)}${name.padEnd(nameWidth)}  ${hang(detail)}`;
      return result === "ok" || !fix ? head : `${head}\n${" ".repeat(indent)}${style.dim("→")} ${hang(fix)}`;
    })
    .join("\n");
}

const count = (n: number, noun: string) => (n === 0 ? "" : `${n} ${noun}${n === 1 ? "" : "s"}`);
