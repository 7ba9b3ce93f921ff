import { describe, expect, test } from "vitest";
import { checkInit, checkPayer, isolatedOptions } from "./isolation.ts";

const login = { type: "login" } as const;
const clean = { tools: [], mcp_servers: [], plugins: [], apiKeySource: "none", cwd: "/n" } as const;
const init = (change: object) =>
  ({ ...structuredClone(clean), ...change }) as unknown as Parameters<typeof checkInit>[0];

describe("checkInit", () => {
  test("accepts the requested setup", () => {
    expect(() => checkInit(init({}), { toolNames: [], credential: login })).not.toThrow();
    const withTool = init({ tools: ["mcp__tandem__look"], mcp_servers: [{ name: "tandem", status: "connected" }] });
    expect(() => checkInit(withTool, { toolNames: ["look"], credential: login })).not.toThrow();
  });

  test("accepts host metadata, known placeholders and built-in plugins", () => {
    const change = {
      skills: ["doctor"],
      agents: ["x"],
      slash_commands: ["clear"],
      plugins: [{ name: "cc-plugin-privacy", path: "builtin" }],
      mcp_servers: [{ name: "tandem", status: "connected" }],
      tools: ["mcp__tandem__look", "DeferredToolPlaceholder"],
    };
    expect(() => checkInit(init(change), { toolNames: ["look"], credential: login })).not.toThrow();
  });

  test.each([
    ["a built-in tool", { tools: ["Bash"] }, "the tool Bash"],
    ["a foreign MCP server", { mcp_servers: [{ name: "github", status: "connected" }] }, "the MCP server github"],
    [
      "our server where no tools were asked for",
      { mcp_servers: [{ name: "tandem", status: "connected" }] },
      "the MCP server tandem",
    ],
    ["a plugin of the user's", { plugins: [{ name: "mine", path: "/home/u/mine" }] }, "the plugin mine"],
    [
      "a plugin that only bears a built-in's name",
      { plugins: [{ name: "cc-plugin-privacy", path: "/tmp/x" }] },
      "the plugin cc-plugin-privacy",
    ],
    [
      "a key on a call that runs on the login",
      { apiKeySource: "ANTHROPIC_API_KEY" },
      'the credential source "ANTHROPIC_API_KEY"',
    ],
    ["a helper's key", { apiKeySource: "apiKeyHelper" }, 'the credential source "apiKeyHelper"'],
  ])("rejects %s", (_, change, words) => {
    expect(() => checkInit(init(change), { toolNames: [], credential: login })).toThrow(
      expect.objectContaining({ code: "isolation_breached", message: expect.stringContaining(words) }),
    );
  });

  test("rejects a missing tool", () => {
    expect(() => checkInit(init({}), { toolNames: ["look"], credential: login })).toThrow("no tool mcp__tandem__look");
  });

  test("requires the key as source if a key was chosen", () => {
    expect(() => checkInit(init({}), { toolNames: [], credential: { type: "api_key", key: "k" } })).toThrow(
      'source "none"',
    );
  });
});

describe("isolatedOptions", () => {
  const options = isolatedOptions({
    folder: "/n",
    variables: { PATH: "/bin" },
    credential: login,
    system: undefined,
    allowTool: (id) => id === "mcp__tandem__look",
  });
  const context = { signal: new AbortController().signal, toolUseID: "t", requestId: "r" };

  test("set every option explicitly", () => {
    expect(options).toMatchObject({
      settingSources: [],
      skills: [],
      plugins: [],
      tools: [],
      mcpServers: {},
      strictMcpConfig: true,
      persistSession: false,
      permissionMode: "default",
      systemPrompt: "",
      env: { PATH: "/bin" },
    });
    expect(options.disallowedTools).toEqual(
      expect.arrayContaining(["Agent", "Task", "Bash", "Read", "Edit", "Write", "Skill", "WebFetch"]),
    );
  });

  test("deny every tool except the call's own", async () => {
    expect(await options.canUseTool!("mcp__tandem__look", {}, context)).toMatchObject({ behavior: "allow" });
    for (const name of ["Bash", "Skill", "Agent", "mcp__tandem__other", "mcp__github__push"]) {
      expect(await options.canUseTool!(name, {}, context)).toMatchObject({ behavior: "deny" });
    }
  });
});

describe("checkPayer", () => {
  const key = { type: "api_key", key: "k" } as const;
  const token = { type: "oauth_token", token: "t" } as const;

  test.each([
    ["a login", { subscriptionType: "Claude Max", apiProvider: "firstParty" as const }, login],
    ["a login of a Console account", { apiKeySource: "/login managed key" }, login],
    ["no login yet", { tokenSource: "none" }, login],
    ["a key", { apiKeySource: "ANTHROPIC_API_KEY", tokenSource: "claude.ai" }, key],
    ["a token", { tokenSource: "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR" }, token],
  ])("accepts %s", (_, account, credential) => {
    expect(() => checkPayer(account, credential)).not.toThrow();
  });

  test.each([
    ["a key in the place of a login", { apiKeySource: "ANTHROPIC_API_KEY" }, login],
    ["a helper in the place of a login", { apiKeySource: "apiKeyHelper" }, login],
    ["a token in the place of a login", { tokenSource: "CLAUDE_CODE_OAUTH_TOKEN" }, login],
    ["a login in the place of a key", { tokenSource: "claude.ai" }, key],
    ["a login in the place of a token", {}, token],
    ["another token in the place of a token", { tokenSource: "CLAUDE_CODE_OAUTH_TOKEN" }, token],
    ["another provider", { apiProvider: "bedrock" as const }, login],
  ])("rejects %s", (_, account, credential) => {
    expect(() => checkPayer(account, credential)).toThrow(expect.objectContaining({ code: "isolation_breached" }));
  });
});
