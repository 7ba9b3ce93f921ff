import type { HookInput } from "@anthropic-ai/claude-agent-sdk";
import type { EventId, Permission } from "@tandem/protocol";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ConversationHost, ConversationSetup } from "./conversation.ts";
import { Gate } from "./gate.ts";

const signal = new AbortController().signal;

function stand(
  decide: (input: Record<string, unknown>) => Permission,
  host: Partial<ConversationHost> = {},
  stored: () => Promise<void> = async () => {},
) {
  const setup = { tools: ["Bash"], mcpServers: [], outputSchema: undefined } as unknown as ConversationSetup;
  const gate = new Gate(
    setup,
    {
      onOutput: () => {},
      decide: ({ input }) => ({ permission: decide(input) }),
      confirm: async () => ({ allow: true }),
      callCustomTool: async () => ({ content: [], isError: false }),
      ...host,
    },
    { customServer: "tandem", mcpServers: [] },
    stored,
  );
  const announce = (input: Record<string, unknown>): void =>
    gate.observe({
      type: "event",
      thread: null,
      id: "sevt_1" as EventId,
      event: {
        type: "agent.tool_use",
        name: "Bash",
        input,
        evaluated_permission: gate.judge({ kind: "builtin", name: "Bash", input, thread: null }).permission,
        tandem: { tool_use_id: "toolu_1" },
      },
    });
  const ask = async (tool_input: unknown): Promise<string | undefined> => {
    const input = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "toolu_1", tool_input } as HookInput;
    const output = await gate.beforeTool(input, "toolu_1", { signal });
    return (output as { hookSpecificOutput: { permissionDecision: string } }).hookSpecificOutput.permissionDecision;
  };
  const slip = async (): Promise<string | undefined> =>
    (await gate.canUseTool("Bash", {}, { signal, toolUseID: "toolu_1", requestId: "r" }))?.behavior;
  return { gate, announce, ask, slip };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the gate", () => {
  test("lets only announced and allowed calls pass", async () => {
    const { announce, ask, slip } = stand(() => "allow");
    expect(await slip(), "before the hook").toBe("deny");
    announce({ command: "ls" });
    expect(await ask({ command: "ls" })).toBe("allow");
    expect(await slip()).toBe("allow");
  });

  test("waits for the announcement, and denies a call without one", async () => {
    const { announce, ask } = stand(() => "allow");
    const early = ask({ command: "ls" });
    announce({ command: "ls" });
    expect(await early).toBe("allow");
    vi.useFakeTimers();
    const never = stand(() => "allow").ask({ command: "ls" });
    await vi.runAllTimersAsync();
    expect(await never).toBe("deny");
  });

  test("runs a tool only after its call is durable, and never if it cannot be stored", async () => {
    const logged = Promise.withResolvers<void>();
    const { announce, ask } = stand(() => "allow", { durable: () => logged.promise });
    announce({ command: "ls" });
    let verdict: string | undefined;
    const asked = ask({ command: "ls" }).then((said) => (verdict = said));
    await new Promise((resolve) => setImmediate(resolve));
    expect(verdict).toBeUndefined();
    logged.resolve();
    expect(await asked).toBe("allow");
    const lost = stand(() => "allow", { durable: async () => Promise.reject(new Error("taken over")) });
    lost.announce({ command: "ls" });
    expect(await lost.ask({ command: "ls" })).toBe("deny");
  });

  test("denies a call whose input was changed so that it would be judged differently", async () => {
    const { announce, ask } = stand((input) => (input["command"] === "ls" ? "allow" : "ask"));
    announce({ command: "ls" });
    expect(await ask({ command: "ls", timeout: 1 }), "completed, and judged the same").toBe("allow");
    announce({ command: "ls" });
    expect(await ask({ command: "rm -rf /" })).toBe("deny");
  });

  test.each([
    ["a policy that says no", "deny", {}],
    ["a person who says no", "ask", { confirm: async () => ({ allow: false as const, message: "no" }) }],
    ["a person who cannot be asked", "ask", { confirm: async () => Promise.reject(new Error("gone")) }],
  ] as const)("denies with %s", async (_, permission, host) => {
    const { announce, ask, slip } = stand(() => permission, host);
    announce({ command: "ls" });
    expect(await ask({ command: "ls" })).toBe("deny");
    expect(await slip()).toBe("deny");
  });

  test("denies if judging throws, before the call or for its edited input", async () => {
    const broken = stand(() => {
      throw new Error("no rules");
    });
    broken.announce({ command: "ls" });
    expect(await broken.ask({ command: "ls" })).toBe("deny");
    const changed = stand(
      ({ command }) => {
        if (command === "ls") return "ask";
        throw new Error("no rules");
      },
      { confirm: async () => ({ allow: true, input: { command: "rm -rf /" } }) },
    );
    changed.announce({ command: "ls" });
    expect(await changed.ask({ command: "ls" })).toBe("deny");
    expect(await changed.slip()).toBe("deny");
  });

  test("runs a call with its edited input unless that is denied, and applies the mode", async () => {
    const { gate, announce } = stand(({ command }) => (command === "rm -rf /" ? "deny" : "ask"), {
      confirm: async ({ input }) => ({
        allow: true,
        input: { command: input["command"] === "ls" ? "pwd" : "rm -rf /" },
        context: "changed",
        mode: "acceptEdits",
      }),
    });
    const ask = async (command: string) => {
      announce({ command });
      const call = {
        hook_event_name: "PreToolUse",
        tool_name: "Bash",
        tool_use_id: "toolu_1",
        tool_input: { command },
      };
      const output = await gate.beforeTool(call as HookInput, "toolu_1", { signal });
      return (output as { hookSpecificOutput: object }).hookSpecificOutput;
    };
    expect(await ask("ls")).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "pwd" },
      additionalContext: "changed",
    });
    expect(await gate.canUseTool("Bash", {}, { signal, toolUseID: "toolu_1", requestId: "r" })).toEqual({
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
    });
    expect(await ask("cat")).toMatchObject({ permissionDecision: "deny" });
  });

  test("denies an invalid input, and forgets a call that has its result", async () => {
    const { gate, announce, ask, slip } = stand(() => "allow");
    announce({ command: "ls" });
    expect(await ask("ls")).toBe("deny");
    expect(await ask({ command: "ls" })).toBe("allow");
    gate.observe({
      type: "event",
      thread: null,
      id: "sevt_2" as EventId,
      event: { type: "agent.tool_result", tool_use_id: "sevt_1" as EventId },
    });
    expect(await slip()).toBe("deny");
  });

  test("runs a call once the transcript has it, or after a timeout", async () => {
    const stored = Promise.withResolvers<void>();
    const first = stand(
      () => "allow",
      {},
      () => stored.promise,
    );
    first.announce({ command: "ls" });
    let asked = "waits";
    const asking = first.ask({ command: "ls" }).then((answer) => (asked = answer ?? ""));
    await new Promise(setImmediate);
    expect(asked).toBe("waits");
    stored.resolve();
    expect(await asking).toBe("allow");
    vi.useFakeTimers();
    const second = stand(
      () => "allow",
      {},
      () => new Promise(() => {}),
    );
    second.announce({ command: "ls" });
    const answer = second.ask({ command: "ls" });
    await vi.runAllTimersAsync();
    expect(await answer).toBe("allow");
  });

  test("does not run a call whose turn ends while it is being stored", async () => {
    const { gate, announce, ask } = stand(
      () => "allow",
      {},
      () => new Promise(() => {}),
    );
    announce({ command: "ls" });
    const asking = ask({ command: "ls" });
    await new Promise(setImmediate);
    gate.endAll();
    expect(await asking).toBe("deny");
  });

  test("denies a tool that is not offered, whatever the policy says", () => {
    const { gate } = stand(() => "allow");
    expect(gate.judge({ kind: "builtin", name: "Write", input: {}, thread: null })).toEqual({ permission: "deny" });
    expect(gate.judge({ kind: "mcp", name: "x", mcpServer: "nobody", input: {}, thread: null })).toEqual({
      permission: "deny",
    });
  });
});

describe("host hooks", () => {
  const commands: Record<string, Permission> = { ls: "allow", make: "ask", rm: "deny" };
  const decide = ({ command }: Record<string, unknown>): Permission => commands[String(command)] ?? "deny";
  const changing = (to: string): Partial<ConversationHost> => ({
    beforeTool: async () => ({ allow: true, input: { command: to } }),
  });

  test("are called last and can block a call", async () => {
    const { announce, ask, slip } = stand(decide, { beforeTool: async () => ({ allow: false, message: "No." }) });
    announce({ command: "ls" });
    expect(await ask({ command: "ls" })).toBe("deny");
    expect(await slip()).toBe("deny");
  });

  test("are not called for denied calls", async () => {
    const beforeTool = vi.fn<NonNullable<ConversationHost["beforeTool"]>>();
    const { announce, ask } = stand(decide, { beforeTool });
    announce({ command: "rm" });
    expect(await ask({ command: "rm" })).toBe("deny");
    expect(beforeTool).not.toHaveBeenCalled();
  });

  test.each(["make", "rm"])("cannot change a call into one that needs approval or is denied: %s", async (to) => {
    const { announce, ask } = stand(decide, changing(to));
    announce({ command: "ls" });
    expect(await ask({ command: "ls" })).toBe("deny");
  });

  test("deny when they throw", async () => {
    const { announce, ask } = stand(decide, { beforeTool: async () => Promise.reject(new Error("gone")) });
    announce({ command: "ls" });
    expect(await ask({ command: "ls" })).toBe("deny");
  });
});
