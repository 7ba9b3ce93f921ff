import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openTandem } from "@tandem/tandem";
import { PROJECT, STATE, unpackSeed } from "../../apps/cli/src/demo/seed/unpack-seed.ts";
import { startDemo } from "../../apps/cli/src/demo/start-demo.ts";
import { PROMPTS } from "../../apps/cli/src/demo/story/prompts.ts";
import { ShopClient } from "../demo-seed/shop-client.ts";

/** Slow, so that a session is still running when its picture is taken. */
const TOKEN_MS = 1_000;

/** The ids of the sessions in the pictures. */
export type Cast = Record<keyof typeof TITLES | "stock", string>;

const TITLES = {
  refunds: "Refunds are counted twice",
  fork: "Refunds: the newest booking",
  shipping: "Free shipping from 60 €",
  letter: "Spring newsletter",
  plan: "Prices in cents",
  review: "Review the refunds",
} as const;

/** Another tenant on the same server, which cannot see the shop. */
export const TENANT = { id: "lighthouse", name: "Lighthouse Rentals" };
const TENANT_AGENTS = [
  { name: "Fleet keeper", description: "Lists the bikes that are due for a service." },
  { name: "Bookings", description: "Answers which bikes are free, and when." },
];

/** The demo's server, with another tenant and a running session. */
export interface ShopServer extends AsyncDisposable {
  url: string;
  client: ShopClient;
  cast: Cast;
}

export async function startShopServer(base: string, port: number): Promise<ShopServer> {
  await mkdir(base, { recursive: true });
  const folder = join(base, "demo");
  await unpackSeed(folder);
  const project = join(folder, PROJECT);
  const env = {
    PATH: process.env["PATH"],
    HOME: base,
    TMPDIR: base,
    NO_PROXY: "127.0.0.1",
    LANG: "C.UTF-8",
    TANDEM_HOME: join(folder, STATE),
    CLAUDE_CONFIG_DIR: join(base, "claude"),
  };
  const model = await startDemo(TOKEN_MS);
  const tandem = await openTandem({ project, env, port, demo: { credential: model.credential } });
  const token = (await readFile(tandem.info.token_file, "utf8")).trim();
  const client = new ShopClient({ url: tandem.url, token, project });
  return {
    url: tandem.url,
    client,
    cast: await addCast(client),
    async [Symbol.asyncDispose]() {
      await tandem.close();
      await model[Symbol.asyncDispose]();
      await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

async function addCast(client: ShopClient): Promise<Cast> {
  await client.api("/v1/tenants", TENANT);
  const named = { name: "desk", scopes: ["admin"], tenant: TENANT.id };
  const { secret } = await client.api<{ secret: string }>("/v1/tokens", named);
  for (const agent of TENANT_AGENTS) {
    await client.api("/v1/agents", { ...agent, model: "sonnet", tools: [{ type: "agent_toolset_20260401" }] }, secret);
  }
  const { data: sessions } = await client.api<{ data: { id: string; title: string; agent: { id: string } }[] }>(
    "/v1/sessions?limit=100",
  );
  const find = (title: string) => {
    const found = sessions.find((session) => session.title === title);
    if (!found) throw new Error(`The seed has no session ${title}.`);
    return found;
  };
  const stock = await client.start(find(TITLES.letter).agent, PROMPTS.stock, "Stock before Christmas");
  const ids = Object.entries(TITLES).map(([name, title]) => [name, find(title).id]);
  return { ...(Object.fromEntries(ids) as Omit<Cast, "stock">), stock };
}
