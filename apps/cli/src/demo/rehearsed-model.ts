import { overloaded, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";

/** The demo's prompts and scripted answers. */
export const PROMPTS = {
  text: "In one sentence: what has a tandem that a bicycle has not?",
  object: 'Sort this bug report: "Checkout crashes on a phone when the cart is empty."',
  loop: "Which of my notes names a deadline, and when is it?",
  busy: "Are you there?",
  fast: "Say one word.",
};

export const NOTES: Readonly<Record<string, string>> = {
  "garden.md": "Tomatoes want water every morning.",
  "launch.md": "The launch is on 12 March. Nothing may be merged after 9 March.",
};

const tool = (name: string): string => `mcp__tandem__${name}`;

/** A model whose first object is invalid and that is overloaded once. */
export function createRehearsedModel(): (request: ModelRequest) => Reply {
  let wasBusy = false;
  return (request) => {
    const answered = request.messages.filter(({ role }) => role === "assistant").length;
    if (request.toolNames.includes(tool("answer"))) return answered === 0 ? sortedWrong : sortedRight;
    if (request.toolNames.includes(tool("list_notes"))) return [listNotes, readNotes][answered] ?? foundIt;
    if (request.lastUserText.endsWith(PROMPTS.busy) && !wasBusy) {
      wasBusy = true;
      return overloaded();
    }
    return request.lastUserText.endsWith(PROMPTS.text)
      ? text("A second rider, and so no doubt about who is not pedalling.")
      : text("Yes.");
  };
}

const sortedWrong = toolUse(tool("answer"), { severity: "terrible", component: "checkout" });
const sortedRight = toolUse(tool("answer"), {
  severity: "high",
  component: "checkout",
  summary: "Crash on an empty cart",
});
const listNotes = reply([text("I look what notes there are."), toolUse(tool("list_notes"))]);
const readNotes = reply(Object.keys(NOTES).map((name) => toolUse(tool("read_note"), { name })));
const foundIt = text("launch.md does: nothing may be merged after 9 March.");
