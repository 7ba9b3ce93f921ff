import type Anthropic from "@anthropic-ai/sdk";
import { callNumber, stepsFile } from "./check-model.ts";
import {
  type CheckContext,
  clientAt,
  eventsOf,
  expectThat,
  holderMachine,
  type LabCheck,
  linesOf,
  newSession,
  say,
  type SeenEvent,
  startAgain,
  turnOff,
  until,
} from "./lab-check.ts";

const DEATHS = 6;
const NAME = "repeated-deaths";

/** One turn outlives the deaths of all workers that run it. */
export const repeatedDeaths: readonly LabCheck[] = [
  { name: `a turn ends once although the machine of its worker dies ${DEATHS} times: repeated deaths`, run },
];

async function run(context: CheckContext): Promise<void> {
  const client = clientAt(context, "haproxy");
  const session = await newSession(context, client, "always_ask");
  await say(client, session, `Please make ${DEATHS + 1} calls in ${NAME}.`);
  const answered = new Set<string>();
  const approved: string[] = [];
  let deaths = 0;
  for (let call = await nextCall(client, session, answered); call; call = await nextCall(client, session, answered)) {
    answered.add(call.id);
    await client.beta.sessions.events.send(session, { events: [answerTo(call)] });
    if (isQuestion(call)) continue;
    const number = callNumber(call);
    approved.push(number);
    await until(`The effect of call ${number}`, async () =>
      (await linesOf(context, stepsFile(NAME))).includes(number) ? true : undefined,
    );
    if (deaths === DEATHS) continue;
    const machine = await until("The session's worker", () => holderMachine(context, session));
    await turnOff(context, machine);
    deaths += 1;
    await startAgain(context, machine);
  }
  const events = await eventsOf(client, session);
  const ends = events.filter(isEnd).length;
  const errors = events.filter(({ type }) => type === "session.error");
  const [effects, allowed] = [(await linesOf(context, stepsFile(NAME))).join(), approved.join()];
  expectThat(deaths === DEATHS, `The worker was killed ${deaths} times.`);
  expectThat(ends === 1 && errors.length === 0, `The turn ended ${ends} times: ${JSON.stringify(errors)}`);
  expectThat(effects === allowed, `Calls ${effects} took effect. Approved: ${allowed}.`);
}

/** After a death, the session asks whether the call took effect. The lab has seen that it did. */
const isQuestion = ({ type }: SeenEvent): boolean => type === "agent.custom_tool_use";

const answerTo = (call: SeenEvent): Anthropic.Beta.Sessions.BetaManagedAgentsEventParams =>
  isQuestion(call)
    ? {
        type: "user.custom_tool_result",
        custom_tool_use_id: call.id,
        content: [{ type: "text", text: "It worked" }],
      }
    : { type: "user.tool_confirmation", tool_use_id: call.id, result: "allow" };

/** The next call that waits for a client; undefined at the end of the turn. */
function nextCall(client: Anthropic, session: string, answered: ReadonlySet<string>): Promise<SeenEvent | undefined> {
  return until("The next call or the end of the turn", async () => {
    const events = await eventsOf(client, session);
    if (events.some(isEnd)) return { call: undefined };
    const idle = events.findLast(({ type }) => type === "session.status_idle");
    const ids = (idle?.["stop_reason"] as { event_ids?: string[] } | undefined)?.event_ids ?? [];
    const call = events.find(({ id }) => ids.includes(id) && !answered.has(id));
    return call && { call };
  }).then(({ call }) => call);
}

const isEnd = ({ type, ...event }: SeenEvent): boolean =>
  type === "session.status_idle" && (event["stop_reason"] as { type?: string } | undefined)?.type === "end_turn";
