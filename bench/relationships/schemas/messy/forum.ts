import { date, flag, int, pick, serial, title, to, words } from "../column.ts";
import type { ColumnSpec } from "../column.ts";
import type { Schema } from "../schema.ts";

const targetOf = (kind: string, tables: Readonly<Record<string, number>>): ColumnSpec => ({
  type: "INTEGER",
  make: ({ random, line }) => 1 + Math.floor(random() * tables[String(line[kind])]!),
});

export const forum: Schema = {
  name: "forum",
  about: "polymorphic references: by a text, by a number (which says no table), by a table's name; a tree of comments",
  tables: {
    members: { rows: 300, columns: { id: serial(), nick: title(), referred_by: to("members.id", { nulls: 0.5 }) } },
    boards: { rows: 25, columns: { id: serial(), title: title(), moderator_id: to("members.id") } },
    threads: {
      rows: 600,
      columns: { id: serial(), board_id: to("boards.id"), author_id: to("members.id"), title: title(), pinned: flag() },
    },
    replies: {
      rows: 2_400,
      columns: {
        id: serial(),
        thread_id: to("threads.id"),
        author_id: to("members.id", { nulls: 0.05 }),
        parent_id: to("replies.id", { nulls: 0.6 }),
        body: words(5),
        deleted_at: pick(null, null, null, "2024-02-02"),
      },
    },
    likes: {
      rows: 3_000,
      columns: {
        id: serial(),
        member_id: to("members.id"),
        target_type: pick(1, 2),
        target_id: targetOf("target_type", { "1": 600, "2": 2_400 }),
        liked_on: date(),
      },
    },
    attachments: {
      rows: 900,
      columns: {
        id: serial(),
        owner_type: pick("Thread", "Reply"),
        owner_id: targetOf("owner_type", { Thread: 600, Reply: 2_400 }),
        bytes: int(10, 900_000),
      },
    },
  },
  undeclarable: [
    { from: "attachments", column: "owner_id", to: "threads", toColumn: "id" },
    { from: "attachments", column: "owner_id", to: "replies", toColumn: "id" },
  ],
};
