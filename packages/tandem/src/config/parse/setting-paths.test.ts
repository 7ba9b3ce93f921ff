import { configSchema } from "@tandem/protocol";
import { expect, test } from "vitest";
import { configSettings, settingsFor } from "./config-keys.ts";
import { settingPaths } from "./setting-paths.ts";

const isSet = (file: object, path: string): boolean =>
  path.split(".").reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], file) !==
  undefined;

test("finds the same settings as their descriptions, whatever a file contains", () => {
  const everything = {};
  for (const { path } of configSettings()) {
    let section: Record<string, unknown> = everything;
    const names = path.replaceAll("<name>", "mine").split(".");
    const last = names.pop()!;
    for (const name of names) section = (section[name] ??= {}) as Record<string, unknown>;
    section[last] = "set";
  }
  for (const file of [everything, configSchema.parse({}), { llm: { models: { default: "x" } } }, {}]) {
    const paths = settingsFor(file).map(({ path }) => path);
    expect(settingPaths(file)).toEqual(paths.filter((path) => isSet(file, path)));
  }
  expect(settingPaths(everything)).toHaveLength(configSettings().length);
});
