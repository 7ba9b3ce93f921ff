import { configSchema } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { parseConfig } from "./parse-config.ts";

function problems(source: string) {
  try {
    parseConfig(source, "tandem.yaml");
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("the config was accepted");
}

describe("a valid file", () => {
  test.each(["", "# nothing yet\n", "llm:\n", "llm:\n  models:\n    # default: opus\n"])(
    "%j holds only defaults",
    (source) => {
      const { config, settings } = parseConfig(source, "tandem.yaml");
      expect(config.llm.models.default).toBe("sonnet");
      expect(settings).toEqual([]);
    },
  );

  test("lists the settings of the file with their lines", () => {
    const { settings } = parseConfig("llm:\n  provider:\n    backend: anthropic\n  pool: { size: 2 }\n", "tandem.yaml");
    expect(settings).toEqual([
      { path: "llm.provider.backend", value: "anthropic", line: 3 },
      { path: "llm.pool.size", value: 2, line: 4 },
    ]);
  });

  test("a setting behind a YAML alias is found", () => {
    const source = "llm:\n  models: { default: &x command:/bin/evil }\n  provider: { anthropic: { apiKey: *x } }\n";
    expect(parseConfig(source, "tandem.yaml").settings).toContainEqual(
      expect.objectContaining({ path: "llm.provider.anthropic.apiKey", value: "command:/bin/evil" }),
    );
  });

  test("`off` is text, not a boolean", () => {
    expect(parseConfig("llm: { pool: { mode: off } }", "tandem.yaml").config.llm.pool.mode).toBe("off");
  });
});

describe("an invalid file", () => {
  test("names file, line, column, key, allowed values and the nearest match", () => {
    const error = problems("# ours\nllm:\n  provider:\n    backend: claudecode # who pays\n");
    expect(error.message).toBe(
      'tandem.yaml:4:14: llm.provider.backend: "claudecode" is not allowed. Did you mean claude-code? ' +
        "Allowed: none, anthropic, vertex, gateway, claude-code.",
    );
    expect(error.toJSON()["problems"]).toEqual([
      expect.objectContaining({ line: 4, column: 14, key: "llm.provider.backend", nearest: "claude-code" }),
    ]);
  });

  test("an unknown key is an error at the key, with its likely spelling", () => {
    expect(problems("llm:\n  moddels:\n    default: opus\n").problems).toEqual([
      expect.objectContaining({ line: 2, column: 3, key: "llm.moddels", nearest: "models" }),
    ]);
  });

  test("a key in the wrong section names the right section", () => {
    expect(problems("llm:\n  backend: anthropic\n").problems[0]).toMatchObject({ nearest: "llm.provider.backend" });
  });

  test("reports all problems at once, in file order", () => {
    const error = problems(
      "llm:\n  limits:\n    attempts: lots\n    idle: 90\n  models:\n    default: two words\nextra: 1\n",
    );
    expect(error.problems.map(({ line, key }) => `${line} ${key}`)).toEqual([
      "3 llm.limits.attempts",
      "4 llm.limits.idle",
      "6 llm.models.default",
      "7 extra",
    ]);
    expect(error.message).toContain("tandem.yaml has 4 problems:\n");
  });

  test("never repeats a pasted secret", () => {
    const error = problems("llm:\n  provider:\n    anthropic:\n      apiKey: sk-ant-pasted\n");
    expect(error.message).toContain("does not belong in this file");
    expect(JSON.stringify(error)).not.toContain("pasted");
  });

  test.each([
    ["llm: [\n", "not valid YAML"],
    ["llm:\n  pool: {}\n  pool: {}\n", "3:3: not valid YAML: map keys must be unique"],
    ["llm: {}\n---\nllm: {}\n", "a second document"],
    ["- llm\n", "expected a section, got a list"],
    ["llm:\n  models: sonnet\n", 'expected a section, got "sonnet"'],
    ["llm:\n  models:\n    triage:\n", "llm.models.triage: has no value"],
    ["llm:\n  limits:\n    concurrency: 100\n", "expected a whole number from 1 to 64, got 100"],
    ["llm:\n  promptCaching:\n    enabled: yes\n", 'expected true or false, got "yes"'],
    ["llm:\n  models:\n    default: 5\n", "needs quotes"],
    ["llm: *nowhere\n", "unresolved alias"],
    ["__proto__:\n  llm: 1\n", "__proto__: unknown setting"],
  ])("%j: %s", (source, text) => expect(problems(source).message).toContain(text));

  test.each([
    ["sessions: { roots: . }", 'sessions.roots: expected a list of texts such as [a, b], got "."'],
    ["server: { allowedHosts: [ok, 7] }", "server.allowedHosts: expected a list of texts such as [a, b], got 7"],
    ["server: { tls: { key: a } }", "server.tls: expected both files or none"],
    ["storage: { url: 'postgres://u:hunter2@h/d' }", "storage.url: expected postgres://"],
  ])("%s", (source, message) => {
    const error = problems(source);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("hunter2");
  });
});

describe("a section whose keys the user names", () => {
  const shop = (more: string) => `connections:\n  shop:\n    driver: sqlite\n${more}`;

  test("has settings under the chosen names", () => {
    const { config, settings } = parseConfig(shop("    path: shop.sqlite\n"), "tandem.yaml");
    expect(config.connections).toEqual({ shop: { driver: "sqlite", path: "shop.sqlite" } });
    expect(settings).toEqual([
      { path: "connections.shop.driver", value: "sqlite", line: 3 },
      { path: "connections.shop.path", value: "shop.sqlite", line: 4 },
    ]);
  });

  test.each([
    [shop("    pth: x\n    path: y\n"), "connections.shop.pth: unknown setting. Did you mean path?"],
    ["connections:\n  shop:\n    driver: oracle\n", 'connections.shop.driver: "oracle" is not allowed.'],
    ["connections:\n  shop:\n", "connections.shop.driver: is missing. Allowed: sqlite, postgres, duckdb, mysql."],
    ["connections:\n  shop: x\n", 'connections.shop: expected a section, got "x".'],
    ["connections:\n  My Shop:\n    driver: sqlite\n", "connections.My Shop: expected a name of lower-case letters"],
    [shop(""), "connections.shop: expected `path` for sqlite and duckdb, `url` for postgres and mysql"],
  ])("is refused in words that name the place: %j", (source, words) => {
    expect(problems(source).message).toContain(words);
  });

  test("rejects a password in an address without repeating it", () => {
    const source = "connections:\n  shop:\n    driver: postgres\n    url: postgres://me:hunter2@db/shop\n";
    expect(problems(source).message).toContain("without a password");
    expect(problems(source).message).not.toContain("hunter2");
  });
});

test("sections that the file does not have get their defaults, also in a copy", () => {
  const { config } = parseConfig("llm: { models: { default: opus } }\nsandbox:\n", "tandem.yaml");
  const whole = configSchema.parse({ llm: { models: { default: "opus" } } });
  expect({ ...config }).toEqual(whole);
  expect(Object.keys(config)).toEqual(Object.keys(whole));
  expect(config.sessions).toBe(config.sessions);
  config.fleet = { ...config.fleet, maxSessions: 3 };
  expect(config.fleet.maxSessions).toBe(3);
});
