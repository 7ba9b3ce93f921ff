import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// These lists name every page by hand. A page that one of them lacks would work, but without its check, preload or picture.

const read = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8");
const router = read("router.tsx");
const SUITES = "browser/testing/suites";

test.each([
  ["the pages whose accessibility is checked", `${SUITES}/accessibility.ts`, `${SUITES}/context-accessibility.ts`],
  ["the pages whose headers are checked", `${SUITES}/security.ts`],
  ["the screenshots", "../../../scripts/pictures/shots.ts"],
])("%s include every address of the router", (_, ...files) => {
  const text = files.map(read).join("\n").replaceAll("reportPath(", '"/cassettes"');
  const addresses = [...router.matchAll(/^ {2}path: "(\/\w*)/gm)].map(([, address]) => address!);
  expect(addresses.length).toBeGreaterThan(5);
  expect(addresses.filter((address) => !new RegExp(`["\`]${address}["\`/?]`).test(text))).toEqual([]);
});

test("the server preloads the module of every page", () => {
  const modules = [...router.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, module]) => `"src/${module}"`);
  const preloaded = read("../first-needs.ts");
  expect(modules.length).toBeGreaterThan(5);
  expect(modules.filter((module) => !preloaded.includes(module))).toEqual([]);
});
