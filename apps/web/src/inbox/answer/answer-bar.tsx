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
            a: ["Allow it once", once],
            s: ["Allow what is like it for the session", forSession],
            "shift+a": ["Allow what is like it always", () => setPanel("always")],
            e: ["Change its input", () => setPanel("edit")],
            d: ["Deny it", () => setPanel("deny")],
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
            title={suggestion ? `No more questions about ${ruleText(suggestion)} in this session` : undefined}
          >
            For the session {key("s")}
          </Button>
          <Button disabled={isBusy} onClick={() => setPanel("always")}>
            Always … {key("shift+a")}
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
