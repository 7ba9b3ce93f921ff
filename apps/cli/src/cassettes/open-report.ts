import { deflateRawSync } from "node:zlib";
import { TandemError, type CassetteReport } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { styleFor, write } from "../terminal.ts";

/** Linux limits an argument of a program, here of the browser, to 128 KB. */
const MAX_LINK = 100_000;

/** Opens a report on the running server's page. The link carries it after `#`, which browsers do not send. */
export async function openReport({ stdout, env }: Invocation, report: CassetteReport): Promise<void> {
  const [{ findServer }, { hasBrowser, openInBrowser }] = await Promise.all([
    import("@tandem/tandem/server"),
    import("../server/open-browser.ts"),
  ]);
  const server = await findServer(env);
  if (!server) throw new TandemError("not_running", "No server is running.", { fix: "Start one: tandem up" });
  const page = `${server.url}/cassettes`;
  const link = `${page}#report=${deflateRawSync(JSON.stringify(withoutSteps(report))).toString("base64url")}`;
  if (link.length > MAX_LINK) {
    throw new TandemError("usage", `The report is too long for a link (${Math.round(link.length / 1_000)} KB).`, {
      fix: `Write it with --json > report.json, and drop the file onto ${page}.`,
    });
  }
  const isOpened = stdout.isTTY && hasBrowser(env) && (await openInBrowser(link, env));
  await write(stdout, isOpened ? styleFor(stdout).dim("The report is open in your browser.\n") : `${link}\n`);
}

/** The page shows the diff of the two steps, not the steps. */
function withoutSteps(report: CassetteReport): CassetteReport {
  if (report.report !== "replay" || !report.divergence) return report;
  const { expected, actual, ...rest } = report.divergence;
  return { ...report, divergence: { ...rest, expected: expected && {}, actual: actual && {} } };
}
