import { describe, expect, test } from "vitest";
import { z } from "zod";
import { configSchema } from "./config.ts";
import { ROLES } from "./llm-config.ts";
import { secretReference } from "./secret-reference.ts";

const refusal = (llm: unknown) => configSchema.safeParse({ llm }).error?.issues.map((issue) => issue.path.join("."));

describe("config schema", () => {
  test("an empty file is a valid config that calls no service", () => {
    const { llm } = configSchema.parse({});
    expect(llm.provider.backend).toBe("none");
    expect(llm.claudeCode.auth).toBe("login");
    expect(llm.models).toEqual({ default: "sonnet" });
    expect(llm.limits.patience).toBe(300_000);
  });

  test("every default can be written into the file", () => {
    const schema = z.toJSONSchema(configSchema, { io: "input", target: "draft-7" });
    const collect = (node: typeof schema): unknown =>
      node.properties
        ? Object.fromEntries(
            Object.entries(node.properties).map(([key, child]) => [key, collect(child as typeof node)]),
          )
        : node.default;
    expect(configSchema.parse(JSON.parse(JSON.stringify(collect(schema))))).toEqual(configSchema.parse({}));
  });

  test("every role can have a model", () => {
    const models = Object.fromEntries(ROLES.map((role) => [role, "haiku"]));
    expect(configSchema.parse({ llm: { models } }).llm.models).toEqual(models);
  });

  test("every key has a description", () => {
    const undocumented: string[] = [];
    const visit = (node: z.core.JSONSchema.BaseSchema, path: string) => {
      if (path && !node.description) undocumented.push(path);
      for (const [key, child] of Object.entries(node.properties ?? {})) {
        visit(child as z.core.JSONSchema.BaseSchema, `${path}.${key}`);
      }
    };
    visit(z.toJSONSchema(configSchema, { io: "input" }), "");
    expect(undocumented).toEqual([]);
  });

  test("all errors are reported at once, including unknown keys", () => {
    expect(refusal({ provider: { backend: "claude" }, models: { defualt: "opus" }, limits: { idle: 5 } })).toEqual([
      "llm.provider.backend",
      "llm.models",
      "llm.limits.idle",
    ]);
  });

  test.each([
    "claude-opus-5",
    "claude-sonnet-4-5-20250929",
    "anthropic/claude-haiku-5",
    "claude-opus-5@20260101",
    "sonnet[1m]",
  ])("model %s is accepted", (model) => expect(refusal({ models: { default: model } })).toBeUndefined());

  test.each(["", "two words", "--flag", "sonnet\n"])("model %j is refused", (model) => {
    expect(refusal({ models: { default: model } })).toEqual(["llm.models.default"]);
  });

  test.each(["evil.example/#", "us-east5.evil.example", "us east5", "a@b"])(
    "location %j would send a Google token elsewhere and is refused",
    (location) => expect(refusal({ provider: { vertex: { location } } })).toEqual(["llm.provider.vertex.location"]),
  );

  test.each(["ftp://example.com", "example.com", "https://user:password@example.com"])(
    "base URL %s is refused",
    (baseUrl) => {
      expect(refusal({ provider: { anthropic: { baseUrl } } })).toEqual(["llm.provider.anthropic.baseUrl"]);
    },
  );
});

describe("secret reference", () => {
  test.each(["env:ANTHROPIC_API_KEY", "file:~/.keys/anthropic", "command:op read op://vault/key"])(
    "%s",
    (reference) => {
      expect(secretReference.parse(reference)).toBe(reference);
    },
  );

  test.each(["sk-ant-api03-secret", "env:", "env:NOT A NAME", "file:", "command: "])("%s is refused", (value) => {
    const message = secretReference.safeParse(value).error!.message;
    expect(message).toContain("does not belong in this file");
  });

  test("a pasted secret is not repeated", () => {
    expect(secretReference.safeParse("sk-ant-api03-pasted").error!.message).not.toContain("pasted");
  });
});
