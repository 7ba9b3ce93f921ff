import { PassThrough, Writable } from "node:stream";
import { describe, expect, test } from "vitest";
import { printable, table, wrap, write } from "./terminal.ts";

test("model output cannot control the terminal", () => {
  expect(printable("a\u001b[2J\u001b]0;title\u0007b\r\u0000c\u0085\n\td")).toBe("abc\n\td");
});

test("columns are aligned by visible width", () => {
  expect(
    table([
      ["\u001b[31mred\u001b[39m", "1"],
      ["longer", "2"],
      ["x", ""],
    ]),
  ).toEqual(["\u001b[31mred\u001b[39m     1", "longer  2", "x"]);
});

test("text is broken at spaces", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("unbreakable words", 4)).toEqual(["unbreakable", "words"]);
  expect(wrap("as it is", Infinity)).toEqual(["as it is"]);
});

describe("writing", () => {
  const failing = (code: string) =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) }).on(
      "error",
      () => {},
    ) as unknown as NodeJS.WriteStream;

  test("waits until it is written", async () => {
    const stream = new PassThrough() as unknown as NodeJS.WriteStream & PassThrough;
    await write(stream, "text");
    expect(String(stream.read())).toBe("text");
  });

  test("to a closed pipe is no error, to a full disk it is", async () => {
    await expect(write(failing("EPIPE"), "text")).resolves.toBeUndefined();
    await expect(write(failing("ENOSPC"), "text")).rejects.toThrow("ENOSPC");
  });
});
