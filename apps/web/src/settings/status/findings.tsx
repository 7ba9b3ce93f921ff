import type { Finding } from "@tandem/protocol";
import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import { capitalised } from "../../text/mode-labels.ts";
import { InlineCode } from "../../text/inline-code.tsx";
import { ListPanel } from "../panel.tsx";

const ICONS = {
  ok: <CircleCheck aria-label="ok" className="size-4 shrink-0 text-good" />,
  warning: <TriangleAlert aria-label="warning" className="size-4 shrink-0 text-wait" />,
  failure: <CircleX aria-label="failure" className="size-4 shrink-0 text-bad" />,
} as const;

/** Findings of the doctor, worst first. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const order = { failure: 0, warning: 1, ok: 2 } as const;
  return (
    <ListPanel title="Check results" items={findings.toSorted((a, b) => order[a.result] - order[b.result])}>
      {({ name, result, detail, fix }) => (
        <li key={name} className="flex items-start gap-2.5 px-3 py-2">
          <span className="mt-0.5">{ICONS[result]}</span>
          <div className="min-w-0 flex-1">
            <p className="gap-x-2 break-words sm:grid sm:grid-cols-[6rem_minmax(0,1fr)]">
              <span className="font-medium">{capitalised(name)}</span> <span className="text-ink-soft">{detail}</span>
            </p>
            {result !== "ok" && fix !== undefined && (
              <p className="mt-0.5 text-sm text-ink-faint sm:pl-26">
                <InlineCode text={asCode(fix)} />
              </p>
            )}
          </div>
        </li>
      )}
    </ListPanel>
  );
}

/** A fix that is just a command is shown as code. */
const asCode = (fix: string): string => (/^tandem [a-z -]+$/.test(fix) ? `Run \`${fix}\`` : fix);
