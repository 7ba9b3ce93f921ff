import { readFile, rm } from "node:fs/promises";
import { madeUpLogin, startRehearsal } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

const KEY = { ANTHROPIC_API_KEY: "sk-ant-made-up" };

interface Shown {
  models: { id: string; aliases?: string[]; contextWindow?: number; origins: Record<string, { from: string }> }[];
  not_listed: { id: string; contextWindow?: number }[];
  list: { from: string; problem?: { code: string } };
}

/** A project on Anthropic's API, which the rehearsal emulates. */
const onApi = (url: string, models = "{}") =>
  scratchMachine(`llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${url}" } }, models: ${models} }`);

describe("tandem models", () => {
  test("lists the service's models with details and roles", async () => {
    await using rehearsal = await startRehearsal([], {
      models: [{ id: "claude-opus-9", displayName: "Claude Opus 9" }],
    });
    await using machine = await onApi(rehearsal.url, "{ curator: claude-opus-9, repair: claude-nobody-1 }");
    await machine.trust();
    const { code, stdout } = await machine.run(["models"], { env: KEY });
    expect(code).toBe(0);
    // Shows the service's data and invents no price for an unknown model.
    expect(stdout).toMatch(/^claude-opus-9 +Claude Opus 9 +200k +64k +– +– +– +curator$/m);
    expect(stdout).toMatch(/^claude-sonnet-5-5 +not in the service's list +1M +128k +2 \/ 10 +– +thinking +default,/m);
    expect(stdout).toMatch(/^claude-nobody-1 +not in the service's list +– +– +– +– +– +repair$/m);
    expect(stdout).toMatch(/list prices of \d{4}-\d\d-\d\d/);
  });

  test("fetches once a day or on request; offline it uses the cache or the table", async () => {
    const rehearsal = await startRehearsal([], { models: [{ id: "claude-sonnet-5-5", displayName: "Sonnet" }] });
    await using machine = await onApi(rehearsal.url);
    await machine.trust();
    const asked = () => rehearsal.requests.filter(({ answeredBy }) => answeredBy === "models").length;
    const show = async (...args: string[]) => {
      const { stdout, stderr, code } = await machine.run(["models", "--json", ...args], { env: KEY });
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Shown;
    };
    expect(await show()).toMatchObject({ list: { from: "live" } });
    const { models, list } = await show();
    expect(list).toMatchObject({ from: "cache" });
    expect(models).toMatchObject([
      {
        contextWindow: 1_000_000,
        maxOutputTokens: 64_000,
        origins: { contextWindow: { from: "table" }, maxOutputTokens: { from: "cache" }, price: { from: "table" } },
      },
    ]);
    expect(asked()).toBe(1);
    expect(await show("--refresh")).toMatchObject({ list: { from: "live" } });
    expect(asked()).toBe(2);
    expect(await readFile(machine.folder.join("home", ".tandem", "models.json"), "utf8")).not.toContain("sk-ant");
    await rehearsal.close();
    expect(await show("--refresh")).toMatchObject({ list: { from: "cache", problem: { code: "network" } } });
  });

  test("falls back to the table and says so; a rejected key is an error", async () => {
    const gone = await startRehearsal();
    await gone.close();
    await using machine = await onApi(gone.url);
    await machine.trust();
    const { code, stdout, stderr } = await machine.run(["models"], { env: KEY });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("The list could not be fetched") });
    expect(stdout).toMatch(/^claude-opus-5-5 +Claude Opus 5\.5 +opus +1M +128k +4 \/ 20 /m);
    expect(stdout).toContain("Tandem's own table of");
    expect((await machine.run(["models"])).code).not.toBe(0);
  });

  test("lists each Claude Code model once, with its aliases and efforts", async () => {
    await using rehearsal = await startRehearsal([], { proxy: true });
    await using machine = await scratchMachine(
      "llm: { provider: { backend: claude-code }, models: { default: opus, triage: claude-haiku-5-5, repair: claude-opus-4-8 } }",
    );
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const { stdout } = await machine.run(["models"], { env: rehearsal.proxy.variables });
    expect(stdout).toMatch(
      /^claude-opus-5-5 +Opus +default, opus +1M +128k +4 \/ 20 +low–max .*default, candidateExtraction/m,
    );
    expect(stdout).toMatch(/^claude-haiku-5-5 +Haiku +haiku .*triage$/m);
    expect(stdout).toMatch(/^claude-opus-4-8 +not in the service's list +1M .*repair$/m);
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ", 1)[0]);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("with a key, the command and the server add details from Anthropic's API", async () => {
    await using machine = await sessionMachine([], "  provider: { backend: claude-code }\n");
    const forget = () => rm(`${machine.variables.TANDEM_HOME}/models.json`);
    await forget();
    const { models } = JSON.parse((await machine.run(["models", "--json"])).stdout) as Shown;
    expect(models.find(({ id }) => id === "claude-opus-5-5")).toMatchObject({
      aliases: expect.arrayContaining(["opus"]) as string[],
      contextWindow: 1_000_000,
      origins: {
        contextWindow: { from: "table" },
        maxOutputTokens: { from: "live" },
        efforts: { from: "live" },
        price: { from: "table" },
      },
    });
    await forget();
    await using up = await machine.up();
    const reply = await fetch(`${up.url}/v1/models/opus`, { headers: { authorization: `Bearer ${up.token}` } });
    expect(await reply.json()).toMatchObject({
      id: "claude-opus-5-5",
      max_input_tokens: 1_000_000,
      max_tokens: 64_000,
      tandem: {
        price: { input: 4, output: 20 },
        origins: { max_input_tokens: { from: "table" }, max_tokens: { from: "live" }, price: { from: "table" } },
      },
    });
    expect(machine.rehearsal.modelRequests).toEqual([]);
  });
});
