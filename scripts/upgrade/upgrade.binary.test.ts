import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { expect, inject, test } from "vitest";
import { unpackFixture } from "./unpack-fixture.ts";
import { startUpgradedServer } from "./upgraded-server.ts";

const why = whyNoPostgres();

interface Listed<T> {
  data: T[];
}

test.for([
  { engine: "sqlite" as const, skipped: false },
  { engine: "postgres" as const, skipped: why !== undefined },
])(
  "a home of version 0.1.0 on $engine: sessions, approvals, grants, quota waits, checkpoints, tokens, rules, trust and the context still work",
  async ({ engine, skipped }, { skip }) => {
    skip(skipped, why);
    await using fixture = unpackFixture(engine);
    const inWork = (name: string): string => join(fixture.project, "work", name);
    await using postgres = engine === "postgres" ? await startPostgres() : undefined;
    const database = await postgres?.createDatabase(fixture.dump);
    // A successful start shows that the settings which need trust are still trusted.
    await using server = await startUpgradedServer(fixture, database);
    const { call } = server;
    const client = new Anthropic({ apiKey: fixture.tokens.operator, baseURL: server.url });

    const titles: Record<string, string> = {};
    for await (const session of client.beta.sessions.list({ include_archived: true })) {
      titles[session.title ?? ""] = session.id;
    }
    const names = ["Archived", "Asking", "Finished", "Granted", "On a branch", "Out of quota", "Scouted", "Waiting"];
    expect(Object.keys(titles).toSorted()).toEqual(names);
    const idOf = (title: string): string => titles[title]!;

    const eventsOf = async (title: string) => {
      const events = [];
      for await (const event of client.beta.sessions.events.list(idOf(title))) events.push(event);
      return events;
    };
    const saidIn = async (title: string): Promise<string[]> =>
      (await eventsOf(title)).flatMap((event) =>
        event.type === "agent.message" ? event.content.map((block) => ("text" in block ? block.text : "")) : [],
      );
    const awaitWords = async (title: string, words: string): Promise<void> => {
      await expect.poll(() => saidIn(title), { interval: 250 }).toContain(words);
    };
    const say = (title: string, words: string) =>
      client.beta.sessions.events.send(idOf(title), {
        events: [{ type: "user.message", content: [{ type: "text", text: words }] }],
      });

    // First, because checkpoints of this age are pruned a minute after the start.
    expect(existsSync(inWork("gone.txt"))).toBe(false);
    await call("POST", `/v1/sessions/${idOf("Finished")}/rewind`, { turn: 2, force: true });
    expect(readFileSync(inWork("gone.txt"), "utf8")).toBe("precious\n");
    expect(readFileSync(inWork("notes.txt"), "utf8")).toBe("one\n");

    // Turns that need a process run at the same time as the checks below. On Postgres, the sessions that continue by
    // themselves or after an answer show that turns run.
    const isWhole = engine === "sqlite" || inject("soak");
    if (isWhole) {
      await say("Finished", "Are you there?");
      await say("On a branch", "Fetch something.");
    }
    const { data: waiting } = await call<Listed<{ id: string; session_id: string }>>("GET", "/v1/approvals");
    expect(waiting.map(({ session_id: id }) => id).toSorted()).toEqual([idOf("Asking"), idOf("Waiting")].toSorted());
    const approval = waiting.find(({ session_id: id }) => id === idOf("Waiting"))!;
    const question = waiting.find(({ session_id: id }) => id === idOf("Asking"))!;
    expect(
      await server.status(fixture.tokens.reader, "POST", `/v1/approvals/${approval.id}`, { result: "allow" }),
    ).toBe(403);
    expect(
      await server.status(fixture.tokens.runner, "POST", `/v1/approvals/${approval.id}`, { result: "allow" }),
    ).toBe(200);
    await client.beta.sessions.events.send(idOf("Asking"), {
      events: [
        { type: "user.custom_tool_result", custom_tool_use_id: question.id, content: [{ type: "text", text: "Blue" }] },
      ],
    });

    expect(await server.status(fixture.tokens.reader, "GET", "/v1/sessions")).toBe(200);
    expect(await server.status("tandem_made_up", "GET", "/v1/sessions")).toBe(401);
    const acme = new Anthropic({ apiKey: fixture.tokens.acme, baseURL: server.url });
    const ofTenant = [];
    for await (const session of acme.beta.sessions.list()) ofTenant.push(session.title);
    expect(ofTenant).toEqual(["Of the tenant"]);

    const judge = async (command: string): Promise<string> =>
      (await call<{ verdict: { action: string } }>("POST", "/v1/rules/test", { call: `Bash(${command})` })).verdict
        .action;
    expect(await judge("curl http://127.0.0.1")).toBe("deny");
    expect(await judge("wget http://127.0.0.1")).toBe("deny");
    expect(await judge("git status")).toBe("allow");
    const { data: commands } = await call<Listed<{ name: string; source: string }>>(
      "GET",
      `/v1/sessions/${idOf("Finished")}/commands`,
    );
    expect(commands).toContainEqual(expect.objectContaining({ name: "greet", source: "project" }));
    const { data: budgets } = await call<Listed<object>>("GET", "/v1/budgets");
    expect(budgets).toContainEqual(expect.objectContaining({ scope: "day", unit: "usd", limit: 100 }));
    const { data: worktrees } = await call<Listed<object>>("GET", "/v1/worktrees");
    expect(worktrees).toMatchObject([{ branch: "tandem/branch-work" }]);
    const { data: agents } = await client.beta.agents.list();
    const versions = agents.map(({ name, version }) => `${name} ${version}`).toSorted();
    expect(versions).toEqual(["careful 1", "leader 1", "scout 1", "writer 2"]);
    const { data: files } = await client.beta.files.list();
    expect(await (await client.beta.files.download(files[0]!.id)).text()).toBe("Kept by the first edition.\n");

    const found = await call<Listed<{ key: string }>>("GET", "/v1/context/search?query=refunds");
    expect(found.data.map(({ key }) => key)).toEqual(
      expect.arrayContaining(["page:refunds", expect.stringMatching(/^memory:mem_/)]),
    );
    const { data: proposals } = await call<Listed<{ id: string }>>("GET", "/v1/proposals?states[]=open");
    expect(proposals).toHaveLength(1);
    await call("POST", `/v1/proposals/${proposals[0]!.id}/accept`, {});
    const page = readFileSync(join(fixture.project, "context", "wiki", "deliveries.md"), "utf8");
    expect(page).toContain("Deliveries take three days.");
    expect(await server.tandem("context", "search", "deliveries")).toContain("page:deliveries");
    const { data: jobs } = await call<Listed<{ kind: string; state: string }>>("GET", "/v1/jobs");
    expect(jobs.map(({ kind, state }) => `${kind} ${state}`)).toEqual(["ingest done", "ingest done", "scan done"]);
    const { data: stores } = await call<Listed<{ id: string; name: string }>>("GET", "/v1/memory_stores");
    const habits = stores.find(({ name }) => name === "Habits")!;
    const { data: memories } = await call<Listed<object>>("GET", `/v1/memory_stores/${habits.id}/memories?view=full`);
    expect(memories).toMatchObject([{ path: "/tea.md", content: "Green, no sugar.\n" }]);

    if (isWhole) {
      await awaitWords("Finished", "I am still here.");
      const asked = server.rehearsal.modelRequests.find(({ lastUserText }) => lastUserText.includes("Are you there?"));
      expect(JSON.stringify(asked?.messages)).toContain("Hello, Ada.");
      expect(JSON.stringify(asked?.messages)).not.toContain("Tidy up.");
      await awaitWords("On a branch", "It was denied.");
    }
    await awaitWords("Asking", "Noted.");
    await awaitWords("Waiting", "Approved and made.");
    expect(existsSync(inWork("approved.txt"))).toBe(true);
    // Both continue by themselves.
    await awaitWords("Granted", "Granted and made.");
    expect(existsSync(inWork("granted.txt"))).toBe(true);
    expect((await eventsOf("Granted")).filter((event) => event.type === "user.tool_confirmation")).toHaveLength(1);
    await awaitWords("Out of quota", "That is all.");
    expect(await saidIn("Out of quota")).toContain("The quota is back.");
    expect(readFileSync(inWork("quota.txt"), "utf8")).toBe("once\n");
    expect((await call<Listed<object>>("GET", "/v1/approvals")).data).toEqual([]);

    const listed = JSON.parse(await server.tandem("sessions", "list", "--json")) as { sessions: object[] };
    expect(listed.sessions).toHaveLength(names.length - 1);
    expect(await call("POST", "/v1/audit/verify", {})).toMatchObject({ ok: true });
    expect(await server.stop()).toBe(0);
  },
);
