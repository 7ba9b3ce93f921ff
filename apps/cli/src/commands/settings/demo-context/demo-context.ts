import { once } from "node:events";
import { closeTimeOf, openTandem } from "@tandem/tandem";
import { openProject } from "@tandem/tandem/project";
import type { Invocation } from "../../../invocation.ts";
import { writeJson, styleFor, write } from "../../../terminal.ts";
import { makeProject } from "../../../demo/context/make-project.ts";
import { rehearsedReader } from "../../../demo/context/rehearsed-reader.ts";
import { ContextDemoSteps } from "./context-demo-steps.ts";
import { hasBrowser, openInBrowser } from "../../../server/open-browser.ts";
import { startDemo } from "../../../demo/start-demo.ts";

/**
 * Builds a small catalogue and wiki from a shop's database and documents with the real commands. Only the model is scripted:
 * nothing is spent, no data leaves the machine, and the user's files are neither read nor changed. The result is kept.
 */
export async function demoContext(
  invocation: Invocation,
  named: string | undefined,
  { open }: { open: boolean },
): Promise<void> {
  const { startRehearsal } = await import("@tandem/rehearsal");
  const project = await makeProject(invocation.cwd, named);
  const rehearsal = await startRehearsal(rehearsedReader);
  try {
    await project.answerFrom(rehearsal.url);
    const out = invocation.json ? invocation.stderr : invocation.stdout;
    const host: Invocation = {
      ...invocation,
      cwd: project.folder,
      project: project.folder,
      json: false,
      stdout: indented(out),
      env: {
        PATH: invocation.env["PATH"],
        LANG: invocation.env["LANG"],
        TMPDIR: invocation.env["TMPDIR"],
        HOME: project.home,
        TANDEM_HOME: project.home,
        ANTHROPIC_API_KEY: "sk-ant-rehearsed",
      },
    };
    const stage = new ContextDemoSteps(out, host);
    const requests = () => rehearsal.modelRequests.length;
    await stage.begin(project.folder, rehearsal.url);
    await stage.scan();
    await stage.catalogue();
    await stage.ingest();
    await stage.review();
    await stage.metrics();
    await stage.ask();
    const before = requests();
    await stage.again(() => requests() - before);
    await project.addEvals();
    // Remove the demo backend, which stops with the demo. Users configure their own model.
    const leave = async () => {
      await project.answerFrom(undefined);
      await stage.trust(project.folder);
    };
    stage.end(project, requests());
    if (open && !invocation.json && invocation.stdout.isTTY) {
      try {
        await serveResult(invocation, host);
      } finally {
        await leave();
      }
      return;
    }
    await leave();
    const result = {
      folder: project.folder,
      home: project.home,
      requests: requests(),
      proposals: await stage.proposals(),
    };
    if (invocation.json) await writeJson(invocation.stdout, result);
  } finally {
    await rehearsal.close();
  }
}

const INDENT = "   ";

/** Indents the output of commands below the narration. */
function indented(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  let isStart = true;
  const shifted = (text: string): string => {
    const lines = text
      .split("\n")
      .map((line, at) => (line === "" || (at === 0 && !isStart) ? line : `${INDENT}${line}`));
    isStart = text.endsWith("\n");
    return lines.join("\n");
  };
  const write = (chunk: string, ...rest: [((error?: Error | null) => void)?]) => stream.write(shifted(chunk), ...rest);
  return Object.create(stream, {
    write: { value: write },
    columns: { get: () => (stream.isTTY ? stream.columns - INDENT.length : undefined) },
  }) as NodeJS.WriteStream;
}

/**
 * Serves the demo's project and opens the page on its proposals, until Ctrl-C. Sessions use the demo's scripted model.
 * `host` is the demo's own environment, `invocation` the user's.
 */
async function serveResult(invocation: Invocation, host: Invocation): Promise<void> {
  const project = await openProject(host);
  await using model = await startDemo();
  invocation.allowToStop(closeTimeOf(project));
  await using tandem = await openTandem({ ...host, project, port: 0, demo: { credential: model.credential } });
  const link = new URL(await tandem.signInLink());
  link.pathname = "/context/proposals";
  const { stdout, env } = invocation;
  const isOpened = tandem.hasPage && hasBrowser(env) && (await openInBrowser(link.href, env));
  const { bold, dim } = styleFor(stdout);
  const lines = isOpened
    ? [`The page is open in your browser: ${bold(tandem.url)}`]
    : [bold(link.href), dim("Open this link in your browser. It works once, within 10 minutes.")];
  await write(
    stdout,
    `\n${lines.join("\n")}\n${dim("Review the proposals, query the shop, start a session: nothing is spent. Ctrl-C ends the server; the folder stays.")}\n`,
  );
  if (!tandem.stopRequested.aborted) await once(tandem.stopRequested, "abort");
}
