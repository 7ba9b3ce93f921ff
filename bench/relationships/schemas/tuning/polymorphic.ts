import { date, email, flag, int, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const polymorphic: Schema = {
  name: "polymorphic",
  about: "commentable_type and commentable_id, taggings, tables that extend another one to one",
  tables: {
    accounts: { rows: 50, columns: { id: serial(), login: email(), active: flag() } },
    account_profiles: {
      rows: 41,
      columns: { account_id: to("accounts.id"), bio: words(5), avatar_size: int(10, 40) },
      key: ["account_id"],
    },
    posts: { rows: 120, columns: { id: serial(), account_id: to("accounts.id"), title: title(), views: int(0, 5000) } },
    photos: {
      rows: 80,
      columns: { id: serial(), account_id: to("accounts.id"), width: int(1, 80), caption: words(3) },
    },
    events: { rows: 30, columns: { id: serial(), host_id: to("accounts.id"), starts: date(), capacity: int(5, 30) } },
    comments: {
      rows: 500,
      columns: {
        id: serial(),
        account_id: to("accounts.id"),
        commentable_type: pick("Post", "Photo", "Event"),
        commentable_id: {
          type: "INTEGER",
          make: ({ line, random }) =>
            1 + Math.floor(random() * ({ Post: 120, Photo: 80, Event: 30 }[String(line["commentable_type"])] ?? 1)),
        },
        body: words(6),
      },
    },
    tags: { rows: 25, columns: { id: serial(), label: title() } },
    taggings: {
      rows: 300,
      columns: {
        id: serial(),
        tag_id: to("tags.id"),
        taggable_type: pick("Post", "Photo"),
        taggable_id: {
          type: "INTEGER",
          make: ({ line, random }) =>
            1 + Math.floor(random() * ({ Post: 120, Photo: 80 }[String(line["taggable_type"])] ?? 1)),
        },
      },
    },
  },
  undeclarable: [
    { from: "comments", column: "commentable_id", to: "posts", toColumn: "id" },
    { from: "comments", column: "commentable_id", to: "photos", toColumn: "id" },
    { from: "comments", column: "commentable_id", to: "events", toColumn: "id" },
    { from: "taggings", column: "taggable_id", to: "posts", toColumn: "id" },
    { from: "taggings", column: "taggable_id", to: "photos", toColumn: "id" },
  ],
};
