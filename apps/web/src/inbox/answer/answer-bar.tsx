import type { Approval } from "@tandem/protocol";
import { type RefObject, useState } from "react";
import { ruleText } from "../../text/rule-text.ts";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import type { Answer } from "../approvals-api.ts";
import { CardKeys } from "../card-keys.tsx";
import { DenyPanel } from "./deny-panel.tsx";
import { EditPanel } from "./edit-panel.tsx";
import { RulePanel } from "./rule-panel.tsx";

export interface AnswerBarProps {
  approval: Approval;
  card: RefObject<HTMLElement | null>;
  hasKeys: boolean;
  isBusy: boolean;
  onAnswer: (answer: Answer) => void;
}

type Panel = "deny" | "edit" | "always" | "session";

export function AnswerBar({ approval, card, hasKeys, isBusy, onAnswer }: AnswerBarProps) {
  const [panel, setPanel] = useState<Panel>();
  const { suggestion } = approval;
  const once = (): void => onAnswer({ result: "allow" });
  const forSession = (): void => (suggestion ? onAnswer({ result: "allow", scope: "session" }) : setPanel("session"));
  const close = (): void => {
    setPanel(undefined);
    card.current?.focus({ preventScroll: true });
  };
  const inPanel = { isBusy, onAnswer, onClose: close };
  const key = (keys: string) => (hasKeys ? <Kbd keys={keys} /> : null);
  return (
    <>
      {hasKeys && (
        <CardKeys
          card={card}
          title="This call"
          isOff={panel !== undefined || isBusy}
          keys={{
            a: ["Allow once", once],
            s: ["Allow for this session", forSession],
            "shift+a": ["Always allow", () => setPanel("always")],
            e: ["Edit the input", () => setPanel("edit")],
            d: ["Deny", () => setPanel("deny")],
          }}
        />
      )}
      {panel === undefined && (
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" disabled={isBusy} onClick={once}>
            Allow once {key("a")}
          </Button>
          <Button
            disabled={isBusy}
            onClick={forSession}
            title={suggestion ? `Allow ${ruleText(suggestion)} for this session without asking` : undefined}
          >
            Allow for this session {key("s")}
          </Button>
          <Button disabled={isBusy} onClick={() => setPanel("always")}>
            <span className="max-w-72 truncate max-sm:max-w-48">
              Always allow {suggestion && <code className="font-mono text-xs">{ruleText(suggestion)}</code>} …
            </span>{" "}
            {key("shift+a")}
          </Button>
          <Button disabled={isBusy} onClick={() => setPanel("edit")}>
            Edit … {key("e")}
          </Button>
          <Button look="danger" disabled={isBusy} onClick={() => setPanel("deny")} className="sm:ml-auto">
            Deny … {key("d")}
          </Button>
        </div>
      )}
      {panel === "deny" && <DenyPanel kind="tool" {...inPanel} />}
      {panel === "edit" && <EditPanel approval={approval} {...inPanel} />}
      {(panel === "always" || panel === "session") && <RulePanel approval={approval} scope={panel} {...inPanel} />}
    </>
  );
}
