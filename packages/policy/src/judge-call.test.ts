import type { Tool, Verdict } from "@tandem/protocol";
import { expect, test } from "vitest";
import { judgeCall, type Judges } from "./judge-call.ts";
import { resolveTools } from "./resolve-tools.ts";
import type { JudgedCall, SessionRules } from "./rules/session-rules.ts";

const tools = (policy: "always_allow" | "always_ask", read = true): Tool[] =>
  resolveTools(
    [
      {
        type: "agent_toolset_20260401",
        default_config: { permission_policy: { type: policy } },
        configs: [{ name: "read", enabled: read }],
      },
    ],
    [],
  );

const hostServers = [{ name: "lsp", tools: [{ name: "hover", readOnly: true, readsPath: "path" }] }];

function judge(given: { tools?: Tool[]; verdict?: (call: JudgedCall) => Verdict | undefined; path?: string }) {
  const judges: Judges = {
    session: { folder: "/work", metadata: {} },
    tools: given.tools ?? tools("always_allow"),
    toolsOf: () => undefined,
    agentOf: () => undefined,
    hostServers,
    sessionRules: { judge: given.verdict ?? (() => undefined) } as SessionRules,
    mode: "default",
    plans: "/plans",
    skillFolders: [],
    home: "/home/ada",
  };
  const input = given.path === undefined ? {} : { path: given.path };
  return judgeCall({ name: "hover", mcpServer: "lsp", input, thread: null }, judges).permission;
}

test("a tool of the host that reads a file needs the permission of reading it", () => {
  expect(judge({ path: "src/a.ts" })).toBe("allow");
  expect(judge({}), "without a path it reads the folder").toBe("allow");
  expect(judge({ tools: tools("always_ask") })).toBe("ask");
  expect(judge({ tools: tools("always_allow", false) })).toBe("deny");
  expect(judge({ tools: [] })).toBe("deny");
});

test("rules for files and for the tool itself both count", () => {
  const rule = (action: Verdict["action"]): Verdict => ({ action, by: "rule", why: "A rule." });
  const secret = (call: JudgedCall) =>
    call.name === "Read" && call.input["file_path"] === "secret.ts" ? rule("deny") : undefined;
  expect(judge({ verdict: secret, path: "secret.ts" })).toBe("deny");
  expect(judge({ verdict: secret, path: "other.ts" })).toBe("allow");
  const own = (action: Verdict["action"]) => (call: JudgedCall) =>
    call.mcpServer === "lsp" ? rule(action) : undefined;
  expect(judge({ verdict: own("deny"), path: "a.ts" })).toBe("deny");
  expect(judge({ verdict: own("allow"), path: "a.ts", tools: tools("always_ask") })).toBe("allow");
});
