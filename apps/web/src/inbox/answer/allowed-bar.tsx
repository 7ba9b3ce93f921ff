import { Button } from "../../ui/button.tsx";
import type { AnswerBarProps } from "./answer-bar.tsx";

/** For an allowed call that has not started: dismiss it, or run it if no process could be started before. */
export function AllowedBar({ approval, isBusy, onAnswer }: Pick<AnswerBarProps, "approval" | "isBusy" | "onAnswer">) {
  const isHeld = approval.status === "pending";
  return (
    <div className="space-y-2">
      <p className="text-sm text-ink-soft">
        {isHeld ? "This call is allowed but could not be started." : "This call is allowed but has not run yet."}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {isHeld && (
          <Button look="primary" disabled={isBusy} onClick={() => onAnswer({ result: "allow" })}>
            Run
          </Button>
        )}
        <Button look="danger" disabled={isBusy} onClick={() => onAnswer({ result: "deny" })}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}
