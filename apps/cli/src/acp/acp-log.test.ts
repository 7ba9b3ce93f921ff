import { expect, test } from "vitest";
import { acpLog } from "./acp-log.ts";

test("the log of an ACP agent contains no credential", async () => {
  const lines: string[] = [];
  const error =
    "Error: connect postgres://tandem:hunter2@db/tandem with Bearer abcdefghijklmnop, sk-ant-api03-made-up-key";
  await acpLog((line) => lines.push(line))({ session: "sesn_1", error }, "a session was lost");
  expect(JSON.parse(lines[0]!)).toMatchObject({ message: "a session was lost", session: "sesn_1" });
  expect(lines[0]).not.toMatch(/hunter2|abcdefgh|made-up-key/);
});
