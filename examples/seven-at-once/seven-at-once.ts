import Anthropic from "@anthropic-ai/sdk";

// Seven agents work on one repository at the same time, each in a git worktree of its own, under one budget; then what they
// committed is merged back, one after the other. Against any Tandem: TANDEM_URL, TANDEM_TOKEN and the repository's folder.

const RIVERS = ["amazon", "congo", "danube", "ganges", "mekong", "nile", "volga"];

interface Worktree {
  session_id: string;
  branch: string;
  ports: { from: number; count: number };
}
interface Merge {
  kind: "fast-forward" | "merge" | "nothing";
  commits: number;
}
interface Gauge {
  scope: string;
  unit: string;
  spent: number;
  limit: number | null;
}

const [repository, count = "7"] = process.argv.slice(2);
if (repository === undefined) throw new Error("Name the folder of the repository.");
const client = new Anthropic({ baseURL: process.env["TANDEM_URL"], apiKey: process.env["TANDEM_TOKEN"] ?? null });

const agent = await client.beta.agents.create({
  name: "River writer",
  model: "claude-sonnet-5-5",
  system: "You complete one file and commit it.",
  tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
});
// Each session of this environment gets a worktree, with ports and a branch of its own.
const environment = await client.beta.environments.create({
  name: "worktrees of the rivers",
  config: { type: "cloud", networking: { type: "unrestricted" } },
  metadata: { "tandem.path": repository, "tandem.isolation": "worktree" },
});

/** One agent, from its worktree to its commit. */
async function write(river: string): Promise<string> {
  const session = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    title: `The ${river}`,
    metadata: { "tandem.worktree": river },
  });
  const stream = await client.beta.sessions.events.stream(session.id);
  const text = `Complete rivers/${river}.md, and commit it.`;
  await client.beta.sessions.events.send(session.id, {
    events: [{ type: "user.message", content: [{ type: "text", text }] }],
  });
  for await (const event of stream) {
    if (event.type === "session.error") throw new Error(`${river}: ${event.error.message}`);
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "end_turn") throw new Error(`${river}: ${event.stop_reason.type}`);
    break;
  }
  return session.id;
}

const begun = Date.now();
const sessions = await Promise.all(RIVERS.slice(0, Number(count)).map(write));
const seconds = (Date.now() - begun) / 1_000;

const { data: worktrees } = await client.get<{ data: Worktree[] }>("/v1/worktrees");
for (const { branch, ports } of worktrees)
  console.log(`${branch}: ports ${ports.from} to ${ports.from + ports.count - 1}`);

// Into their source branch. A conflict would be refused with the names of the files.
let commits = 0;
for (const session of sessions) {
  const merge = await client.post<Merge>(`/v1/sessions/${session}/worktree/merge`, { body: {} });
  commits += merge.commits;
}

const { data: gauges } = await client.get<{ data: Gauge[] }>("/v1/budgets");
const budget = gauges.find(({ scope, unit, limit }) => scope === "project" && unit === "usd" && limit !== null);

// Nothing in them is only there: they go, and their sessions are archived.
for (const session of sessions) await client.post(`/v1/sessions/${session}/worktree/remove`, { body: {} });

console.log(
  JSON.stringify({
    sessions: sessions.length,
    worktrees: worktrees.length,
    ports: new Set(worktrees.map(({ ports }) => ports.from)).size,
    commits,
    budget: budget && { spent: budget.spent, limit: budget.limit },
    seconds,
  }),
);
