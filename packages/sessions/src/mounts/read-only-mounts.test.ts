import { FILE_TOOLS } from "@tandem/policy";
import type { SessionResource } from "@tandem/protocol";
import { expect, test } from "vitest";
import { isReadOnly } from "./read-only-mounts.ts";

const store = (access: "read_only" | "read_write") =>
  ({
    type: "memory_store",
    memory_store_id: "memstore_1",
    access,
    mount_path: "/mnt/memory/notes",
    name: "Notes",
    description: "",
    instructions: null,
    tandem: { path: ".mnt/sesn_1/memory/notes" },
  }) as SessionResource;
const writes = (name: string, input: Record<string, unknown>, access: "read_only" | "read_write" = "read_only") =>
  isReadOnly({ name, input, thread: null }, { folder: "/home/ada/project", resources: [store(access)] });

const INSIDE = ".mnt/sesn_1/memory/notes/a.md";
const tools = Object.entries(FILE_TOOLS);

test.each(tools.filter(([, { access }]) => access.includes("write")))("%s may not write into it", (name, { field }) => {
  expect(writes(name, { [field]: INSIDE })).toBe(true);
  expect(writes(name, { [field]: `/home/ada/project/${INSIDE}` })).toBe(true);
  expect(writes(name, { [field]: `src/../${INSIDE}` })).toBe(true);
  expect(writes(name, { [field]: "src/a.md" })).toBe(false);
  expect(writes(name, { [field]: INSIDE }, "read_write")).toBe(false);
});

test.each(tools.filter(([, { access }]) => !access.includes("write")))("%s may read it", (name, { field }) => {
  expect(writes(name, { [field]: INSIDE })).toBe(false);
});

test("the tool of an MCP server is not one of Claude Code's", () => {
  const call = { name: "Write", mcpServer: "files", input: { file_path: INSIDE }, thread: null };
  expect(isReadOnly(call, { folder: "/home/ada/project", resources: [store("read_only")] })).toBe(false);
});
