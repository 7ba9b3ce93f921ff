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
  const { resolveModel } = await import("@tandem/runtime");
  const { backend } = project.config.llm.provider;
  const asked = roles.map(({ role, model }) => ({ role, id: resolveModel(backend, model) }));
  const usersOf = (id: string) => asked.filter((entry) => entry.id === id).map(({ role }) => role);
  const listed = offered.map(({ id, name }) => ({ id, name, usedBy: usersOf(id) }));
  const missing = [...new Set(asked.map(({ id }) => id))].filter((id) => !offered.some((model) => model.id === id));
  const rows = [...listed, ...missing.map((id) => ({ id, name: explainMissing(id), usedBy: usersOf(id) }))];
  const lines = table(
    rows.map(({ id, name, usedBy }) => {
      const shown = printable(id);
      return [usedBy.length > 0 ? bold(shown) : shown, dim(printable(name)), usedBy.join(", ")];
    }),
  );
  await write(context.stdout, `${lines.join("\n")}\n`);
}

/** Claude Code resolves aliases by itself, and its list has only what they stand for. */
const explainMissing = (id: string) => (/\d/.test(id) ? "not in the service's list" : "alias");
