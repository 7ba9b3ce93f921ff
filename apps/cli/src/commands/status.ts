import type { RoleModel } from "@tandem/runtime";
import { PAYERS } from "../call-report-line.ts";
import { checkAuth, exitCodeOfAuth, withoutModels, type AuthCheck } from "../check-auth.ts";
import type { Context } from "../context.ts";
import { credentialOf, describeProject, payerOf, shownSecret } from "../describe-project.ts";
import { openProject } from "../open-project.ts";
import { Progress } from "../progress.ts";
import { printable, styleFor, table, write, type Style } from "../terminal.ts";

const DEADLINE_MS = 15_000;

/** Who answers, who pays, and whether it would work right now. Ends with 0 only if it would. */
export async function status(context: Context): Promise<number> {
  const project = await openProject(context);
  const { llm } = project.config;
  const { models, ignored } = await describeProject(project);
  const auth = await (async () => {
    using _ = new Progress(context, "Checking the login or key …");
    return checkAuth(context, project, DEADLINE_MS);
  })();
  const { backend } = llm.provider;
  const payer = payerOf(llm);
  const credential = credentialOf(llm);
  if (context.json) {
    const report = {
      file: project.file,
      backend,
      payer,
      credential: credential && shownSecret(credential),
      auth: withoutModels(auth),
      models,
      ignored,
    };
    await write(context.stdout, `${JSON.stringify(report, null, 2)}\n`);
    return exitCodeOfAuth(auth);
  }
  const style = styleFor(context.stdout);
  const { dim, warn } = style;
  const rows = [
    [dim("config"), printable(project.file)],
    [dim("backend"), backend],
    [dim("payer"), PAYERS[payer] + (credential ? dim(`  ${printable(shownSecret(credential))}`) : "")],
    [dim("auth"), describeAuth(auth, style)],
    ...(auth.fix ? [["", `${dim("→")} ${printable(auth.fix)}`]] : []),
    ...modelRows(models, style),
    ...ignored.map(({ key, why }, i) => [i === 0 ? warn("ignored") : "", `${key}  ${dim(why)}`]),
  ];
  await write(context.stdout, `${table(rows).join("\n")}\n`);
  return exitCodeOfAuth(auth);
}

export function describeAuth({ state, detail }: AuthCheck, { good, warn, bad }: Style): string {
  const paint = state === "usable" ? good : state === "unverified" ? warn : bad;
  return `${paint(state.replace("_", " "))}  ${printable(detail)}`;
}

/** One line per role; those that `default` serves say so. */
export function modelRows(models: readonly RoleModel[], { dim }: Style): string[][] {
  const lines = table(
    models.map(({ role, model, fallsBack }) => [
      role,
      fallsBack ? dim(model) : model,
      fallsBack ? dim("as default") : "",
    ]),
  );
  return lines.map((line, i) => [i === 0 ? dim("models") : "", line]);
}
