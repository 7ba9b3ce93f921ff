import { useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import type { AnswerBarProps } from "./answer-bar.tsx";
import { CardKeys } from "../card-keys.tsx";
import { Choice } from "../../ui/choice.tsx";
import { DenyPanel } from "./deny-panel.tsx";

const MODES = [
  { mode: "default", label: "Ask as usual", hint: "What changes something is asked about" },
  { mode: "acceptEdits", label: "Let it edit", hint: "Edits of files pass, the rest asks" },
  { mode: "bypassPermissions", label: "Ask nothing", hint: "Only what a rule denies is denied" },
] as const;

/** Approves a plan together with the permission mode for its execution. */
export function PlanBar({ card, hasKeys, isBusy, onAnswer }: AnswerBarProps) {
  const [isDenying, setDenying] = useState(false);
  const [mode, setMode] = useState<(typeof MODES)[number]["mode"]>("default");
  const name = useId();
  const agree = (): void => onAnswer({ result: "allow", mode });
  const nextMode = (): void =>
    setMode(MODES[(MODES.findIndex((other) => other.mode === mode) + 1) % MODES.length]!.mode);
  if (isDenying) return <DenyPanel kind="plan" isBusy={isBusy} onAnswer={onAnswer} onClose={() => setDenying(false)} />;
  return (
    <div className="space-y-3">
      {hasKeys && (
        <CardKeys
          card={card}
          title="This plan"
          isOff={isBusy}
          keys={{
            a: ["Agree to the plan", agree],
            m: ["Choose the next mode", nextMode],
            d: ["Back to planning", () => setDenying(true)],
          }}
        />
      )}
      <fieldset>
        <legend className="mb-1 flex items-center gap-2 text-sm font-medium text-ink-soft">
          Then {hasKeys && <Kbd keys="m" />}
        </legend>
        <div className="grid gap-1 sm:grid-cols-3">
          {MODES.map(({ mode: value, label, hint }) => (
            <Choice
              key={value}
              name={name}
              label={label}
              hint={hint}
              isChosen={mode === value}
              onChoose={() => setMode(value)}
            />
          ))}
        </div>
      </fieldset>
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={isBusy} onClick={agree}>
          Agree and go on {hasKeys && <Kbd keys="a" />}
        </Button>
        <Button disabled={isBusy} onClick={() => setDenying(true)} className="sm:ml-auto">
          Back to planning … {hasKeys && <Kbd keys="d" />}
        </Button>
      </div>
    </div>
  );
}
