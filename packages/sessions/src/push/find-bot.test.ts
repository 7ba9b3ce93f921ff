import { expect, test } from "vitest";
import { findBot } from "./find-bot.ts";

const bot = (remote: string) => ({ remote, token: async () => "t", name: "Bot", email: "bot@example.com" });
const find = (remote: string, ...patterns: string[]) => findBot(remote, patterns.map(bot));

test("a remote is found by its address, by a pattern, and by its ssh form", () => {
  expect(find("https://github.com/acme/app.git", "https://github.com/acme/app")).toMatchObject({
    url: "https://github.com/acme/app",
    repository: "acme/app",
    api: "https://api.github.com",
  });
  expect(find("git@github.com:acme/app.git", "https://github.com/acme/*").url).toBe("https://github.com/acme/app");
  expect(find("https://git.example.com/acme/app", "https://git.example.com/*").api).toBe(
    "https://git.example.com/api/v3",
  );
});

test.each([
  ["https://github.com/other/app", "https://github.com/acme/*"],
  ["https://github.com/acme-evil/app", "https://github.com/acme*"],
  ["https://github.com.evil.example/acme/app", "https://github.com/acme/*"],
  ["http://github.com/acme/app", "http://github.com/acme/*"],
  ["https://github.com/acme/app", "http://github.com/*"],
  ["ext::sh -c evil", "https://github.com/*"],
  ["https://github.com/acme/..%2fevil/app", "https://github.com/acme/*"],
  ["https://github.com/acme/../evil/app", "https://github.com/acme/*"],
  ["/srv/app", "https://github.com/*"],
  ["", "https://github.com/*"],
  ["https://user:pw@github.com.evil/acme/app", "https://github.com/acme/app"],
])("no bot pushes to %s with %s", (remote, pattern) => expect(() => find(remote, pattern)).toThrow("No bot is set up"));
