import { madeUpLogin } from "@tandem/rehearsal";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const KEY = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };

/** A service or proxy that accepts connections and never responds. */
async function silentService() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const ANTHROPIC = (url: string) => `{ provider: { backend: anthropic, anthropic: { baseUrl: "${url}" } } }`;
const LOGIN = () => "{ provider: { backend: claude-code } }";
const BY_KEY = (url: string) =>
  `{ provider: { backend: claude-code }, claudeCode: { auth: api_key, baseUrl: "${url}" } }`;

// Claude Code has its own list of models.
const LISTED = { code: 0, output: /sonnet/ };
const TABLED = { code: 0, output: /^The list could not be fetched: .*within 20 s/m };

/** Concurrent, because each command waits for its own timeout. */
describe.concurrent("status, doctor and models finish although the API does not respond", () => {
  test.for([
    { name: "anthropic", llm: ANTHROPIC, why: "within 1\\d s", models: TABLED },
    { name: "claude-code with a login", llm: LOGIN, why: "no answer in time", models: LISTED },
    { name: "claude-code with a key", llm: BY_KEY, why: "within 1\\d s", models: LISTED },
  ])("on $name", async ({ llm, why, models }, { expect }) => {
    await using service = await silentService();
    await using machine = await scratchMachine(`llm: ${llm(service.url)}`);
    await machine.trust();
    await madeUpLogin(machine.variables.CLAUDE_CONFIG_DIR);
    const expected = {
      status: { code: 5, output: new RegExp(`unreachable .*${why}`) },
      doctor: {
        code: 1,
        output: new RegExp(`^failure +credential .*${why}[^]*^failure +network .*unreachable: timeout`, "m"),
      },
      models,
    };
    const env = llm === LOGIN ? { HTTPS_PROXY: service.url } : KEY;
    const check = async (command: keyof typeof expected): Promise<void> => {
      const { code, output } = expected[command];
      const outcome = await machine.run([command], { env });
      expect(outcome.stdout + outcome.stderr).toMatch(output);
      expect(outcome.code).toBe(code);
    };
    const waiting = [check("status"), check("doctor")];
    // Claude Code must start within the time for a list: not together with that of the other commands.
    if (models === LISTED) await Promise.all(waiting);
    await Promise.all([...waiting, check("models")]);
  });
});
