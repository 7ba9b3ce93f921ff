import { email, flag, int, serial, title, to, uuid, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const empty: Schema = {
  name: "empty",
  about: "no rows at all: names and types must do",
  tables: {
    tenants: { rows: 0, columns: { id: uuid("t"), name: words(), plan: words(1) } },
    members: {
      rows: 0,
      columns: {
        id: uuid("m"),
        tenant_id: to("tenants.id", { type: "TEXT" }),
        email: email(),
        invited_by_id: to("members.id", { type: "TEXT" }),
      },
    },
    projects: {
      rows: 0,
      columns: {
        id: uuid("p"),
        tenant_id: to("tenants.id", { type: "TEXT" }),
        lead_member_id: to("members.id", { type: "TEXT" }),
        title: title(),
      },
    },
    task_states: { rows: 0, columns: { id: serial(), label: words(1) } },
    tasks: {
      rows: 0,
      columns: {
        id: serial(),
        project_id: to("projects.id", { type: "TEXT" }),
        state_id: to("task_states.id"),
        parent_task_id: to("tasks.id"),
        estimate: int(1, 9),
        assignee_member_id: to("members.id", { type: "TEXT" }),
      },
    },
    task_labels: {
      rows: 0,
      columns: { task_id: to("tasks.id"), label_id: to("labels.id") },
      key: ["task_id", "label_id"],
    },
    labels: { rows: 0, columns: { id: serial(), name: words(1), colour: words(1) } },
    time_entries: {
      rows: 0,
      columns: {
        id: serial(),
        task_id: to("tasks.id"),
        member_id: to("members.id", { type: "TEXT" }),
        minutes: int(1, 90),
        billed: flag(),
      },
    },
  },
};
