import { createBackend } from "../compose.ts";
import type { Context } from "../context.ts";
import { describeProject } from "../describe-project.ts";
import { openProject } from "../open-project.ts";
import { Progress } from "../progress.ts";
import { printable, styleFor, table, write } from "../terminal.ts";

const DEADLINE_MS = 30_000;

export async function models(context: Context): Promise<void> {
  const project = await openProject(context);
  const { models: roles } = await describeProject(project);
  const offered = await (async () => {
    using _ = new Progress(context, "Asking for the models …");
    const backend = await createBackend(context, project);
    try {
      return await backend.listModels(AbortSignal.any([context.signal, AbortSignal.timeout(DEADLINE_MS)]));
    } finally {
      await backend.close();
    }
  })();
  if (context.json) {
    await write(context.stdout, `${JSON.stringify({ models: offered, roles }, null, 2)}\n`);
    return;
  }
  const { dim, bold } = styleFor(context.stdout);
  const users = (id: string) => roles.filter(({ model }) => model === id).map(({ role }) => role);
  const rows = offered.map(({ id, name }) => {
    const usedBy = users(id);
    return [usedBy.length > 0 ? bold(printable(id)) : printable(id), dim(printable(name)), usedBy.join(", ")];
  });
  const listed = new Set(offered.map(({ id }) => id));
  const others = roles.filter(({ model, fallsBack }) => !fallsBack && !listed.has(model));
  const below = others.map(({ role, model }) => [model, dim("alias"), role]);
  await write(context.stdout, `${table([...rows, ...below]).join("\n")}\n`);
}
