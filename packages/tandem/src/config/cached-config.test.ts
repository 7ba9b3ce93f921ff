import { expect, test } from "vitest";
import { parseConfig } from "./parse/parse-config.ts";

test.each(["", "llm: { models: { default: opus } }\nsessions: { idle: 10m }\nsandbox: { hosts: [example.com] }"])(
  "a parsed config is JSON, so that it can be cached: %j",
  (source) => {
    const parsed = parseConfig(source, "tandem.yaml");
    expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
  },
);
