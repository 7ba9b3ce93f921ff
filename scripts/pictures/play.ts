import { setTimeout as sleep } from "node:timers/promises";
import type { ShopServer } from "./shop-server.ts";

const DEADLINE_MS = 120_000;
const TOOLS = [{ type: "agent_toolset_20260401" }];

export interface Cast {
  refunds: string;
  fork: string;
  shipping: string;
  letter: string;
  plan: string;
  review: string;
  stock: string;
}

/** Creates agents, rules, budgets and a morning's sessions. At the end some are done, some wait, and one is running. */
export async function play({ api, project }: ShopServer): Promise<Cast> {
  const agent = (body: object) => api<{ id: string }>("/v1/agents", { model: "sonnet", tools: TOOLS, ...body });
  const scout = await agent({
    name: "scout",
    description: "Looks things up, and changes nothing.",
    system: "Look, and report.",
  });
  const mechanic = await agent({
    name: "Mechanic",
    description: "Mends the shop's code: a test first, then the smallest change.",
    system: "Write a test that fails before you change anything. Say what you did in three sentences.",
  });
  const analyst = await agent({
    name: "Analyst",
    model: "opus",
    description: "Answers questions about orders, stock and customers.",
    system: "Use the catalogue before you query. Name the tables that a figure comes from.",
  });
  const reviewer = await agent({
    name: "Reviewer",
    description: "Reads changes before a person does.",
    multiagent: { type: "coordinator", agents: [scout.id] },
  });

  for (const rule of RULES) await api("/v1/rules", { scope: "project", of: project, ...rule });
  await api("/v1/budgets", { scope: "day", limits: { usd: 20 } });
  await api("/v1/budgets", { scope: "agent", of: analyst.id, limits: { usd: 5 } });
  for (const { name, scopes } of TOKENS) await api("/v1/tokens", { name, scopes });
  await api("/v1/tenants", TENANT);
  const { secret } = await api<{ secret: string }>("/v1/tokens", {
    name: "desk",
    scopes: ["admin"],
    tenant: TENANT.id,
  });
  for (const { name, description } of TENANTS_AGENTS)
    await api("/v1/agents", { name, description, model: "sonnet", tools: TOOLS }, secret);
  for (const memory of MEMORIES) await api("/v1/context/memories", memory);

  const start = async (who: { id: string }, words: string, title: string, more: object = {}): Promise<string> => {
    const { id } = await api<{ id: string }>("/v1/sessions", {
      agent: who.id,
      environment_id: "env_local",
      title,
      initial_events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
      ...more,
    });
    return id;
  };
  /** The number of ended turns. */
  const ended = async (id: string): Promise<number> => {
    const { data } = await api<{ data: { event: { type: string; stop_reason?: { type: string } } }[] }>(
      `/v1/sessions/${id}/log?limit=2000`,
    );
    return data.filter(({ event }) => event.type === "session.status_idle" && event.stop_reason?.type === "end_turn")
      .length;
  };
  const until = async (id: string, turns: number): Promise<void> => {
    for (const end = Date.now() + DEADLINE_MS; (await ended(id)) < turns; await sleep(300)) {
      if (Date.now() > end) throw new Error(`The session ${id} did not get there.`);
    }
  };
  const pending = async (id: string) =>
    (await api<{ data: { id: string }[] }>(`/v1/approvals?status=pending&session_id=${id}`)).data;
  const waits = async (id: string): Promise<void> => {
    for (const end = Date.now() + DEADLINE_MS; (await pending(id)).length === 0; await sleep(200)) {
      if (Date.now() > end) throw new Error(`The session ${id} asks nothing.`);
    }
  };
  const say = async (id: string, words: string): Promise<void> => {
    const before = await ended(id);
    const content = [{ type: "text", text: words }];
    await api(`/v1/sessions/${id}/events`, { events: [{ type: "user.message", content }] });
    await until(id, before + 1);
  };
  const accepting = { metadata: { "tandem.permission_mode": "acceptEdits" } };
  const limited = { budget: { type: "limit", max_list_cost: { amount: "200", currency: "USD" } } };

  const refunds = await start(
    mechanic,
    "Refunds that were retried are counted twice in the monthly report. Find out why, and mend it.",
    "Refunds are counted twice",
    { ...accepting, ...limited },
  );
  await until(refunds, 1);
  await say(refunds, "Of two bookings, the first booking should count. Say so in the comment.");
  const { id: fork } = await api<{ id: string }>(`/v1/sessions/${refunds}/fork`, {
    turn: 2,
    worktree: true,
    title: "Refunds: the newest booking",
  });
  await say(fork, "Of two bookings, the newest booking should count.");

  const review = await start(reviewer, "Review what changed in the refunds.", "Review the refunds", accepting);
  await until(review, 1);
  const push = await start(mechanic, "Push the branch, please.", "Push refunds-once");
  await waits(push);
  const [asked] = await pending(push);
  await api(`/v1/approvals/${asked!.id}`, { result: "deny", message: "Not before the review." });
  await until(push, 1);

  const letter = await start(analyst, "Prepare the list for the spring letter.", "Spring letter");
  await waits(letter);
  const shipping = await start(mechanic, "Raise the limit for free shipping to 60 €.", "Free shipping from 60 €");
  await waits(shipping);
  const plan = await start(mechanic, "Plan the move of prices to cents.", "Prices in cents", {
    metadata: { "tandem.permission_mode": "plan" },
  });
  await waits(plan);
  const stock = await start(analyst, "Which bikes should we order before Christmas?", "Stock before Christmas");
  await sleep(6_000);
  return { refunds, fork, shipping, letter, plan, review, stock };
}

/** Another tenant on the same server, who cannot see the shop. */
export const TENANT = { id: "lighthouse", name: "Lighthouse Rentals" };
const TENANTS_AGENTS = [
  { name: "Fleet keeper", description: "Says which bikes are due for a service." },
  { name: "Bookings", description: "Answers what is free, and when." },
];

const RULES = [
  { tool: "Bash", pattern: "node --test*", action: "allow", reason: "Tests change nothing." },
  { tool: "Bash", pattern: "git push *", action: "ask", reason: "Somebody should have read it." },
  { tool: "WebFetch", pattern: "*.harbour.example", action: "allow" },
  { tool: "edit", pattern: "data/**", action: "deny" },
];
const TOKENS = [
  { name: "ci", scopes: ["read", "run"] },
  { name: "dashboard in the shop", scopes: ["read"] },
];
const MEMORIES = [
  { text: "Finance closes a month on the third working day; figures before that are preliminary.", scope: "project" },
  { text: "Orders of the kind “workshop” are no sales: leave them out of revenue.", scope: "project" },
  { text: "Mira reads amounts in euros with two digits, and dates as 2 Nov.", scope: "agent", agent: "Analyst" },
];
