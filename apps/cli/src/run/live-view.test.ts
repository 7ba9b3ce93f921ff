import type { Delta, EventId, SessionEvent, SessionEventBody } from "@tandem/protocol";
import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { LiveView } from "./live-view.ts";

const ID = "sevt_1" as EventId;
const event = (body: SessionEventBody, id: EventId = ID): SessionEvent => ({
  ...body,
  id,
  processed_at: "2026-01-01T00:00:00.000Z",
});
const words = (text: string): Delta => ({
  type: "event_delta",
  event_id: ID,
  delta: { type: "content_delta", content: { type: "text", text } },
});
const bash = (command: string) =>
  event(
    { type: "agent.tool_use", name: "Bash", input: { command }, tandem: { tool_use_id: "toolu_1" } },
    "sevt_use" as EventId,
  );

/** The visible screen content: cleared lines are gone. */
function screen(isTTY: boolean) {
  let text = "";
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const stream = Object.assign(sink, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream;
  const visible = (line: string) => stripVTControlCharacters(line.split("\r\u001b[2K").at(-1)!);
  return { stream, text: () => text.split("\n").map(visible).join("\n") };
}

function show(isTTY: boolean, updates: readonly (SessionEvent | Delta)[]) {
  const stderr = screen(isTTY);
  // On a terminal, stdout and stderr are one screen.
  const stdout = isTTY ? stderr : screen(false);
  {
    using view = new LiveView(isTTY ? stdout.stream : undefined, stderr.stream);
    for (const update of updates) {
      if ("processed_at" in update) view.event(update);
      else view.delta(update);
    }
  }
  return { stdout: stdout.text(), stderr: stderr.text() };
}

describe("a turn on a terminal", () => {
  test("text appears once, with a full, partial or missing preview", () => {
    const message = event({ type: "agent.message", content: [{ type: "text", text: "Hello, world." }] });
    for (const previews of [[], [words("Hello,")], [words("Hello,"), words(" world.")]]) {
      expect(show(true, [...previews, message]).stdout).toBe("Hello, world.\n");
    }
  });

  test("text appears once after a broken stream restarts the preview", () => {
    const message = event({ type: "agent.message", content: [{ type: "text", text: "Hello, world." }] });
    const begins: Delta = { type: "event_start", event: { type: "agent.message", id: ID } };
    for (const again of ["Hel", "Hello,", "Hello, wor"]) {
      const updates = [
        begins,
        words("Hel"),
        words("lo,"),
        begins,
        words(again),
        words("Hello, world.".slice(again.length)),
      ];
      expect(show(true, updates).stdout).toBe("Hello, world.\n");
      expect(show(true, [...updates, message]).stdout).toBe("Hello, world.\n");
    }
  });

  test("a tool has one line, and a second only if it fails", () => {
    const result = (isError: boolean) =>
      event({
        type: "agent.tool_result",
        tool_use_id: "sevt_use" as EventId,
        is_error: isError,
        content: [{ type: "text", text: "Exit code 1\nand more" }],
      });
    expect(show(true, [bash("npm test"), result(false)]).stderr).toBe("● Bash  npm test\n");
    expect(show(true, [bash("npm test"), result(true)]).stderr).toBe("● Bash  npm test\n  ✗ Bash: Exit code 1\n");
  });

  test("text interrupted by a tool ends its line", () => {
    expect(show(true, [words("I look"), bash("ls")]).stdout).toBe("I look\n● Bash  ls\n");
  });

  test("model output cannot control the terminal", () => {
    const evil = "\u001b[2J\u001b]0;owned\u0007ok\r\u001b[1A";
    const { stdout } = show(true, [
      words(evil),
      event({ type: "agent.message", content: [{ type: "text", text: evil }] }),
    ]);
    expect(stdout).toBe("ok\n");
  });
});

test("without a terminal, text is left to the result and nothing is animated", () => {
  const { stdout, stderr } = show(false, [
    words("Hello"),
    bash("ls"),
    event({ type: "tandem.notice", level: "warning", text: "Mind." }),
  ]);
  expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "● Bash  ls\n! Mind.\n" });
});
