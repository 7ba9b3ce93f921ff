import type { Script } from "@tandem/rehearsal";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { seedModels } from "../../testing/seed-models.ts";
import { sessionMachine, type RunningUp } from "../../testing/session-machine.ts";

/** An operator's variable that no tenant may see. */
export const OPERATORS_SECRET = "operators-own-secret";

export interface Answer {
  status: number;
  text: string;
  /** The parsed JSON. Empty for other responses. */
  body: Record<string, unknown> & { id: string; data: Record<string, unknown>[] };
}

/** A server with two tenants, each with its own key, context and admin. */
export async function tenantStage(script: Script, settings = "", variables: Record<string, string> = {}) {
  await using parts = new AsyncDisposableStack();
  const machine = parts.use(
    await sessionMachine(script, settings, {
      ACME_KEY: "sk-ant-acme",
      ZETA_KEY: "sk-ant-zeta",
      OPERATORS_SECRET,
      ...variables,
    }),
  );
  const up: RunningUp = parts.use(await machine.up());
  const call = async (token: string, method: string, path: string, body?: unknown): Promise<Answer> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${up.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && !isForm && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    return { status: response.status, text, body: (isJson ? JSON.parse(text) : {}) as Answer["body"] };
  };
  const homeOf = (id: string): string => join(machine.variables.TANDEM_HOME, "tenants", id);
  /** Creates a tenant and returns its first admin's secret. */
  const tenant = async (
    id: string,
    quotas: Record<string, number> = {},
    pages: Record<string, string> = {},
  ): Promise<string> => {
    const credential = { auth: "api_key", secret: `env:${id.toUpperCase()}_KEY`, base_url: machine.rehearsal.url };
    await must(call(up.token, "POST", "/v1/tenants", { id, name: `${id} Ltd`, credential, quotas }));
    await seedModels({ project: machine.project, variables: { TANDEM_HOME: homeOf(id) } });
    const context = join(homeOf(id), "project", "context");
    await mkdir(join(context, "wiki"), { recursive: true });
    await writeFile(join(context, "context.yaml"), `version: 1\nid: ctx_${id}\n`);
    for (const [name, page] of Object.entries(pages)) await writeFile(join(context, "wiki", name), page);
    const token = { name: `${id}-admin`, scopes: ["admin"], tenant: id };
    return String((await must(call(up.token, "POST", "/v1/tokens", token))).body["secret"]);
  };
  const owned = parts.move();
  return { machine, up, call, tenant, homeOf, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Asserts success. */
export async function must(answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering;
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`);
  return answer;
}

/** Polls until the response matches. */
export async function until(ask: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = Date.now() + 150_000;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`It did not come to that: ${answer.text.slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
