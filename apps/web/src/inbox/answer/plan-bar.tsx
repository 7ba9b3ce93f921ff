import { useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { useBypassConfirm } from "../../ui/bypass-confirm.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import type { AnswerBarProps } from "./answer-bar.tsx";
import { CardKeys } from "../card-keys.tsx";
import { Choice } from "../../ui/choice.tsx";
import { DenyPanel } from "./deny-panel.tsx";

const MODES = [
  { mode: "default", label: "Ask", hint: "Asks before each change" },
  { mode: "acceptEdits", label: "Accept edits", hint: "Edits files without asking, asks for the rest" },
  { mode: "bypassPermissions", label: "Bypass permissions", hint: "Runs everything except calls denied by a rule" },
] as const;

/** Approves a plan together with the permission mode for its execution. */
export function PlanBar({ card, hasKeys, isBusy, onAnswer }: AnswerBarProps) {
  const [isDenying, setDenying] = useState(false);
  const [mode, setMode] = useState<(typeof MODES)[number]["mode"]>("default");
  const name = useId();
  const [confirmBypass, bypassDialog] = useBypassConfirm();
  const approve = (): void => onAnswer({ result: "allow", mode });
  const agree = (): void => (mode === "bypassPermissions" ? confirmBypass(approve) : approve());
  const nextMode = (): void =>
    setMode(MODES[(MODES.findIndex((other) => other.mode === mode) + 1) % MODES.length]!.mode);
  if (isDenying) return <DenyPanel kind="plan" isBusy={isBusy} onAnswer={onAnswer} onClose={() => setDenying(false)} />;
  return (
    <div className="space-y-3">
      {bypassDialog}
      {hasKeys && (
        <CardKeys
          card={card}
          title="This plan"
          isOff={isBusy}
          keys={{
            a: ["Approve plan", agree],
            m: ["Choose the mode after approval", nextMode],
            d: ["Request changes", () => setDenying(true)],
          }}
        />
      )}
      <fieldset>
        <legend className="mb-1 flex items-center gap-2 text-sm font-medium text-ink-soft">
          After approval {hasKeys && <Kbd keys="m" />}
        </legend>
        <div className="grid gap-1 sm:grid-cols-3">
          {MODES.map(({ mode: value, label, hint }) => (
            <Choice
              key={value}
              name={name}
              label={label}
              hint={hint}
              isBad={value === "bypassPermissions"}
              isChosen={mode === value}
              onChoose={() => setMode(value)}
            />
          ))}
        </div>
      </fieldset>
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={isBusy} onClick={agree}>
          Approve plan {hasKeys && <Kbd keys="a" />}
        </Button>
        <Button disabled={isBusy} onClick={() => setDenying(true)} className="sm:ml-auto">
          Request changes … {hasKeys && <Kbd keys="d" />}
        </Button>
      </div>
    </div>
  );
}
