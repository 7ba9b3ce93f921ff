import { useRef, useState } from "react";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { inputClass, TextInput } from "../../ui/field.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { Problem } from "../../ui/problem.tsx";
import { type Option, Select } from "../../ui/select.tsx";
import type { Memory } from "../context-api.ts";
import { inDays } from "../../text/format.ts";
import { remember, useMemoryChange } from "./memory-api.ts";

const SCOPES: readonly Option<Memory["scope"]>[] = [
  { value: "project", label: "For everyone" },
  { value: "user", label: "For me" },
  { value: "agent", label: "For one agent" },
];
const SPANS = [
  { value: "", label: "Never expires" },
  { value: "30", label: "For 30 days" },
  { value: "90", label: "For 90 days" },
  { value: "365", label: "For a year" },
];

/** Adds a memory in the user's own words. It takes effect immediately. */
export function RememberBox() {
  const [text, setText] = useState("");
  const [scope, setScope] = useState<Memory["scope"]>("project");
  const [agent, setAgent] = useState("");
  const [days, setDays] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const remembering = useMemoryChange(remember);
  useShortcuts("Memory", { n: ["Remember something", () => area.current?.focus()] });
  const isReady = text.trim() !== "" && (scope !== "agent" || agent.trim() !== "") && !remembering.isPending;
  const send = (): void => {
    if (!isReady) return;
    const words = {
      text: text.trim(),
      scope,
      ...(scope === "agent" && { agent: agent.trim() }),
      expires_at: days === "" ? null : inDays(Number(days)),
    };
    remembering.mutate(words, { onSuccess: () => setText("") });
  };
  const said = remembering.data;
  return (
    <form
      className="rounded-xl border border-line bg-surface p-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor="remember" className="sr-only">
        Remember this
      </label>
      <textarea
        id="remember"
        ref={area}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
        placeholder="Something every agent should know: Revenue excludes refunds."
        className={`${inputClass} resize-none`}
      />
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Select isBare aria-label="Visible to" value={scope} options={SCOPES} onChange={setScope} />
        {scope === "agent" && (
          <TextInput
            aria-label="Agent"
            placeholder="Agent name"
            value={agent}
            onChange={(event) => setAgent(event.target.value)}
            className="max-w-40"
          />
        )}
        <Select isBare aria-label="Expiry" value={days} options={SPANS} onChange={setDays} />
        <Button type="submit" look="primary" size="small" className="ml-auto" disabled={!isReady}>
          {remembering.isPending ? "Saving …" : "Remember"} <Kbd keys="enter" />
        </Button>
      </div>
      <Problem error={remembering.error} className="mt-2" />
      {said && !remembering.isPending && (
        <output className="block mt-2 text-sm text-ink-soft">
          {said.proposal === null ? "This memory already exists." : "Saved."}
          {said.memory.contradicts.length > 0 && (
            <span className="text-wait"> It contradicts an existing memory, see below.</span>
          )}
          {said.unchecked !== null && ` Contradictions were not checked: ${said.unchecked}.`}
        </output>
      )}
    </form>
  );
}
