import type { Invocation } from "../../../invocation.ts";
import { writeJson } from "../../../terminal.ts";
import { indented } from "../../../demo/context/indented.ts";
import { makeProject } from "../../../demo/context/make-project.ts";
import { rehearsedReader } from "../../../demo/context/rehearsed-reader.ts";
import { ContextDemoSteps } from "./context-demo-steps.ts";
import { serveResult } from "../../../demo/context/serve-result.ts";

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
