import { RequestError } from "@tandem/protocol";
import { afterAll, describe, expect, test } from "vitest";
import { applyRules } from "./apply-rules.ts";
import { checkRule } from "./compile-rule.ts";
import { readCall } from "./read-call.ts";
import { suggestRule } from "./suggest-rule.ts";
import { scratchPaths } from "../testing/scratch-paths.ts";
import { compiled, kept } from "../testing/made-up-rules.ts";

const { paths, say, remove } = scratchPaths();
afterAll(remove);

describe("paths", () => {
  test.each<[string, string, string]>([
    ["allow Edit(src/**)", "Edit(src/deep/a.ts)", "allow"],
    ["allow Edit(src/**)", "Edit(src/../secrets/key)", "-"],
    ["allow Edit(src/**)", "Write(src/a.ts)", "-"],
    ["allow edit(src/**)", "Write(src/a.ts)", "allow"],
    ["allow edit(src/*)", "Write(src/deep/a.ts)", "-"],
    ["allow edit(**)", "Write(way-out/a.ts)", "-"],
    ["allow edit(**)", "Write(~/a.ts)", "-"],
    ["allow edit(~/notes/**)", "Write(~/notes/a.md)", "allow"],
    ["allow edit(*.ts)", "Edit(src/deep/a.ts)", "allow"],
    ["allow edit(*.ts)", "Edit(/elsewhere/a.ts)", "-"],
    ["allow edit(./a.ts)", "Edit(src/a.ts)", "-"],
    ["allow edit(loop/**)", "Edit(loop/x)", "ask"],
    // A denied file is denied under all its names.
    ["deny Edit(secrets/**)", "Write(secrets/key)", "deny"],
    ["deny Edit(secrets/**)", "Edit(shortcut/key)", "deny"],
    ["deny Edit(secrets/**)", "Write(dangling)", "deny"],
    ["deny Edit(shortcut/**)", "Write(secrets/key)", "deny"],
    ["deny Edit(secrets/**)", "Read(secrets/key)", "-"],
    ["deny Read(secrets/)", "Read(secrets/key)", "deny"],
    ["deny Read(secrets/**)", "Edit(secrets/key)", "deny"],
    ["deny Read(.env)", "Read(/elsewhere/.env)", "deny"],
    ["deny Read(.env)", "Read(.env.example)", "-"],
    ["deny Read(secrets/**)", "Read(loop/x)", "ask"],
    // A search reads files.
    ["deny Read(.env)", "Grep(.)", "ask"],
    ["deny Read(.env)", "Grep(src)", "ask"],
    ["deny Read(secrets/key)", "Grep(src)", "-"],
    ["deny Read(.env)", "Glob(.)", "-"],
    ["deny Read(secrets/**)", "Glob(secrets)", "deny"],
  ])("%s: %s → %s", (rule, call, expected) => {
    expect(say(call, rule)).toBe(expected);
  });

  test("a search whose filter excludes a file does not read it", () => {
    const rules = compiled(paths, "deny Read(.env)");
    const grep = (glob: string) =>
      applyRules(rules, { name: "Grep", input: { pattern: "x", glob }, thread: null }, paths).verdict?.action;
    expect(grep("*.ts")).toBeUndefined();
    expect(grep(".e*")).toBe("ask");
  });

  test("rules ignore case on a case-insensitive file system", () => {
    const folding = { ...paths, foldsCase: true };
    const read = readCall("Read(SECRETS/Key)");
    expect(applyRules(compiled(folding, "deny Read(secrets/**)"), read, folding).verdict?.action).toBe("deny");
    expect(applyRules(compiled(paths, "deny Read(secrets/**)"), read, paths).verdict).toBeUndefined();
  });

  test("path rules apply to paths in an MCP tool's input", () => {
    const call = 'mcp__files__read({"paths":["x",{"path":"shortcut/key"}]})';
    expect(say(call, "deny Read(secrets/**)")).toBe("deny");
    expect(say(call, "deny Read(src/**)")).toBe("-");
  });
});

describe("domains", () => {
  test.each<[string, string, string]>([
    ["allow WebFetch(example.com)", "https://example.com/x", "allow"],
    ["allow WebFetch(example.com)", "https://EXAMPLE.com./x", "allow"],
    ["allow WebFetch(example.com)", "https://www.example.com/", "-"],
    ["allow WebFetch(*.example.com)", "https://a.b.example.com/", "allow"],
    ["allow WebFetch(*.example.com)", "https://example.com/", "-"],
    ["allow WebFetch(*.example.com)", "https://evilexample.com/", "-"],
    ["allow WebFetch(example.com)", "https://example.com@evil.org/", "-"],
    ["allow WebFetch(example.com)", "https://example.com.evil.org/", "-"],
    ["allow WebFetch(example.com)", "https://evil.org/#example.com", "-"],
    ["allow WebFetch(example.com)", "file:///etc/passwd", "-"],
    ["allow WebFetch(bücher.example)", "https://xn--bcher-kva.example/", "allow"],
    ["deny WebFetch(example.com)", "https://user:x@www.example.com:444/", "deny"],
    ["deny WebFetch(xn--bcher-kva.example)", "https://BÜCHER.example", "deny"],
    ["deny WebFetch(127.0.0.1)", "http://0x7f.1/", "deny"],
    ["deny WebFetch(example.com)", "http:\\\\example.com\\", "deny"],
    ["deny WebSearch(example.com)", "https://example.com/", "deny"],
    ["deny web(example.com)", "not an address at all", "ask"],
  ])("%s: %s → %s", (rule, url, expected) => {
    expect(say(`WebFetch(${url})`, rule)).toBe(expected);
  });

  test("a web search may reach every domain unless it is restricted", () => {
    const search = (input: Record<string, unknown>, rule: string) =>
      applyRules(compiled(paths, rule), { name: "WebSearch", input, thread: null }, paths).verdict?.action;
    expect(search({ query: "x" }, "deny web(example.com)")).toBe("ask");
    expect(search({ query: "x", blocked_domains: ["example.com"] }, "deny web(example.com)")).toBeUndefined();
    expect(search({ query: "x", allowed_domains: ["a.example.com"] }, "deny web(example.com)")).toBe("deny");
    expect(search({ query: "x", allowed_domains: ["example.org"] }, "deny web(example.com)")).toBeUndefined();
    expect(search({ query: "x", allowed_domains: ["example.org", "x.y"] }, "allow web(example.org)")).toBeUndefined();
  });
});

describe("tools", () => {
  test.each<[string, string, string]>([
    ["deny mcp__github__*", "mcp__github__merge", "deny"],
    ["deny mcp__github", "mcp__github__merge", "deny"],
    ["deny mcp__github", "mcp__github2__merge", "-"],
    ["allow mcp__github__get_*", "mcp__github__get_issue", "allow"],
    ["allow mcp__github__get_*", "mcp__github__merge", "-"],
    ["ask mcp__*", "mcp__x__y", "ask"],
    ["deny read", "Grep(.)", "deny"],
    ["deny read", "Edit(x)", "-"],
    ["deny Agent(explorer)", "Task(explorer)", "deny"],
    ["deny Agent(explorer)", "Agent(other)", "-"],
    ["ask *", "TodoWrite", "ask"],
    ["deny Bash", "Monitor(tail -f x)", "deny"],
  ])("%s: %s → %s", (rule, call, expected) => {
    expect(say(call, rule)).toBe(expected);
  });
});

describe("rules that cannot be enforced are rejected when they are saved", () => {
  test.each([
    "allow Bsh(ls)",
    "allow bash(ls)",
    "deny Everything",
    "allow Bash(a && b)",
    "allow Bash(a > b)",
    "allow Bash(X=1 a)",
    "allow Bash($X)",
    "allow Bash(git $(x))",
    'allow Bash("a)',
    "allow Bash(g* status)",
    "allow Bash(sudo *)",
    "allow Bash(bash *)",
    "deny Edit(../x)",
    "deny Edit(a/**b)",
    "deny Edit(~root/x)",
    "deny WebFetch(https://example.com)",
    "deny WebFetch(example.com:80)",
    "deny WebFetch(exa*mple.com)",
    "deny *(x)",
    "deny TodoWrite(x)",
    "allow mcp__github__merge(x)",
  ])("%s", (text) => {
    expect(() => checkRule(kept(text))).toThrow(RequestError);
  });
});

describe("rule suggestions", () => {
  const suggest = (call: string): string | undefined => {
    const rule = suggestRule(readCall(call), paths);
    return rule && (rule.pattern === undefined ? rule.tool : `${rule.tool}(${rule.pattern})`);
  };

  test.each<[string, string | undefined]>([
    ["Bash(npm run test)", "Bash(npm run test)"],
    ["Bash(git commit -m 'a b')", "Bash(git commit -m 'a b')"],
    ["Bash(npm test 2>&1)", "Bash(npm test)"],
    ["Bash(npm test && rm x)", undefined],
    ["Bash(npm test > x)", undefined],
    ["Bash(npm test $X)", undefined],
    ["Bash(rm *.ts)", undefined],
    ["Bash(python3 -c 'x')", undefined],
    ["Bash(PATH=. npm test)", undefined],
    ["Bash(tandem up)", undefined],
    ["Edit(src/a.ts)", "Edit(src/a.ts)"],
    ["Edit(a.ts)", "Edit(./a.ts)"],
    ["Edit(shortcut/key)", "Edit(secrets/key)"],
    ["Edit(.git/config)", undefined],
    ["Edit(loop)", undefined],
    ["WebFetch(https://user@Example.com:1/x)", "WebFetch(example.com)"],
    ["WebFetch(file:///x)", undefined],
    ["mcp__github__merge", "mcp__github__merge"],
    ["TodoWrite", undefined],
  ])("%s → %s", (call, expected) => {
    expect(suggest(call)).toBe(expected);
    // A suggested rule can be saved and allows the call.
    if (expected !== undefined) {
      expect(() => checkRule(kept(`allow ${expected}`))).not.toThrow();
      expect(say(call, `allow ${expected}`)).toBe("allow");
    }
  });
});
