import { PROMPTS } from "../../apps/cli/src/demo/story/prompts.ts";
import { ShopClient, type ShopServer } from "./shop-client.ts";

const TOOLS = [{ type: "agent_toolset_20260401" }];

/** Time that passes in the story, but not in the recording. */
export interface Pause {
  at: number;
  minutes: number;
}

/** Creates agents, rules, budgets, memories and a morning's sessions. At the end, three of them need the user. */
export async function play({ pause, ...server }: ShopServer & { pause: (minutes: number) => void }): Promise<void> {
  const shop = new ShopClient(server);
  const agent = (body: object) => shop.api<{ id: string }>("/v1/agents", { model: "sonnet", tools: TOOLS, ...body });
  const scout = await agent({
    name: "Scout",
    description: "Looks things up and changes nothing.",
    system: "Look, and report.",
  });
  const mechanic = await agent({
    name: "Mechanic",
    description: "Fixes the shop's code: first a test, then the smallest change.",
    system: "Write a failing test before you change anything. Summarise your work in three sentences.",
  });
  const analyst = await agent({
    name: "Analyst",
    model: "opus",
    description: "Answers questions about orders, stock and customers.",
    system: "Use the catalogue before you query. Name the tables that a figure comes from.",
  });
  const reviewer = await agent({
    name: "Reviewer",
    description: "Reviews changes before a person does.",
    multiagent: { type: "coordinator", agents: [scout.id] },
  });
  for (const rule of RULES) await shop.api("/v1/rules", { scope: "project", of: server.project, ...rule });
  await shop.api("/v1/budgets", { scope: "day", limits: { usd: 20 } });
  await shop.api("/v1/budgets", { scope: "agent", of: analyst.id, limits: { usd: 5 } });
  for (const token of TOKENS) await shop.api("/v1/tokens", token);
  for (const memory of MEMORIES) await shop.api("/v1/context/memories", memory);

  const accepting = { metadata: { "tandem.permission_mode": "acceptEdits" } };
  const limited = { budget: { type: "limit", max_list_cost: { amount: "200", currency: "USD" } } };
  pause(22 * 60);
  const refunds = await shop.start(mechanic, PROMPTS.refunds, "Refunds are counted twice", {
    ...accepting,
    ...limited,
  });
  await shop.untilTurns(refunds, 1);
  pause(6);
  await shop.send(refunds, PROMPTS.firstBooking);
  pause(4);
  const { id: fork } = await shop.api<{ id: string }>(`/v1/sessions/${refunds}/fork`, {
    turn: 2,
    worktree: true,
    title: "Refunds: the newest booking",
  });
  const answered = shop.send(fork, PROMPTS.newestBooking);
  const [edit] = await shop.untilWaiting(fork);
  await shop.api(`/v1/approvals/${edit!.id}`, { result: "allow" });
  await answered;
  pause(11);
  const review = await shop.start(reviewer, PROMPTS.review, "Review the refunds", accepting);
  await shop.untilTurns(review, 1);
  pause(3);
  const push = await shop.start(mechanic, PROMPTS.push, "Push refunds-once");
  const [request] = await shop.untilWaiting(push);
  pause(2);
  await shop.api(`/v1/approvals/${request!.id}`, { result: "deny", message: "Not before the review." });
  await shop.untilTurns(push, 1);
  pause(35);
  const stock = await shop.start(analyst, PROMPTS.stock, "Stock before Christmas");
  await shop.untilTurns(stock, 1);
  pause(25);
  await shop.untilWaiting(await shop.start(analyst, PROMPTS.newsletter, "Spring newsletter"));
  pause(9);
  await shop.untilWaiting(
    await shop.start(mechanic, PROMPTS.plan, "Prices in cents", { metadata: { "tandem.permission_mode": "plan" } }),
  );
  pause(7);
  await shop.untilWaiting(await shop.start(mechanic, PROMPTS.shipping, "Free shipping from 60 €"));
  pause(3);
}

const RULES = [
  { tool: "Bash", pattern: "node --test*", action: "allow", reason: "Tests change nothing." },
  { tool: "Bash", pattern: "git push *", action: "ask", reason: "A person reviews every push." },
  { tool: "WebFetch", pattern: "*.harbour.example", action: "allow" },
  { tool: "edit", pattern: "data/**", action: "deny" },
];
const TOKENS = [
  { name: "ci", scopes: ["read", "run"] },
  { name: "dashboard in the shop", scopes: ["read"] },
];
const MEMORIES = [
  {
    text: "Finance closes a month on the third working day. Earlier figures are preliminary.",
    scope: "project",
  },
  { text: "Orders of kind “workshop” are not sales. Exclude them from revenue.", scope: "project" },
  {
    text: "Mira prefers amounts in euros with two decimals and dates such as 2 Nov.",
    scope: "agent",
    agent: "Analyst",
  },
];
