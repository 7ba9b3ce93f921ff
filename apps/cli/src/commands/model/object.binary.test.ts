import { object, startRehearsal, text, type Script } from "@tandem/rehearsal";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const env = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };
const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, born: { type: "integer" } },
  required: ["name"],
};

async function ask(script: Script, schema: string | undefined, ...flags: string[]) {
  await using rehearsal = await startRehearsal(script);
  await using machine = await scratchMachine(
    `llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${rehearsal.url}" } }, limits: { attempts: 1 } }`,
  );
  await machine.trust();
  if (schema !== undefined) await writeFile(machine.folder.join("project", "schema.json"), schema);
  const outcome = await machine.run(["object", "--schema", "schema.json", "Ada Lovelace", ...flags], { env });
  return { ...outcome, requests: rehearsal.modelRequests.length };
}

describe("tandem object", () => {
  test("prints an object that matches the schema", async () => {
    const { code, stdout, stderr } = await ask([object({ name: "Ada", born: 1815 })], JSON.stringify(SCHEMA));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ name: "Ada", born: 1815 });
  });

  test("--json adds the report", async () => {
    const { stdout } = await ask([object({ name: "Ada" })], JSON.stringify(SCHEMA), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      object: { name: "Ada" },
      report: { operation: "object", outcome: "ok" },
    });
  });

  test("an answer that does not match is an error, never an object", async () => {
    const { code, stdout, stderr } = await ask(
      [object({ born: "long ago" }), object({ born: "long ago" })],
      JSON.stringify(SCHEMA),
    );
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toContain("→");
  });

  test.each([
    ["that is missing", undefined, "it does not exist"],
    ["that is not JSON", "{", "is not valid JSON"],
    ["that is not an object at its root", '{"type": "array"}', "does not describe an object at its root"],
    ["with a misspelt keyword", '{"type": "object", "propertys": {}}', "did you mean properties?"],
  ])("a schema %s is a clear error, and nothing is sent", async (_, schema, message) => {
    const { code, stdout, stderr, requests } = await ask([text("never")], schema);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: "", requests: 0 });
    expect(stderr).toContain(message);
  });
});
