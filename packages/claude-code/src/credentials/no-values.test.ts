import { join } from "node:path";
import { expect, test } from "vitest";
import { reportCredentials } from "./report-credentials.ts";
import { scratchHome } from "./testing/plant.ts";
import { CREDENTIAL_VARIABLES } from "./find-credentials.ts";

/** Seeded random numbers, so that a failure is reproducible. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const KEYS = `primaryApiKey apiKey anthropicApiKey customApiKey apiKeyHelper env claudeAiOauth anthropic accessToken
  refreshToken expiresAt scopes subscriptionType type access key amp.apiKey`
  .split(/\s+/)
  .concat(Object.keys(CREDENTIAL_VARIABLES));

const FILES = [".claude.json", ".claude/.credentials.json", ".claude/settings.json", ".claude/.config.json"];

const LETTERS = "ghjkmnpqrstvwxyzGHJKMNPQRSTVWXYZ".split("");

// Long enough that no eight characters match by chance.
const PART = 8;

test("no part of a planted secret appears in a report", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomFrom(seed);
    const planted: string[] = [];
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const secret = (): string => {
      const letters = Array.from({ length: 24 }, () => pick(LETTERS)).join("");
      planted.push(letters);
      return pick([letters, `sk-ant-api03-${letters}`, `Bearer ${letters}`, ` ${letters}\n`, `user:${letters}`]).concat(
        pick(["", "", ` Authorization: ${letters}`]),
      );
    };
    const address = () => `https://u:${secret().trim()}@proxy.example/${secret().trim()}?k=${secret().trim()}`;
    const value = (depth: number): unknown => {
      const kind = random();
      if (depth > 0 && kind < 0.4)
        return Object.fromEntries(Array.from({ length: 6 }, () => [pick(KEYS), value(depth - 1)]));
      if (kind < 0.5) return Array.from({ length: 3 }, () => secret());
      return kind < 0.55 ? Math.floor(random() * 1e13) : secret();
    };
    await using home = await scratchHome();
    for (const name of FILES) {
      if (random() < 0.2) continue;
      const content = Object.fromEntries(Array.from({ length: 8 }, () => [pick(KEYS), value(2)]));
      const text = JSON.stringify(content);
      // Truncated JSON, an unquoted value (parsers quote the offending text), and a bare value.
      const broken = [text.slice(0, -5), `{"primaryApiKey": ${secret()}}`, secret()];
      await home.plant(join(home.home, name), random() < 0.3 ? pick(broken) : text, pick([0o600, 0o644]));
    }
    const variables = Object.fromEntries(Object.keys(CREDENTIAL_VARIABLES).map((name) => [name, secret()]));
    const report = await reportCredentials(home.options({ ...variables, ANTHROPIC_BASE_URL: address() }));
    const text = JSON.stringify(report);
    const leaked = planted.filter((letters) =>
      Array.from({ length: letters.length - PART + 1 }, (_, i) => letters.slice(i, i + PART)).some((part) =>
        text.includes(part),
      ),
    );
    expect(leaked, `seed ${seed}`).toEqual([]);
  }
});
