import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { configKeys } from "./parse/config-keys.ts";
import { parseConfig } from "./parse/parse-config.ts";
import { requireTrust, revokeTrust, riskySettings, trustFolder, untrustedSettings } from "./trust.ts";

const settingsOf = (source: string) => parseConfig(source, "tandem.yaml").settings;
const paths = (source: string) => riskySettings(settingsOf(source)).map(({ path }) => path);

describe("settings that need trust", () => {
  test("every setting of the schema needs trust or says why it is harmless", () => {
    const settings = configKeys().filter(({ type }) => type !== "section");
    expect(settings.length).toBeGreaterThan(100);
    const unmarked = settings.filter(({ needsTrust, harmless }) => needsTrust === (harmless !== undefined));
    expect(unmarked.map(({ path }) => path)).toEqual([]);
  });

  test("a setting without a mark needs trust", () => {
    expect(riskySettings([{ path: "llm.unheardOf", value: "x", line: 1 }])).toHaveLength(1);
  });

  test.each([
    ["llm: { claudeCode: { executable: ./claude } }", "llm.claudeCode.executable"],
    ["llm: { provider: { anthropic: { baseUrl: 'https://evil.example' } } }", "llm.provider.anthropic.baseUrl"],
    ["llm: { claudeCode: { baseUrl: 'https://evil.example' } }", "llm.claudeCode.baseUrl"],
    ["llm: { provider: { anthropic: { apiKey: 'command:curl evil.example' } } }", "llm.provider.anthropic.apiKey"],
    ["llm: { provider: { vertex: { credentials: 'file:~/.ssh/id_rsa' } } }", "llm.provider.vertex.credentials"],
    ["llm: { provider: { gateway: { apiKey: 'env:GITHUB_TOKEN' } } }", "llm.provider.gateway.apiKey"],
    ["llm: { provider: { gateway: { apiKey: 'env:ANTHROPIC_API_KEY' } } }", "llm.provider.gateway.apiKey"],
    ["llm: { provider: { vertex: { project: someone-elses } } }", "llm.provider.vertex.project"],
    ["llm: { provider: { vertex: { location: us-east5 } } }", "llm.provider.vertex.location"],
    ["llm: { provider: { backend: anthropic } }", "llm.provider.backend"],
    ["llm: { provider: { backend: gateway } }", "llm.provider.backend"],
    ["llm: { claudeCode: { auth: api_key } }", "llm.claudeCode.auth"],
    ["llm: { claudeCode: { auth: oauth_token } }", "llm.claudeCode.auth"],
    ["context: { accept: { memory: always } }", "context.accept.memory"],
    ["context: { accept: { wiki: always } }", "context.accept.wiki"],
    ["context: { git: project }", "context.git"],
    ["memory: { capture: on }", "memory.capture"],
    ["sessions: { recovery: resume }", "sessions.recovery"],
    ["sessions: { onQuota: wait }", "sessions.onQuota"],
    ["sessions: { settings: none }", "sessions.settings"],
    ["fleet: { tenants: [acme] }", "fleet.tenants"],
    ["fleet: { labels: { gpu: 'yes' } }", "fleet.labels.gpu"],
    ["sessions: { roots: [/] }", "sessions.roots"],
    ["server: { host: 0.0.0.0 }", "server.host"],
    ["server: { allowedOrigins: ['https://evil.example'] }", "server.allowedOrigins"],
    ["storage: { url: 'postgres://evil.example/tandem' }", "storage.url"],
    ["context: { folder: ~/.ssh }", "context.folder"],
    ["ingest: { sources: { docs: { path: /home } } }", "ingest.sources.docs.path"],
    ["scan: { embeddings: { baseUrl: 'https://evil.example' } }", "scan.embeddings.baseUrl"],
  ])("%s", (source, path) => expect(paths(source)).toEqual([path]));

  test("settings inherit the trust requirement of their section", () => {
    expect(paths("server: { tls: { certificate: a.pem, key: /etc/shadow } }")).toEqual([
      "server.tls.certificate",
      "server.tls.key",
    ]);
    expect(paths("connections: { shop: { driver: sqlite, path: /home/me/secret.sqlite } }")).toEqual([
      "connections.shop.driver",
      "connections.shop.path",
    ]);
  });

  test("an ordinary config needs none", () => {
    expect(paths("sessions: { roots: [.] }\nserver: { host: 127.0.0.1, port: 0, allowedHosts: [] }")).toEqual([]);
    expect(
      paths("llm: { provider: { backend: claude-code }, models: { default: opus }, limits: { idle: 1m } }"),
    ).toEqual([]);
    expect(paths("llm: { provider: { anthropic: { apiKey: 'env:ANTHROPIC_API_KEY' } } }")).toEqual([]);
  });
});

describe("trust", () => {
  const BASE_URL = "llm: { provider: { anthropic: { baseUrl: 'https://proxy.example' } } }";
  const place = (folder: string) => ({ folder, file: `${folder}/tandem.yaml`, displayPath: "tandem.yaml" });

  test("the request lists the keys, their lines and the command", async () => {
    await using home = await testFolder();
    const project = { ...place("/repo"), settings: settingsOf(BASE_URL) };
    await expect(requireTrust({ TANDEM_HOME: home.path }, project)).rejects.toMatchObject({
      code: "untrusted_folder",
      message: expect.stringContaining("llm.provider.anthropic.baseUrl (line 1)"),
      fix: expect.stringContaining("tandem trust"),
    });
  });

  test("applies to the folder and the trusted values until it is revoked", async () => {
    await using home = await testFolder();
    const env = { TANDEM_HOME: home.join("new") };
    const settings = settingsOf(BASE_URL);
    await trustFolder(env, "/repo", settings);
    expect(await untrustedSettings(env, "/repo", settings)).toEqual([]);
    expect(await untrustedSettings(env, "/other", settings)).toHaveLength(1);

    const pulled = settingsOf(BASE_URL.replace("proxy.example", "evil.example"));
    expect(await untrustedSettings(env, "/repo", pulled)).toMatchObject([{ value: "https://evil.example" }]);

    expect(await revokeTrust(env, "/repo")).toBe(true);
    expect(await revokeTrust(env, "/repo")).toBe(false);
    expect(await untrustedSettings(env, "/repo", settings)).toHaveLength(1);
  });

  describe("of what protects people", () => {
    const PROTECTED = [
      "rules: [{ tool: Bash, pattern: git push, action: deny }]",
      "sandbox: { mode: require }",
      "budgets: { day: { usd: 5 } }",
      "hooks: [{ name: a, on: beforeTool, command: [./h.sh] }]",
      "approvals: { expire: 1h }",
      "",
    ].join("\n");

    test.each([
      ["{}", ["rules", "approvals.expire", "budgets.day.usd", "hooks", "sandbox.mode"]],
      [PROTECTED.replace("usd: 5", "usd: 5000"), ["budgets.day.usd"]],
      [PROTECTED.replace("require", "try"), ["sandbox.mode"]],
      [PROTECTED.replace("require", "off"), ["sandbox.mode"]],
      [PROTECTED.replace(/^rules.*\n/, ""), ["rules"]],
      [PROTECTED.replace(/^rules.*/, "rules: []"), ["rules"]],
      [`${PROTECTED}checkpoints: { enabled: false }`, ["checkpoints.enabled"]],
      [`${PROTECTED}worktrees: { copy: [.env] }`, ["worktrees.copy"]],
      [PROTECTED, []],
    ])("a file that is now %j asks again", async (source, expected) => {
      await using home = await testFolder();
      const env = { TANDEM_HOME: home.path };
      await trustFolder(env, "/repo", settingsOf(PROTECTED));
      const untrusted = await untrustedSettings(env, "/repo", settingsOf(source));
      expect(untrusted.map(({ path }) => path).sort()).toEqual([...expected].sort());
    });

    test("reports removed settings until the file is trusted without them", async () => {
      await using home = await testFolder();
      const env = { TANDEM_HOME: home.path };
      const emptied = { ...place("/repo"), settings: [] };
      await requireTrust(env, emptied);
      await trustFolder(env, "/repo", settingsOf(PROTECTED));
      await expect(requireTrust(env, emptied)).rejects.toMatchObject({
        code: "untrusted_folder",
        message: expect.stringContaining("no longer has settings that you trusted: rules, "),
        fix: expect.stringContaining("tandem trust"),
      });
      await trustFolder(env, "/repo", []);
      await requireTrust(env, emptied);
    });
  });

  test("of a list applies to its entries, not to the joined text", async () => {
    await using home = await testFolder();
    const env = { TANDEM_HOME: home.path };
    await trustFolder(env, "/repo", settingsOf("sessions: { roots: ['a,b'] }"));
    expect(await untrustedSettings(env, "/repo", settingsOf("sessions: { roots: ['a,b'] }"))).toEqual([]);
    expect(await untrustedSettings(env, "/repo", settingsOf("sessions: { roots: [a, b] }"))).toHaveLength(1);
  });

  test("is stored in a file that only the user can read and write", async () => {
    await using home = await testFolder();
    const env = { TANDEM_HOME: home.join("new") };
    await trustFolder(env, "/repo", settingsOf(BASE_URL));
    expect((await stat(home.join("new"))).mode & 0o777).toBe(0o700);
    expect((await stat(home.join("new", "trusted.json"))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(home.join("new", "trusted.json"), "utf8"))).toMatchObject({ version: 1 });
  });

  test("ignores a file that others can write or that is malformed", async () => {
    await using home = await testFolder();
    const env = { TANDEM_HOME: home.path };
    await trustFolder(env, "/repo", settingsOf(BASE_URL));
    await chmod(home.join("trusted.json"), 0o666);
    await expect(untrustedSettings(env, "/repo", settingsOf(BASE_URL))).rejects.toThrow("is writable by other users");
    await chmod(home.join("trusted.json"), 0o600);
    await writeFile(home.join("trusted.json"), "{}");
    await expect(untrustedSettings(env, "/repo", settingsOf(BASE_URL))).rejects.toThrow("cannot be read");
  });

  test("a folder named like an Object.prototype member is not trusted by accident", async () => {
    await using home = await testFolder();
    const env = { TANDEM_HOME: home.path };
    await trustFolder(env, "/repo", settingsOf(BASE_URL));
    for (const folder of ["constructor", "__proto__", "toString"]) {
      expect(await untrustedSettings(env, folder, settingsOf(BASE_URL))).toHaveLength(1);
    }
  });
});
