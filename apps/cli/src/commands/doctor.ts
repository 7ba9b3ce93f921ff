import { TandemError } from "@tandem/protocol";
import { checkAuth, type AuthCheck } from "../check-auth.ts";
import { untrustedSettings } from "../config/trust.ts";
import type { Context } from "../context.ts";
import { type Finding, type Patient, runChecks } from "../doctor/check.ts";
import { machineChecks } from "../doctor/machine-checks.ts";
import { projectChecks } from "../doctor/project-checks.ts";
import { sessionChecks } from "../doctor/session-checks.ts";
import { serviceChecks } from "../doctor/service-checks.ts";
import { EXIT_CODES } from "../exit-code.ts";
import { openProject, openProjectOrDefaults } from "../open-project.ts";
import { Progress } from "../progress.ts";
import { printable, styleFor, widthOf, wrap, write } from "../terminal.ts";

const DEADLINE_MS = 20_000;
/** With time left to say so, also where loading what it needs takes its time. */
const AUTH_MS = 15_000;

/** Checks everything at once. Ends with 1 if anything is a failure. */
export async function doctor(context: Context): Promise<number> {
  const checks = [...projectChecks, ...serviceChecks, ...sessionChecks, ...machineChecks];
  const findings = await (async () => {
    using progress = new Progress(context, "Checking …");
    return runChecks(checks, await admit(context), DEADLINE_MS, (done) =>
      progress.label(`Checked ${done} of ${checks.length} …`),
    );
  })();
  const failures = findings.filter(({ result }) => result === "failure").length;
  const warnings = findings.filter(({ result }) => result === "warning").length;
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ ok: failures === 0, checks: findings }, null, 2)}\n`);
  } else {
    const counts = [count(failures, "failure"), count(warnings, "warning")].filter(Boolean).join(", ");
    await write(context.stdout, `${render(context, findings)}\n\n${counts || "All is well."}\n`);
  }
  return failures > 0 ? EXIT_CODES.failure.code : EXIT_CODES.ok.code;
}

async function admit(context: Context): Promise<Patient> {
  let auth: Promise<AuthCheck> | undefined;
  try {
    const project = await openProject(context);
    const untrusted = await untrustedSettings(context.env, project.folder, project.settings).catch(() => undefined);
    return {
      context,
      project,
      here: project,
      projectError: undefined,
      trusted: untrusted?.length === 0,
      auth: () => (auth ??= checkAuth(context, project, AUTH_MS)),
    };
  } catch (projectError) {
    const auth = () => Promise.reject(projectError);
    const isMissing = projectError instanceof TandemError && projectError.code === "config_missing";
    const here = isMissing ? await openProjectOrDefaults(context).catch(() => undefined) : undefined;
    return { context, project: undefined, here, projectError, trusted: here !== undefined, auth };
  }
}

function render({ stdout }: Context, findings: readonly (Finding & { name: string })[]): string {
  const style = styleFor(stdout);
  const paint = { ok: style.good, warning: style.warn, failure: style.bad };
  const nameWidth = Math.max(...findings.map(({ name }) => name.length));
  const indent = "warning".length + 2 + nameWidth + 2;
  const width = widthOf(stdout) - indent;
  const hang = (text: string) => wrap(printable(text), width).join(`\n${" ".repeat(indent)}`);
  return findings
    .map(({ name, result, detail, fix }) => {
      const head = `${paint[result](result)}${" ".repeat(9 - result.length)}${name.padEnd(nameWidth)}  ${hang(detail)}`;
      return result === "ok" || !fix ? head : `${head}\n${" ".repeat(indent)}${style.dim("→")} ${hang(fix)}`;
    })
    .join("\n");
}

const count = (n: number, noun: string) => (n === 0 ? "" : `${n} ${noun}${n === 1 ? "" : "s"}`);
