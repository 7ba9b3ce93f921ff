import { expect, test } from "vitest";
import { startEmulator } from "./start-emulator.ts";
import { emulatedSession, textsOf } from "./testing/emulated-session.ts";

test("a test in another language drives the emulator over HTTP", async () => {
  await using emulator = await startEmulator({ now: new Date("2027-01-01T00:00:00Z") });
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${emulator.url}/_emulator/${path}`, {
      method,
      headers: { "x-api-key": emulator.apiKey },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: JSON.stringify(await response.json()) };
  };
  await call("PUT", "script", {
    script: [
      { tool: "Bash", input: { command: "ls" } },
      { text: "Done.", times: "always" },
    ],
  });
  await call("PUT", "tools", { Bash: "a.txt" });
  const { turn } = await emulatedSession(emulator);
  expect(textsOf(await turn("Begin."))).toEqual(["Done."]);
  expect((await call("GET", "model")).body).toContain('"text":"a.txt"');
  expect((await call("POST", "clock", { advance_seconds: 3_600 })).body).toContain("2027-01-01T01:00:");
  await call("POST", "faults", { fault: { type: "status", status: 529 }, path: "/v1/agents" });
  expect((await fetch(`${emulator.url}/v1/agents`)).status).toBe(529);
  expect((await call("POST", "restart", { how: "stop" })).status).toBe(200);
  expect(textsOf(await turn("Again."))).toEqual(["Done."]);
  expect(await call("POST", "faults", { fault: { type: "unheard_of" } })).toMatchObject({ status: 400 });
  expect((await call("POST", "nothing")).body).toContain("POST /_emulator/faults");
  const stranger = await fetch(`${emulator.url}/_emulator/model`);
  expect(stranger.status).toBe(401);
});
