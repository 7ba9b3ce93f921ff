// A helper: the real server and store. Events are appended to one session, each by itself and durably.
import { newId, type SessionEvent } from "@tandem/protocol";
import { newSessions } from "../storage/load.ts";
import { fanoutTask, WORDS } from "./fanout-task.ts";
import { helperTask, say, told } from "./helper.ts";
import { pace } from "./pace.ts";
import { stamp } from "./stamp.ts";
import { setStage } from "./stage.ts";

const task = helperTask(fanoutTask);
const { store, server, token } = await setStage(task.folder, () => {
  throw new Error("Nobody talks to an agent here.");
});
const [lease] = await newSessions(store, 1);
say({ port: server.port, path: `/v1/sessions/${lease!.session}/events/stream`, token });

await told("go");
const appends: Promise<unknown>[] = [];
const sent = await pace(task, (number, dueUs) => {
  const event: SessionEvent = {
    type: "agent.message",
    content: [{ type: "text", text: `${WORDS} ${stamp(number, dueUs)}` }],
    id: newId("event"),
    processed_at: new Date().toISOString(),
  };
  appends.push(store.events.append(lease!, [{ thread: null, event }]));
});
await Promise.all(appends);
say({ sent });
