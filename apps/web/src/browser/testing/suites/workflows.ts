import { afterEach, beforeAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;

/** See `session-pages.extended.test.ts`. */
export function testWorkflows(shared: () => PageStage): void {
  beforeAll(() => {
    stage = shared();
  });
  afterEach((test) => stage.reset(test));

  test("shows the agents of a workflow run by phase, those that failed, and the messages of one", async () => {
    const { id: agent } = await stage.api<{ id: string }>("/v1/agents", {
      name: "Planner",
      model: "sonnet",
      tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
      multiagent: { type: "multiagent_20261001" },
    });
    const { id } = await stage.api<{ id: string }>("/v1/sessions", {
      agent,
      environment_id: "env_local",
      title: "Review",
      initial_events: [{ type: "user.message", content: [{ type: "text", text: "Use a workflow" }] }],
    });
    const page = await stage.open(`/sessions/${id}`);
    const talk = page.getByRole("log");
    const scan = talk.getByRole("region", { name: "Phase Scan" });
    const judge = talk.getByRole("region", { name: "Phase Judge" });
    await scan.getByRole("button", { name: /^Ended: leaf-one/ }).waitFor();
    await scan.getByRole("button", { name: /^Failed: leaf-two.*No such part/ }).waitFor();
    await judge.getByRole("button", { name: /^Running: judge/ }).waitFor();
    await talk.getByText(/^3 agents · 1 running · 1 failed · 1 ended/).waitFor();

    await talk.getByRole("button", { name: "Show failed only" }).click();
    await scan.getByRole("button", { name: /leaf-one/ }).waitFor({ state: "detached" });
    await talk.getByRole("button", { name: "Show all agents" }).click();
    // The list is one tab stop; arrow keys move in it.
    await scan.getByRole("button", { name: /leaf-one/ }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await scan.getByText("One is good.").waitFor();

    await stage.release("judge");
    await judge.getByRole("button", { name: /^Ended: judge/ }).waitFor();
    await talk.getByText("Completed", { exact: true }).waitFor();
    // A link to an agent opens the run with its messages.
    const link = await scan.getByRole("link", { name: "Link to this agent" }).getAttribute("href");
    await page.goto(`${stage.url}${link}`);
    await scan.getByText("One is good.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
