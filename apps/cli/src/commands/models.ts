import type { ModelInfo } from "@tandem/runtime";
import type { Context } from "../context.ts";
import { describeProject } from "../describe-project.ts";
import { listModels } from "../list-models.ts";
import { openProject } from "../open-project.ts";
import { Progress } from "../progress.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

const DEADLINE_MS = 20_000;

export async function models(context: Context): Promise<void> {
  const project = await openProject(context);
  const { models: roles } = await describeProject(project);
  const offered = await (async () => {
    using _ = new Progress(context, "Asking for the models …");
    return listModels(context, project, DEADLINE_MS);
  })();
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ models: offered, roles }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(context.stdout);
  const { findModel, resolveModel } = await import("@tandem/runtime");
  const { backend } = project.config.llm.provider;
  const asked = roles.map(({ role, model }) => {
    const id = resolveModel(backend, model);
    return { role, id: findModel(offered, id)?.id ?? id };
  });
  const missing = [...new Set(asked.map(({ id }) => id))].filter((id) => !findModel(offered, id));
  const rows: ModelInfo[] = [...offered, ...missing.map((id) => ({ id, name: "not in the service's list" }))];
  const lines = table(
    rows.map(({ id, name, aliases = [] }) => {
      const usedBy = asked.filter((entry) => entry.id === id).map(({ role }) => role);
      const emphasis = usedBy.length > 0 ? bold : (text: string) => text;
      const also = aliases.join(", ");
      return [emphasis(printable(id)), dim(printable(name)), dim(printable(also)), usedBy.join(", ")];
    }),
  );
  await write(context.stdout, `${lines.join("\n")}\n`);
}
